package step

import (
	"context"
	"path"
	"slices"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/internal/work/run"
)

// judge looks at the files of a run as they are and says what a gate's status is.
// It takes no lock and changes nothing.
type judge func(ctx context.Context, r *run.Run) (run.Judgement, error)

// judges pairs the rows of [run.GateTable] with their judges.
var judges = map[string]judge{
	"A": judgeA,
	"B": judgeB,
	"C": judgeC,
	"D": judgeD,
	"E": judgeE,
	"F": judgeF,
}

// Judge runs the judge of a gate. It returns UNKNOWN_GATE_ID, the errors of reading
// the files, and INVALID_STATE when they change while they are judged.
func Judge(ctx context.Context, r *run.Run, id string) (run.Judgement, error) {
	judge := judges[id]
	if judge == nil {
		return run.Judgement{}, tidegate.Errorf(tidegate.UnknownGateID, tidegate.Pairs("gate", tidegate.Cut(id)),
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
					if err := withdrawByRule(u); err != nil {
						return err
					}
				}
				if err := u.AcceptGateFailures(row.ID, run.Note(in.Reason), "accept gate "+row.ID); err != nil {
					return err
				}
			}
			after, err := writeJudgement(u, found, patch, run.Note(in.Reason), run.Args("gate", row.ID)...)
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

// writeJudgement stages one judgement, with the digests of what was judged and more
// fields of its line.
func writeJudgement(u *run.Update, found run.Judgement, patch *codec.Value, reason string, more ...tidegate.Detail) (run.Gates, error) {
	if err := notAccepted(u, found.Gate); err != nil {
		return run.Gates{}, err
	}
	update := codec.NewObject()
	update.Set(found.Gate, patch)
	after, err := u.EditGates(update, found.InputsDigest, nil, reason, more...)
	if err == nil {
		logJudged(u, found)
	}
	return after, err
}

// logJudged records the files on which a gate passed, so that the log covers them
// from here on, whoever wrote them. A gate that fails covers nothing: its files may
// have been edited, and run verify must go on saying so.
func logJudged(u *run.Update, found run.Judgement) {
	files := codec.NewObject()
	for _, m := range found.Bound.Value().Get("files").Members() {
		if found.Status() == run.GatePass && m.Key != run.ManifestFile && m.Value.Kind() == codec.String {
			files.Set(m.Key, m.Value)
		}
	}
	u.Log(run.EventJudged, "gate_judged", tidegate.Pairs("gate", found.Gate, "status", found.Status(), "inputs_digest", found.InputsDigest,
		"warnings", found.Said(), "files", files))
}

// notAccepted returns INVALID_STATE when a person accepted the gate, it still
// counts, and the caller is not a person.
func notAccepted(u *run.Update, id string) error {
	if u.Actor().Kind == tidegate.Person {
		return nil
	}
	gates, err := u.Gates()
	if err != nil {
		return err
	}
	state, err := u.Run().GateState(gates, id)
	if err != nil || state.Accepted == nil || !state.Passed() {
		return err
	}
	return tidegate.Errorf(tidegate.InvalidState, tidegate.Pairs("gate", id, "accepted", state.Accepted),
		"a person accepted gate %s, and what it is about has not changed since; only a person writes over that", id)
}

// outputsAsTaken returns TAMPERED when a judge passes an output, a summary, the
// pack, the synthesis or its review that is not the one that the run took or wrote:
// recording the judgement would cover the change. It looks under the lock, and
// after the judgement was compared with the files: what is taken meanwhile is
// not tampering.
func outputsAsTaken(u *run.Update, found run.Judgement) error {
	if found.Status() != run.GatePass {
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

// GatesWriteInput are the arguments of [GatesWrite].
type GatesWriteInput struct {
	GatesPath        string       `json:"gates_path" path:"absolute" jsonschema:"absolute path of the run's gates.json"`
	Update           *codec.Value `json:"update" holds:"object" jsonschema:"object of gate id (A to F) to the fields that change: status, checked_at, metrics, artifacts, warnings, notes"`
	InputsDigest     string       `json:"inputs_digest" jsonschema:"digest of what was judged, as the judging tool returned it"`
	ExpectedRevision *int64       `json:"expected_revision,omitzero" jsonschema:"the revision that the update was made for" min:"1"`
	Reason           string       `json:"reason" jsonschema:"why, for the audit log"`
}

// ownedMetrics are keys of metrics that only this program writes.
var ownedMetrics = []string{"accepted", "judge"}

// GatesWrite is the tool deep_research_gates_write: it records the judgements of
// gates. A pass counts for nothing by itself: the gate's judge is run again, and
// its finding is written, bound to the files that it read. The run root is the
// folder of the gates file.
//
// It returns INVALID_ARGS, NOT_FOUND, READ_FAILED, INVALID_JSON,
// SCHEMA_VALIDATION_FAILED, REVISION_MISMATCH, UNKNOWN_GATE_ID,
// GATE_NOT_DERIVED (the judge does not find what was handed in),
// LIFECYCLE_RULE_VIOLATION, MISSING_ARTIFACT, INVALID_STATE, PATH_NOT_ALLOWED,
// TAMPERED, LOCK_HELD and WRITE_FAILED; in every case nothing is written.
func GatesWrite(ctx context.Context, desk run.Desk, in GatesWriteInput) (run.WriteResult, error) {
	if err := run.CheckPath("gates_path", in.GatesPath); err != nil {
		return run.WriteResult{}, err
	}
	if in.Update.Kind() != codec.Object || in.Update.Len() == 0 {
		return run.WriteResult{}, tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("update", in.Update),
			"update must be an object with at least one gate: a write that judges nothing would replace the digest of one that did")
	}
	if err := run.CheckText("inputs_digest", in.InputsDigest); err != nil {
		return run.WriteResult{}, err
	}
	if err := run.CheckText("reason", in.Reason); err != nil {
		return run.WriteResult{}, err
	}
	r, err := run.OpenByGates(ctx, desk, in.GatesPath)
	if err != nil {
		return run.WriteResult{}, err
	}
	defer r.Close()
	gates, err := r.Gates()
	if err != nil {
		return run.WriteResult{}, err
	}
	update, digest := in.Update.Clone(), in.InputsDigest
	found, err := judgeAgain(ctx, r, gates, update)
	if err != nil {
		return run.WriteResult{}, err
	}
	for _, j := range found {
		digest = j.InputsDigest
	}
	var next run.Gates
	audit, err := r.Update(ctx, func(u *run.Update) error {
		if err := notMoved(u); err != nil {
			return err
		}
		for _, m := range update.Members() {
			if err := notAccepted(u, m.Key); err != nil {
				return err
			}
		}
		if next, err = u.PatchGates(update, given(update, found), digest, in.ExpectedRevision, run.Note(in.Reason)); err != nil {
			return err
		}
		for _, j := range found {
			if err := outputsAsTaken(u, j); err != nil {
				return err
			}
			logJudged(u, j)
		}
		return nil
	})
	if err != nil {
		return run.WriteResult{}, err
	}
	return run.Written(next.Revision(), next.Doc().Get("updated_at").Str(), audit), nil
}

// given is an update without what the judges found: of a gate that was judged, only
// the caller's own fields are left.
func given(update *codec.Value, found []run.Judgement) *codec.Value {
	out := codec.NewObject()
	for _, m := range update.Members() {
		patch := m.Value
		if slices.ContainsFunc(found, func(j run.Judgement) bool { return j.Gate == m.Key }) {
			patch = codec.NewObject()
			for _, key := range []string{"status", "checked_at", "notes"} {
				if value := m.Value.Get(key); value != nil {
					patch.Set(key, value)
				}
			}
		}
		out.Set(m.Key, patch.Clone())
	}
	return out
}

// judgeAgain runs the judge of every gate that update would leave passed, and
// puts its finding in place of what was handed in. Notes stay the caller's. It
// returns GATE_NOT_DERIVED.
func judgeAgain(ctx context.Context, r *run.Run, gates run.Gates, update *codec.Value) ([]run.Judgement, error) {
	var list []run.Judgement
	for _, m := range update.Members() {
		if m.Value.Kind() != codec.Object {
			continue // refused with its reason when it is applied
		}
		for _, key := range ownedMetrics {
			m.Value.Get("metrics").Delete(key)
		}
		if gates.Gate(m.Key) == nil || !wouldPass(gates.Status(m.Key), m.Value) {
			continue
		}
		found, err := Judge(ctx, r, m.Key)
		if err != nil {
			return nil, err
		}
		if found.Status() != run.GatePass {
			return nil, tidegate.Errorf(tidegate.GateNotDerived,
				tidegate.Pairs("gate", m.Key, "status", found.Status(), "metrics", found.Metrics, "warnings", found.Warnings),
				"gate %s does not pass: its judge finds %s", m.Key, strings.Join(found.Warnings, ", "))
		}
		judged := found.Patch(m.Value.Get("checked_at").Str())
		if m.Value.Get("checked_at") == nil {
			judged.Delete("checked_at") // for the rule that asks for it
		}
		if notes := m.Value.Get("notes"); notes != nil {
			judged.Set("notes", notes)
		}
		for _, given := range m.Value.Members() {
			if judged.Get(given.Key) == nil {
				judged.Set(given.Key, given.Value) // refused with its reason when it is applied
			}
		}
		update.Set(m.Key, judged)
		list = append(list, found)
	}
	return list, nil
}

// wouldPass reports whether a patch leaves a gate passed and says more than a note
// about it.
func wouldPass(status string, patch *codec.Value) bool {
	if given := patch.Get("status"); given != nil {
		status = given.Str()
	}
	says := slices.ContainsFunc(patch.Members(), func(m codec.Member) bool { return m.Key != "notes" && m.Key != "warnings" })
	return says && status == run.GatePass
}
