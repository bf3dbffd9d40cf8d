package claim

import (
	"cmp"
	"slices"
	"strings"

	"github.com/tidegate/tidegate/internal/text/figure"
	"github.com/tidegate/tidegate/internal/text/markdown"
	"github.com/tidegate/tidegate/internal/text/quotation"
)

// Verdict says how much of a claim stands on the pages that it cites.
type Verdict string

// The verdicts.
const (
	Grounded   Verdict = "grounded"   // every quotation and number
	Partly     Verdict = "partly"     // some
	Ungrounded Verdict = "ungrounded" // none
	Unchecked  Verdict = "unchecked"  // no cited page has a text, or there is nothing to look for
)

// Grounding is how the claims of a document compare with the pages that they cite.
// It says what is on a page, not what is true.
type Grounding struct {
	Pass    bool             `json:"pass" jsonschema:"every quotation was found, and of the numbers at most one in twenty was not, those that were found counted once each; false where something is claimed and no cited page has a text"`
	Claims  []Claim          `json:"claims"`
	Metrics GroundingMetrics `json:"metrics"`
}

// Claim is a list item or paragraph that cites something.
type Claim struct {
	Line       int      `json:"line"`
	Text       string   `json:"text" jsonschema:"without its citations, cut at 200 characters"`
	CIDs       []string `json:"cids"`
	Verdict    Verdict  `json:"verdict"`
	Quotations []Match  `json:"quotations" jsonschema:"those of four words or more"`
	Numbers    []Match  `json:"numbers" jsonschema:"those of two digits or more, percentages, years and amounts"`
}

// Match is a quotation or number, and where it was found.
type Match struct {
	Text  string `json:"text"`
	Found bool   `json:"found"`
	CID   string `json:"cid" jsonschema:"the first cited source that has it; empty where none has"`
	Start int    `json:"start" jsonschema:"byte range of the match in the extracted text"`
	End   int    `json:"end"`
	Link  string `json:"link,omitzero" jsonschema:"the page's address with a fragment that leads to the match, where that is known"` // Ground does not know it

	as      figure.Quantity // the reading of a number that was found; empty for a quotation
	written bool            // a number that was looked for as it is written
}

// GroundingMetrics count claims by verdict, and the quotations and numbers of
// those that were checked.
type GroundingMetrics struct {
	Claims            int `json:"claims"`
	Grounded          int `json:"grounded"`
	Partly            int `json:"partly"`
	Ungrounded        int `json:"ungrounded"`
	Unchecked         int `json:"unchecked"`
	Frames            int `json:"frames" jsonschema:"sentences that introduce others and claim nothing; they are no claims"`
	Quotations        int `json:"quotations"`
	QuotationsMissing int `json:"quotations_missing"`
	Numbers           int `json:"numbers"`
	NumbersMissing    int `json:"numbers_missing"`
}

// Ground checks every claim of a Markdown document against the texts of the
// sources that it cites with [@cid]. Text gives the text of a source
// ([page.Content]); it is false for a source that has none: one that is neither
// valid nor paywalled, that was not archived, or from which no text can be read.
// It is called once for each source in which something is looked for.
//
// A quotation of four words or more must occur in one of the texts, with letter
// case, white space, quotation marks, dashes, soft hyphens and ligatures
// normalised; … and […] join parts that must follow one another. A number of two
// digits or more, a percentage, a year or an amount must occur in one of them, in
// whatever spelling, and with no other unit.
//
// A document that claims something, but of which nothing could be checked, does
// not pass. Nor does one with text in a block of HTML: nothing in the block is a
// claim, and yet it may be read.
func Ground(document *markdown.Text, text func(cid string) (string, bool)) Grounding {
	found, readable := statements(document)
	g := Grounding{Claims: make([]Claim, len(found))}
	sources := map[string][]int{} // the claims that cite each source
	var order []string
	for i, c := range found {
		g.Claims[i] = c.unproven()
		if len(c.quotations)+len(c.figures) == 0 {
			continue
		}
		for _, cid := range c.cids {
			if sources[cid] == nil {
				order = append(order, cid)
			}
			sources[cid] = append(sources[cid], i)
		}
	}
	checked := make([]bool, len(found))
	for _, cid := range order {
		if body, ok := text(cid); ok && strings.TrimSpace(body) != "" {
			for _, i := range sources[cid] {
				checked[i] = true
			}
			g.hold(found, sources[cid], cid, body)
		}
	}
	unread := false // something is claimed that could be looked for on no page
	for i := range g.Claims {
		c := &g.Claims[i]
		g.count(c, checked[i])
		unread = unread || !checked[i] && len(c.Quotations)+len(c.Numbers) > 0
	}
	m := &g.Metrics
	g.Pass = readable && m.QuotationsMissing == 0 && NumbersPass(g.Claims) && !(unread && m.Quotations+m.Numbers == 0)
	return g
}

// NumbersPass reports whether at most one in twenty of the numbers of some claims
// was looked for and not found: an author may round a number, but not invent one.
// A number that was found counts once, however often it is stated, so that
// repeating it excuses nothing.
func NumbersPass(claims []Claim) bool {
	found, missing := map[string]bool{}, 0
	for _, c := range claims {
		if c.Verdict == Unchecked {
			continue
		}
		for _, m := range c.Numbers {
			if m.Found {
				found[cmp.Or(m.as.Value, m.Text)] = true
			} else {
				missing++
			}
		}
	}
	return 20*missing <= len(found)+missing
}

// unproven is a claim of which nothing was found yet.
func (c *statement) unproven() Claim {
	claim := Claim{Line: c.line, Text: c.text, CIDs: c.cids, Quotations: []Match{}, Numbers: []Match{}}
	for _, q := range c.quotations {
		claim.Quotations = append(claim.Quotations, Match{Text: q.Text})
	}
	for _, f := range c.figures {
		claim.Numbers = append(claim.Numbers, Match{Text: c.numbers[f.Start:f.End]})
	}
	return claim
}

// hold looks for everything that some claims say in the text of one source.
func (g *Grounding) hold(found []statement, of []int, cid, body string) {
	quotes, numbers := quotation.NewFinder(), figure.NewIndex()
	var searches []*quotation.Search
	for _, i := range of {
		for _, q := range found[i].quotations {
			searches = append(searches, quotes.Add(q))
		}
		for _, f := range found[i].figures {
			if numbers.Want(f.Readings); f.Written {
				searches = append(searches, quotes.Add(quotation.AsWritten(found[i].numbers[f.Start:f.End])))
			}
		}
	}
	quotes.Run(body)
	numbers.Read(body)
	for _, i := range of {
		claim := &g.Claims[i]
		for k := range claim.Quotations {
			if searches[k].Found {
				claim.Quotations[k].take(claim, Match{CID: cid, Start: searches[k].Start, End: searches[k].End})
			}
		}
		searches = searches[len(claim.Quotations):]
		for k, f := range found[i].figures {
			if f.Written {
				if searches[0].Found {
					claim.Numbers[k].take(claim, Match{CID: cid, Start: searches[0].Start, End: searches[0].End, written: true})
				}
				searches = searches[1:]
			} else if as, start, end, ok := numbers.Find(f.Readings); ok {
				claim.Numbers[k].take(claim, Match{CID: cid, Start: start, End: end, as: as})
			}
		}
	}
}

// take keeps where a match was found, unless a source that the claim cites earlier
// has it, too.
func (m *Match) take(of *Claim, where Match) {
	if m.Found && slices.Index(of.CIDs, m.CID) < slices.Index(of.CIDs, where.CID) {
		return
	}
	where.Text, where.Found = m.Text, true
	*m = where
}

// Confirm returns those matches of [Ground] that the text of their source has at
// the range they name. It is called before a passage is shown. The whole text is
// read again, because what stands around a passage decides how it reads: which
// decimal mark the page uses, what a number of a range borrows from the next, and
// the word that follows.
func Confirm(text string, matches []Match) []Match {
	quotes, numbers := quotation.NewFinder(), figure.NewIndex()
	searches := make([]*quotation.Search, len(matches))
	for i, m := range matches {
		if m.as.Value != "" {
			numbers.Want([]figure.Quantity{m.as})
		} else if m.written {
			searches[i] = quotes.Add(quotation.AsWritten(m.Text))
		} else if q, ok := quotation.New(m.Text); ok && m.Found {
			searches[i] = quotes.Add(q)
		}
	}
	quotes.Run(text)
	numbers.Read(text)
	var confirmed []Match
	for i, m := range matches {
		start, end := 0, 0
		if search := searches[i]; search != nil && search.Found {
			start, end = search.Start, search.End
		} else if m.as.Value != "" {
			_, start, end, _ = numbers.Find([]figure.Quantity{m.as})
		}
		if m.Found && start < end && start == m.Start && end == m.End {
			confirmed = append(confirmed, m)
		}
	}
	return confirmed
}

// count decides on a claim.
func (g *Grounding) count(c *Claim, checked bool) {
	m := &g.Metrics
	m.Claims++
	missing := 0
	for _, q := range c.Quotations {
		if !q.Found {
			missing++
		}
	}
	quotationsMissing := missing
	for _, n := range c.Numbers {
		if !n.Found {
			missing++
		}
	}
	all := len(c.Quotations) + len(c.Numbers)
	if !checked || all == 0 {
		c.Verdict = Unchecked
		m.Unchecked++
		return
	}
	m.Quotations += len(c.Quotations)
	m.QuotationsMissing += quotationsMissing
	m.Numbers += len(c.Numbers)
	m.NumbersMissing += missing - quotationsMissing
	switch missing {
	case 0:
		c.Verdict = Grounded
		m.Grounded++
	case all:
		c.Verdict = Ungrounded
		m.Ungrounded++
	default:
		c.Verdict = Partly
		m.Partly++
	}
}
