package citation

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tidegate/tidegate/internal/text/markdown"
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
	Link  string `json:"-"` // the page's address with a fragment that leads there; Ground does not know it

	as      quantity // the reading of a number that was found; empty for a quotation
	written bool     // a number that was looked for as it is written
}

// GroundingMetrics count claims by verdict, and the quotations and numbers of
// those that were checked.
type GroundingMetrics struct {
	Claims            int `json:"claims"`
	Grounded          int `json:"grounded"`
	Partly            int `json:"partly"`
	Ungrounded        int `json:"ungrounded"`
	Unchecked         int `json:"unchecked"`
	Quotations        int `json:"quotations"`
	QuotationsMissing int `json:"quotations_missing"`
	Numbers           int `json:"numbers"`
	NumbersMissing    int `json:"numbers_missing"`
}

// Ground checks every claim of a Markdown document against the texts of the
// sources that it cites with [@cid]. Text gives the text of a source
// ([Content.Text]); it is false for a source that has none: one that is neither
// valid nor paywalled, that was not archived, or from which no text can be read.
// It is called once for each source.
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
func Ground(document []byte, text func(cid string) (string, bool)) Grounding {
	found, readable := statements(document)
	g := Grounding{Claims: make([]Claim, len(found))}
	sources := map[string][]int{} // the claims that cite each source
	var order []string
	for i, c := range found {
		g.Claims[i] = c.unproven()
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
				found[cmp.Or(m.as.value, m.Text)] = true
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
		claim.Quotations = append(claim.Quotations, Match{Text: q.text})
	}
	for _, f := range c.figures {
		claim.Numbers = append(claim.Numbers, Match{Text: c.numbers[f.start:f.end]})
	}
	return claim
}

// hold looks for everything that some claims say in the text of one source.
func (g *Grounding) hold(found []statement, of []int, cid, body string) {
	quotes, numbers := newQuoteFinder(), newNumberIndex()
	var searches []*quoteSearch
	for _, i := range of {
		for _, q := range found[i].quotations {
			searches = append(searches, quotes.add(q))
		}
		for _, f := range found[i].figures {
			if numbers.want(f.readings); f.written {
				searches = append(searches, quotes.add(asWritten(found[i].numbers[f.start:f.end])))
			}
		}
	}
	quotes.run(body)
	numbers.read(body)
	for _, i := range of {
		claim := &g.Claims[i]
		for k := range claim.Quotations {
			if searches[k].found {
				claim.Quotations[k].take(claim, Match{CID: cid, Start: searches[k].at.start, End: searches[k].at.end})
			}
		}
		searches = searches[len(claim.Quotations):]
		for k, f := range found[i].figures {
			if f.written {
				if searches[0].found {
					claim.Numbers[k].take(claim, Match{CID: cid, Start: searches[0].at.start, End: searches[0].at.end, written: true})
				}
				searches = searches[1:]
			} else if as, at, ok := numbers.find(f.readings); ok {
				claim.Numbers[k].take(claim, Match{CID: cid, Start: at.start, End: at.end, as: as})
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
	quotes, numbers := newQuoteFinder(), newNumberIndex()
	searches := make([]*quoteSearch, len(matches))
	for i, m := range matches {
		if m.as.value != "" {
			numbers.want([]quantity{m.as})
		} else if m.written {
			searches[i] = quotes.add(asWritten(m.Text))
		} else if q, ok := newQuotation(m.Text); ok && m.Found {
			searches[i] = quotes.add(q)
		}
	}
	quotes.run(text)
	numbers.read(text)
	var confirmed []Match
	for i, m := range matches {
		var at textRange
		if search := searches[i]; search != nil && search.found {
			at = search.at
		} else if m.as.value != "" {
			_, at, _ = numbers.find([]quantity{m.as})
		}
		if m.Found && at.start < at.end && at == (textRange{m.Start, m.End}) {
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

// numberIndex has the first place in one text of each value that claims ask for,
// with each unit.
type numberIndex struct {
	places map[string][]place
	shares bool // a claim asks for a percentage
}

func newNumberIndex() *numberIndex { return &numberIndex{places: map[string][]place{}} }

// place is where a text has a number.
type place struct {
	unit unit
	at   textRange
}

// want makes the index look for a number that may be read in several ways.
func (x *numberIndex) want(readings []quantity) {
	for _, q := range readings {
		if _, wanted := x.places[q.value]; !wanted {
			x.places[q.value] = nil
		}
		x.shares = x.shares || q.unit == percent
	}
}

// read looks through a text, as a reader sees it: an invisible character does not
// split a number.
func (x *numberIndex) read(text string) {
	seen, place := withoutHiddenAt(text)
	take := func(f figure) {
		f.start, f.end = place(f.start), place(f.end-1)+1
		x.take(f)
	}
	if len(x.places) > 0 {
		languages := guessLanguages(cutBytes(seen, languageSample))
		headers := tableReader{text: seen, languages: languages}
		eachFigure(seen, languages, func(f figure) {
			headers.say(&f)
			take(f)
		})
	}
	if x.shares {
		eachShare(seen, take)
	}
}

// withoutHiddenAt leaves hidden characters out of a text, and says where each byte of
// what is left stands in it.
func withoutHiddenAt(text string) (seen string, place func(int) int) {
	if strings.IndexFunc(text, markdown.Hidden) < 0 {
		return text, func(at int) int { return at }
	}
	b, places := make([]byte, 0, len(text)), make([]int32, 0, len(text))
	for i, r := range text {
		if markdown.Hidden(r) {
			continue
		}
		for k := range max(1, utf8.RuneLen(r)) {
			b, places = append(b, text[i+k]), append(places, int32(i+k))
		}
	}
	return string(b), func(at int) int { return int(places[at]) }
}

func (x *numberIndex) take(f figure) {
	for _, q := range f.readings {
		places, wanted := x.places[q.value]
		if wanted && !slices.ContainsFunc(places, func(p place) bool { return p.unit == q.unit }) {
			x.places[q.value] = append(places, place{q.unit, textRange{f.start, f.end}})
		}
	}
}

// find is the first place at which the text has a number in one of its readings.
func (x *numberIndex) find(readings []quantity) (as quantity, at textRange, found bool) {
	for _, q := range readings {
		for _, p := range x.places[q.value] {
			if q.fits(p.unit) && (!found || p.at.start < at.start) {
				as, at, found = q, p.at, true
			}
		}
	}
	return as, at, found
}

// fits reports whether a number of a claim may be that of a page with the same
// value. A claim may leave out a unit, but not that the number is a percentage. A
// page may leave out neither: a bare number may count anything.
func (q quantity) fits(page unit) bool {
	if q.unit == noUnit {
		return page != percent && page != points && page != "‰" && page != decade && page != clock
	}
	return q.unit.share(page)
}
