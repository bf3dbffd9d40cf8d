package step

import (
	"context"
	"slices"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/wave"
)

// JudgeA is the judge of gate A: scope, perspectives and plan are there, belong
// to the run and fit each other, and every prompt of the plan is the one that
// the perspectives give.
func JudgeA(_ context.Context, r *run.Run) (run.Judgement, error) {
	found, _, err := JudgePlanning(r)
	return found, err
}

// JudgePlanning judges gate A, and says what each of its warnings is about.
func JudgePlanning(r *run.Run) (run.Judgement, tidegate.Details, error) {
	// Bound before anything is read: what changes in between is found when the
	// judgement is written.
	bound, err := run.Bind(r.Folder(), planningFiles(r))
	if err != nil {
		return run.Judgement{}, nil, err
	}
	plan, err := r.Folder().Read(r.Layout().Wave1Plan())
	if err != nil && tidegate.CodeOf(err) != tidegate.FileNotFound {
		return run.Judgement{}, nil, err
	}
	j := planning{run: r, manifest: r.Manifest(), bound: bound}
	if err := j.read(plan); err != nil {
		return run.Judgement{}, nil, err
	}
	return j.judgement(), j.details, nil
}

// planningFiles are what gate A is about.
func planningFiles(r *run.Run) []string {
	return []string{run.ScopeFile, r.Layout().Perspectives, r.Layout().Wave1Plan()}
}

// judgeWithPlan stages gate A as its judge finds it with the plan that the same
// update writes.
func (p *planner) judgeWithPlan(u *run.Update, plan []byte) error {
	bound, err := run.BindPending(p.run.Folder(), planningFiles(p.run), u.Pending())
	if err != nil {
		return err
	}
	j := planning{run: p.run, manifest: p.manifest, bound: bound}
	if err := j.read(plan); err != nil {
		return err
	}
	found := j.judgement()
	_, err = WriteJudgement(u, found, found.Patch(u.Now()), "judged with the plan")
	return err
}

// planning is one judgement of gate A under way.
type planning struct {
	run      *run.Run
	manifest run.Manifest
	bound    run.Binding // to the documents
	warnings []string
	details  tidegate.Details // of the warnings, by code

	scope, perspectives, plan   *codec.Value
	scopeValid, contractsValid  bool
	planValid, inOrder          bool
	promptsRight, promptsTotal  int
	perspectivesCount, maxCount int
}

func (j *planning) warn(code string, details tidegate.Details) {
	j.warnings = append(j.warnings, code)
	j.details = append(j.details, tidegate.Detail{Key: code, Value: details})
}

// read reads the three documents; plan is the bytes of the third. It returns
// READ_FAILED and PATH_NOT_ALLOWED.
func (j *planning) read(plan []byte) (err error) {
	l := j.run.Layout()
	if j.scope, j.scopeValid, err = j.document("SCOPE", "scope", run.ScopeFile, run.ScopeShape.Check); err != nil {
		return err
	}
	if j.perspectives, j.contractsValid, err = j.document("PERSPECTIVES", "perspectives", l.Perspectives, wave.CheckPerspectives); err != nil {
		return err
	}
	j.perspectivesCount = j.perspectives.Get("perspectives").Len()
	limit, _ := j.manifest.Limit("max_wave1_agents")
	j.maxCount = int(max(0, limit))
	if plan == nil {
		j.warn("WAVE1_PLAN_NOT_FOUND", tidegate.Pairs("wave1_plan_path", l.Wave1Plan()))
	} else if doc, err := codec.Parse(plan); err != nil {
		j.warn("WAVE1_PLAN_INVALID_JSON", tidegate.Pairs("wave1_plan_path", l.Wave1Plan()))
	} else {
		j.plan = doc
		j.checkPlan()
	}
	if j.perspectivesCount > j.maxCount {
		j.warn("PERSPECTIVE_CAP_EXCEEDED", tidegate.Pairs("max_wave1_agents", j.maxCount, "perspectives_count", j.perspectivesCount))
	}
	return j.compare()
}

// document reads one of the run's documents and warns of what is wrong with it.
// A failure to read it is an error, and says nothing about the document.
func (j *planning) document(code, label, name string, check func(*codec.Value) error) (doc *codec.Value, valid bool, err error) {
	at := tidegate.Pairs(label+"_path", name)
	data, err := j.run.Folder().Read(name)
	switch {
	case tidegate.CodeOf(err) == tidegate.FileNotFound:
		j.warn(code+"_NOT_FOUND", at)
		return nil, false, nil
	case err != nil:
		return nil, false, err
	}
	if doc, err = codec.Parse(data); err != nil {
		j.warn(code+"_INVALID_JSON", at)
		return nil, false, nil
	}
	if err := check(doc); err != nil {
		j.warn(code+"_SCHEMA_INVALID", append(at, tidegate.Detail{Key: "error", Value: tidegate.AsError(err).Message}))
		return doc, false, nil
	}
	if id := doc.Get("run_id").Str(); id != j.run.ID() {
		j.warn(code+"_RUN_ID_MISMATCH", append(at, tidegate.Pairs("manifest_run_id", j.run.ID(), label+"_run_id", tidegate.Cut(id))...))
		return doc, false, nil
	}
	return doc, true, nil
}

func (j *planning) checkPlan() {
	at := tidegate.Pairs("wave1_plan_path", j.run.Layout().Wave1Plan())
	invalid := func(reason string, index int) {
		details := append(at, tidegate.Detail{Key: "reason", Value: reason})
		if index >= 0 {
			details = append(details, tidegate.Detail{Key: "index", Value: index})
		}
		j.warn("WAVE1_PLAN_SCHEMA_INVALID", details)
	}
	entries := j.plan.Get("entries")
	switch {
	case j.plan.Get("schema_version").Str() != planVersion:
		invalid("schema_version", -1)
		return
	case entries.Kind() != codec.Array:
		invalid("entries", -1)
		return
	}
	for i, e := range entries.Elems() {
		switch {
		case e.Kind() != codec.Object:
			invalid("entry_not_object", i)
			return
		case e.Get("perspective_id").Str() == "" || e.Get("prompt_md").Str() == "":
			invalid("entry_missing_fields", i)
			return
		}
	}
	if id := j.plan.Get("run_id").Str(); id != j.run.ID() {
		j.warn("WAVE1_PLAN_RUN_ID_MISMATCH", append(at, tidegate.Pairs("manifest_run_id", j.run.ID(), "plan_run_id", tidegate.Cut(id))...))
		return
	}
	j.planValid = true
}

// compare compares the plan with the perspectives that it was made from. It returns
// READ_FAILED.
func (j *planning) compare() error {
	entries := j.plan.Get("entries").Elems()
	j.promptsTotal = len(entries)
	if !j.scopeValid || !j.contractsValid || !j.planValid {
		return nil
	}
	p := planner{run: j.run, manifest: j.manifest, perspectives: j.perspectives, scope: j.scope}
	want := p.entries()
	if len(entries) != len(want) {
		j.warn("PLAN_ENTRY_COUNT_MISMATCH", tidegate.Pairs("perspectives_count", len(want), "plan_entries_count", len(entries)))
		return nil
	}
	j.inOrder = true
	for i, e := range entries {
		if id := e.Get("perspective_id").Str(); id != want[i].PerspectiveID {
			j.inOrder = false
			j.warn("PLAN_PERSPECTIVE_ORDER_MISMATCH", tidegate.Pairs("index", i, "expected", want[i].PerspectiveID, "actual", tidegate.Cut(id)))
			return nil
		}
	}
	other := -1
	for i, e := range entries {
		if e.Get("prompt_md").Str() == want[i].PromptMD {
			j.promptsRight++
		} else if other < 0 {
			other = i
		}
	}
	if other < 0 {
		return nil
	}
	before, err := j.passedBefore()
	switch {
	case err != nil:
		return err
	case before:
		j.promptsRight = len(entries)
	default:
		j.warn("PLAN_PROMPT_MISMATCH", tidegate.Pairs("index", other, "perspective_id", want[other].PerspectiveID))
	}
	return nil
}

// passedBefore reports whether the log says that the judge of this gate has passed
// these very documents: an earlier program, which worded its prompts otherwise.
func (j *planning) passedBefore() (bool, error) {
	events, err := j.run.EventsOf(run.EventJudged)
	if err != nil {
		return false, err
	}
	files := codec.Digest(j.bound.Value().Get("files"))
	return slices.ContainsFunc(events, func(e run.Entry) bool {
		line := e.Entry
		return line.Get("gate").Str() == "A" && line.Get("status").Str() == "pass" && line.Get("files").Len() > 0 && codec.Digest(line.Get("files")) == files
	}), nil
}

func (j *planning) judgement() run.Judgement {
	rate := 0.0
	if j.promptsTotal > 0 {
		rate = float64(j.promptsRight) / float64(j.promptsTotal)
	}
	metrics := tidegate.Pairs("scope_present", codec.Flag(j.scope != nil), "scope_valid", codec.Flag(j.scopeValid),
		"perspectives_present", codec.Flag(j.perspectives != nil), "perspectives_valid", codec.Flag(j.contractsValid),
		"wave1_plan_present", codec.Flag(j.plan != nil), "wave1_plan_valid", codec.Flag(j.planValid),
		"perspectives_count", j.perspectivesCount, "plan_entries_count", j.promptsTotal, "max_wave1_agents", j.maxCount,
		"ids_match_in_order", codec.Flag(j.inOrder), "prompt_scope_contract_ok_count", j.promptsRight,
		"prompt_scope_contract_total", j.promptsTotal, "prompt_scope_contract_rate", rate)
	if j.perspectivesCount == 0 && len(j.warnings) == 0 {
		j.warn("PERSPECTIVES_EMPTY", tidegate.Pairs("perspectives_count", 0)) // a gate that checked nothing has not passed
	}
	l := j.run.Layout()
	return run.Judgement{
		Gate: "A", Metrics: metrics, Warnings: j.warnings, Bound: j.bound,
		InputsDigest: codec.Digest(tidegate.Pairs("schema", "gate_a_evaluate.inputs.v1", "run_id", j.run.ID(), "scope_path", run.ScopeFile,
			"perspectives_path", l.Perspectives, "wave1_plan_path", l.Wave1Plan(), "metrics", metrics,
			"warnings", append([]string{}, j.warnings...), "warning_details", append(tidegate.Details{}, j.details...))),
	}
}

// WriteJudgement stages one judgement, with the digests of what was judged and more
// fields of its line.
func WriteJudgement(u *run.Update, found run.Judgement, patch *codec.Value, reason string, more ...tidegate.Detail) (run.Gates, error) {
	if err := notAccepted(u, found.Gate); err != nil {
		return run.Gates{}, err
	}
	update := codec.NewObject()
	update.Set(found.Gate, patch)
	after, err := u.EditGates(update, found.InputsDigest, reason, more...)
	if err == nil {
		logJudged(u, found)
	}
	return after, err
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

// logJudged records the files on which a gate passed, so that the log covers them
// from here on, whoever wrote them. A gate that fails covers nothing: its files may
// have been edited, and run verify must go on saying so.
func logJudged(u *run.Update, found run.Judgement) {
	files := codec.NewObject()
	for _, m := range found.Bound.Value().Get("files").Members() {
		if found.Passed() && m.Key != run.ManifestFile && m.Value.Kind() == codec.String {
			files.Set(m.Key, m.Value)
		}
	}
	u.Log(run.EventJudged, "gate_judged", tidegate.Pairs("gate", found.Gate, "status", found.Status(), "inputs_digest", found.InputsDigest,
		"warnings", found.Said(), "files", files))
}
