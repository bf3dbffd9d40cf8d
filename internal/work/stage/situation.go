package stage

import (
	"math"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/rule/synthesis"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/step"
	"github.com/tidegate/tidegate/pivot"
)

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
	data, err := s.run.Folder().Read(name)
	switch {
	case tidegate.CodeOf(err) == tidegate.FileNotFound:
		return nil, missing, nil
	case err != nil:
		return nil, "", err
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
