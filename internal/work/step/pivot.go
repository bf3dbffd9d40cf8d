package step

import (
	"context"
	"fmt"
	"maps"
	"path"
	"slices"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/pivot"
)

// PivotFacts are what a run's own outputs say about its pivot, as they were when
// they were read.
type PivotFacts struct {
	Decision pivot.Decision
	Problem  string // why the outputs give no decision, "" when they do
	digests  map[string]string
}

// ReadPivot decides the pivot of a run from its own outputs and writes nothing.
// It returns READ_FAILED and the errors of [run.Open].
func ReadPivot(ctx context.Context, r *run.Run) (PivotFacts, error) {
	facts := PivotFacts{digests: map[string]string{}}
	contracts, err := ReadContracts(r, run.Wave1)
	if err != nil {
		return PivotFacts{Problem: tidegate.AsError(err).Message}, nil
	}
	for _, p := range contracts.Doc.List {
		name := r.Output(run.Wave1, p.ID)
		data, err := r.Folder().Read(name)
		if err != nil {
			facts.Problem = name + " cannot be read"
			return facts, nil
		}
		facts.digests[name] = codec.DigestBytes(data)
	}
	in, err := PivotOf(ctx, r.Desk(), r.ManifestPath())
	if err == nil {
		in.ManifestPath = ""
		facts.Decision, err = DecidePivot(ctx, r.Desk(), in)
	}
	if tidegate.CodeOf(err) == tidegate.Cancelled {
		return facts, err
	}
	if err != nil {
		facts.Problem = tidegate.AsError(err).Message
	}
	return facts, nil
}

// Names are the outputs that the facts were read from, in byte order.
func (f PivotFacts) Names() []string { return slices.Sorted(maps.Keys(f.digests)) }

// Digests are the digests of the outputs that the facts were read from, by name.
func (f PivotFacts) Digests() map[string]string { return f.digests }

// Counts says why a recorded decision does not count, or "". It counts when it
// was made in stage pivot, from the run's own outputs as they are. When an agent
// named its gaps, they must be those of the outputs themselves; a person may name
// others.
func (f PivotFacts) Counts(r *run.Run, d pivot.Recorded, digest string) (problem string, err error) {
	if f.Problem != "" {
		return f.Problem, nil
	}
	if d.Early != "" {
		return "it was made in stage " + tidegate.Cut(d.Early) + ", and counts only when it is made in stage pivot", nil
	}
	if len(d.Outputs) != len(f.digests) {
		return fmt.Sprintf("it was made from %d outputs, the run has %d", len(d.Outputs), len(f.digests)), nil
	}
	for _, o := range d.Outputs {
		name := path.Clean(o.Name)
		if want := f.digests[name]; want == "" || name != r.Output(run.Wave1, o.PerspectiveID) {
			return "it was made from " + tidegate.Cut(o.Name) + ", which is not an output of the run", nil
		} else if o.Digest != want {
			return name + " has changed since it was decided", nil
		}
	}
	if sameDecision(d, f.Decision) {
		return "", nil
	}
	if d.Actor == tidegate.Person {
		byPerson, err := decidedByPerson(r, digest)
		if err != nil || byPerson {
			return "", err
		}
	}
	return "its gaps are not those that the outputs state", nil
}

// Settled is a recorded decision that counts. If its gaps are those of the outputs,
// they are taken from there: only there is it said from which perspective a gap came,
// and so by which contract it is closed.
func (f PivotFacts) Settled(d pivot.Recorded) pivot.Recorded {
	if sameDecision(d, f.Decision) {
		d.Gaps = f.Decision.Gaps
	}
	return d
}

func sameDecision(d pivot.Recorded, own pivot.Decision) bool {
	if d.Wave2Required != own.Wave2Required || len(d.Gaps) != len(own.Gaps) || len(d.GapIDs) != len(own.Wave2GapIDs) {
		return false
	}
	for i, g := range own.Gaps {
		if d.Gaps[i].ID != g.ID || d.Gaps[i].Priority != g.Priority || d.Gaps[i].Text != g.Text {
			return false
		}
	}
	for i, id := range own.Wave2GapIDs {
		if d.GapIDs[i] != id {
			return false
		}
	}
	return true
}

// decidedByPerson reports whether, by the log, a person's command wrote the
// decision with these bytes.
func decidedByPerson(r *run.Run, digest string) (bool, error) {
	events, err := r.Events()
	if err != nil {
		return false, err
	}
	for i := len(events) - 1; i >= 0; i-- {
		e := events[i]
		if e.Event == run.EventFiles && e.Entry.Get("files").Get(r.Layout().Pivot).Str() == digest {
			return e.Actor == tidegate.Person, nil
		}
	}
	return false, nil
}
