package claim

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/parallel"
	"github.com/tidegate/tidegate/internal/text/quotation"
)

// Question is a sentence, as it is held against the pages that it cites.
type Question struct {
	Text     string   // as a reader sees it, without its marks
	Language string   // in two letters; found out by its words where it is ""
	CIDs     []string // in the order in which it cites them
	Operands []string // numbers of its calculation, which its windows should hold
	Italics  []string // what it sets in italics, such as titles of works
	Run      string   // the question of the run: a number of it is asked about, not found out
	Inferred bool     // it says what follows from its pages, so that it may differ from them
	// Quotations are what it quotes, alone or with its neighbours; with nil they are
	// found in the text.
	Quotations []quotation.Quotation
}

// Standing says how a sentence stands by rule.
type Standing string

// The standings.
const (
	Found   Standing = "found"
	Weak    Standing = "weak"    // no fault, but something that a reader has to look at
	Missing Standing = "missing" // something that it says is on none of its pages
	NoText  Standing = "unchecked"
)

// Level says how much a finding weighs.
type Level string

// The levels.
const (
	Fault  Level = "fault"
	Warn   Level = "weak"
	Remark Level = "note"
)

// Finding is what a rule has to say about a sentence.
type Finding struct {
	Rule  string        `json:"rule"`
	Level Level         `json:"level"`
	Code  tidegate.Code `json:"-"` // of a fault
	Text  string        `json:"text"`
	// Number is what a near copy has in the place of a number of the page, "" for anything else.
	Number string `json:"-"`
}

// Judgement is how a sentence stands against its pages.
type Judgement struct {
	Standing Standing
	Findings []Finding
	Windows  []Window // what a reader is shown
	More     []Window // what a second look adds
	// Quotations and Numbers are what the sentence states of them, in its order, without
	// small numbers and those of its calculation.
	Quotations, Numbers []Match
}

// Match is a quotation or number of a sentence, and where its pages have it.
type Match struct {
	Text  string `json:"text"`
	Found bool   `json:"found"`
	CID   string `json:"cid" jsonschema:"the first cited source that has it; empty where none has"`
	Start int    `json:"start" jsonschema:"byte range of the match in the extracted text"`
	End   int    `json:"end"`
	Link  string `json:"link,omitzero" jsonschema:"the page's address with a fragment that leads to the match, where that is known"` // which Judge does not know
}

// match is something of a sentence with the first place that its pages have it at.
func match(text string, looks []look, at func(*look) spot) Match {
	for i := range looks {
		if s := at(&looks[i]); s.found {
			return Match{Text: text, Found: true, CID: looks[i].page.CID, Start: s.start, End: s.end}
		}
	}
	return Match{Text: text}
}

// Judge holds sentences against the pages that they cite. It says what is on a page,
// not what is true. Pages gives the page of a source, nil for one without text; it is
// called once for each source, from several goroutines. Titles are those of works that
// pages of the run bear. The error is that of pages or of ctx.
func Judge(ctx context.Context, sentences []Question, pages func(cid string) (*Page, error), titles Titles) ([]Judgement, error) {
	questions := make([]*asked, len(sentences))
	citing := map[string][]*asked{} // by page
	var order []string
	for i := range sentences {
		questions[i] = askedBy(&sentences[i])
		for _, cid := range questions[i].cids {
			if citing[cid] == nil {
				order = append(order, cid)
			}
			citing[cid] = append(citing[cid], questions[i])
		}
	}
	looks := make([][]look, len(order)) // by page, in the order of those that cite it
	err := parallel.Each(ctx, len(order), nil, func() func(int) error {
		return func(k int) error {
			p, err := pages(order[k])
			if err == nil && p != nil && strings.TrimSpace(p.Text) != "" {
				looks[k] = lookAt(p, citing[order[k]])
			}
			return err
		}
	})
	if err != nil {
		return nil, err
	}
	seen := map[string]map[*asked]*look{} // by page
	for k, cid := range order {
		seen[cid] = map[*asked]*look{}
		for n := range looks[k] {
			seen[cid][citing[cid][n]] = &looks[k][n]
		}
	}
	out := make([]Judgement, len(sentences))
	for i, a := range questions {
		var mine []look // in the order in which the sentence cites
		for _, cid := range a.cids {
			if l := seen[cid][a]; l != nil {
				mine = append(mine, *l)
			}
		}
		out[i] = a.judge(mine, titles)
	}
	return out, nil
}

// The least share of its weighted content words that the best window of a sentence
// holds, and that the best window of each page does.
const (
	floor         = 0.27
	citationFloor = 0.10
)

// judge decides how a sentence stands by what its pages have.
func (a *asked) judge(looks []look, titles Titles) Judgement {
	j := Judgement{Standing: Found, Findings: []Finding{}}
	for i, q := range a.quotations {
		j.Quotations = append(j.Quotations, match(q.Text, looks, func(l *look) spot { return l.quotations[i] }))
	}
	for i, n := range a.numbers {
		if !n.operand && !n.Small {
			j.Numbers = append(j.Numbers, match(n.text, looks, func(l *look) spot { return l.numbers[i] }))
		}
	}
	if len(looks) == 0 {
		j.add("citation", Fault, tidegate.ClaimNotChecked, "none of its pages has text")
		j.Standing = NoText
		return j
	}
	a.judgeNear(looks, &j)
	a.judgeNumbers(looks, &j)
	for i, q := range a.quotations {
		switch {
		case j.Quotations[i].Found:
		case a.isTitle(q.Text, titles):
			level := Warn
			if anyOf(looks, func(l *look) bool { return l.titles[i] }) {
				level = Remark // most of its words are there
			}
			j.add("quotations", level, "", q.Text)
		default:
			j.add("quotations", Fault, tidegate.QuotationNotFound, q.Text)
		}
	}
	for i, d := range a.dates {
		switch {
		case anyOf(looks, func(l *look) bool { return l.dates[i].found }):
		case anyOf(looks, func(l *look) bool { return l.instead[i] }):
			j.add("dates", Fault, tidegate.DateNotFound, a.plain[d.Start:d.End])
		default:
			j.add("dates", Warn, "", a.plain[d.Start:d.End])
		}
	}
	foreign := !anyOf(looks, func(l *look) bool { return !l.foreign })
	low := !anyOf(looks, func(l *look) bool { return l.share >= floor })
	if foreign {
		j.add("language", Warn, "", "its pages are in another language")
	} else {
		a.judgeNames(looks, &j)
	}
	if low && !foreign {
		j.add("overlap", Warn, "", "no passage of its pages holds more than a quarter of its words")
	}
	if len(looks) > 1 {
		for i := range looks {
			if l := &looks[i]; !l.foreign && l.share < citationFloor && !l.holds() {
				j.add("citation", Warn, "", l.page.CID)
			}
		}
	}
	j.Windows, j.More = windowsOf(looks, foreign || low)
	return j
}

func anyOf(looks []look, holds func(*look) bool) bool {
	for i := range looks {
		if holds(&looks[i]) {
			return true
		}
	}
	return false
}

// mostDifferences is how many differences of a sentence are named.
const mostDifferences = 3

// judgeNear judges what the sentence says otherwise than a page that it follows nearly word for
// word, unless another of its pages has it as it is said. What a sentence infers is for the
// reader to judge.
func (a *asked) judgeNear(looks []look, j *Judgement) {
	said := map[string]bool{}
	for i := range looks {
		for _, d := range looks[i].near {
			if anyOf(looks, func(l *look) bool { return len(l.near) == 0 && slices.Contains(l.follows, d.clause) }) {
				continue
			}
			if text := d.said + ": the page says " + d.has; !said[text] && len(said) < mostDifferences {
				said[text] = true
				if d.beside || a.inferred {
					j.add("near", Warn, "", text)
				} else {
					j.add("near", Fault, tidegate.NotWhatThePageSays, text)
				}
				if d.kind == "number" {
					j.Findings[len(j.Findings)-1].Number = d.said
				}
			}
		}
	}
	if len(said) > 0 { // the page that says otherwise is shown first
		slices.SortStableFunc(looks, func(a, b look) int { return codec.Flag(len(b.near) > 0) - codec.Flag(len(a.near) > 0) })
	}
}

func (a *asked) judgeNumbers(looks []look, j *Judgement) {
	for i, n := range a.numbers {
		if n.operand || anyOf(looks, func(l *look) bool { return l.numbers[i].found || l.uncounted[i] }) {
			continue
		}
		var where string // else the number stands
		for k := range looks {
			where = cmp.Or(where, looks[k].apart[i])
		}
		if where != "" {
			j.add("numbers", Warn, "", n.text+" ("+where+")")
		} else if n.Small || len(n.text) == 4 && hasYear(n.text) && !anyOf(looks, func(l *look) bool { return l.years }) {
			j.add("numbers", Warn, "", n.text) // small, or a year that the page leaves to its context
		} else {
			j.add("numbers", Fault, tidegate.NumberNotFound, n.text)
		}
	}
}

func (a *asked) judgeNames(looks []look, j *Judgement) {
	var missing []string
	for i, n := range a.names {
		if !anyOf(looks, func(l *look) bool { return l.names[i] }) {
			missing = append(missing, n.text)
		}
	}
	level := Remark
	if len(missing) > 1 {
		level = Warn
	}
	for _, name := range missing {
		j.add("names", level, "", name)
	}
}

func (j *Judgement) add(rule string, level Level, code tidegate.Code, text string) {
	j.Findings = append(j.Findings, Finding{Rule: rule, Level: level, Code: code, Text: text})
	switch {
	case level == Fault:
		j.Standing = Missing
	case level == Warn && j.Standing == Found:
		j.Standing = Weak
	}
}
