package telemetry

import (
	"bytes"
	"context"
	"time"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/work/run"
)

// The files of the earlier system, below the folder of logs.
func streamOf(r *run.Run) string { return r.Layout().LogsDir + "/telemetry.jsonl" }
func indexOf(r *run.Run) string  { return r.Layout().LogsDir + "/telemetry.index.json" }
func ticksOf(r *run.Run) string  { return r.Layout().LogsDir + "/ticks.jsonl" }

// AppendInput are the arguments of [Append].
type AppendInput struct {
	ManifestPath string       `json:"manifest_path" path:"absolute" jsonschema:"absolute path of the run's manifest.json"`
	Event        *codec.Value `json:"event" holds:"object" jsonschema:"the event: event_type and what belongs to it; schema_version, run_id, seq and ts are filled in where they are absent"`
	Reason       string       `json:"reason" jsonschema:"why, for the audit log"`
}

// AppendResult is the result of [Append].
type AppendResult struct {
	OK            codec.True `json:"ok"`
	TelemetryPath string     `json:"telemetry_path"`
	Seq           int64      `json:"seq"`
	EventType     string     `json:"event_type"`
	InputsDigest  string     `json:"inputs_digest"`
}

// Append is the tool deep_research_telemetry_append: it adds an event to those that
// the orchestrator of the earlier system keeps in a run. Stream, index and the line
// of the log are one write.
//
// It returns SCHEMA_VALIDATION_FAILED for an event that breaks a rule or whose seq
// is not above the last, INVALID_JSON and SCHEMA_VALIDATION_FAILED for a stream
// that breaks one, and the errors of [run.Open] and [run.Run.Update].
func Append(ctx context.Context, clock run.Clock, in AppendInput) (AppendResult, error) {
	r, err := run.Open(ctx, in.ManifestPath)
	if err != nil {
		return AppendResult{}, err
	}
	defer r.Close()
	if in.Event.Kind() != codec.Object {
		return AppendResult{}, tidegate.Errorf(tidegate.InvalidArgs, tidegate.D("event", in.Event), "event must be an object")
	}
	out := AppendResult{TelemetryPath: r.Path(streamOf(r))}
	_, err = r.Update(ctx, clock, func(u *run.Update) error {
		stream, events, err := appended(r)
		if err != nil {
			return err
		}
		last := lastSeq(events)
		event := in.Event.Clone()
		for _, d := range tidegate.D("schema_version", EventVersion, "run_id", r.ID(), "seq", last+1, "ts", u.Now()) {
			if event.Get(d.Key) == nil {
				event.Set(d.Key, codec.Of(d.Value))
			}
		}
		if err := check(event, r.ID()); err != nil {
			return err
		}
		out.Seq, _ = event.Get("seq").Int()
		if out.Seq <= last {
			return tidegate.Errorf(tidegate.SchemaValidationFailed, tidegate.D("path", "$.seq", "value", out.Seq, "last_seq", last), "$.seq of the event must be above the last, %d", last)
		}
		out.EventType = event.Get("event_type").Str()
		out.InputsDigest = codec.Digest(tidegate.D("schema", "telemetry_append.inputs.v1", "run_id", r.ID(), "event", event))
		line, err := codec.Canonical(event)
		if err != nil {
			return err
		}
		if err := u.Write(streamOf(r), append(append(stream, line...), '\n')); err != nil {
			return err
		}
		u.Log(run.EventTelemetry, "telemetry_append", tidegate.D("reason", run.Note(in.Reason), "telemetry_seq", out.Seq, "event_type", out.EventType, "inputs_digest", out.InputsDigest))
		return u.WriteJSON(indexOf(r), tidegate.D("schema_version", "telemetry_index.v1", "last_seq", out.Seq))
	})
	return out, err
}

// appended are the events that were appended to the run, and the bytes of their
// file. It returns INVALID_JSON and SCHEMA_VALIDATION_FAILED, the latter also where
// their numbers do not grow.
func appended(r *run.Run) (stream []byte, events []*codec.Value, err error) {
	stream, err = r.Folder().Read(streamOf(r))
	if tidegate.CodeOf(err) == tidegate.FileNotFound {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	number, last := 0, int64(0)
	for line := range bytes.Lines(stream) {
		number++
		at := tidegate.D("telemetry_path", r.Path(streamOf(r)), "line", number)
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		event, err := codec.Parse(bytes.TrimSpace(line))
		if err != nil {
			return nil, nil, tidegate.Errorf(tidegate.InvalidJSON, at, "line %d of the telemetry is not JSON: %w", number, err)
		}
		if err := check(event, r.ID()); err != nil {
			return nil, nil, tidegate.WithDetails(err, at)
		}
		seq, _ := event.Get("seq").Int()
		if seq <= last {
			return nil, nil, tidegate.Errorf(tidegate.SchemaValidationFailed, at, "seq %d in line %d of the telemetry is not above the one before, %d", seq, number, last)
		}
		last = seq
		events = append(events, event)
	}
	return stream, events, nil
}

func lastSeq(events []*codec.Value) int64 {
	if len(events) == 0 {
		return 0
	}
	seq, _ := events[len(events)-1].Get("seq").Int()
	return seq
}

// derived are the events that follow from the run's own log.
func derived(r *run.Run) ([]*codec.Value, error) {
	entries, err := r.Events()
	if err != nil {
		return nil, err
	}
	d := deriver{run: r, attempts: map[run.Stage]int64{}}
	for _, e := range entries {
		d.take(e)
	}
	return d.events, nil
}

// deriver turns lines of the log into events. Time counts while the run is neither
// paused nor waiting for a person.
type deriver struct {
	run      *run.Run
	events   []*codec.Value
	stage    run.Stage
	attempts map[run.Stage]int64
	retries  int64
	since    time.Time // when the run was last set going in this stage; zero while it waits
	spent    time.Duration
}

func (d *deriver) add(e run.Entry, kind string, fields tidegate.Details) {
	event := append(tidegate.D("schema_version", EventVersion, "run_id", d.run.ID(), "seq", len(d.events)+1, "ts", e.Entry.Get("ts").Str(), "event_type", kind), fields...)
	d.events = append(d.events, codec.Of(event))
}

func (d *deriver) wait(at time.Time) {
	if !d.since.IsZero() && at.After(d.since) {
		d.spent += at.Sub(d.since)
	}
	d.since = time.Time{}
}

func (d *deriver) start(e run.Entry, stage run.Stage) {
	d.stage, d.spent, d.since = stage, 0, e.Time
	d.attempts[stage]++
	digest := e.Entry.Get("evidence_digest").Str()
	if digest == "" {
		digest = codec.Digest(e.Entry)
	}
	d.add(e, stageStarted, tidegate.D("stage_id", stage, "stage_attempt", d.attempts[stage], "inputs_digest", digest))
}

func (d *deriver) finish(e run.Entry, outcome string) {
	d.wait(e.Time)
	fields := tidegate.D("stage_id", d.stage, "stage_attempt", d.attempts[d.stage], "outcome", outcome, "elapsed_s", int64(d.spent/time.Second))
	if outcome == "timed_out" {
		fields = append(fields, tidegate.D("failure_kind", "timeout")...)
	}
	d.add(e, stageFinished, fields)
}

func (d *deriver) take(e run.Entry) {
	status := run.Status(e.Entry.Get("status").Str())
	switch e.Event {
	case run.EventCreated, run.EventAdopted:
		d.start(e, run.Init)
	case run.EventMoved:
		d.finish(e, "succeeded")
		if d.events[len(d.events)-1].Get("stage_id").Str() == string(run.Init) {
			d.add(e, runStatus, tidegate.D("status", run.Running))
		}
		if to := run.Stage(e.Entry.Get("to").Str()); status == run.Completed {
			d.stage = to
			d.add(e, runStatus, tidegate.D("status", status))
		} else {
			d.start(e, to)
		}
	case run.EventStatus:
		d.add(e, runStatus, tidegate.D("status", status))
		if d.wait(e.Time); status == run.Running {
			d.since = e.Time
		}
	case run.EventAccepted:
		if e.Entry.Get("what").Str() == "failure" {
			d.add(e, runStatus, tidegate.D("status", run.Running))
			d.since = e.Time
		}
	case run.EventFailed:
		if e.Entry.Get("failure").Str() == "timeout" {
			d.finish(e, "timed_out")
		}
		d.wait(e.Time)
		d.add(e, runStatus, tidegate.D("status", run.Failed))
	case run.EventRetried:
		d.retries++
		d.add(e, retryPlanned, tidegate.D("stage_id", d.stage, "from_attempt", d.retries, "to_attempt", d.retries+1, "retry_index", d.retries,
			"change_summary", "gate "+e.Entry.Get("gate").Str()+" is tried again"))
	}
}
