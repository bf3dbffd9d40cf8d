package synthesis

import "github.com/tidegate/tidegate/internal/rule/claim"

// Grounding counts what was looked for on the cited pages. Claims that could not
// be checked are counted apart.
type Grounding struct {
	Quotations, QuotationsMissing int
	Numbers, NumbersMissing       int
	Unchecked                     int // the claims that were not
}

// Add counts what was looked for of a claim.
func (g *Grounding) Add(c claim.Claim) {
	g.Quotations += len(c.Quotations)
	g.Numbers += len(c.Numbers)
	for _, m := range c.Quotations {
		g.QuotationsMissing += flag(!m.Found)
	}
	for _, m := range c.Numbers {
		g.NumbersMissing += flag(!m.Found)
	}
}

// grounding counts what stands on the cited pages.
func (j *judge) grounding() {
	if j.facts.Unsourced {
		return
	}
	for _, c := range j.facts.Claims {
		if c.Verdict == claim.Unchecked {
			j.result.Grounding.Unchecked += flag(len(c.Quotations)+len(c.Numbers) > 0)
		} else {
			j.result.Grounding.Add(c)
		}
	}
}
