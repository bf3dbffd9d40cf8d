package stage

import (
	"context"
	"strconv"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/sentences"
)

// StatusResult is the result of [Status]: where the run is, what it waits for
// and what to do next come first.
type StatusResult struct {
	OK               codec.True   `json:"ok"`
	RunID            string       `json:"run_id"`
	Stage            run.Stage    `json:"stage"`
	Status           run.Status   `json:"status"`
	NextStage        *run.Stage   `json:"next_stage"` // where an advance would lead, null when that is not decided
	WaitingFor       []Blocker    `json:"waiting_for"`
	NextCommand      *string      `json:"next_command"` // null when there is none
	Query            string       `json:"query"`
	Mode             string       `json:"mode"`
	Root             string       `json:"root"`
	ManifestPath     string       `json:"manifest_path"`
	ManifestRevision int64        `json:"manifest_revision"`
	UpdatedAt        string       `json:"updated_at"`
	Gates            []GateStatus `json:"gates"`
	LastFailure      *codec.Value `json:"last_failure" holds:"null,object"`
	Interrupted      bool         `json:"interrupted,omitzero"` // a process drove it, and none does any more
	Trust            string       `json:"trust"`                // how the sentences of the report were checked, "" before there is one
}

// GateStatus is one gate, and whether it still counts.
type GateStatus struct {
	ID       string   `json:"id"`
	Name     string   `json:"name"`
	Status   string   `json:"status"`   // as written
	Counts   string   `json:"counts"`   // not_run when what it judged has changed
	Accepted bool     `json:"accepted"` // it counts because a person accepted it
	Bound    bool     `json:"bound"`    // it says what it judged
	Changed  []string `json:"changed"`  // what changed since
}

// Status says where a run is, what it waits for and what to do next. It writes
// nothing itself and takes no lock; what [run.Open] finishes is finished first.
// It returns NOT_FOUND, READ_FAILED, INVALID_JSON, SCHEMA_VALIDATION_FAILED and
// INVALID_STATE (the gates are another run's).
func Status(ctx context.Context, desk run.Desk, manifestPath string) (StatusResult, error) {
	return run.With(ctx, desk, manifestPath, func(r *run.Run, out *StatusResult) error {
		gates, err := r.Gates()
		if err != nil {
			return err
		}
		m := r.Manifest()
		*out = StatusResult{
			RunID: r.ID(), Stage: m.Stage(), Status: m.Status(), WaitingFor: []Blocker{}, Query: m.Query(), Mode: m.Mode(), Root: r.Root(),
			ManifestPath: manifestPath, ManifestRevision: m.Revision(), UpdatedAt: m.Doc().Get("updated_at").Str(), LastFailure: codec.Of(nil),
		}
		damage := r.CheckLog()
		if damage != nil && tidegate.CodeOf(damage) != tidegate.Tampered {
			return damage
		}
		if damage == nil {
			if out.Trust, err = trustOf(r); err != nil {
				return err
			}
		}
		if failures := m.Failures(); len(failures) > 0 {
			out.LastFailure = failures[len(failures)-1]
		}
		if out.Gates, err = gateStatuses(r, gates); err != nil {
			return err
		}
		if damage != nil {
			for i := range out.Gates {
				out.Gates[i].Counts, out.Gates[i].Accepted = run.GateNotRun, false
			}
			s := &situation{run: r, manifest: m}
			out.WaitingFor, out.NextCommand = []Blocker{unrecorded(s, tidegate.AsError(damage))}, new(verifyRun.on(s))
			return nil
		}
		if m.Status().Final() {
			return nil
		}
		facts, err := readFacts(ctx, r)
		if err != nil {
			return err
		}
		v, err := decide(r, m, gates, facts, AdvanceInput{})
		if e := tidegate.AsError(err); e != nil && tidegate.ClassOf(e.Code) == tidegate.Conflict {
			b := Blocker{Code: e.Code, Message: e.Message, Details: e.Details, Meet: []Remedy{}}
			out.WaitingFor = append(out.WaitingFor, b)
			return nil
		} else if err != nil {
			return err
		}
		if v.to != "" {
			out.NextStage = &v.to
		}
		out.WaitingFor = append(out.WaitingFor, v.blockers...)
		command := firstCommand(v)
		if begun, err := r.Folder().Exists(run.HomeFile); err != nil {
			return err
		} else if begun && m.Status() != run.Failed { // single tools are for those who drive it by hand
			_, driven, err := r.Folder().Claimed(run.HomeFile)
			if err != nil {
				return err
			}
			out.Interrupted = !driven && m.Status() != run.Paused
			command = continueRun.on(v.s)
			if driven {
				command = watchRun.on(v.s)
			}
		}
		if command != "" {
			out.NextCommand = &command
		}
		return nil
	}, "status", "stage.current")
}

// firstCommand is what a person types next: the command for the first blocker that a
// command can meet, or the advance itself.
func firstCommand(v verdict) string {
	if len(v.blockers) == 0 {
		return advanceRun.on(v.s)
	}
	for _, blocker := range v.blockers {
		for _, remedy := range blocker.Meet {
			if remedy.Command != "" {
				return remedy.Command
			}
		}
	}
	return ""
}

func gateStatuses(r *run.Run, gates run.Gates) ([]GateStatus, error) {
	list := []GateStatus{}
	for _, m := range gates.Doc().Get("gates").Members() {
		state, err := r.GateState(gates, m.Key)
		if err != nil {
			return nil, err
		}
		if state.Changed == nil {
			state.Changed = []string{}
		}
		list = append(list, GateStatus{ID: m.Key, Name: m.Value.Get("name").Str(), Status: gates.Status(m.Key),
			Counts: state.Counts(), Accepted: state.Accepted != nil && state.Passed(), Bound: state.Bound, Changed: state.Changed})
	}
	return list, nil
}

// trustOf says how the sentences of the run's report were checked. A document of the
// claims that is not the one of the log says nothing, and is named.
func trustOf(r *run.Run) (string, error) {
	name := r.Layout().Claims()
	digest, err := r.Folder().Digest(name)
	if err != nil {
		return "", err
	}
	if digest == "" {
		trust, err := sentences.ReadTrust(r)
		return trust.Line, err
	}
	recorded, err := r.RecordedOf(name)
	if err != nil {
		return "", err
	}
	if digest != recorded {
		return "How the sentences of the report were checked cannot be told: " + name + " is not what the log records.", nil
	}
	trust, err := sentences.ReadTrust(r)
	return trust.Line, err
}

// Report shows the status to a person: first where the run is, what it waits for and
// what comes next. A run on its way has no mark, whatever it waits for: nothing is
// wrong with it.
func (s StatusResult) Report() report.Report {
	out := report.Report{Name: "run_status", Title: "run " + s.RunID}
	out.Summary = "stage " + string(s.Stage) + ", " + string(s.Status)
	if s.Interrupted {
		out.Summary += ", and no process drives it"
	}
	switch {
	case s.Status == run.Failed, s.Status.Final() && len(s.WaitingFor) > 0: // its log is damaged
		out.Status = report.Fail
	case s.Status == run.Completed:
		out.Status = report.Pass
	}
	where := report.Fields{{Name: "stage", Value: string(s.Stage)}, {Name: "status", Value: string(s.Status)}}
	if s.NextStage != nil {
		where = append(where, report.Field{Name: "next stage", Value: string(*s.NextStage)})
	}
	out.Add(where)
	if s.Trust != "" {
		out.Add(report.Paragraph(s.Trust))
	}
	s.addWaiting(&out)
	if s.NextCommand != nil {
		out.Add(report.Heading("Next command"), report.Preformatted(*s.NextCommand))
	}
	gates := report.NewTable("Gate", "Name", "Counts as", "Bound", "Changed since")
	for _, g := range s.Gates {
		counts := g.Counts
		if g.Accepted {
			counts = "accepted by a person"
		}
		gates.Row(gateMark(g), g.ID, g.Name, counts, yesNo(g.Bound), strings.Join(g.Changed, ", "))
	}
	out.Add(report.Heading("Gates"), gates, report.Fields{
		{Name: "question", Value: s.Query}, {Name: "mode", Value: s.Mode}, {Name: "folder", Value: s.Root},
		{Name: "revision", Value: strconv.FormatInt(s.ManifestRevision, 10)}, {Name: "updated", Value: s.UpdatedAt},
	})
	return out
}

func (s StatusResult) addWaiting(out *report.Report) {
	if len(s.WaitingFor) == 0 {
		switch {
		case s.Status.Final():
			out.Add(report.Paragraph("The run is final: it waits for nothing, and there is no next command."))
		case s.NextCommand != nil:
			out.Add(report.Paragraph("Nothing is in the way."))
		}
		return
	}
	var items report.Bullets
	for _, b := range s.WaitingFor {
		item := b.Message
		for _, remedy := range b.Meet {
			item += " → " + remedy.Text
			if remedy.Command == "" && remedy.Tool != "" {
				item += " (" + remedy.Tool + ")"
			}
		}
		items = append(items, item)
	}
	out.Add(report.Heading("Waiting for"), items)
}

// gateMark marks what was judged. A gate whose turn has not come has no mark; one
// that was judged and no longer counts has a warning.
func gateMark(g GateStatus) report.Status {
	switch {
	case g.Counts == run.GatePass:
		return report.Pass
	case g.Counts == run.GateFail:
		return report.Fail
	case g.Counts == run.GateWarn || g.Counts != g.Status:
		return report.Warn
	}
	return report.None
}

func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

// Report shows the move to a person.
func (a AdvanceResult) Report() report.Report {
	out := report.Report{Name: "stage_advance", Title: "run " + a.runID, Status: report.Pass,
		Summary: "moved from " + string(a.From) + " to " + string(a.To)}
	if a.DryRun {
		out.Summary = "would move from " + string(a.From) + " to " + string(a.To) + "; nothing was changed"
	}
	table := report.NewTable("Kind", "What")
	for _, c := range a.Decision.Evaluated {
		table.Row(report.PassIf(c.OK), c.Kind, c.Name)
	}
	out.Add(table)
	return out
}
