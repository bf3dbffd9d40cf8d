package telemetry

import (
	"context"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/work/run"
)

// MetricsFile is where a run keeps its figures.
const MetricsFile = "metrics/run-metrics.json"

// MetricsInput are the arguments of [WriteMetrics].
type MetricsInput struct {
	ManifestPath  string `json:"manifest_path" path:"absolute" jsonschema:"absolute path of the run's manifest.json"`
	TelemetryPath string `json:"telemetry_path,omitzero" path:"absolute" jsonschema:"absolute path of the appended events, which are the run's own"`
	Reason        string `json:"reason" jsonschema:"why, for the audit log"`
}

// MetricsResult is the result of [WriteMetrics].
type MetricsResult struct {
	OK            codec.True `json:"ok"`
	MetricsPath   string     `json:"metrics_path"`
	TelemetryPath string     `json:"telemetry_path"`
	Source        string     `json:"source" jsonschema:"telemetry where events were appended to the run, else log"`
	Skipped       bool       `json:"skipped" jsonschema:"nothing has happened since the figures were last written"`
	Run           RunFigures `json:"run"`
	InputsDigest  string     `json:"inputs_digest"`
}

// RunFigures are the figures of a run as a whole.
type RunFigures struct {
	Status         string `json:"status"`
	DurationS      int64  `json:"duration_s" jsonschema:"seconds from the first running to the last status, without waiting where the log tells it"`
	StagesStarted  int64  `json:"stages_started_total"`
	StagesFinished int64  `json:"stages_finished_total"`
	StageTimeouts  int64  `json:"stage_timeouts_total"`
	Failures       int64  `json:"failures_total"`
	LastSeq        int64  `json:"last_seq"`
}

// WriteMetrics is the tool deep_research_run_metrics_write: it counts the events of
// a run and writes the figures to metrics/run-metrics.json. The same events give
// the same bytes.
//
// It returns INVALID_JSON and SCHEMA_VALIDATION_FAILED for appended events that
// break a rule, PATH_NOT_ALLOWED for events other than the run's, and the errors of
// [run.Open] and [run.Run.Update].
func WriteMetrics(ctx context.Context, clock run.Clock, in MetricsInput) (MetricsResult, error) {
	r, err := run.Open(ctx, in.ManifestPath)
	if err != nil {
		return MetricsResult{}, err
	}
	defer r.Close()
	if in.TelemetryPath != "" {
		if name, err := r.Name("telemetry_path", in.TelemetryPath); err != nil {
			return MetricsResult{}, err
		} else if name != streamOf(r) {
			return MetricsResult{}, tidegate.Errorf(tidegate.PathNotAllowed, tidegate.D("telemetry_path", in.TelemetryPath, "run_root", r.Root()),
				"the events of the run are %s and no others", r.Path(streamOf(r)))
		}
	}
	out := MetricsResult{MetricsPath: r.Path(MetricsFile), TelemetryPath: r.Path(streamOf(r))}
	events, source, err := eventsOf(r)
	if err != nil {
		return MetricsResult{}, err
	}
	out.Source = source
	var stages tidegate.Details
	out.Run, stages = figuresOf(r, events, source)
	out.InputsDigest = codec.Digest(tidegate.D("schema", "run_metrics_write.inputs.v1", "run_id", r.ID(), "telemetry_events", events))
	doc := codec.Of(tidegate.D("inputs_digest", out.InputsDigest, "run", out.Run, "run_id", r.ID(), "schema_version", "run_metrics.v1", "stage", stages))
	canonical, err := codec.Canonical(doc)
	if err != nil {
		return MetricsResult{}, err
	}
	sorted, err := codec.Parse(canonical)
	if err != nil {
		return MetricsResult{}, err
	}
	data, err := codec.MarshalFile(sorted)
	if err != nil {
		return MetricsResult{}, err
	}
	if kept, err := r.Folder().Read(MetricsFile); err == nil && string(kept) == string(data) {
		out.Skipped = true
		return out, nil
	}
	_, err = r.Update(ctx, clock, func(u *run.Update) error {
		u.Log(run.EventTelemetry, "run_metrics_write", tidegate.D("reason", run.Note(in.Reason), "source", out.Source, "inputs_digest", out.InputsDigest))
		return u.Write(MetricsFile, data)
	})
	return out, err
}

// Figures are the figures of a run, from the events that were appended to it, or
// from its log where there are none. It returns READ_FAILED, INVALID_JSON and
// SCHEMA_VALIDATION_FAILED.
func Figures(r *run.Run) (RunFigures, error) {
	events, source, err := eventsOf(r)
	if err != nil {
		return RunFigures{}, err
	}
	figures, _ := figuresOf(r, events, source)
	return figures, nil
}

// eventsOf are the events of a run, and where they come from: telemetry or log.
func eventsOf(r *run.Run) (events []*codec.Value, source string, err error) {
	_, events, err = appended(r)
	if err != nil || len(events) > 0 {
		return events, "telemetry", err
	}
	events, err = derived(r)
	return events, "log", err
}

// figuresOf counts events. Waiting for people is not time of a run: by the log, its
// time is that of its stages.
func figuresOf(r *run.Run, events []*codec.Value, source string) (RunFigures, tidegate.Details) {
	figures, stages := count(events, string(r.Manifest().Status()))
	if source == "log" {
		figures.DurationS = 0
		for _, e := range events {
			if n, ok := e.Get("elapsed_s").Int(); ok {
				figures.DurationS += n
			}
		}
	}
	return figures, stages
}

// count makes figures from events, which are in the order of their numbers.
func count(events []*codec.Value, status string) (RunFigures, tidegate.Details) {
	figures := RunFigures{Status: status, LastSeq: lastSeq(events)}
	perStage := map[string]map[string]int64{}
	add := func(figure string, e *codec.Value, n int64) {
		if perStage[figure] == nil {
			perStage[figure] = map[string]int64{}
		}
		perStage[figure][e.Get("stage_id").Str()] += n
	}
	var first, last *codec.Value
	for _, e := range events {
		switch e.Get("event_type").Str() {
		case runStatus:
			figures.Status = e.Get("status").Str()
			if first == nil && figures.Status == string(run.Running) {
				first = e
			}
			last = e
		case stageStarted:
			figures.StagesStarted++
			if n, _ := e.Get("stage_attempt").Int(); n > perStage["attempts_total"][e.Get("stage_id").Str()] {
				add("attempts_total", e, n-perStage["attempts_total"][e.Get("stage_id").Str()])
			}
		case stageFinished:
			figures.StagesFinished++
			n, _ := e.Get("elapsed_s").Int()
			add("duration_s", e, n)
			switch e.Get("outcome").Str() {
			case "timed_out":
				figures.StageTimeouts++
				add("timeouts_total", e, 1)
				fallthrough
			case "failed":
				figures.Failures++
				add("failures_total", e, 1)
			}
		case retryPlanned:
			add("retries_total", e, 1)
		}
	}
	if first != nil {
		from, _ := tidegate.ParseTime(first.Get("ts").Str())
		to, _ := tidegate.ParseTime(last.Get("ts").Str())
		figures.DurationS = max(0, int64(to.Sub(from).Seconds()))
	}
	stages := tidegate.Details{}
	for _, figure := range []string{"attempts_total", "retries_total", "failures_total", "timeouts_total", "duration_s"} {
		by := tidegate.Details{}
		for _, stage := range run.Stages {
			by = append(by, tidegate.Detail{Key: string(stage), Value: perStage[figure][string(stage)]})
		}
		stages = append(stages, tidegate.Detail{Key: figure, Value: tidegate.D("by_stage_id", by)})
	}
	return figures, stages
}

// TickInput are the arguments of [AppendTick].
type TickInput struct {
	ManifestPath string       `json:"manifest_path" path:"absolute" jsonschema:"absolute path of the run's manifest.json"`
	Entry        *codec.Value `json:"entry" holds:"object" jsonschema:"the tick: tick_index, phase, stage_before, status_before, result, and optionally stage_after, status_after, inputs_digest and artifacts"`
	Reason       string       `json:"reason" jsonschema:"why, for the audit log"`
}

// TickResult is the result of [AppendTick].
type TickResult struct {
	OK         codec.True `json:"ok"`
	LedgerPath string     `json:"ledger_path"`
	TickIndex  int64      `json:"tick_index"`
	Phase      string     `json:"phase"`
}

// AppendTick is the tool deep_research_tick_ledger_append: it adds a line to the
// ledger of ticks of the earlier system's orchestrator.
//
// It returns SCHEMA_VALIDATION_FAILED for an entry that lacks something, and the
// errors of [run.Open] and [run.Run.Update].
func AppendTick(ctx context.Context, clock run.Clock, in TickInput) (TickResult, error) {
	r, err := run.Open(ctx, in.ManifestPath)
	if err != nil {
		return TickResult{}, err
	}
	defer r.Close()
	if in.Entry.Kind() != codec.Object {
		return TickResult{}, tidegate.Errorf(tidegate.InvalidArgs, tidegate.D("entry", in.Entry), "entry must be an object")
	}
	out := TickResult{LedgerPath: r.Path(ticksOf(r)), Phase: "finish"}
	e := in.Entry
	c := checker{event: e}
	c.atLeast("tick_index", 1)
	if phase := e.Get("phase"); phase != nil {
		out.Phase = phase.Str()
		c.text("phase", func(s string) bool { return s != "" }, "must not be blank")
	}
	for _, field := range []string{"stage_before", "status_before"} {
		c.text(field, func(s string) bool { return s != "" }, "must not be blank")
	}
	if e.Get("result").Get("ok").Kind() != codec.Bool {
		c.fail("result", "must have ok, true or false")
	}
	if c.err != nil {
		return TickResult{}, c.err
	}
	out.TickIndex, _ = e.Get("tick_index").Int()
	or := func(field, instead string) any {
		if v := e.Get(field); v.Kind() == codec.String && v.Str() != "" {
			return v
		}
		return e.Get(instead)
	}
	_, err = r.Update(ctx, clock, func(u *run.Update) error {
		ledger, err := r.Folder().Read(ticksOf(r))
		if err != nil && tidegate.CodeOf(err) != tidegate.FileNotFound {
			return err
		}
		artifacts := e.Get("artifacts")
		if artifacts.Kind() != codec.Object {
			artifacts = codec.NewObject()
		}
		var digest any
		if d := e.Get("inputs_digest"); d.Kind() == codec.String {
			digest = d
		}
		line, err := codec.MarshalLine(tidegate.D("schema_version", "tick_ledger.v1", "ts", u.Now(), "tick_index", out.TickIndex, "phase", out.Phase,
			"stage_before", e.Get("stage_before"), "stage_after", or("stage_after", "stage_before"), "status_before", e.Get("status_before"),
			"status_after", or("status_after", "status_before"), "result", e.Get("result"), "inputs_digest", digest, "artifacts", artifacts, "run_id", r.ID()))
		if err != nil {
			return err
		}
		u.Log(run.EventTelemetry, "tick_ledger_append", tidegate.D("reason", run.Note(in.Reason), "tick_index", out.TickIndex, "phase", out.Phase))
		return u.Write(ticksOf(r), append(append(ledger, line...), '\n'))
	})
	return out, err
}
