package reading

import (
	"slices"
	"sync"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/rule/claim"
	"github.com/tidegate/tidegate/internal/rule/evidence"
)

// Questions are the sentences of a report as second readers are asked about them.
type Questions struct {
	Claims *evidence.Claims
	// Further gives the windows of a sentence at a second look.
	Further func(id string) []evidence.Window
	// First and Second are what controls are made from at each look.
	First, Second Material

	prepare sync.Once // of First and Second
}

// SetParts fixes the parts in which sentences are read that nobody has read.
func SetParts(c *evidence.Claims) {
	c.Parts = nil
	addParts(c, Unread(c), 1)
}

// LookAgain adds the parts in which sentences are read once more, with the next windows,
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

// Open is a part for a person: its sentences by their ids, without controls. It returns
// JOB_NOT_FOUND.
func (q *Questions) Open(number int) (Asked, error) {
	part, _, err := q.part(number)
	return Asked{Items: part.Items, ByID: true}, err
}

func (q *Questions) part(number int) (part Part, look int, err error) {
	for _, p := range q.Claims.Parts {
		if p.Number == number {
			further := q.Further
			if p.Look == 1 {
				further = nil
			}
			return PartOf(q.Claims, p, further), p.Look, nil
		}
	}
	return Part{}, 0, tidegate.Errorf(tidegate.JobNotFound, tidegate.Pairs("part", number), "the report has no part %d to read", number)
}

// ControlWindows finds the windows of a control at a look, by how it is held against its
// pages. At the second it has as many as a claim has there, so that nobody tells it by
// their number; the best one is among them, so that its words are no sign either.
func ControlWindows(hold func(text string, cids []string) (claim.Judgement, error), look int) func(text string, cids []string) ([]evidence.Window, error) {
	return func(text string, cids []string) ([]evidence.Window, error) {
		held, err := hold(text, cids)
		if err != nil || look == 1 || len(held.Windows) == 0 {
			return evidence.WindowsOf(held.Windows), err
		}
		return evidence.WindowsOf(append(held.Windows[:1:1], held.Further...)[:len(held.Further)]), nil
	}
}
