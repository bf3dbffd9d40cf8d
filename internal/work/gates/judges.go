package gates

import (
	"context"
	"path"
	"slices"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/sentences"
	"github.com/tidegate/tidegate/internal/work/sourcing"
	"github.com/tidegate/tidegate/internal/work/step"
)

// judge looks at the files of a run as they are and says what a gate's status is.
// It takes no lock and changes nothing.
type judge func(ctx context.Context, r *run.Run) (run.Judgement, error)

// judges pairs the rows of [run.GateTable] with their judges.
var judges = map[string]judge{
	"A": step.JudgeA,
	"B": judgeB,
	"C": sourcing.JudgeC,
	"D": judgeD,
	"E": judgeE,
	"F": judgeF,
}

// Judge runs the judge of a gate. It returns INVALID_ARGS, the errors of reading
// the files, and INVALID_STATE when they change while they are judged.
func Judge(ctx context.Context, r *run.Run, id string) (run.Judgement, error) {
	judge := judges[id]
	if judge == nil {
		return run.Judgement{}, tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("gate", tidegate.Cut(id)),
			"there is no gate %q; the run has the gates %s", tidegate.Cut(id), strings.Join(run.GateIDs(), ", "))
	}
	return judge(ctx, r)
}

// GateInput are the arguments of [RecordGate].
type GateInput struct {
	ManifestPath string `json:"manifest_path" path:"absolute" jsonschema:"absolute path of the run's manifest.json"`
	Gate         string `json:"-"`
	Accept       bool   `json:"accept,omitzero" jsonschema:"let the gate pass, whatever its judge says"`
	Reason       string `json:"reason,omitzero" jsonschema:"why, for the audit log"`
}

// GateRecord is the result of [RecordGate].
type GateRecord struct {
	OK       codec.True       `json:"ok"`
	RunID    string           `json:"run_id"`
	GateID   string           `json:"gate_id"`
	Name     string           `json:"name"`
	Status   string           `json:"status" jsonschema:"as it stands in the run: pass or fail"`
	Accepted bool             `json:"accepted" jsonschema:"a person let the gate pass, whatever its judge says"`
	Judge    string           `json:"judge" jsonschema:"what the judge says: pass or fail"`
	Metrics  tidegate.Details `json:"metrics"`
	Warnings []string         `json:"warnings"`
	Notes    string           `json:"notes"`
	Changes  []string         `json:"changes" jsonschema:"what to change so that it passes"`
	Revision int64            `json:"gates_revision"`
}

// Passed reports whether the gate passed.
func (g GateRecord) Passed() bool { return g.Status == run.GatePass }

// RecordGate judges a gate and records what its judge found. With Accept it lets
// the gate pass by a person's decision, bound to the files that its judge looks
// at, and a run that failed on it goes on: at gate E nobody need read the report any
// more, and its review is asked for. It returns INVALID_ARGS for an
// acceptance without a reason, the errors of [run.Open], [Judge] and
// [run.Update.EditGates], and TAMPERED for a gate that would pass on outputs other
// than those that the run took.
func RecordGate(ctx context.Context, desk run.Desk, in GateInput) (GateRecord, error) {
	accept := in.Accept
	if accept {
		if err := run.CheckText("reason", in.Reason); err != nil {
			return GateRecord{}, err
		}
	}
	return run.With(ctx, desk, in.ManifestPath, func(r *run.Run, out *GateRecord) error {
		found, err := Judge(ctx, r, in.Gate)
		if err != nil {
			return err
		}
		row, _ := run.FindGate(in.Gate)
		*out = GateRecord{RunID: r.ID(), GateID: row.ID, Name: row.Name, Status: found.Status(), Judge: found.Status(), Accepted: accept,
			Metrics: found.Metrics, Warnings: found.Said(), Notes: found.Notes, Changes: append([]string{}, found.Changes...)}
		if accept {
			out.Status = run.GatePass
		}
		write := func(u *run.Update) error {
			if err := notMoved(u); err != nil {
				return err
			}
			patch := found.Patch(u.Now())
			if accept {
				patch = found.Accept(u.Now(), run.Note(in.Reason))
				u.Log(run.EventAccepted, "gate_accept", tidegate.Pairs("what", "gate", "gate", row.ID, "reason", run.Note(in.Reason), "judge", found.Status(), "args", tidegate.Pairs()))
				if row.ID == "E" {
					if err := sentences.WithdrawByRule(u); err != nil {
						return err
					}
				}
				if err := u.AcceptGateFailures(row.ID, run.Note(in.Reason), "accept gate "+row.ID); err != nil {
					return err
				}
			}
			after, err := step.WriteJudgement(u, found, patch, run.Note(in.Reason), run.Args("gate", row.ID)...)
			if err == nil && !accept {
				err = outputsAsTaken(u, found)
			}
			out.Revision = after.Revision()
			return err
		}
		if accept {
			decision := run.Decision{What: "accept gate", Fields: tidegate.Pairs("gate", row.ID, "judged", found.InputsDigest, "reason", run.Note(in.Reason))}
			_, err = r.Decide(ctx, decision, write)
		} else {
			_, err = r.Update(ctx, write)
		}
		return err
	})
}

// notMoved returns INVALID_STATE when the run has moved since it was opened: what
// a gate is about depends on the stage, so that a judgement made in another stage
// does not count.
func notMoved(u *run.Update) error {
	m := u.Manifest()
	judged := u.Run().Manifest().Stage()
	if m.Stage() == judged {
		return nil
	}
	return tidegate.Errorf(tidegate.InvalidState, tidegate.Pairs("judged_in", judged, "stage", m.Stage()),
		"the run moved from %s to %s while its gate was judged; judge it again", judged, m.Stage())
}

// outputsAsTaken returns TAMPERED when a judge passes an output, a summary, the
// pack, the synthesis or its review that is not the one that the run took or wrote:
// recording the judgement would cover the change. It looks under the lock, and
// after the judgement was compared with the files: what is taken meanwhile is
// not tampering.
func outputsAsTaken(u *run.Update, found run.Judgement) error {
	if !found.Passed() {
		return nil
	}
	recorded, err := u.Run().Recorded()
	if err != nil {
		return err
	}
	l := u.Run().Layout()
	var changed []string
	for _, m := range found.Bound.Value().Get("files").Members() {
		taken := recorded[run.Accepted(m.Key)]
		if slices.Contains([]string{l.SummariesDir, l.SynthesisDir, path.Dir(l.ReviewBundle)}, path.Dir(m.Key)) {
			taken = recorded[m.Key]
		}
		if taken != "" && taken != m.Value.Str() && recorded[m.Key] != m.Value.Str() { // else a person accepted it as it is
			changed = append(changed, m.Key)
		}
	}
	if len(changed) == 0 {
		return nil
	}
	return tidegate.Errorf(tidegate.Tampered, tidegate.Pairs("gate", found.Gate, "changed", changed),
		"gate %s would pass, but %s is not what the run took; hand it in again, or see `tidegate wave restore` and `tidegate run accept`", found.Gate, strings.Join(changed, ", "))
}

// Report shows the gate and the reasons for its status.
func (g GateRecord) Report() report.Report {
	r := report.Report{Name: "gate", Title: "Gate " + g.GateID + ": " + g.Name, Status: report.PassIf(g.Passed()), Summary: "gate " + g.GateID + " was judged and recorded: " + g.Status}
	if g.Accepted {
		r.Status, r.Summary = report.Warn, "gate "+g.GateID+" was accepted by a person; its judge says "+g.Judge
	}
	row, _ := run.FindGate(g.GateID)
	r.Add(report.Fields{{Name: "judged", Value: row.About}})
	c := report.Case{Name: g.GateID, Status: report.PassIf(g.Passed()), Note: g.Notes}
	if len(g.Warnings) > 0 {
		heading := "Why the judge does not pass it"
		if g.Judge == run.GatePass {
			heading = "What the judge remarks"
		}
		r.Add(report.Heading(heading), report.Bullets(g.Warnings))
		if g.Notes != "" {
			r.Add(report.Paragraph(g.Notes))
		}
	}
	if g.Judge != run.GatePass {
		c.Findings = []report.Finding{{Rule: "GATE_" + g.GateID, Message: strings.Join(g.Warnings, ", ")}}
	}
	if len(g.Changes) > 0 {
		r.Add(report.Heading("What to change"), report.Bullets(g.Changes))
	}
	table := report.NewTable("Figure", ">Value", "Limit")
	for _, m := range g.Metrics {
		table.Row(report.None, strings.ReplaceAll(m.Key, "_", " "), m.Value, figureLimits[g.GateID][m.Key])
	}
	r.Add(table)
	r.AddCase(c)
	return r
}

// figureLimits are the limits of the figures of gates, for people.
var figureLimits = map[string]map[string]string{
	"A": {"perspectives_count": "at most max wave1 agents", "prompt_scope_contract_rate": "1"},
	"B": {"validated_count": "at least 1", "failed_count": "0", "retry_directives_count": "0", "wave2_failed": "0"},
	"C": {"validated_url_rate": "at least 0.9", "invalid_url_rate": "at most 0.1", "uncategorized_url_rate": "0"},
	"D": {"summary_count_ratio": "1", "max_summary_kb": "at most max_summary_kb of the run", "total_summary_pack_kb": "at most max_total_summary_kb of the run"},
	"E": {"uncited_numeric_claims": "0", "report_sections_present": "100", "citation_utilization_rate": "at least 0.6, else a warning",
		"duplicate_citation_rate": "at most 0.2, else a warning", "unknown_cids": "0", "raw_urls": "0", "quotations_missing": "0 where grounding is required",
		"numbers_missing": "at most 1 in 20 where grounding is required", "unchanged_directives": "0"},
	"F": {"final_synthesis": "1", "fetches_not_allowed": "0", "blocked_cited": "0", "unsigned_decisions": "0", "budget_exceeded": "0"},
}
