package synthesis

import (
	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/rule/claim"
	"github.com/tidegate/tidegate/internal/rule/evidence"
)

// Grounding counts what was looked for on the cited pages. Claims that could not
// be checked are counted apart.
type Grounding struct {
	Quotations, QuotationsMissing int
	Numbers, NumbersMissing       int
	Unchecked                     int // the claims that were not
}

// add counts what was looked for of a claim.
func (g *Grounding) add(c claim.Claim) {
	g.Quotations += len(c.Quotations)
	g.Numbers += len(c.Numbers)
	for _, m := range c.Quotations {
		g.QuotationsMissing += flag(!m.Found)
	}
	for _, m := range c.Numbers {
		g.NumbersMissing += flag(!m.Found)
	}
}

// grounding counts what stands on the cited pages. What does not stand there is a
// fault where the run requires it and a warning elsewhere.
func (j *judge) grounding() {
	if j.facts.Unsourced {
		return
	}
	var quotations, numbers []Fault // the first with the claims that were not checked
	g := &j.result.Grounding
	for _, c := range j.facts.Claims {
		if c.Verdict == claim.Unchecked {
			claimed := append(append([]claim.Match{}, c.Quotations...), c.Numbers...)
			if g.Unchecked += flag(len(claimed) > 0); len(claimed) > 0 && (j.facts.Archived || j.facts.RequireGrounding) {
				quotations = append(quotations, evidence.NewFault(tidegate.ClaimNotChecked, c.Line,
					"Cite a page that can be read and has it, or take it out. A person can put a text in the place of the page: citations attach.",
					"%q is claimed, and none of the cited pages has a text to look for it", tidegate.Cut(claimed[0].Text)))
			}
			continue
		}
		g.add(c)
		for _, m := range c.Quotations {
			if !m.Found {
				quotations = append(quotations, evidence.NewFault(tidegate.QuotationNotFound, c.Line,
					"Quote the page word for word, cite the page that has these words, or take the quotation marks and the words out.",
					"the quotation %q is not on the cited page", tidegate.Cut(m.Text)))
			}
		}
		for _, m := range c.Numbers {
			if !m.Found {
				numbers = append(numbers, evidence.NewFault(tidegate.NumberNotFound, c.Line,
					"Use the number that the cited page has, cite the page that has this one, or take it out.",
					"the number %q is not on the cited page", tidegate.Cut(m.Text)))
			}
		}
	}
	switch {
	case j.facts.Sentences != nil:
		return
	case !j.facts.RequireGrounding:
		j.result.Warnings = append(quotations, numbers...)
		return
	}
	j.result.Faults = append(j.result.Faults, quotations...)
	if claim.NumbersPass(j.facts.Claims) {
		j.result.Warnings = numbers
	} else {
		j.result.Faults = append(j.result.Faults, numbers...)
	}
}
