package telemetry_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/test/runs"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/telemetry"
)

// clock is a clock that the test moves.
type clock struct{ now time.Time }

func (c *clock) run() run.Clock {
	return run.Clock{Pinned: true, Now: func() time.Time { return c.now }}
}

func (c *clock) pass(d time.Duration) { c.now = c.now.Add(d) }

func made(t *testing.T) (*clock, run.InitResult) {
	t.Helper()
	c := &clock{time.Date(2026, 2, 14, 12, 0, 0, 0, time.UTC)}
	out := runs.CreateAt(t, c.run(), run.InitInput{Query: "Why?", RunID: "r1"})
	return c, out
}

func update(t *testing.T, c *clock, out run.InitResult, change func(*run.Update) error) {
	t.Helper()
	r, err := run.Open(t.Context(), out.ManifestPath)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if _, err := r.Update(t.Context(), c.run(), change); err != nil {
		t.Fatal(err)
	}
}

func move(from, to run.Stage, status run.Status) func(*run.Update) error {
	return func(u *run.Update) error {
		_, err := u.MoveTo(run.Move{From: from, To: to, Status: status, Reason: "r", InputsDigest: "d", GatesRevision: 1})
		return err
	}
}

func metrics(t *testing.T, c *clock, out run.InitResult) telemetry.MetricsResult {
	t.Helper()
	got, err := telemetry.WriteMetrics(t.Context(), c.run(), telemetry.MetricsInput{ManifestPath: out.ManifestPath, Reason: "r"})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// TestFiguresFollowFromTheLog: waiting for a person is neither a failure nor time
// of the run.
func TestFiguresFollowFromTheLog(t *testing.T) {
	c, out := made(t)
	c.pass(10 * time.Second)
	update(t, c, out, move(run.Init, run.Wave1, run.Running))
	c.pass(time.Minute)
	update(t, c, out, func(u *run.Update) error { _, err := u.SetStatus(run.Paused, "r"); return err })
	c.pass(time.Hour)
	update(t, c, out, func(u *run.Update) error { _, err := u.SetStatus(run.Running, "r"); return err })
	c.pass(30 * time.Second)
	update(t, c, out, move(run.Wave1, run.Pivot, run.Running))
	c.pass(5 * time.Second)
	update(t, c, out, func(u *run.Update) error {
		_, err := u.Fail(run.Failed, run.Failure{Kind: "needs_person", Stage: run.Pivot, Message: "m"}, "r")
		return err
	})
	c.pass(time.Hour)
	got := metrics(t, c, out)
	want := telemetry.RunFigures{Status: "failed", DurationS: 100, StagesStarted: 3, StagesFinished: 2, LastSeq: got.Run.LastSeq}
	if got.Run != want || got.Source != "log" || got.Skipped {
		t.Errorf("%+v", got)
	}
	doc := document(t, got.MetricsPath)
	if n, _ := doc.Get("stage").Get("duration_s").Get("by_stage_id").Get("wave1").Int(); n != 90 {
		t.Errorf("wave1 took %d s", n)
	}
	if again := metrics(t, c, out); !again.Skipped || again.InputsDigest != got.InputsDigest {
		t.Errorf("%+v", again)
	}
}

func document(t *testing.T, path string) *codec.Value {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := codec.Parse(data)
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

func appendEvent(t *testing.T, c *clock, out run.InitResult, event string) (telemetry.AppendResult, error) {
	t.Helper()
	v, err := codec.Parse([]byte(event))
	if err != nil {
		t.Fatal(err)
	}
	return telemetry.Append(t.Context(), c.run(), telemetry.AppendInput{ManifestPath: out.ManifestPath, Event: v, Reason: "r"})
}

// TestAppendedEventsAreCounted, and must keep to the rules of the earlier system.
func TestAppendedEventsAreCounted(t *testing.T) {
	c, out := made(t)
	for i, event := range []string{
		`{"event_type":"run_status","status":"running"}`,
		`{"event_type":"stage_started","stage_id":"wave1","stage_attempt":1,"inputs_digest":"d"}`,
		`{"event_type":"stage_finished","stage_id":"wave1","stage_attempt":1,"outcome":"timed_out","failure_kind":"timeout","elapsed_s":7,"seq":5}`,
		`{"event_type":"stage_retry_planned","stage_id":"wave1","from_attempt":1,"to_attempt":2,"retry_index":1,"change_summary":"shorter"}`,
		`{"event_type":"run_status","status":"failed"}`,
	} {
		c.pass(time.Second)
		got, err := appendEvent(t, c, out, event)
		if want := []int64{1, 2, 5, 6, 7}[i]; err != nil || got.Seq != want {
			t.Fatalf("%s: %+v %v", event, got, err)
		}
	}
	for _, event := range []string{
		`{}`, `{"event_type":"x"}`, `{"event_type":"run_status","status":"lost"}`, `{"event_type":"run_status","status":"running","seq":7}`, `{"event_type":"run_status","status":"running","run_id":"r2"}`,
		`{"event_type":"run_status","status":"running","ts":"2026-02-14T12:00:00+01:00"}`, `{"event_type":"stage_started","stage_id":"wave1","stage_attempt":0,"inputs_digest":"d"}`,
		`{"event_type":"stage_finished","stage_id":"wave1","stage_attempt":1,"outcome":"timed_out","elapsed_s":7}`,
		`{"event_type":"stage_retry_planned","stage_id":"wave1","from_attempt":2,"to_attempt":2,"retry_index":1,"change_summary":"x"}`,
	} {
		if _, err := appendEvent(t, c, out, event); tidegate.CodeOf(err) != tidegate.SchemaValidationFailed {
			t.Errorf("%s: %v", event, err)
		}
	}
	got := metrics(t, c, out)
	want := telemetry.RunFigures{Status: "failed", DurationS: 4, StagesStarted: 1, StagesFinished: 1, StageTimeouts: 1, Failures: 1, LastSeq: 7}
	if got.Run != want || got.Source != "telemetry" {
		t.Errorf("%+v", got)
	}
	stream := filepath.Join(out.Root, "logs", "telemetry.jsonl")
	data, err := os.ReadFile(stream)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(stream, []byte(strings.Replace(string(data), `"seq":5`, `"seq":2`, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = telemetry.WriteMetrics(t.Context(), c.run(), telemetry.MetricsInput{ManifestPath: out.ManifestPath, Reason: "r"})
	if tidegate.CodeOf(err) != tidegate.SchemaValidationFailed {
		t.Errorf("numbers that do not grow: %v", err)
	}
}

func TestTicksAreLines(t *testing.T) {
	c, out := made(t)
	tick := func(entry string) (telemetry.TickResult, error) {
		v, err := codec.Parse([]byte(entry))
		if err != nil {
			t.Fatal(err)
		}
		return telemetry.AppendTick(t.Context(), c.run(), telemetry.TickInput{ManifestPath: out.ManifestPath, Entry: v, Reason: "r"})
	}
	got, err := tick(`{"tick_index":3,"stage_before":"init","status_before":"created","result":{"ok":true},"extra":1}`)
	if err != nil || got.TickIndex != 3 || got.Phase != "finish" {
		t.Fatalf("%+v %v", got, err)
	}
	line, err := os.ReadFile(got.LedgerPath)
	const want = `{"schema_version":"tick_ledger.v1","ts":"2026-02-14T12:00:00.000Z","tick_index":3,"phase":"finish","stage_before":"init","stage_after":"init","status_before":"created","status_after":"created","result":{"ok":true},"inputs_digest":null,"artifacts":{},"run_id":"r1"}` + "\n"
	if err != nil || string(line) != want {
		t.Errorf("%s", line)
	}
	for _, entry := range []string{`{}`, `{"tick_index":"3","stage_before":"init","status_before":"created","result":{"ok":true}}`, `{"tick_index":3,"stage_before":"","status_before":"created","result":{"ok":true}}`, `{"tick_index":3,"stage_before":"init","status_before":"created","result":{}}`} {
		if _, err := tick(entry); tidegate.CodeOf(err) != tidegate.SchemaValidationFailed {
			t.Errorf("%s: %v", entry, err)
		}
	}
}
