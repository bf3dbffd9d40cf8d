package stage

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/rule/synthesis"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/sentences"
	"github.com/tidegate/tidegate/internal/work/step"
)

// Precondition is one thing that a move needs.
type Precondition struct {
	Text  string // for the printed table; "" for what is noted but never blocks
	check func(*situation) (finding, error)
}

// Check is one entry of a decision's evaluated list.
type Check struct {
	Kind    string           `json:"kind"`
	Name    string           `json:"name"`
	OK      bool             `json:"ok"`
	Details tidegate.Details `json:"details"`
}

// Blocker is one precondition that is not met.
type Blocker struct {
	Code    tidegate.Code    `json:"code"`
	Message string           `json:"message"`
	Details tidegate.Details `json:"details"`
	Meet    []Remedy         `json:"meet"`
}

// finding is the result of checking a precondition. A check that the earlier system
// does not have gets an entry only where it blocks, so that an allowed move has the
// same digest in both.
type finding struct {
	entry   *Check
	blocker *Blocker
}

func met(kind, name string, details tidegate.Details) finding {
	return finding{entry: &Check{kind, name, true, details}}
}

func unmet(kind, name string, details tidegate.Details, b Blocker) finding {
	return finding{entry: &Check{kind, name, false, details}, blocker: &b}
}

var (
	perspectivesThere = fileThere("perspectives file exists", func(l run.Layout) string { return l.Perspectives }, remedyPerspectives)
	waveReviewThere   = fileThere("wave review report exists", func(l run.Layout) string { return l.WaveReview }, remedyWaveReview)
	citationsThere    = fileThere("citations file exists", func(l run.Layout) string { return l.Citations }, remedyCitations)
	summaryPackThere  = fileThere("summary pack exists", func(l run.Layout) string { return l.SummaryPack }, remedySummaryPack)
	synthesisThere    = fileThere("final synthesis exists", run.Layout.Synthesis, func(s *situation) []Remedy {
		return []Remedy{{Text: "write the synthesis to " + s.run.Path(s.run.Layout().Synthesis())}}
	})

	wave1Outputs = outputsThere("wave 1 has at least one output", run.Wave1)
	wave2Outputs = outputsThere("wave 2 has at least one output, or its plan no entries", run.Wave2)

	gateB = gatePassed("B")
	gateC = gatePassed("C")
	gateD = gatePassed("D")
	gateE = gatePassed("E")
	gateF = gatePassed("F")
)

func fileThere(text string, name func(run.Layout) string, remedy func(*situation) []Remedy) Precondition {
	return Precondition{text, func(s *situation) (finding, error) {
		file := name(s.run.Layout())
		details := tidegate.Pairs("path", s.run.Path(file))
		there, err := s.run.Folder().Exists(file)
		if err != nil {
			return finding{}, err
		}
		if there {
			return met("artifact", file, details), s.bind(file)
		}
		return unmet("artifact", file, details, Blocker{
			Code: tidegate.MissingArtifact, Message: file + " does not exist", Details: tidegate.Pairs("file", file), Meet: remedy(s),
		}), nil
	}}
}

// synthesisJudged holds a run back whose final synthesis is not the one that a job handed
// in: nobody could be asked about its sentences. Until a job has, the run has none, and
// its review sends it back.
var synthesisJudged = Precondition{"sentences are those of the final synthesis", func(s *situation) (finding, error) {
	claims, err := sentences.ReadClaims(s.run)
	switch {
	case tidegate.CodeOf(err) == tidegate.SchemaValidationFailed: // its readers name a damaged one
		return finding{}, nil
	case err != nil || claims == nil:
		return finding{}, err
	}
	name := s.run.Layout().Synthesis()
	digest, err := s.run.Folder().Digest(name)
	if err != nil || digest == "" || digest == claims.SynthesisDigest {
		return finding{}, err
	}
	return unmet("artifact", name, tidegate.Pairs("path", s.run.Path(name)), Blocker{
		Code: tidegate.MissingArtifact, Message: name + " is a text that no job has handed in", Details: tidegate.Pairs("file", name),
		Meet: []Remedy{{Text: "hand it in as the answer of the job that writes the report"}},
	}), nil
}}

func outputsThere(text string, wave run.Stage) Precondition {
	return Precondition{text, func(s *situation) (finding, error) {
		dir := s.run.WaveDir(wave)
		asked, err := s.run.PerspectiveIDs(s.run.ContractsOf(wave)) // where it has none, any id counts
		if err != nil {
			return finding{}, err
		}
		outputs, err := s.run.Outputs(dir, asked)
		if err != nil {
			return finding{}, err
		}
		details := tidegate.Pairs("path", s.run.Path(dir), "count", len(outputs))
		if len(outputs) == 0 && wave == run.Wave2 {
			plan, err := step.ReadWave2Plan(s.run)
			if err != nil {
				return finding{}, err
			}
			if plan != nil && len(plan.Get("entries").Elems()) == 0 {
				name := s.run.Layout().Wave2Plan()
				return met("artifact", name, details), s.bind(name)
			}
		}
		if len(outputs) > 0 {
			return met("artifact", dir, details), s.bind(outputs...)
		}
		return unmet("artifact", dir, details, Blocker{
			Code: tidegate.MissingArtifact, Message: dir + " has no output: no file <perspective id>.md",
			Details: tidegate.Pairs("dir", dir), Meet: remedyOutputs(s, wave),
		}), nil
	}}
}

// bind adds the digests of files to the evidence of the decision.
func (s *situation) bind(names ...string) error {
	binding, err := run.Bind(s.run.Folder(), names)
	if err != nil {
		return err
	}
	for _, m := range binding.Value().Get("files").Members() {
		s.evidence[m.Key] = m.Value.Str()
	}
	return nil
}

func gatePassed(id string) Precondition {
	return Precondition{"gate " + id + " passed", func(s *situation) (finding, error) {
		state, err := s.gate(id)
		if err != nil {
			return finding{}, err
		}
		details := tidegate.Pairs("gate", id, "status", codec.OrNull(state.Counts()))
		name := "Gate " + id
		blocked := func(extra tidegate.Details, format string, args ...any) (finding, error) {
			return unmet("gate", name, details, Blocker{
				Code: tidegate.GateBlocked, Message: fmt.Sprintf(format, args...),
				Details: append(tidegate.Pairs("gate", id, "status", state.Status), extra...), Meet: remedyGate(s, id),
			}), nil
		}
		switch {
		case len(state.Changed) > 0:
			return blocked(tidegate.Pairs("changed", state.Changed), "gate %s says %s, but what it judged has changed since: %s",
				id, state.Status, tidegate.Cut(strings.Join(state.Changed, ", ")))
		case state.Status != run.GatePass:
			return blocked(nil, "gate %s has not passed: it is %s", id, cmp.Or(state.Status, "not there"))
		}
		return met("gate", name, details), nil
	}}
}

// stillPassed are the gates that were passed before and must still count. The
// earlier system does not check them, so they leave an entry only where they
// block. In a run that another program or an older version began, gate A need not
// have been judged.
func stillPassed(ids ...string) []Precondition {
	list := make([]Precondition, len(ids))
	for i, id := range ids {
		passed := gatePassed(id)
		list[i] = Precondition{passed.Text, func(s *situation) (finding, error) {
			f, err := passed.check(s)
			if f.blocker == nil || id == "A" && s.run.Older() && s.states["A"].Counts() == run.GateNotRun {
				return finding{}, err
			}
			return f, err
		}}
	}
	return list
}

// recordMatches is checked before the preconditions of every move: a run whose
// documents are not those that its log records does not move.
var recordMatches = Precondition{"the documents are those that the log records", func(s *situation) (finding, error) {
	err := s.run.CheckRecord()
	if tidegate.CodeOf(err) != tidegate.Tampered {
		return finding{}, err
	}
	e := tidegate.AsError(err)
	return unmet("record", "documents match the log", e.Details, unrecorded(s, e)), nil
}}

// unrecorded is what stands in the way of a run that is not what its log says.
func unrecorded(s *situation, e *tidegate.Error) Blocker {
	return Blocker{Code: e.Code, Message: e.Message, Details: e.Details, Meet: []Remedy{
		{Text: "see what does not match", Tool: verifyRun.Tool, Arguments: tidegate.Pairs("manifest_path", s.run.ManifestPath()), Command: verifyRun.on(s)},
		{Text: "a person accepts what is there", Command: acceptRecord.on(s, "--reason", "TEXT")},
	}}
}

var wave2Folder = Precondition{"", func(s *situation) (finding, error) {
	dir := s.run.Layout().Wave2Dir
	there, err := s.run.HasFolder(dir)
	if err != nil {
		return finding{}, err
	}
	return finding{entry: &Check{"artifact", dir, there, tidegate.Pairs("path", s.run.Path(dir))}}, nil
}}

var pivotDecided = Precondition{"pivot decision is well-formed", func(s *situation) (finding, error) {
	p, err := s.readPivot()
	if err != nil {
		return finding{}, err
	}
	details := tidegate.Pairs("path", s.run.Path(p.name), "run_wave2", p.decision.Wave2Required, "wave2_gap_count", len(p.decision.GapIDs),
		"error", codec.OrNull(p.problem))
	if p.problem == "" {
		return met("artifact", p.name, details), nil
	}
	return unmet("artifact", p.name, details, Blocker{
		Code: tidegate.MissingArtifact, Message: "there is no usable pivot decision: " + p.problem,
		Details: tidegate.Pairs("file", p.name, "problem", p.problem), Meet: remedyPivot(s),
	}), nil
}}

var pivotWantsWave2 = Precondition{"pivot decision requires wave 2", func(s *situation) (finding, error) {
	p, err := s.readPivot()
	if err != nil || p.problem != "" || p.decision.Wave2Required {
		return finding{}, err
	}
	return unmet("policy", "pivot requires wave2 before it is entered", tidegate.Pairs("run_wave2", false), Blocker{
		Code: tidegate.RequestedNextNotAllowed, Message: "the pivot decision skips wave 2; the next stage is citations",
		Details: tidegate.Pairs("requested_next", run.Wave2, "run_wave2", false), Meet: remedyAdvance(s, run.Citations),
	}), nil
}}

var wave2GapsNamed = Precondition{"pivot decision names the gaps of wave 2", func(s *situation) (finding, error) {
	p, err := s.readPivot()
	if err != nil || p.problem != "" || !p.decision.Wave2Required || len(p.decision.GapIDs) > 0 {
		return finding{}, err
	}
	return unmet("policy", "wave2 has at least one gap", tidegate.Pairs("wave2_gap_count", 0), Blocker{
		Code: tidegate.InvalidState, Message: "the pivot decision requires wave 2 but names no gap for it",
		Details: tidegate.Pairs("file", p.name, "wave2_gap_ids", []string{}), Meet: remedyPivot(s),
	}), nil
}}

// wave2Cap never blocks: a plan takes as many gaps as the run allows and lists
// the others.
var wave2Cap = Precondition{"", func(s *situation) (finding, error) {
	p, err := s.readPivot()
	if err != nil || p.problem != "" || !p.decision.Wave2Required {
		return finding{}, err
	}
	limit, _ := s.capOf("max_wave2_agents")
	count := int64(len(p.decision.GapIDs))
	if count > limit {
		return finding{}, nil
	}
	return met("limit", "wave2_gap_ids <= max_wave2_agents", tidegate.Pairs("stage", run.Wave2, "cap", limit, "count", count)), nil
}}

var pivotSkipsWave2 = Precondition{"pivot decision skips wave 2", func(s *situation) (finding, error) {
	p, err := s.readPivot()
	if err != nil || p.problem != "" {
		return finding{}, err
	}
	const name = "pivot requires citations only when wave2 is skipped"
	details := tidegate.Pairs("run_wave2", p.decision.Wave2Required)
	if !p.decision.Wave2Required {
		return met("policy", name, details), nil
	}
	return unmet("policy", name, details, Blocker{
		Code: tidegate.RequestedNextNotAllowed, Message: "the pivot decision requires wave 2; the next stage is wave2",
		Details: tidegate.Pairs("requested_next", run.Citations, "run_wave2", true), Meet: remedyAdvance(s, run.Wave2),
	}), nil
}}

var reviewed = Precondition{"review bundle is well-formed", func(s *situation) (finding, error) {
	b, err := s.readReview()
	if err != nil {
		return finding{}, err
	}
	details := tidegate.Pairs("path", s.run.Path(b.name), "decision", codec.OrNull(string(b.bundle.Decision)), "error", codec.OrNull(b.problem))
	if b.problem == "" {
		return met("artifact", b.name, details), nil
	}
	return unmet("artifact", b.name, details, Blocker{
		Code: tidegate.MissingArtifact, Message: "there is no usable review bundle: " + b.problem,
		Details: tidegate.Pairs("file", b.name, "problem", b.problem), Meet: remedySynthesisReview(s),
	}), nil
}}

// reviewedToFinalize is not in the earlier system, so it leaves an entry only where
// it blocks.
var reviewedToFinalize = Precondition{reviewed.Text, func(s *situation) (finding, error) {
	f, err := reviewed.check(s)
	if f.blocker == nil {
		f.entry = nil
	}
	return f, err
}}

var reviewPassed = Precondition{"review decision is PASS", func(s *situation) (finding, error) {
	b, err := s.readReview()
	if err != nil || b.problem != "" || b.bundle.Decision == synthesis.ReviewPass {
		return finding{}, err
	}
	return unmet("policy", "review->finalize requires PASS", tidegate.Pairs("decision", b.bundle.Decision), Blocker{
		Code: tidegate.RequestedNextNotAllowed, Message: "the review demands changes; the next stage is synthesis",
		Details: tidegate.Pairs("decision", b.bundle.Decision, "requested_next", run.Finalize), Meet: remedyAdvance(s, run.Synthesis),
	}), nil
}}

// reviewCounts: the review is about the synthesis that stands there, and comes
// from a review job or a person. The log must say so, because a file can say
// anything. The log of another program says nothing about it.
var reviewCounts = Precondition{"review by a job or a person is about this synthesis", func(s *situation) (finding, error) {
	b, err := s.readReview()
	if err != nil || b.problem != "" {
		return finding{}, err
	}
	name := s.run.Layout().Synthesis()
	if err := s.bind(name); err != nil {
		return finding{}, err
	}
	objection := b.bundle.Objection(s.evidence[name])
	if objection == "" {
		recorded, err := s.run.RecordedOf(b.name)
		if err != nil || s.run.Older() || recorded == s.evidence[b.name] {
			return finding{}, err
		}
		objection = "the log does not know the review"
	}
	return unmet("artifact", b.name, tidegate.Pairs("path", s.run.Path(b.name), "decision", b.bundle.Decision, "error", objection), Blocker{
		Code: tidegate.MissingArtifact, Message: "there is no review that counts: " + objection,
		Details: tidegate.Pairs("file", b.name, "problem", objection), Meet: remedySynthesisReview(s),
	}), nil
}}

// reviewWantsChanges also lets a run go back to synthesis when the review passed
// but gate E failed: otherwise it could go neither way.
var reviewWantsChanges = Precondition{"review decision is CHANGES_REQUIRED, or gate E failed", func(s *situation) (finding, error) {
	b, err := s.readReview()
	if err != nil || b.problem != "" {
		return finding{}, err
	}
	const name = "review->synthesis requires CHANGES_REQUIRED"
	details := tidegate.Pairs("decision", b.bundle.Decision)
	if b.bundle.Decision == synthesis.ReviewChanges {
		return met("policy", name, details), nil
	}
	state, err := s.gate("E")
	if err != nil {
		return finding{}, err
	}
	if state.Counts() == run.GateFail {
		return met("policy", "review->synthesis because gate E failed", tidegate.Pairs("decision", b.bundle.Decision, "gate", "E")), nil
	}
	return unmet("policy", name, details, Blocker{
		Code: tidegate.RequestedNextNotAllowed, Message: "the review passed and gate E has not failed; the next stage is finalize",
		Details: tidegate.Pairs("decision", b.bundle.Decision, "requested_next", run.Synthesis), Meet: remedyAdvance(s, run.Finalize),
	}), nil
}}

// roundLimit is the limit on rounds, by who sends a run back to writing.
var roundLimit = map[string]string{run.ByRule: "max_verify_rounds", run.ByReview: "max_review_iterations"}

// sentBackBy says whether the rule or a review sends the run back to writing.
func (s *situation) sentBackBy() (string, error) {
	b, err := s.readReview()
	if err == nil && b.bundle.MadeBy.Actor == tidegate.Rule {
		return run.ByRule, nil
	}
	return run.ByReview, err
}

var reviewLimitValid = Precondition{"limits.max_review_iterations is a number of at least 0", func(s *situation) (finding, error) {
	by, err := s.sentBackBy()
	if err != nil {
		return finding{}, err
	}
	limit := roundLimit[by]
	if _, ok := s.roundCap(limit); ok {
		return finding{}, nil
	}
	value := s.manifest.Doc().Get("limits").Get(limit)
	return unmet("limit", limit+" >= 0", tidegate.Pairs("value", value), Blocker{
		Code: tidegate.InvalidState, Message: "limits." + limit + " must be a number of at least 0",
		Details: tidegate.Pairs("value", value),
		Meet:    []Remedy{{Text: "a person sets the limit", Command: limitRun.on(s, limit, "NUMBER")}},
	}), nil
}}

// roundCap is a limit on rounds. A run that an earlier program began has none on those
// that a rule asks for: the default counts.
func (s *situation) roundCap(name string) (int64, bool) {
	if name == roundLimit[run.ByRule] && s.manifest.Doc().Get("limits").Get(name) == nil {
		return run.DefaultVerifyRounds, true
	}
	return s.capOf(name)
}

// reviewCap bounds the rounds that a review asks for, and apart from them those that the
// rule asks for because sentences do not stand.
var reviewCap = Precondition{"fewer review rounds than limits.max_review_iterations", func(s *situation) (finding, error) {
	by, err := s.sentBackBy()
	if err != nil {
		return finding{}, err
	}
	limit, ok := s.roundCap(roundLimit[by])
	if !ok {
		return finding{}, nil
	}
	count, gate, rounds := int64(len(s.manifest.RoundsByRule())), "E", "rounds in which sentences did not stand"
	if by == run.ByReview {
		count, gate, rounds = s.manifest.ReviewRounds()-count, "", "review rounds"
	}
	limit = allowance(s.manifest, tidegate.ReviewCapExceeded, gate, limit)
	details := tidegate.Pairs("cap", limit, "count", count)
	name := "review->synthesis count < " + roundLimit[by]
	if count < limit {
		return met("limit", name, details), nil
	}
	message := fmt.Sprintf("all %d %s are used", limit, rounds)
	if limit == 0 {
		message = "the report needs another round, and none is allowed"
	}
	return unmet("limit", name, details, Blocker{
		Code: tidegate.ReviewCapExceeded, Message: message,
		Details: details, Meet: remedyAccept(s),
	}), nil
}}

// statusAllows is checked before the preconditions of every move.
var statusAllows = Precondition{"status is created or running", func(s *situation) (finding, error) {
	status := s.manifest.Status()
	if slices.Contains(advancing, status) {
		return finding{}, nil
	}
	b := Blocker{
		Code: tidegate.InvalidState, Message: fmt.Sprintf("the run is %s; only a created or running run advances", status),
		Details: tidegate.Pairs("status", status),
	}
	switch status {
	case run.Paused:
		b.Meet = []Remedy{{Text: "a person resumes the run", Command: resumeRun.on(s)}}
	case run.Failed:
		b.Message = "the run has failed and needs a person"
		if failures := s.manifest.Failures(); len(failures) > 0 {
			last := failures[len(failures)-1]
			b.Message += ": " + tidegate.Cut(last.Get("message").Str())
			b.Details = tidegate.Pairs("status", status, "failure", last)
		}
		b.Meet = remedyAccept(s)
	default:
		b.Meet = []Remedy{{Text: "start a new run: a " + string(status) + " run is final"}}
	}
	return unmet("status", "status allows advance", tidegate.Pairs("status", status), b), nil
}}

// switchedOn is the switch that the earlier system keeps in a manifest.
func switchedOn(m run.Manifest) error {
	enabled := m.Doc().Get("query").Get("constraints").Get("deep_research_cli").Get("enabled")
	if enabled.Kind() != codec.Bool || enabled.Bool() {
		return nil
	}
	const where = "query.constraints.deep_research_cli.enabled"
	return tidegate.Errorf(tidegate.Disabled, tidegate.Pairs("constraint_path", where, "instruction", "set "+where+" to true in the manifest"),
		"the run is switched off by %s", where)
}
