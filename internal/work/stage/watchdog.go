package stage

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tidegate/tidegate/internal/text/markdown"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/work/run"
)

// WatchdogInput are the arguments of [WatchdogCheck].
type WatchdogInput struct {
	ManifestPath string `json:"manifest_path" path:"absolute" jsonschema:"absolute path of the run's manifest.json"`
	Stage        string `json:"stage,omitzero" jsonschema:"the stage that the caller believes the run is in"`
	NowISO       string `json:"now_iso,omitzero" jsonschema:"the time to judge by, RFC 3339, where the clock is pinned; the present when absent"`
	Reason       string `json:"reason" jsonschema:"why, for the audit log"`
}

// WatchdogResult is the result of [WatchdogCheck].
type WatchdogResult struct {
	OK                  codec.True `json:"ok"`
	TimedOut            bool       `json:"timed_out"`
	Stage               run.Stage  `json:"stage"`
	ElapsedS            int64      `json:"elapsed_s"`
	TimeoutS            int64      `json:"timeout_s"`
	TimeoutPolicySource string     `json:"timeout_policy_source"`
	TimerOrigin         string     `json:"timer_origin"`
	TimerOriginField    string     `json:"timer_origin_field"`
	Paused              bool       `json:"paused,omitzero"`
	Status              run.Status `json:"status"`
	CheckpointPath      string     `json:"checkpoint_path,omitzero"`
	CheckpointJSONPath  string     `json:"checkpoint_json_path,omitzero"`
	ManifestRevision    *int64     `json:"manifest_revision,omitzero"`
}

// WatchdogCheck is the tool deep_research_watchdog_check: it fails a run whose
// stage has gone longer without progress than the run's policy allows, and
// writes a checkpoint beside its log, both or neither. It acts only on created and
// running runs; for any other it only says how long.
//
// It returns INVALID_ARGS, STAGE_MISMATCH, INVALID_STATE (a time in the manifest
// that cannot be read), NOT_FOUND, INVALID_JSON, SCHEMA_VALIDATION_FAILED,
// LOCK_HELD and WRITE_FAILED.
func WatchdogCheck(ctx context.Context, desk run.Desk, in WatchdogInput) (WatchdogResult, error) {
	if in.Stage != "" && !slices.Contains(run.Stages, run.Stage(in.Stage)) {
		return WatchdogResult{}, tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("stage", tidegate.Cut(in.Stage)), "%q is not a stage", tidegate.Cut(in.Stage))
	}
	now := desk.Now()
	if in.NowISO != "" {
		given, ok := tidegate.ParseTime(in.NowISO)
		if !ok {
			return WatchdogResult{}, tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("now_iso", tidegate.Cut(in.NowISO)),
				"now_iso must be a time such as 2026-02-14T12:00:00.000Z")
		}
		if !desk.Pinned {
			return WatchdogResult{}, tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("now_iso", tidegate.Cut(in.NowISO)),
				"now_iso is only for runs under a pinned clock (TIDEGATE_NOW): the time is the program's own")
		}
		now = given
	}
	if err := run.CheckText("reason", in.Reason); err != nil {
		return WatchdogResult{}, err
	}
	return run.With(ctx, desk, in.ManifestPath, func(r *run.Run, t *WatchdogResult) (err error) {
		// A run that is alive is checked without its lock: the watchdog is called
		// often, and may be called while a tool holds it.
		if *t, err = measure(r, r.Manifest(), in, now); err != nil || !t.TimedOut {
			return err
		}
		_, err = r.Update(ctx, func(u *run.Update) error {
			if *t, err = measure(r, u.Manifest(), in, now); err != nil || !t.TimedOut {
				return err
			}
			return t.timeOut(u, r, u.Manifest(), tidegate.Stamp(now), strings.TrimSpace(in.Reason))
		})
		return err
	})
}

// measure says how long the stage has gone without progress.
func measure(r *run.Run, m run.Manifest, in WatchdogInput, now time.Time) (WatchdogResult, error) {
	if err := run.ManifestShape.Check(m.Doc()); err != nil {
		return WatchdogResult{}, err
	}
	if in.Stage != "" && run.Stage(in.Stage) != m.Stage() {
		return WatchdogResult{}, tidegate.Errorf(tidegate.StageMismatch, tidegate.Pairs("requested_stage", in.Stage, "current_stage", m.Stage()),
			"the run is in stage %s, not %s", m.Stage(), in.Stage)
	}
	policy, err := r.Policy()
	if err != nil {
		return WatchdogResult{}, err
	}
	t := WatchdogResult{
		Stage: m.Stage(), Status: m.Status(), Paused: m.Status() == run.Paused,
		TimeoutS: int64(policy.Timeout(m.Stage()) / time.Second), TimeoutPolicySource: policy.Source,
	}
	origin, err := t.origin(r, m)
	if err != nil {
		return WatchdogResult{}, err
	}
	t.ElapsedS = max(0, int64(now.Sub(origin)/time.Second))
	_, acts := next(m.Status(), ByWatchdog)
	byJobs, err := doneByJobs(r, m.Stage())
	if err != nil {
		return WatchdogResult{}, err
	}
	t.TimedOut = acts && !byJobs && t.ElapsedS > t.TimeoutS
	return t, nil
}

// doneByJobs reports whether agents do the work of a stage as jobs. Attempts have
// limits of their own, so that such a stage does not time out.
func doneByJobs(r *run.Run, stage run.Stage) (bool, error) {
	switch stage {
	case run.Pivot, run.Citations, run.Finalize:
		return false, nil
	}
	return r.HasFolder(run.JobsDir)
}

// origin is when the stage last made progress. The log says so; where
// it has no line with a time, the manifest does.
func (t *WatchdogResult) origin(r *run.Run, m run.Manifest) (time.Time, error) {
	last, err := r.LastProgress()
	if err != nil || !last.Time.IsZero() {
		t.TimerOrigin, t.TimerOriginField = tidegate.Stamp(last.Time), "log."+string(last.Event)
		return last.Time, err
	}
	var origin time.Time
	for _, field := range []string{"started_at", "last_progress_at"} {
		text := m.Doc().Get("stage").Get(field)
		if text == nil {
			continue
		}
		at, ok := tidegate.ParseTime(text.Str())
		if !ok {
			return origin, tidegate.Errorf(tidegate.InvalidState, tidegate.Pairs("field", "stage."+field, "value", tidegate.Cut(text.Str())),
				"stage.%s is not a time", field)
		}
		if t.TimerOriginField == "" || at.After(origin) {
			origin, t.TimerOrigin, t.TimerOriginField = at, text.Str(), "stage."+field
		}
	}
	return origin, nil
}

// timeOut stages the failure and its checkpoint.
func (t *WatchdogResult) timeOut(u *run.Update, r *run.Run, m run.Manifest, now, reason string) error {
	jsonName, mdName := r.Layout().LogsDir+"/timeout-checkpoint.json", r.Layout().LogsDir+"/timeout-checkpoint.md"
	stage := m.Doc().Get("stage")
	steps := []string{
		"Find out why stage " + string(t.Stage) + " made no progress.",
		"A person decides: resume the run with --accept, or cancel it.",
	}
	checkpoint := tidegate.Pairs("schema_version", "timeout_checkpoint.v1", "generated_at", now, "stage", t.Stage,
		"elapsed_seconds", t.ElapsedS, "timeout_seconds", t.TimeoutS, "timer_origin_field", t.TimerOriginField, "timer_origin", t.TimerOrigin,
		"stage_started_at", stage.Get("started_at"), "stage_last_progress_at", stage.Get("last_progress_at"),
		"last_known_subtask", nil, "next_steps", steps)
	if err := u.Write(mdName, checkpointText("Timeout Checkpoint", checkpoint)); err != nil {
		return err
	}
	if err := u.WriteJSON(jsonName, checkpoint); err != nil {
		return err
	}
	status, _ := next(m.Status(), ByWatchdog)
	u.As(tidegate.Actor{Kind: tidegate.Rule, By: tidegate.ByRule})
	err := u.Fail(status, run.Failure{Kind: "timeout", Stage: t.Stage,
		Message: fmt.Sprintf("timeout after %ds without progress; %ds are allowed", t.ElapsedS, t.TimeoutS)}, "watchdog_check: "+reason)
	if err != nil {
		return err
	}
	revision := u.Manifest().Revision()
	t.Status, t.ManifestRevision = status, &revision
	t.CheckpointPath, t.CheckpointJSONPath = r.Path(mdName), r.Path(jsonName)
	return nil
}

// checkpointText is a checkpoint for people: one bullet for each fact.
func checkpointText(title string, facts tidegate.Details) []byte {
	var b strings.Builder
	b.WriteString("# " + title + "\n\n")
	for _, f := range facts {
		value := "n/a"
		switch v := f.Value.(type) {
		case nil:
		case []string:
			value = strings.Join(v, " ")
		case *codec.Value:
			if v.Str() != "" {
				value = v.Str()
			}
		default:
			value = fmt.Sprint(v)
		}
		// A fact is one line, whatever a reason or a manifest holds.
		b.WriteString("- " + f.Key + ": " + markdown.OneLine(value) + "\n")
	}
	return []byte(b.String())
}
