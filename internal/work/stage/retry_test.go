package stage_test

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/test/runs"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/stage"
)

func pinnedAt(seconds int) func() time.Time {
	return func() time.Time { return noon.Add(time.Duration(seconds) * time.Second) }
}

func (y *toy) retry(gate, note string) (stage.RetryResult, error) {
	return stage.RetryRecord(y.t.Context(), runs.Pinned, stage.RetryInput{ManifestPath: y.files.ManifestPath, GateID: gate, ChangeNote: note, Reason: "test"})
}

func TestRetriesAreCountedUpToTheCapOfTheGate(t *testing.T) {
	for gate, limit := range map[string]int64{"A": 0, "B": 2, "C": 1, "D": 1, "E": 3, "F": 0} {
		y := newToy(t, run.InitInput{})
		for i := range limit {
			out, err := y.retry(gate, "change "+string(rune('a'+i)))
			if err != nil || out.RetryCount != i+1 || out.Attempt != i+1 || out.MaxRetries != limit || !out.AuditWritten || out.RepeatedNote {
				t.Fatalf("gate %s: %+v, %v", gate, out, err)
			}
		}
		_, err := y.retry(gate, "once more")
		e := runs.WantCode(t, err, tidegate.RetryExhausted)
		if diff := cmp.Diff(tidegate.Pairs("gate_id", gate, "retry_count", limit, "max_retries", limit), e.Details); diff != "" {
			t.Error(diff)
		}
	}
}

func TestExhaustedRetriesLeaveTheRunAsItIs(t *testing.T) {
	y := newToy(t, run.InitInput{})
	for range 2 {
		if _, err := y.retry("B", "same"); err != nil {
			t.Fatal(err)
		}
	}
	for range 3 {
		_, err := y.retry("B", "same")
		runs.WantCode(t, err, tidegate.RetryExhausted)
	}
	if n, _ := y.manifest().Get("revision").Int(); n != 3 || y.status() != "created" || y.manifest().Get("failures").Len() != 0 {
		t.Errorf("revision %d, status %s, %d failures", n, y.status(), y.manifest().Get("failures").Len())
	}
	if n := strings.Count(y.read("logs/audit.jsonl"), `"event":"refused"`); n != 3 {
		t.Errorf("the log has %d of the three requests", n)
	}
	if _, err := y.retry("C", "another gate"); err != nil {
		t.Error(err)
	}
}

func TestRetryOfAnUnknownGateIsRefused(t *testing.T) {
	y := newToy(t, run.InitInput{})
	for _, gate := range []string{"Z", "", "b"} {
		_, err := y.retry(gate, "x")
		runs.WantCode(t, err, tidegate.InvalidArgs)
	}
	_, err := y.retry("B", " ")
	runs.WantCode(t, err, tidegate.InvalidArgs)
}

func TestRetryRecordsThatANoteIsRepeated(t *testing.T) {
	y := newToy(t, run.InitInput{})
	if out, err := y.retry("B", "add  Sources"); err != nil || out.RepeatedNote {
		t.Fatalf("%+v, %v", out, err)
	}
	if out, err := y.retry("B", "add Sources "); err != nil || !out.RepeatedNote {
		t.Fatalf("%+v, %v", out, err)
	}
}

func TestHugeNotesDoNotSwellTheManifest(t *testing.T) {
	y := newToy(t, run.InitInput{})
	huge := strings.Repeat("very long ", 1<<20)
	out, err := y.retry("B", huge)
	if err != nil || !out.AuditWritten {
		t.Fatalf("%+v, %v", out, err)
	}
	if out, err = y.retry("B", huge); err != nil || !out.RepeatedNote {
		t.Errorf("a repeated note is not recognised: %+v, %v", out, err)
	}
	if size := len(y.read("manifest.json")); size > 20<<10 {
		t.Errorf("the manifest has %d bytes", size)
	}
}

func TestRetryKeepsOtherMetricsAndTheirNulls(t *testing.T) {
	y := newToy(t, run.InitInput{})
	if err := y.patch(`{"metrics":{"list":[null],"tokens":5}}`); err != nil {
		t.Fatal(err)
	}
	before := y.manifest().Get("metrics").Get("list")
	if _, err := y.retry("B", "x"); err != nil {
		t.Fatal(err)
	}
	metrics := y.manifest().Get("metrics")
	if n, _ := metrics.Get("tokens").Int(); n != 5 || metrics.Get("list").Len() != before.Len() {
		t.Errorf("metrics %v", metrics)
	}
}

func TestConcurrentRetriesNeverExceedTheCap(t *testing.T) {
	y := newToy(t, run.InitInput{})
	var wait sync.WaitGroup
	errs := make([]error, 12)
	for i := range errs {
		wait.Go(func() { _, errs[i] = y.retry("E", "x") })
	}
	wait.Wait()
	succeeded := 0
	for _, err := range errs {
		if err == nil {
			succeeded++
		} else if code := tidegate.CodeOf(err); code != tidegate.RetryExhausted {
			t.Error(err)
		}
	}
	if n, _ := y.manifest().Get("metrics").Get("retry_counts").Get("E").Int(); succeeded != 3 || n != 3 || y.manifest().Get("failures").Len() != 0 {
		t.Errorf("%d succeeded, count %d", succeeded, n)
	}
}

func (y *toy) watchdog(seconds int) (stage.WatchdogResult, error) {
	return stage.WatchdogCheck(y.t.Context(), run.Desk{Now: pinnedAt(seconds), Pinned: true}, stage.WatchdogInput{ManifestPath: y.files.ManifestPath, Reason: "test"})
}

func TestWatchdogFailsAStageThatIsOverItsBudgetOnce(t *testing.T) {
	y := newToy(t, run.InitInput{})
	before := y.tree()
	out, err := y.watchdog(120)
	if err != nil || out.TimedOut || out.ElapsedS != 120 || out.TimeoutS != 120 || out.TimeoutPolicySource != "policy" {
		t.Fatalf("%+v, %v", out, err)
	}
	if diff := cmp.Diff(before, y.tree()); diff != "" {
		t.Errorf("a live check changed something:\n%s", diff)
	}
	out, err = y.watchdog(121)
	if err != nil || !out.TimedOut || *out.ManifestRevision != 2 || y.status() != "failed" {
		t.Fatalf("%+v, %v", out, err)
	}
	if checkpoint := runs.Parse(t, y.read("logs/timeout-checkpoint.json")); checkpoint.Get("schema_version").Str() != "timeout_checkpoint.v1" || checkpoint.Get("stage").Str() != "init" {
		t.Errorf("checkpoint %v", checkpoint)
	}
	for range 3 {
		if out, err := y.watchdog(500); err != nil || out.TimedOut {
			t.Fatalf("%+v, %v", out, err)
		}
	}
	if n, _ := y.manifest().Get("revision").Int(); n != 2 || y.manifest().Get("failures").Len() != 1 {
		t.Errorf("revision %d, %d failures", n, y.manifest().Get("failures").Len())
	}
}

func TestWatchdogNeverTouchesAFinishedOrPausedRun(t *testing.T) {
	for _, status := range []run.Status{run.Paused, run.Failed, run.Completed, run.Cancelled} {
		y := newToy(t, run.InitInput{})
		y.force(run.Finalize, status)
		before := y.tree()
		out, err := y.watchdog(1_000_000)
		if err != nil || out.TimedOut || out.Paused != (status == run.Paused) || out.Status != status {
			t.Errorf("%s: %+v, %v", status, out, err)
		}
		if diff := cmp.Diff(before, y.tree()); diff != "" {
			t.Errorf("%s:\n%s", status, diff)
		}
	}
}

func TestWatchdogCheckpointAndFailureLandTogether(t *testing.T) {
	y := newToy(t, run.InitInput{})
	y.remove("logs")
	y.put("logs", "a file where the folder should be")
	_, err := y.watchdog(121)
	runs.WantCode(t, err, tidegate.WriteFailed)
	if y.status() != "created" {
		t.Errorf("the run is %s without a checkpoint", y.status())
	}
}

func TestWatchdogArguments(t *testing.T) {
	y := newToy(t, run.InitInput{})
	check := func(in stage.WatchdogInput) error {
		in.ManifestPath = y.files.ManifestPath
		_, err := stage.WatchdogCheck(t.Context(), runs.Pinned, in)
		return err
	}
	runs.WantCode(t, check(stage.WatchdogInput{}), tidegate.InvalidArgs)
	runs.WantCode(t, check(stage.WatchdogInput{Reason: "x", Stage: "lunch"}), tidegate.InvalidArgs)
	runs.WantCode(t, check(stage.WatchdogInput{Reason: "x", NowISO: "soon"}), tidegate.InvalidArgs)
	runs.WantCode(t, check(stage.WatchdogInput{Reason: "x", Stage: "review"}), tidegate.StageMismatch)
	if err := check(stage.WatchdogInput{Reason: "x", Stage: "init", NowISO: "2026-02-14T12:00:01Z"}); err != nil {
		t.Error(err)
	}
	y.remove("logs") // without it the manifest says when the stage began
	y.put("manifest.json", replaceOnce(t, y.read("manifest.json"), `"started_at": "2026-02-14T12:00:00.000Z"`, `"started_at": "yesterday"`))
	runs.WantCode(t, check(stage.WatchdogInput{Reason: "x"}), tidegate.InvalidState)
}

func TestWatchdogUsesThePolicyOfTheRun(t *testing.T) {
	y := newToy(t, run.InitInput{})
	for _, tt := range []struct {
		policy, source string
		timeout        int64
	}{
		{`{"schema_version":"run_policy.v1","stage_timeouts_seconds_v1":{"init":7}}`, "policy", 7},
		{`{"schema_version":"run_policy.v1","stage_timeouts_seconds_v1":{"init":-7}}`, "policy", 120},
		{`{"schema_version":"run_policy.v1","stage_timeouts_seconds_v1":{"init":1e300}}`, "policy", 120},
		{`{"schema_version":"other"}`, "default_invalid_schema", 120},
		{`{`, "default_invalid_json", 120},
		{"", "default_missing", 120},
	} {
		y.put("run-config/policy.json", tt.policy)
		if tt.policy == "" {
			y.remove("run-config/policy.json")
		}
		out, err := y.watchdog(1)
		if err != nil || out.TimeoutS != tt.timeout || out.TimeoutPolicySource != tt.source {
			t.Errorf("%s: %+v, %v", tt.policy, out, err)
		}
	}
}
