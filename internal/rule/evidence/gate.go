package evidence

import (
	"fmt"
	"slices"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/rule/claim"
	"github.com/tidegate/tidegate/internal/text/figure"
)

// Outcome is what gate E makes of the sentences of a report.
type Outcome struct {
	Open    []*Claim  // nobody has read them
	Refused []Refusal // in the order of the report
	Marked  []Refusal // tolerated, or, without a second reader, not confirmed
}

// Refusal is a sentence with what is held against it.
type Refusal struct {
	*Claim
	Why string
}

// Pass reports whether the gate passes, as far as sentences decide.
func (o Outcome) Pass() bool { return len(o.Open) == 0 && len(o.Refused) == 0 }

// Objects reports whether something is held against a sentence, or nobody has read it.
func (o Outcome) Objects(id string) bool {
	is := func(r Refusal) bool { return r.ID == id }
	return slices.ContainsFunc(o.Refused, is) || slices.ContainsFunc(o.Marked, is) || slices.ContainsFunc(o.Open, func(c *Claim) bool { return c.ID == id })
}

// tolerated is how many of n sentences need not be confirmed.
func tolerated(n int) int { return min(3, max(1, n/20)) }

// Judge decides on the sentences of a report: each must be supported, and no rule may
// hold a fault against it. The last few, in the report's order, that are partly
// supported or unclear, or have a number that the rule misses and the reader confirms
// with words that hold one, are tolerated and marked; frames are not, nothing in the
// first section or in the answer, and nothing that is unsupported. What a person accepted stands. Without a second reader the rules
// decide alone, and weak sentences and frames are marked.
func (c *Claims) Judge(secondReader bool) Outcome {
	var o Outcome
	stated := 0
	for i := range c.Sentences {
		if c.Sentences[i].Form != Frame {
			stated++
		}
	}
	left := tolerated(stated)
	for i := range slices.Backward(c.Sentences) {
		s := &c.Sentences[i]
		switch why, tolerable := s.objection(secondReader); {
		case why == "" || s.Accepted != nil:
		case secondReader && s.Verdict == nil && tolerable:
			o.Open = append(o.Open, s)
		case !secondReader && tolerable:
			o.Marked = append(o.Marked, Refusal{s, why})
		case tolerable && !s.Firm && left > 0:
			left--
			o.Marked = append(o.Marked, Refusal{s, why})
		default:
			o.Refused = append(o.Refused, Refusal{s, why})
		}
	}
	slices.Reverse(o.Open)
	slices.Reverse(o.Refused)
	slices.Reverse(o.Marked)
	return o
}

// objection says what is held against a sentence, "" for nothing, and whether the report
// may have it all the same, marked.
func (s *Claim) objection(secondReader bool) (why string, tolerable bool) {
	missing := false // a number
	for _, f := range s.Findings {
		switch {
		case f.Level != claim.Fault:
		case f.Rule == "numbers" && secondReader:
			missing = true
		case f.Rule == "absent":
			return "an archived page has it: " + f.Text, false
		default:
			return fmt.Sprintf("the rule for %s misses %q on its pages", f.Rule, f.Text), false
		}
	}
	switch {
	case !secondReader && s.Form == Frame:
		return "not read", true
	case !secondReader && s.Standing == claim.Weak:
		return "not confirmed: by rule it is weak, and nobody read it", true
	case !secondReader:
		return "", false
	case s.Verdict == nil:
		return "not read", true
	case s.Verdict.Verdict == Supported && missing:
		return "a number of it was not found by rule, and the second reader confirms it", len(figure.Numerals([]rune(s.Verdict.Words))) > 0
	case s.Verdict.Verdict == Supported:
		return "", false
	}
	return "the second reader says: " + s.Verdict.Verdict, s.Form != Frame && s.Verdict.Verdict != Unsupported
}

// Directive is one change that the next draft must make. Line and action are the rule's
// own words; the rest is data that others wrote.
type Directive struct {
	Line     int            `json:"line"`
	Action   string         `json:"action"`
	ID       string         `json:"id"`
	Sentence string         `json:"sentence"`
	Windows  []claim.Window `json:"windows"`
	Because  string         `json:"because"` // the second reader's
}

// Directives are what the rule asks of the next draft: one for each sentence that is
// refused. A sentence with two strikes must be dropped.
func (o Outcome) Directives(strikes map[string]int) []Directive {
	var all []Directive
	for _, r := range o.Refused {
		why := r.reason()
		d := Directive{Line: r.Line, ID: r.ID, Sentence: r.Text, Windows: r.Windows,
			Action: fmt.Sprintf("Sentence %s does not stand: %s. Write what its passages say, cite a page that says it, or drop it.", r.ID, why)}
		if strikes[r.ID] >= maxStrikes {
			d.Action = fmt.Sprintf("%s: sentence %s did not stand in two rounds, as it was or as it was replaced; in this one, %s. Drop it, with nothing in its place.", tidegate.DropRequired, r.ID, why)
		}
		if r.Verdict != nil {
			d.Because = r.Verdict.Because
		}
		all = append(all, d)
	}
	return all
}

// reason is what is held against a sentence, with the numbers that no page of it has and
// without silence about a reader who gives no reason.
func (r Refusal) reason() string {
	why := r.Why
	for _, f := range r.Findings {
		if f.Rule == "numbers" && f.Level == claim.Fault {
			why += fmt.Sprintf("; its pages do not have %q", f.Text)
		}
	}
	if v := r.Verdict; v != nil && v.Verdict != Supported && v.Because == "" {
		why += "; the second reader gives no reason"
	}
	return why
}

// maxStrikes is in how many rounds a sentence may be refused.
const maxStrikes = 2

// Strikes counts in how many rounds each sentence that is refused was refused, this one
// included. Before has the count of those before it, under the ids of this round
// ([Edited.Carry]).
func (o Outcome) Strikes(before map[string]int) map[string]int {
	strikes := map[string]int{}
	for _, r := range o.Refused {
		strikes[r.ID] = before[r.ID] + 1
	}
	return strikes
}

// Drops are the sentences with two strikes, in the order of the report.
func (o Outcome) Drops(strikes map[string]int) []string {
	var ids []string
	for _, r := range o.Refused {
		if strikes[r.ID] >= maxStrikes {
			ids = append(ids, r.ID)
		}
	}
	return ids
}
