package stage

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/rule/synthesis"
	"github.com/tidegate/tidegate/internal/work/gates"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/sentences"
	"github.com/tidegate/tidegate/internal/work/sourcing"
	"github.com/tidegate/tidegate/internal/work/step"
	"github.com/tidegate/tidegate/pivot"
)

// AdvanceInput are the arguments of [Advance].
type AdvanceInput struct {
	ManifestPath             string `json:"manifest_path" path:"absolute" jsonschema:"absolute path of the run's manifest.json"`
	GatesPath                string `json:"gates_path" path:"absolute" jsonschema:"absolute path of the run's gates.json"`
	RequestedNext            string `json:"requested_next,omitzero" jsonschema:"the stage to move to, where more than one can follow, such as wave2 or citations after pivot"`
	ExpectedManifestRevision *int64 `json:"expected_manifest_revision,omitzero" jsonschema:"the manifest revision that the decision was made on" min:"1"`
	Reason                   string `json:"reason" jsonschema:"why, for the audit log"`
	DryRun                   bool   `json:"dry_run,omitzero" jsonschema:"decide and change nothing, not even the audit log"`
}

// AdvanceResult is the result of [Advance].
type AdvanceResult struct {
	OK               codec.True `json:"ok"`
	From             run.Stage  `json:"from"`
	To               run.Stage  `json:"to"`
	Decision         Decision   `json:"decision"`
	ManifestRevision int64      `json:"manifest_revision"`
	DryRun           bool       `json:"dry_run,omitzero"`
	// Judged are the gates that were in the way and were judged by the call.
	Judged []gates.GateRecord `json:"-"`
	runID  string
}

// Decision is what was looked at, and whether it allows the move. InputsDigest
// is the earlier system's. EvidenceDigest covers the content of the files, by names
// relative to the run: it is the same wherever the run lies, and changes when
// something that was judged changes.
type Decision struct {
	Allowed        bool    `json:"allowed"`
	Evaluated      []Check `json:"evaluated"`
	InputsDigest   string  `json:"inputs_digest"`
	EvidenceDigest string  `json:"evidence_digest"`
}

// Advance is the tool deep_research_stage_advance: it judges and records the gates in
// the way of a run, and moves it to its next stage when every precondition of the move
// is met. With DryRun it judges and changes nothing, not even the audit log, and takes
// no lock. It returns the errors of [Move] and [gates.RecordGate]; the refusal by a gate
// that does not pass says what its judge found.
func Advance(ctx context.Context, desk run.Desk, in AdvanceInput) (AdvanceResult, error) {
	var judged []gates.GateRecord
	for {
		moved, err := Move(ctx, desk, in)
		moved.Judged = judged
		id := blockedBy(err)
		if at := slices.IndexFunc(judged, func(g gates.GateRecord) bool { return g.GateID == id }); at >= 0 {
			return moved, refusedBy(judged[at], err)
		}
		if id == "" || in.DryRun {
			return moved, err
		}
		record, err := gates.RecordGate(ctx, desk, gates.GateInput{ManifestPath: in.ManifestPath, Gate: id, Reason: in.Reason})
		if err != nil {
			return moved, err
		}
		judged = append(judged, record)
	}
}

// blockedBy is the gate that a refused move names first, "" where the first thing in
// the way is no gate.
func blockedBy(err error) string {
	if tidegate.CodeOf(err) != tidegate.GateBlocked {
		return ""
	}
	id, _ := tidegate.AsError(err).Details.Get("gate")
	text, _ := id.(string)
	return text
}

// refusedBy is a refusal by a gate with what its judge found.
func refusedBy(g gates.GateRecord, err error) error {
	if g.Passed() {
		return err
	}
	refusal := tidegate.AsError(err)
	details := append(slices.Clone(refusal.Details), tidegate.Pairs("warnings", g.Warnings, "notes", g.Notes, "changes", g.Changes, "metrics", g.Metrics)...)
	return tidegate.Errorf(refusal.Code, details, "gate %s does not pass: %s", g.GateID, tidegate.Cut(strings.Join(g.Warnings, ", ")))
}

// Move moves a run to its next stage when every precondition of the move is met, its
// gates as they were last judged.
//
// A refusal has the code and details of the first blocker, and in
// details.blockers all of them with what would meet each: TAMPERED, INVALID_STATE,
// MISSING_ARTIFACT, GATE_BLOCKED, WAVE_CAP_EXCEEDED, REVIEW_CAP_EXCEEDED,
// REQUESTED_NEXT_NOT_ALLOWED. When the rounds are used up, and that is the first of
// them, the run is left to a person: failed, with the reason.
//
// It also returns INVALID_ARGS, NOT_FOUND, INVALID_JSON,
// SCHEMA_VALIDATION_FAILED, REVISION_MISMATCH, DISABLED, PATH_NOT_ALLOWED (the
// gates are not the run's own), LOCK_HELD, READ_FAILED and WRITE_FAILED.
func Move(ctx context.Context, desk run.Desk, in AdvanceInput) (AdvanceResult, error) {
	if err := run.CheckPath("gates_path", in.GatesPath); err != nil {
		return AdvanceResult{}, err
	}
	if err := run.CheckText("reason", in.Reason); err != nil {
		return AdvanceResult{}, err
	}
	return run.With(ctx, desk, in.ManifestPath, func(r *run.Run, out *AdvanceResult) error {
		if err := r.OwnGates(in.GatesPath); err != nil {
			return err
		}
		gates, err := r.Gates()
		if err != nil {
			return err
		}
		facts, err := readFacts(ctx, r)
		if err != nil {
			return err
		}
		if in.DryRun {
			v, err := decide(r, r.Manifest(), gates, facts, in)
			if err != nil {
				return err
			}
			*out = v.result(r.Manifest().Revision(), true)
			return v.refusal()
		}
		var v verdict
		_, err = r.Update(ctx, func(u *run.Update) error {
			m := u.Manifest()
			g, err := u.Gates()
			if err != nil {
				return err
			}
			if err := notMovedSince(r.Manifest(), m); err != nil {
				return err
			}
			if v, err = decide(r, m, g, facts, in); err != nil {
				return err
			}
			err = v.carryOut(ctx, u, g, in.Reason)
			*out = v.result(u.Manifest().Revision(), false)
			return err
		})
		if err != nil {
			return err
		}
		return v.refusal()
	})
}

// notMovedSince returns REVISION_MISMATCH when another process moved the run
// between the call and the lock: when two callers want to move the run out of one
// stage, the second must not move it out of the next.
func notMovedSince(seen, now run.Manifest) error {
	if seen.Stage() == now.Stage() && seen.Moves() == now.Moves() {
		return nil
	}
	return tidegate.Errorf(tidegate.RevisionMismatch, tidegate.Pairs("expected", seen.Revision(), "got", now.Revision()),
		"another caller moved the run from %s to %s meanwhile", seen.Stage(), now.Stage())
}

// verdict is a decision with everything that led to it.
type verdict struct {
	from      run.Stage
	to        run.Stage // "" when no decision of the run says where to go
	requested run.Stage // "" when the caller leaves it to the rules
	decision  Decision
	blockers  []Blocker
	s         *situation
}

func (v verdict) result(revision int64, dryRun bool) AdvanceResult {
	return AdvanceResult{From: v.from, To: v.to, Decision: v.decision, ManifestRevision: revision, DryRun: dryRun, runID: v.s.run.ID()}
}

// refusal is the error of a verdict that does not allow the move, else nil.
func (v verdict) refusal() error {
	if len(v.blockers) == 0 {
		return nil
	}
	first := v.blockers[0]
	details := slices.Clone(first.Details)
	for _, d := range tidegate.Pairs("from", v.from, "to", codec.OrNull(string(v.to)), "decision", v.decision, "blockers", v.blockers) {
		if _, ok := details.Get(d.Key); !ok {
			details = append(details, d)
		}
	}
	message := first.Message
	if n := len(v.blockers) - 1; n > 0 {
		message = fmt.Sprintf("%s (and %d more in details.blockers)", message, n)
	}
	return tidegate.Errorf(first.Code, details, "%s", message)
}

// decide judges whether the run may take the move that in requests. It changes
// nothing.
func decide(r *run.Run, m run.Manifest, g run.Gates, facts *step.PivotFacts, in AdvanceInput) (verdict, error) {
	if err := run.ManifestShape.Check(m.Doc()); err != nil {
		return verdict{}, err
	}
	if err := run.CheckRevision(in.ExpectedManifestRevision, m.Revision()); err != nil {
		return verdict{}, err
	}
	if err := switchedOn(m); err != nil {
		return verdict{}, err
	}
	s := &situation{run: r, manifest: m, gates: g, facts: facts, states: map[string]run.GateState{}, evidence: map[string]string{}}
	from := m.Stage()
	if len(movesFrom(from)) == 0 {
		return verdict{}, tidegate.Errorf(tidegate.InvalidState, tidegate.Pairs("stage", from, "status", m.Status()),
			"the run is in stage %s, after which there is none", from)
	}
	requested := run.Stage(strings.TrimSpace(in.RequestedNext))
	if requested != "" && !slices.Contains(run.Stages, requested) {
		return verdict{}, tidegate.Errorf(tidegate.RequestedNextNotAllowed, tidegate.Pairs("requested_next", tidegate.Cut(string(requested))),
			"%q is not a stage", tidegate.Cut(string(requested)))
	}
	if _, ok := findMove(from, requested); requested != "" && !ok {
		return verdict{}, tidegate.Errorf(tidegate.RequestedNextNotAllowed,
			tidegate.Pairs("from", from, "requested_next", requested, "allowed_next", stagesFrom(from)),
			"%s does not follow %s; allowed next: %s", requested, from, joined(stagesFrom(from)))
	}
	return s.judge(from, requested)
}

// joined lists stages or statuses in words.
func joined[T ~string](names []T) string { return strings.Join(run.Texts(names), ", ") }

// judge checks the status and every precondition of the move.
func (s *situation) judge(from, requested run.Stage) (verdict, error) {
	v := verdict{from: from, to: requested, requested: requested, s: s}
	add := func(p Precondition) (finding, error) {
		f, err := p.check(s)
		if f.entry != nil {
			v.decision.Evaluated = append(v.decision.Evaluated, *f.entry)
		}
		if f.blocker != nil {
			v.blockers = append(v.blockers, *f.blocker)
		}
		return f, err
	}
	for _, p := range []Precondition{recordMatches, statusAllows} {
		if _, err := add(p); err != nil {
			return v, err
		}
	}
	decisive, to, err := s.choose(from)
	if err != nil {
		return v, err
	}
	if requested == "" {
		v.to = to
		if decisive != nil {
			if _, err := add(*decisive); err != nil {
				return v, err
			}
		}
	}
	needs := neededAnyway(from)
	if m, ok := findMove(from, v.to); ok {
		v.decision.Evaluated = append(v.decision.Evaluated, Check{"transition", string(from) + " -> " + string(v.to), true, tidegate.Pairs()})
		needs = m.needs
	}
	for _, p := range needs {
		if requested == "" && decisive != nil && p.Text == decisive.Text {
			continue // it was checked to choose the move
		}
		if _, err := add(p); err != nil {
			return v, err
		}
	}
	// Gates come after everything else, in the order of their letters.
	slices.SortStableFunc(v.blockers, func(a, b Blocker) int { return strings.Compare(a.gate(), b.gate()) })
	v.decision.Allowed = len(v.blockers) == 0
	v.decision.InputsDigest = s.inputsDigest(v)
	v.decision.EvidenceDigest = s.evidenceDigest(v)
	return v, nil
}

// neededAnyway is what every move out of a stage needs, wherever it leads.
func neededAnyway(from run.Stage) []Precondition {
	moves := movesFrom(from)
	return slices.DeleteFunc(slices.Clone(moves[0].needs), func(p Precondition) bool {
		return p.Text == "" || slices.ContainsFunc(moves, func(m move) bool {
			return !slices.ContainsFunc(m.needs, func(other Precondition) bool { return other.Text == p.Text })
		})
	})
}

// gate is the gate that a blocker is about, "" for none.
func (b Blocker) gate() string {
	id, _ := b.Details.Get("gate")
	text, _ := id.(string)
	return text
}

// choose is the move that is taken when none is requested, and the precondition
// whose file decides it. The stage is "" when that file says nothing usable.
func (s *situation) choose(from run.Stage) (decisive *Precondition, to run.Stage, err error) {
	switch from {
	case run.Pivot:
		p, err := s.readPivot()
		switch {
		case err != nil:
			return nil, "", err
		case p.problem != "":
			return &pivotDecided, "", nil
		case p.decision.Wave2Required:
			return &pivotDecided, run.Wave2, nil
		}
		return &pivotDecided, run.Citations, nil
	case run.Review:
		b, err := s.readReview()
		switch {
		case err != nil:
			return nil, "", err
		case b.problem != "":
			return &reviewed, "", nil
		case b.bundle.Decision == synthesis.ReviewPass:
			return &reviewed, run.Finalize, nil
		}
		return &reviewed, run.Synthesis, nil
	}
	return nil, movesFrom(from)[0].to, nil
}

// inputsDigest is the decision digest of the earlier system, over names that hold
// wherever the run lies.
func (s *situation) inputsDigest(v verdict) string {
	statuses := codec.NewObject()
	for _, id := range run.GateIDs() {
		statuses.Set(id, codec.OrNull(s.gates.Status(id)))
	}
	return codec.Digest(tidegate.Pairs("schema", "stage_advance.decision.v1", "from", v.from, "to", codec.OrNull(string(v.to)),
		"requested_next", codec.OrNull(string(v.requested)), "manifest_revision", s.manifest.Revision(),
		"gates_revision", s.gates.Revision(), "gates_status", statuses, "evaluated", s.inRecord(v.decision.Evaluated)))
}

// inRecord are checks with paths as the run's record has them.
func (s *situation) inRecord(checks []Check) []Check {
	checks = slices.Clone(checks)
	for i, c := range checks {
		checks[i].Details = slices.Clone(c.Details)
		for j, d := range c.Details {
			if path, ok := d.Value.(string); ok && d.Key == "path" {
				checks[i].Details[j].Value = s.run.InRecord(path)
			}
		}
	}
	return checks
}

func (s *situation) evidenceDigest(v verdict) string {
	files, gates := codec.NewObject(), codec.NewObject()
	for name, digest := range s.evidence {
		files.Set(name, codec.Of(digest))
	}
	for id, state := range s.states {
		bound := s.gates.Gate(id).Get("metrics").Get("bound").Get("digest")
		gates.Set(id, codec.Of(tidegate.Pairs("status", state.Counts(), "bound", codec.OrNull(bound.Str()))))
	}
	return codec.Digest(tidegate.Pairs("schema", "stage_advance.evidence.v1", "from", v.from, "to", codec.OrNull(string(v.to)),
		"files", files, "gates", gates))
}

// carryOut stages the move. When the review cap comes first of what is in the way, it
// stages that the run is left to a person: judging gates again would not help.
func (v verdict) carryOut(ctx context.Context, u *run.Update, g run.Gates, reason string) error {
	reason = run.Note(reason)
	if len(v.blockers) > 0 {
		first := v.blockers[0]
		if first.Code != tidegate.ReviewCapExceeded {
			return nil
		}
		u.As(tidegate.Actor{Kind: tidegate.Rule, By: tidegate.ByRule})
		count, _ := first.Details.Get("count")
		failure := run.Failure{Message: first.Message, Code: first.Code}
		failure.Count, _ = count.(int64)
		if by, err := v.s.sentBackBy(); err != nil {
			return err
		} else if by == run.ByRule {
			failure.Gate = "E"
		}
		return LeaveToPerson(u, failure, "stage_advance: "+reason)
	}
	status := run.Running
	if v.to == run.Finalize {
		status = run.Completed
	}
	if v.to == run.Wave2 {
		p, err := v.s.readPivot()
		if err != nil {
			return err
		}
		seen, err := sourcing.Seen(ctx, u.Run(), p.decision.Gaps)
		if err != nil {
			return err
		}
		if err := step.PlanWave2(u, p.decision, seen); err != nil {
			return err
		}
	}
	if v.to == run.Summaries {
		// A pack may be built and judged early; it counts as it is judged in its stage.
		if err := u.DropGates("gate D is judged in stage summaries", "D"); err != nil {
			return err
		}
	}
	by := ""
	if v.from == run.Review && v.to == run.Synthesis {
		var err error
		if by, err = v.s.sentBackBy(); err != nil {
			return err
		}
		if err := sentences.KeepRound(u, v.s.manifest.ReviewRounds()+1); err != nil {
			return err
		}
	}
	seed := ""
	if v.from == run.Review {
		var err error
		if seed, err = sentences.ClosingSeed(u.Run()); err != nil {
			return err
		}
	}
	return u.MoveTo(run.Move{From: v.from, To: v.to, Status: status, Reason: reason, Seed: seed, InputsDigest: v.decision.InputsDigest,
		EvidenceDigest: v.decision.EvidenceDigest, GatesRevision: g.Revision(), Requested: v.requested, By: by})
}

// readFacts reads what a move out of stage pivot rests on, before the lock is
// taken. It is nil in every other stage.
func readFacts(ctx context.Context, r *run.Run) (*step.PivotFacts, error) {
	if r.Manifest().Stage() != run.Pivot {
		return nil, nil
	}
	facts, err := step.ReadPivot(ctx, r)
	return &facts, err
}

// situation is a run as the rules see it: its documents, and what its files
// say. Files are read when a precondition first asks for them.
type situation struct {
	run      *run.Run
	manifest run.Manifest
	gates    run.Gates
	facts    *step.PivotFacts // what the outputs say about the pivot, nil where it does not matter
	pivot    *pivotFile
	review   *reviewBundle
	states   map[string]run.GateState
	evidence map[string]string // name → digest of what a precondition looked at
}

// pivotFile is what the rules read of the pivot decision.
type pivotFile struct {
	name     string
	problem  string // "" when it is well-formed and counts
	decision pivot.Recorded
}

// reviewBundle is what the rules read of the review bundle.
type reviewBundle struct {
	name    string
	problem string // "" when it is well-formed
	bundle  synthesis.Bundle
}

func (s *situation) readPivot() (*pivotFile, error) {
	if s.pivot != nil {
		return s.pivot, nil
	}
	p := &pivotFile{name: s.run.Layout().Pivot}
	doc, problem, err := s.document(p.name, "pivot.json missing", "pivot not object")
	if err != nil {
		return nil, err
	}
	if p.problem = problem; problem == "" {
		p.decision, p.problem = pivot.ReadRecorded(doc)
	}
	if p.problem == "" && s.facts != nil {
		if p.problem, err = s.pivotCounts(p); err != nil {
			return nil, err
		}
		p.decision = s.facts.Settled(p.decision)
	}
	if p.problem != "" {
		p.decision = pivot.Recorded{}
	}
	s.pivot = p
	return p, nil
}

// pivotCounts says why a decision does not count, or "". The outputs from which the
// facts were read must be unchanged.
func (s *situation) pivotCounts(p *pivotFile) (problem string, err error) {
	if err := s.bind(s.facts.Names()...); err != nil {
		return "", err
	}
	for name, digest := range s.facts.Digests() {
		if s.evidence[name] != digest {
			return name + " changed while it was looked at", nil
		}
	}
	return s.facts.Counts(s.run, p.decision, s.evidence[p.name])
}

func (s *situation) readReview() (*reviewBundle, error) {
	if s.review != nil {
		return s.review, nil
	}
	b := &reviewBundle{name: s.run.Layout().ReviewBundle}
	doc, problem, err := s.document(b.name, "review-bundle.json missing", "review bundle not object")
	if err != nil {
		return nil, err
	}
	if b.problem = problem; problem == "" {
		b.bundle, b.problem = synthesis.ReadBundle(doc)
	}
	s.review = b
	return b, nil
}

// document reads a JSON object of the run. A file that is missing, is not an object
// or belongs to another run is a problem; one that cannot be read at all is an
// error.
func (s *situation) document(name, missing, notObject string) (doc *codec.Value, problem string, err error) {
	data, err := s.run.Folder().ReadIfThere(name)
	if data == nil || err != nil {
		return nil, missing, err
	}
	s.evidence[name] = codec.DigestBytes(data)
	doc, err = codec.Parse(data)
	if err != nil {
		return nil, "not JSON: " + err.Error(), nil
	}
	if doc.Kind() != codec.Object {
		return nil, notObject, nil
	}
	if id := doc.Get("run_id"); id.Kind() == codec.String && id.Str() != s.run.ID() {
		return nil, "belongs to run " + tidegate.Cut(id.Str()), nil
	}
	return doc, "", nil
}

// gate is the state of a gate, compared once with the files that it judged.
func (s *situation) gate(id string) (run.GateState, error) {
	if state, ok := s.states[id]; ok {
		return state, nil
	}
	state, err := s.run.GateState(s.gates, id)
	if err == nil {
		s.states[id] = state
	}
	return state, err
}

// capOf is a limit of the manifest as a whole number; ok is false when it is
// not a number of at least 0.
func (s *situation) capOf(name string) (limit int64, ok bool) {
	f, ok := s.manifest.Limit(name)
	if !ok || f < 0 {
		return 0, false
	}
	return int64(math.Trunc(min(f, 1<<53))), true
}
