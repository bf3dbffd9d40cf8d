package stage

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/internal/text/markdown"
	"github.com/tidegate/tidegate/internal/work/run"
)

// ControlInput are the arguments of [Pause] and [Cancel].
type ControlInput struct {
	ManifestPath string `json:"manifest_path" path:"absolute" jsonschema:"absolute path of the run's manifest.json"`
	Reason       string `json:"reason,omitzero" jsonschema:"why, for the audit log"`
}

// ResumeInput are the arguments of [Resume].
type ResumeInput struct {
	ManifestPath string `json:"manifest_path" path:"absolute" jsonschema:"absolute path of the run's manifest.json"`
	Accept       bool   `json:"accept,omitzero" jsonschema:"resume a failed run; what was used up is granted once more"`
	Reason       string `json:"reason,omitzero" jsonschema:"why, for the audit log"`
}

// ControlResult is the result of [Pause], [Resume] and [Cancel].
type ControlResult struct {
	OK               codec.True `json:"ok"`
	RunID            string     `json:"run_id"`
	Root             string     `json:"root"`
	Stage            run.Stage  `json:"stage"`
	From             run.Status `json:"from"`
	Status           run.Status `json:"status"`
	Changed          bool       `json:"changed"`
	ManifestRevision int64      `json:"manifest_revision"`
	CheckpointPath   *string    `json:"checkpoint_path"`
}

// Report shows the result to a person.
func (c ControlResult) Report() report.Report {
	out := report.Report{Name: "run_control", Title: "run " + c.RunID, Summary: "run " + c.RunID + " is " + string(c.Status)}
	if !c.Changed {
		out.Summary = "run " + c.RunID + " was " + string(c.Status) + " already"
	}
	out.Add(report.Fields{{Name: "stage", Value: string(c.Stage)}, {Name: "status", Value: string(c.Status)}, {Name: "folder", Value: c.Root}})
	return out
}

// Pause pauses a created or running run. It returns INVALID_STATE for one that
// is failed or final, and the errors of [ManifestWrite].
func Pause(ctx context.Context, desk run.Desk, in ControlInput) (ControlResult, error) {
	return control(ctx, desk, in, ByPause, run.Paused)
}

// Cancel ends a run that is not completed. It returns INVALID_STATE for one that
// is, and the errors of [ManifestWrite].
func Cancel(ctx context.Context, desk run.Desk, in ControlInput) (ControlResult, error) {
	return control(ctx, desk, in, ByCancel, run.Cancelled)
}

// Resume lets a paused run go on. With Accept it lets a failed run go on: that
// is a person's decision and must not be offered to agents. What was used up is
// granted once more, counted from here. It returns INVALID_STATE for other runs,
// and the errors of [ManifestWrite].
func Resume(ctx context.Context, desk run.Desk, in ResumeInput) (ControlResult, error) {
	trigger := ByResume
	if in.Accept {
		trigger = ByAccept
	}
	return control(ctx, desk, ControlInput{in.ManifestPath, in.Reason}, trigger, run.Running)
}

func control(ctx context.Context, desk run.Desk, in ControlInput, trigger Trigger, to run.Status) (ControlResult, error) {
	return run.With(ctx, desk, in.ManifestPath, func(r *run.Run, out *ControlResult) error {
		verb, logged := string(trigger), string(trigger)
		if trigger == ByAccept {
			verb, logged = "resume", "resume --accept"
		}
		reason := cmp.Or(run.Note(in.Reason), verb+" by a person")
		*out = ControlResult{RunID: r.ID(), Root: r.Root()}
		_, err := r.Decide(ctx, run.Decision{What: logged, Fields: tidegate.Pairs("reason", reason)}, func(u *run.Update) error {
			m := u.Manifest()
			out.Stage, out.From, out.Status, out.ManifestRevision = m.Stage(), m.Status(), m.Status(), m.Revision()
			if m.Status() == to {
				return nil
			}
			status, ok := next(m.Status(), trigger)
			if !ok {
				return refused(m.Status(), trigger)
			}
			name := r.Layout().LogsDir + "/" + verb + "-checkpoint.md"
			u.Write(name, checkpointText(strings.ToUpper(verb[:1])+verb[1:]+" Checkpoint", tidegate.Pairs("ts", u.Now(),
				"run_id", r.ID(), "stage", m.Stage(), "reason", reason, "next", nextCommand(r.ID(), status))))
			logged = "operator-cli " + logged + ": " + reason
			path := r.Path(name)
			out.Status, out.Changed, out.ManifestRevision, out.CheckpointPath = status, true, m.Revision()+1, &path
			if trigger == ByAccept {
				return u.AcceptFailures(status, reason, logged)
			}
			return u.SetStatus(status, logged)
		})
		return err
	})
}

func nextCommand(id string, status run.Status) string {
	switch status {
	case run.Paused:
		return "tidegate " + resumeRun.Command + " " + report.ShellWord(id)
	case run.Running:
		return "tidegate " + statusOfRun.Command + " " + report.ShellWord(id)
	}
	return "none: the run is final"
}

// refused says from which statuses the trigger works.
func refused(from run.Status, trigger Trigger) error {
	allowed := []run.Status{}
	for _, row := range statusRows {
		if row.Trigger == trigger && !slices.Contains(allowed, row.Status) {
			allowed = append(allowed, row.Status)
		}
	}
	message := "a " + string(from) + " run cannot be moved by " + string(trigger)
	switch {
	case from == run.Failed && trigger == ByResume:
		message = "the run has failed; a person lets it resume with --accept"
	case from == run.Paused && trigger == ByAccept:
		message = "the run is paused and has not failed; it resumes without --accept"
	case from == run.Completed || from == run.Cancelled:
		message = "a " + string(from) + " run is final"
	}
	return tidegate.Errorf(tidegate.InvalidState, tidegate.Pairs("status", from, "trigger", trigger, "allowed_from", allowed), "%s", message)
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

// LimitInput are the arguments of [Limit].
type LimitInput struct {
	ManifestPath string  `json:"manifest_path" path:"absolute" jsonschema:"absolute path of the run's manifest.json"`
	Name         string  `json:"name" jsonschema:"the limit, such as max_review_iterations, or one of the budget, such as max_minutes"`
	Value        float64 `json:"value" jsonschema:"its value from here on"`
	Reason       string  `json:"reason,omitzero" jsonschema:"why, for the audit log"`
}

// LimitResult is the result of [Limit].
type LimitResult struct {
	OK               codec.True `json:"ok"`
	RunID            string     `json:"run_id"`
	Limit            string     `json:"limit"`
	From             float64    `json:"from"`
	To               float64    `json:"to"`
	ManifestRevision int64      `json:"manifest_revision"`
}

// Limit sets one of a run's limits, or a value of its budget. It changes nothing where a
// limit has that value already. It is a person's decision. It returns INVALID_ARGS for a name
// that is not a limit and a value out of its range, INVALID_STATE for a run that
// is final, and the errors of [run.Open] and [run.Run.Decide].
func Limit(ctx context.Context, desk run.Desk, in LimitInput) (LimitResult, error) {
	if err := in.check(); err != nil {
		return LimitResult{}, err
	}
	set := setLimit
	if slices.Contains(run.BudgetNames(), in.Name) {
		set = SetBudget
	}
	return run.With(ctx, desk, in.ManifestPath, func(r *run.Run, out *LimitResult) error {
		*out = LimitResult{RunID: r.ID(), Limit: in.Name, To: in.Value}
		decision := run.Decision{What: "limit", Fields: tidegate.Pairs("name", in.Name, "value", in.Value, "reason", run.Note(in.Reason))}
		_, err := r.Decide(ctx, decision, run.Unfinished(func(u *run.Update) (err error) {
			out.From, err = set(u, in)
			out.ManifestRevision = u.Manifest().Revision()
			return err
		}))
		return err
	})
}

// check returns INVALID_ARGS for a name that neither the manifest nor the budget has, and for
// a value out of its range.
func (in LimitInput) check() error {
	if slices.Contains(run.BudgetNames(), in.Name) {
		return run.CheckBudget(in.Name, in.Value)
	}
	if float64(int64(in.Value)) != in.Value {
		return tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("value", in.Value), "%s must be a whole number", tidegate.Cut(in.Name))
	}
	return run.CheckLimit(in.Name, int64(in.Value))
}

func setLimit(u *run.Update, in LimitInput) (from float64, err error) {
	from, known := u.Manifest().Limit(in.Name)
	if known && from == in.Value {
		return from, nil
	}
	return from, u.SetLimit(in.Name, int64(in.Value), "operator-cli limit: "+cmp.Or(run.Note(in.Reason), "set by a person"))
}

// SetBudget sets a value of the budget. A run that stopped because its budget was used up
// goes on.
func SetBudget(u *run.Update, in LimitInput) (from float64, err error) {
	policy, err := u.Run().Policy()
	if err != nil {
		return 0, err
	}
	if from = policy.Budget.Of(in.Name); math.IsInf(from, 1) {
		from = 0 // there was no limit
	}
	if err := u.SetBudget(in.Name, in.Value, in.Reason); err != nil {
		return from, err
	}
	if status, ok := next(u.Manifest().Status(), ByAccept); ok && stoppedByBudget(u.Manifest()) {
		return from, u.AcceptFailures(status, run.Note(in.Reason), "operator-cli limit: "+run.Note(in.Reason))
	}
	return from, nil
}

// Report shows the result to a person.
func (l LimitResult) Report() report.Report {
	out := report.Report{Name: "run_limit", Title: "run " + l.RunID, Status: report.Pass, Summary: l.Limit + " was set"}
	if l.From == float64(l.To) {
		out.Summary = l.Limit + " is what it was"
	}
	table := report.NewTable("Limit", ">Was", ">Is")
	table.Row(report.None, l.Limit, l.From, l.To)
	out.Add(table)
	return out
}

// stoppedByBudget reports whether the run failed because a budget was used up, and
// nobody has accepted that yet.
func stoppedByBudget(m run.Manifest) bool {
	failures := m.Failures()
	if len(failures) == 0 {
		return false
	}
	last := failures[len(failures)-1]
	return last.Get("accepted_at") == nil && last.Get("code").Str() == string(tidegate.BudgetExhausted)
}

// Confine records how the agents of a run are kept from now on. That they are not is a
// person's decision. It returns INVALID_STATE for a run that is final, and the errors of
// [run.Open] and [run.Run.Decide].
func Confine(ctx context.Context, desk run.Desk, manifestPath string, c run.Confinement) error {
	r, err := run.Open(ctx, desk, manifestPath)
	if err != nil {
		return err
	}
	defer r.Close()
	set := run.Unfinished(func(u *run.Update) error { return u.SetConfinement(c) })
	if c.Mode == run.ModeUnconfined {
		_, err = r.Decide(ctx, run.Decision{What: run.Confine, Fields: tidegate.Pairs("mode", c.Mode)}, set)
	} else {
		_, err = r.Update(ctx, set)
	}
	return err
}

// ChooseEvidence takes a person's choice of how the sentences of a run's report are
// checked. It returns INVALID_STATE for a run that is final, and the errors of [run.Open] and [run.Run.Decide].
func ChooseEvidence(ctx context.Context, desk run.Desk, manifestPath string, choice run.EvidenceChoice) error {
	r, err := run.Open(ctx, desk, manifestPath)
	if err != nil {
		return err
	}
	defer r.Close()
	_, err = r.Decide(ctx, run.Decision{What: run.ChooseEvidence, Fields: tidegate.Pairs("choice", choice)},
		run.Unfinished(func(u *run.Update) error { return u.ChooseEvidence(choice) }))
	return err
}
