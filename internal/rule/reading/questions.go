package reading

import (
	"cmp"
	"slices"
	"sync"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/rule/claim"
	"github.com/tidegate/tidegate/internal/rule/evidence"
)

// Material is what twins are made from beside their sentences.
type Material struct {
	Language string
	Question string // of the run, "" for none
	// Text is the readable text of a source, "" for one without.
	Text func(cid string) string
	// WeakFirst deals what rules cannot settle into the first parts, and what they refuse into
	// the last, for a budget that ends the reading.
	WeakFirst bool
}

// Questions are the sentences of a report as second readers are asked about them.
type Questions struct {
	Material
	Claims *evidence.Claims
	// Further gives the windows that a second look at a sentence adds.
	Further func(id string) []claim.Window
	Seed    Seed

	mu    sync.Mutex
	dealt map[int]Dealt             // by look
	first map[string][]claim.Window // of sentences with a verdict: those of their first look
}

// SetParts fixes the parts in which sentences are read that nobody has read.
func (q *Questions) SetParts() {
	q.Claims.Parts, q.dealt = nil, nil
	q.deal(1, Unread(q.Claims), 1)
}

// LookAgain adds the parts in which sentences are read once more, with more windows,
// where that can help. It reports whether there are any.
func (q *Questions) LookAgain() bool {
	if slices.ContainsFunc(q.Claims.Parts, func(p evidence.Part) bool { return p.Look > 1 }) {
		return false
	}
	before := len(q.Claims.Parts)
	q.deal(2, SecondLook(q.Claims, q.Further), before+1)
	return len(q.Claims.Parts) > before
}

// deal deals the sentences of a look, and adds its parts to the document where it has none.
func (q *Questions) deal(look int, open []Item, first int) Dealt {
	var tests []Item
	for i := range q.Claims.Sentences {
		if s := &q.Claims.Sentences[i]; s.Verdict != nil && s.Verdict.Verdict == evidence.Supported {
			item := itemOf(s, q.windows(s, 1))
			item.test = true
			tests = append(tests, item)
		}
	}
	for _, item := range open {
		if item.Form == Finding {
			tests = append(tests, q.halves(item)...)
		}
	}
	d := deal(open, tests, first, q.Seed, q.Material)
	if q.dealt == nil {
		q.dealt = map[int]Dealt{}
	}
	q.dealt[look] = d
	if !slices.ContainsFunc(q.Claims.Parts, func(p evidence.Part) bool { return p.Look == look }) {
		q.Claims.Parts = append(q.Claims.Parts, d.parts(look)...)
	}
	return d
}

// Look are the parts of a look with their pairs, dealt again where this document was read
// from a file: as the seed had it when nothing of the look was recorded.
func (q *Questions) Look(look int) Dealt {
	q.mu.Lock()
	defer q.mu.Unlock()
	if d, known := q.dealt[look]; known {
		return d
	}
	var open []Item
	first := 0
	of := map[string]bool{}
	for _, p := range q.Claims.Parts {
		if p.Look == look {
			first = cmp.Or(first, p.Number)
			for _, id := range p.Sentences {
				of[id] = true
			}
		}
	}
	for i := range q.Claims.Sentences {
		if s := &q.Claims.Sentences[i]; of[s.ID] && (s.Verdict == nil || s.Verdict.Verdict != evidence.Supported) {
			open = append(open, itemOf(s, q.windows(s, look)))
		}
	}
	return q.deal(look, open, first)
}

// Ask is a part as its reader is asked. It returns JOB_NOT_FOUND.
func (q *Questions) Ask(number int) (Asked, error) {
	part, err := q.part(number)
	asked := q.Look(part.Look).Parts[number]
	asked.Question = q.Question
	return asked, err
}

// Open is a part for a person: its sentences by their ids, without twins. It returns
// JOB_NOT_FOUND.
func (q *Questions) Open(number int) (Asked, error) {
	asked, err := q.Ask(number)
	claims := slices.DeleteFunc(slices.Clone(asked.Items), func(i Item) bool { return i.Twin })
	return Asked{Items: claims, ByID: true, Question: q.Question}, err
}

func (q *Questions) part(number int) (evidence.Part, error) {
	for _, p := range q.Claims.Parts {
		if p.Number == number {
			return p, nil
		}
	}
	return evidence.Part{}, tidegate.Errorf(tidegate.JobNotFound, tidegate.Pairs("part", number), "the report has no part %d to read", number)
}

// Record writes the verdicts of an answer into the document of the claims, with what its
// reader was tested with. By says who gave them. At a second look the better verdict
// counts. A sentence keeps the windows that its verdict was given for, the one with the
// words first. Part is the number of the part.
func (q *Questions) Record(part int, j Judged, by evidence.Verdict) {
	c := q.Claims
	c.Pairs.Add(j.Pairs)
	for i := range c.Parts {
		c.Parts[i].Read = c.Parts[i].Read || c.Parts[i].Number == part
	}
	for _, g := range j.Given {
		s := c.Find(g.ID)
		if s == nil {
			continue
		}
		test := s.Verdict != nil && s.Verdict.Verdict == evidence.Supported
		windows := q.windows(s, cmp.Or(by.Look, 1))
		if test {
			windows = q.windows(s, 1)
		}
		if q.first == nil {
			q.first = map[string][]claim.Window{}
		}
		if _, known := q.first[s.ID]; !known {
			q.first[s.ID] = s.Windows
		}
		v := by
		v.Verdict, v.Words, v.Because, v.Look = g.Verdict, g.Words, g.Because, cmp.Or(by.Look, 1)
		if s.Verdict != nil && !test && v.Look > 1 && v.Worse(*s.Verdict) {
			v, g.Passage, windows = *s.Verdict, 0, s.Windows
			v.Look = by.Look
		}
		if k := g.Passage - 1; 0 < k && k < len(windows) {
			windows = slices.Insert(slices.Delete(slices.Clone(windows), k, k+1), 0, windows[k])
		}
		s.Verdict, s.Windows = &v, windows
	}
}

// windows are those that are shown with a sentence at a look, whatever was said of it
// since.
func (q *Questions) windows(s *evidence.Claim, look int) []claim.Window {
	windows, known := q.first[s.ID]
	if !known {
		windows = s.Windows
	}
	if look > 1 && q.Further != nil {
		windows = slices.Concat(windows, q.Further(s.ID))
	}
	return windows
}
