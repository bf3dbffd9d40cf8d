package reading

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tidegate/tidegate/internal/rule/claim"
	"github.com/tidegate/tidegate/internal/rule/evidence"
)

// The limits of a part.
const (
	MaxClaims = 25       // controls included
	MaxBytes  = 48 << 10 // of its prompt
)

// Item is a claim as a reader sees it.
type Item struct {
	ID      string // of the sentence; "" for a control
	Form    Form
	Text    string
	Context evidence.Context
	Windows []claim.Window

	cids  []string
	found bool              // it stands by rule
	said  *evidence.Verdict // what was said of it before, nil for nothing
	stays bool              // a person accepted it
	hard  bool              // a control with every word on the page
	sense bool              // a control that only its sense gives away
}

// Form says what a reader is asked about a claim.
type Form string

// The forms.
const (
	Statement Form = "statement" // do the passages say it?
	Inference Form = "inference" // does it follow from the passages?
	Judgement Form = "judgement" // do the passages give its reasons, and does nothing in them speak against it?
	Absence   Form = "absence"   // does no passage give it?
	Frame     Form = "frame"     // does it assert nothing beyond what it introduces?
)

// Unread are the sentences that nobody has read, in the order of the report.
func Unread(c *evidence.Claims) []Item {
	var items []Item
	for i := range c.Sentences {
		if s := &c.Sentences[i]; s.Verdict == nil && s.Accepted == nil {
			items = append(items, itemOf(s, s.Windows))
		}
	}
	return items
}

// SecondLook are the sentences whose verdict is another than supported and that were
// looked at once, with further windows behind those that were shown. Further gives them;
// a sentence that has none is left out.
func SecondLook(c *evidence.Claims, further func(id string) []claim.Window) []Item {
	var items []Item
	for i := range c.Sentences {
		s := &c.Sentences[i]
		if s.Verdict == nil || s.Verdict.Verdict == evidence.Supported || s.Verdict.Look > 1 || s.Accepted != nil || s.Form == evidence.Frame {
			continue
		}
		if windows := further(s.ID); len(windows) > 0 {
			items = append(items, itemOf(s, slices.Concat(s.Windows, windows)))
		}
	}
	return items
}

// PartOf is a part as the document of the claims has it. Windows gives those that are
// shown with a sentence.
func PartOf(c *evidence.Claims, p evidence.Part, windows func(s *evidence.Claim) []claim.Window) Part {
	part := Part{Number: p.Number}
	for _, other := range c.Parts {
		if other.Look == p.Look {
			part.Of++
		}
	}
	for _, id := range p.Sentences {
		if s := c.Find(id); s != nil {
			part.Items = append(part.Items, itemOf(s, windows(s)))
		}
	}
	return part
}

func itemOf(s *evidence.Claim, windows []claim.Window) Item {
	item := Item{ID: s.ID, Form: Statement, Text: s.Text, Context: s.Context, Windows: windows, cids: s.CIDs, found: s.Standing == claim.Found, said: s.Verdict, stays: s.Accepted != nil}
	switch {
	case s.Form == evidence.Frame:
		item.Form, item.Windows = Frame, []claim.Window{{Text: s.Context.Shown}}
	case s.Form == evidence.Absent:
		item.Form = Absence
	case s.Form == evidence.Inferred && s.Judgement:
		item.Form = Judgement
	case s.Form == evidence.Inferred:
		item.Form = Inference
	}
	if s.Calculation != nil {
		item.Windows = append(item.Windows[:len(item.Windows):len(item.Windows)], formulaWindow(s.Calculation.Text))
	}
	return item
}

// A calculation is shown as a passage of its own, of no page.
const calculated = "Calculated: "

func formulaWindow(formula string) claim.Window {
	return claim.Window{Text: calculated + formula}
}

func isFormula(w claim.Window) bool { return w.CID == "" && strings.HasPrefix(w.Text, calculated) }

// Part is what one reader is asked at once.
type Part struct {
	Number int
	Of     int // how many there are that readers see side by side
	Items  []Item
}

// controlsFor is how many controls a part with so many claims has.
func controlsFor(claims int) int { return max(3, (claims+5)/6) }

// Divide divides claims into parts in their order, as equal as possible, so that each
// has room for its controls. First is the number of the first part.
func Divide(items []Item, first int) []Part {
	if len(items) == 0 {
		return nil
	}
	sizes := make([]int, len(items))
	for i := range items {
		sizes[i] = items[i].size()
	}
	for n := (len(items) + MaxClaims - 1) / MaxClaims; ; n++ {
		if n == len(items) || fits(sizes, n) {
			parts := make([]Part, n)
			for k := range parts {
				parts[k] = Part{first + k, n, items[k*len(items)/n : (k+1)*len(items)/n]}
			}
			return parts
		}
	}
}

// fits reports whether n equal parts keep to the limits. A control may be as large as
// the largest claim beside it.
func fits(sizes []int, n int) bool {
	for k := range n {
		of := sizes[k*len(sizes)/n : (k+1)*len(sizes)/n]
		controls, all, largest := controlsFor(len(of)), len(instructions)+64, 0
		for _, size := range of {
			all, largest = all+size, max(largest, size)
		}
		if len(of)+controls > MaxClaims || all+controls*largest > MaxBytes {
			return false
		}
	}
	return true
}

// size is how many bytes of a prompt a claim takes.
func (i *Item) size() int { return len(i.prompt(MaxClaims)) }

// SeedSize is the length of a seed in bytes.
const SeedSize = 16

// PinnedSeed is the seed of an attempt that is to be the same each time: under a pinned
// clock, and for a recording that has none.
func PinnedSeed(job string, attempt int, synthesisDigest string) [SeedSize]byte {
	return [SeedSize]byte(sum(fmt.Sprintf("%s\n%d\n%s", job, attempt, synthesisDigest)))
}
