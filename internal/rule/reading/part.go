package reading

import (
	"slices"
	"strings"

	"github.com/tidegate/tidegate/internal/rule/claim"
	"github.com/tidegate/tidegate/internal/rule/evidence"
)

// The limits of a part.
const (
	MaxClaims = 25       // twins included
	MaxBytes  = 48 << 10 // of its prompt
)

// Item is a claim as a reader sees it.
type Item struct {
	ID      string // of the sentence; of a twin that of the sentence that it contradicts
	Twin    bool
	Form    Form
	Text    string
	Context evidence.Context
	Windows []claim.Window

	cids  []string
	rule  claim.Standing    // how it stands by rule
	said  *evidence.Verdict // what was said of it before, nil for nothing
	stays bool              // a person accepted it
	test  bool              // it is supported, and asked again to test its reader alone
	hard  bool              // a twin with every word on the page
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
	Finding   Form = "finding"   // is the code as it says?
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

func itemOf(s *evidence.Claim, windows []claim.Window) Item {
	item := Item{ID: s.ID, Form: Statement, Text: s.Text, Context: s.Context, Windows: windows, cids: s.CIDs, rule: s.Standing, said: s.Verdict, stays: s.Accepted != nil}
	switch {
	case s.Form == evidence.Frame:
		item.Form, item.Windows = Frame, []claim.Window{{Text: s.Context.Shown}}
	case s.Form == evidence.Finding:
		item.Form = Finding
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

// size is how many bytes of a prompt a claim takes.
func (i *Item) size() int { return len(i.prompt(MaxClaims)) }
