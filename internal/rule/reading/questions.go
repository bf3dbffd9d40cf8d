package reading

import (
	"cmp"
	"slices"
	"sync"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/rule/claim"
	"github.com/tidegate/tidegate/internal/rule/evidence"
)

// Questions are the sentences of a report as second readers are asked about them.
type Questions struct {
	Claims *evidence.Claims
	// Further gives the windows that a second look at a sentence adds.
	Further func(id string) []claim.Window
	// First and Second are what controls are made from at each look.
	First, Second Material

	prepare sync.Once                 // of First and Second
	first   map[string][]claim.Window // of sentences with a verdict: those of their first look
}

// SetParts fixes the parts in which sentences are read that nobody has read.
func SetParts(c *evidence.Claims) {
	c.Parts = nil
	addParts(c, Unread(c), 1)
}

// LookAgain adds the parts in which sentences are read once more, with more windows,
// where that can help. It reports whether there are any.
func (q *Questions) LookAgain() bool {
	if slices.ContainsFunc(q.Claims.Parts, func(p evidence.Part) bool { return p.Look > 1 }) {
		return false
	}
	before := len(q.Claims.Parts)
	addParts(q.Claims, SecondLook(q.Claims, q.Further), 2)
	return len(q.Claims.Parts) > before
}

func addParts(c *evidence.Claims, items []Item, look int) {
	for _, p := range Divide(items, len(c.Parts)+1) {
		part := evidence.Part{Number: p.Number, Look: look}
		for i := range p.Items {
			part.Sentences = append(part.Sentences, p.Items[i].ID)
		}
		c.Parts = append(c.Parts, part)
	}
}

// Ask is a part as its reader is asked, with controls as the seed has them. It returns
// JOB_NOT_FOUND.
func (q *Questions) Ask(number int, seed [SeedSize]byte) (Asked, error) {
	part, look, err := q.part(number)
	if err != nil {
		return Asked{}, err
	}
	q.prepare.Do(func() { q.First.prepared, q.Second.prepared = q.First.prepare(), q.Second.prepare() })
	if look > 1 {
		return Plant(part, seed, q.Second)
	}
	return Plant(part, seed, q.First)
}

// Record writes the verdicts of an answer into the document of the claims, with what its
// reader was tested with. By says who gave them. At a second look the better verdict
// counts. A sentence keeps the windows that its verdict was given for, the one with the
// words first.
func (q *Questions) Record(j Judged, by evidence.Verdict) {
	c := q.Claims
	c.Controls.Planted += j.Controls.Planted
	c.Controls.Hard += j.Controls.Hard
	c.Controls.Caught += j.Controls.Caught
	for _, g := range j.Given {
		s := c.Find(g.ID)
		if s == nil {
			continue
		}
		windows := q.windows(s, cmp.Or(by.Look, 1))
		if q.first == nil {
			q.first = map[string][]claim.Window{}
		}
		if _, known := q.first[s.ID]; !known {
			q.first[s.ID] = s.Windows
		}
		v := by
		v.Verdict, v.Words, v.Because, v.Look = g.Verdict, g.Words, g.Because, cmp.Or(by.Look, 1)
		if s.Verdict != nil && v.Look > 1 && v.Worse(*s.Verdict) {
			v, g.Passage, windows = *s.Verdict, 0, s.Windows
			v.Look = by.Look
		}
		if k := g.Passage - 1; 0 < k && k < len(windows) {
			windows = slices.Insert(slices.Delete(slices.Clone(windows), k, k+1), 0, windows[k])
		}
		s.Verdict, s.Windows = &v, windows
	}
}

// Open is a part for a person: its sentences by their ids, without controls. It returns
// JOB_NOT_FOUND.
func (q *Questions) Open(number int) (Asked, error) {
	part, _, err := q.part(number)
	return Asked{Items: part.Items, ByID: true}, err
}

// windows are those that are shown with a sentence at a look, whatever was said of it
// since.
func (q *Questions) windows(s *evidence.Claim, look int) []claim.Window {
	windows, known := q.first[s.ID]
	if !known {
		windows = s.Windows
	}
	if look > 1 {
		windows = slices.Concat(windows, q.Further(s.ID))
	}
	return windows
}

func (q *Questions) part(number int) (part Part, look int, err error) {
	for _, p := range q.Claims.Parts {
		if p.Number == number {
			return PartOf(q.Claims, p, func(s *evidence.Claim) []claim.Window { return q.windows(s, p.Look) }), p.Look, nil
		}
	}
	return Part{}, 0, tidegate.Errorf(tidegate.JobNotFound, tidegate.Pairs("part", number), "the report has no part %d to read", number)
}

// ControlWindows finds the windows of a control at a look, by how it is held against its
// pages: at the second look with those that it adds.
func ControlWindows(hold func(text string, cids []string) (claim.Judgement, error), look int) func(text string, cids []string) ([]claim.Window, error) {
	return func(text string, cids []string) ([]claim.Window, error) {
		held, err := hold(text, cids)
		if err != nil || look == 1 {
			return held.Windows, err
		}
		return slices.Concat(held.Windows, held.More), nil
	}
}
