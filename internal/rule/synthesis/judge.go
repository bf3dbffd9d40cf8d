package synthesis

import (
	"fmt"
	"math/big"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/rule/evidence"
	"github.com/tidegate/tidegate/internal/text/draft"
	"github.com/tidegate/tidegate/internal/text/figure"
	"github.com/tidegate/tidegate/internal/text/markdown"
)

// Fault is one rule that a text breaks: what is wrong, where, and what to change.
type Fault = evidence.Fault

// Citation is a source that a synthesis may cite: one whose status is valid or
// paywalled.
type Citation struct {
	CID    string
	SameAs string // the cid of the same page under another address, "" for the first
}

// Place is a text on a line of a draft.
type Place struct {
	Line int
	Text string
}

// Facts are what the rules need to know besides the draft.
type Facts struct {
	// Citations are the validated sources of the run.
	Citations []Citation
	// Unsourced says that a person let the run go on without a single validated
	// source: no citation and no grounding is asked for.
	Unsourced bool
	// Sections are the titles that the draft must have as headings of the second level, in
	// the order in which they are asked for; nil for those of [evidence.Briefing].
	Sections []string
	// RawURLs are the addresses that a reader of the draft would see or follow.
	RawURLs []Place
	// Answers is the review that the draft answers, nil in the first round.
	Answers *Answered
	// Sentences is what its sentences were found to be; nothing in a run without sources.
	Sentences Sentences
}

// Sentences is what was found in the sentences of a draft.
type Sentences struct {
	Faults, Warnings []Fault
	Grounding        evidence.Grounding
}

// Result is the judgement of a draft.
type Result struct {
	Faults   []Fault // what it must change, in the order of the lines
	Warnings []Fault // what is not grounded, where the run does not require it

	Missing  []string  // the titles of its template that it does not have
	Uncited  []Uncited // every number without a citation in its passage
	Used     []string  // the validated cids that it cites, in byte order
	Mentions int       // how many citations of validated sources a reader sees
	// Utilization is how much of the validated sources is cited, and Duplicates
	// how much of the mentions repeats a source. A page that is known under
	// several cids is one source.
	Utilization Rate
	Duplicates  Rate
	Grounding   evidence.Grounding
	sections    int      // that its template has
	validated   []string // in byte order
	unsourced   bool
}

// Pass reports whether the draft breaks no rule.
func (r Result) Pass() bool { return len(r.Faults) == 0 }

// Uncited is a number that claims something without a source.
type Uncited struct {
	Line     int    `json:"line"`
	Col      int    `json:"col"` // 1-based, in UTF-16 units
	Token    string `json:"token"`
	LineText string `json:"line_text"`
}

// Judge checks a draft against all the rules of a synthesis:
//
//   - MISSING_REQUIRED_SECTION for each section of the template without its heading;
//   - RESERVED_HEADING for each heading that the report writes itself;
//   - UNKNOWN_CID for each citation of what is not validated, seen or not;
//   - RAW_URL_NOT_ALLOWED for each address;
//   - LINK_NOT_ALLOWED for each line with another link, an image or a definition;
//   - HTML_NOT_ALLOWED for each line with a tag, a comment or a block of HTML;
//   - INVISIBLE_TEXT for each line with a character that a reader cannot see, or with
//     text that is struck out;
//   - what was found in its sentences;
//   - UNCHANGED for each directive of the answered review whose block stands as
//     it did.
func Judge(text *markdown.Text, facts Facts) Result {
	j := judge{Document: draft.Read(text), facts: facts, known: map[string]string{}}
	for _, c := range facts.Citations {
		j.known[c.CID] = c.CID
		if c.SameAs != "" {
			j.known[c.CID] = c.SameAs
		}
	}
	if j.facts.Sections == nil {
		j.facts.Sections = evidence.Briefing.Titles(nil)
	}
	j.result.unsourced, j.result.sections = facts.Unsourced, len(j.facts.Sections)
	j.sections()
	j.headings()
	j.citations()
	j.urls()
	j.markup()
	j.numbers()
	j.result.Grounding = facts.Sentences.Grounding
	j.result.Faults = append(j.result.Faults, facts.Sentences.Faults...)
	j.result.Warnings = append(j.result.Warnings, facts.Sentences.Warnings...)
	if facts.Answers != nil {
		j.answer(*facts.Answers)
	}
	slices.SortStableFunc(j.result.Faults, func(a, b Fault) int { return a.Line - b.Line })
	return j.result
}

type judge struct {
	*draft.Document
	facts  Facts
	known  map[string]string // the source of every validated cid
	result Result
	column column
}

// column is how far the columns of a line have been counted, so that a long line
// is counted once.
type column struct {
	line, at, col int
	text          string // of the line, as a result shows it
}

func (j *judge) fault(code tidegate.Code, line int, note, format string, args ...any) {
	j.result.Faults = append(j.result.Faults, evidence.NewFault(code, line, note, format, args...))
}

// sections looks for the headings, and for what was meant to be one.
func (j *judge) sections() {
	var there []string
	almost := map[string]int{} // title → line
	for _, b := range j.Plain().Blocks {
		if b.Kind != markdown.HeadingBlock || !b.Top {
			continue
		}
		text := strings.TrimSuffix(j.Plain().Raw(b), "\n")
		for _, title := range j.facts.Sections {
			switch {
			case b.Level == 2 && text == title:
				there = append(there, title)
			case strings.EqualFold(strings.Trim(text, "*_:. "), title) && almost[title] == 0:
				almost[title] = b.Line
			}
		}
	}
	for _, title := range j.facts.Sections {
		if slices.Contains(there, title) {
			continue
		}
		j.result.Missing = append(j.result.Missing, title)
		note := fmt.Sprintf("Add a line that is exactly `## %s`, outside lists, quotes and code, with the text of the section below it.", title)
		if line := almost[title]; line > 0 {
			j.fault(tidegate.MissingRequiredSection, line, fmt.Sprintf("Write line %d as `## %s`, exactly.", line, title),
				"the heading `## %s` is missing; line %d reads `%s`", title, line, j.LineText(line))
			continue
		}
		j.fault(tidegate.MissingRequiredSection, 0, note, "the heading `## %s` is missing", title)
	}
}

// citations counts what the draft cites, and finds what it may not cite.
func (j *judge) citations() {
	type place struct {
		line int
		cid  string
	}
	unknown := map[place]bool{}
	note := func(at int, cid string) {
		p := place{j.LineOf(at), cid}
		if _, ok := j.known[cid]; ok || unknown[p] {
			return
		}
		unknown[p] = true
		j.fault(tidegate.UnknownCID, p.line, "Cite a source of the list you were given, by its id, or take the citation and what it supports out.",
			"line %d cites %q, which is not among the validated sources", p.line, tidegate.Cut(cid))
	}
	used, sources := map[string]bool{}, map[string]bool{}
	shown := map[int]bool{} // where the bracket stands of a citation that the tree has
	j.EachLeaf(func(b *draft.Block) {
		for _, m := range b.Leaf.Citations() {
			at := int(b.Glyphs[m.From].At)
			note(at, m.CID)
			if j.Source[at] == '\\' {
				at++
			}
			shown[at] = true
			source, ok := j.known[m.CID]
			if !ok || !m.Seen {
				continue
			}
			j.result.Mentions++
			used[m.CID], sources[source] = true, true
		}
	})
	draft.RawCitations(j.Source, func(at int, cid string) {
		if !shown[at] {
			note(at, cid)
		}
	})
	whole := map[string]bool{}
	for _, c := range j.facts.Citations {
		j.result.validated = append(j.result.validated, c.CID)
		whole[j.known[c.CID]] = true
	}
	for cid := range used {
		j.result.Used = append(j.result.Used, cid)
	}
	slices.Sort(j.result.Used)
	slices.Sort(j.result.validated)
	j.result.validated = slices.Compact(j.result.validated)
	j.result.Utilization = Rate{len(sources), len(whole)}
	j.result.Duplicates = Rate{1, 1}
	if j.result.Mentions > 0 {
		j.result.Duplicates = Rate{j.result.Mentions - len(sources), j.result.Mentions}
	}
}

func (j *judge) urls() {
	for _, u := range j.facts.RawURLs {
		j.fault(tidegate.RawURLNotAllowed, u.Line, "Replace the address with a citation [@id] of its source, or remove it.",
			"line %d has a raw URL: %s", u.Line, tidegate.Cut(u.Text))
	}
}

// markup finds characters that a reader does not see, HTML and links: one reader
// of a draft sees what is in them and another does not. A citation is the only
// link.
func (j *judge) markup() {
	found := markupOf(j.Document)
	for _, line := range found.hidden {
		j.fault(tidegate.InvisibleText, line, "Remove the characters that cannot be seen, and in a table the cells beyond its last column.",
			"line %d has a character that a reader cannot see", line)
	}
	for _, line := range found.html {
		j.fault(tidegate.HTMLNotAllowed, line, "Write the text without HTML, or as code between back-ticks.",
			"line %d has HTML, which one reader sees and another does not", line)
	}
	for _, line := range found.struck {
		j.fault(tidegate.InvisibleText, line, "Take out what is struck out, or the tildes around it; write a tilde as \\~.",
			"line %d strikes text out with tildes: one reader sees it as a part of the sentence, and another does not", line)
	}
	for _, line := range found.links {
		if !slices.ContainsFunc(j.facts.RawURLs, func(u Place) bool { return u.Line == line }) {
			j.fault(tidegate.LinkNotAllowed, line, "Write the text without the link; cite with [@cid].",
				"line %d has a link, an image or the definition of one", line)
		}
	}
}

// numbers finds the passages that claim a number without a source.
func (j *judge) numbers() {
	if j.facts.Unsourced {
		return
	}
	for _, p := range j.Passages {
		if j.cited(p) {
			continue
		}
		for _, b := range p.Leaves {
			b.EachLeaf(func(b *draft.Block) {
				if b.Kind == markdown.HeadingBlock {
					return
				}
				for _, n := range numbersIn(b.Leaf) {
					j.result.Uncited = append(j.result.Uncited, j.uncited(int(b.Glyphs[n.from].At), n.token))
				}
			})
		}
	}
}

// cited holds for a passage with a citation, of a validated source, that a
// reader sees.
func (j *judge) cited(p *draft.Passage) bool { return slices.ContainsFunc(p.Leaves, j.cites) }

// cites holds for a block with such a citation in it.
func (j *judge) cites(b *draft.Block) (yes bool) {
	b.EachLeaf(func(b *draft.Block) {
		for _, m := range b.Leaf.Citations() {
			_, known := j.known[m.CID]
			yes = yes || known && m.Seen
		}
	})
	return yes
}

func (j *judge) uncited(at int, token string) Uncited {
	line := j.LineOf(at)
	c := &j.column
	if c.line != line || c.at > at {
		text := j.LineText(line)
		text = text[:min(len(text), utf8.UTFMax*tidegate.MaxText)]
		*c = column{line, j.Starts[line-1], 1, tidegate.Cut(strings.ToValidUTF8(string(text), "\ufffd"))}
	}
	for _, r := range string(j.Source[c.at:at]) {
		c.col++
		if r > 0xffff {
			c.col++
		}
	}
	c.at = at
	return Uncited{line, c.col, tidegate.Cut(token), c.text}
}

// SinceTitle is the title of what a report says about the one that it builds on.
const SinceTitle = "What changed since the earlier report"

// Reserved are the titles of what the report adds to a synthesis. No heading of a
// synthesis may have one of them, in whatever spelling.
var Reserved = []string{"References", "Sources", "Sources that the report does not cite", "Not found on the cited pages", "Contents",
	"How this report was made", "Gates", "Contracts of the outputs", "Agents and models", "Cost of the accepted answers", "Questions that were left open"}

// headings finds those that the report itself writes after the draft: a reader
// would take what stands below them for what the program says.
func (j *judge) headings() {
	j.EachLeaf(func(b *draft.Block) {
		if b.Kind != markdown.HeadingBlock {
			return
		}
		text, at := "", 0
		for _, m := range b.Leaf.Citations() {
			text, at = text+string(draft.Runes(b.Glyphs[at:m.From])), m.To
		}
		text += string(draft.Runes(b.Glyphs[at:]))
		if IsReserved(text) {
			j.fault(tidegate.ReservedHeading, b.Line, "Give the section another title, or leave it out: the report adds its own.",
				"line %d has the heading %q, which the report writes itself", b.Line, tidegate.Cut(strings.TrimSpace(text)))
		}
	})
}

// IsReserved reports whether a title is one of [Reserved], in whatever spelling and in any
// language that the report has.
func IsReserved(title string) bool {
	plain := plainTitle(title)
	return plain != "" && reserved()[plain]
}

var reserved = sync.OnceValue(func() map[string]bool {
	plain := map[string]bool{}
	for _, own := range append(slices.Clone(Reserved), SinceTitle) {
		plain[plainTitle(own)] = true
		for _, language := range evidence.Languages() {
			plain[plainTitle(evidence.Say(language, own))] = true
		}
	}
	delete(plain, "")
	return plain
})

// sayLittle are words that do not distinguish one title from another.
const sayLittle = " the this that our its all and or of for in by to list used cited checked consulted results result report section "

// plainTitle is a title as it is compared with another: its words without accents,
// in plain letters, in lower case and without a plural, except those that say
// little and single letters.
func plainTitle(title string) string {
	plain := strings.Map(func(r rune) rune {
		switch {
		case unicode.Is(unicode.Mn, r), unicode.Is(unicode.Cf, r), unicode.Is(unicode.Lm, r), r == '\'', r == '’':
			return -1
		case unicode.IsLetter(r):
			return unicode.ToLower(unicode.ToUpper(r)) // ſ is s
		}
		return ' '
	}, norm.NFKD.String(withoutRaised(title)))
	var words []string
	for word := range strings.FieldsSeq(plain) {
		if len(word) > 1 && !strings.Contains(sayLittle, " "+word+" ") {
			words = append(words, strings.TrimSuffix(word, "s"))
		}
	}
	return strings.Join(words, " ")
}

// withoutRaised leaves out letters and digits that are raised or lowered: they are
// marks of notes.
func withoutRaised(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Lm, r) || unicode.Is(unicode.No, r) || r == 'ª' || r == 'º' {
			return -1
		}
		return r
	}, text)
}

// number is a number that claims something: what a reader sees of it, and where
// it stands in its leaf.
type number struct {
	from, to int // glyphs
	token    string
}

// numbersIn finds the numbers of a leaf, as [figure.Numerals] has them; not those in
// code, in the text of a link, or in a citation.
func numbersIn(l draft.Leaf) []number {
	text, places := claimedIn(l)
	var found []number
	for _, n := range figure.Numerals(text) {
		found = append(found, number{from: places[n.From], to: places[n.To-1] + 1, token: string(text[n.From:n.To])})
	}
	return found
}

// claimedIn are the characters that decide what a number is, and the glyphs that
// they are: without those that cannot be seen, and with a zero in place of code,
// links and citations.
func claimedIn(l draft.Leaf) (text []rune, places []int) {
	text, places = make([]rune, 0, len(l.Glyphs)), make([]int, 0, len(l.Glyphs))
	cited := l.Citations()
	for i, g := range l.Glyphs {
		for len(cited) > 0 && cited[0].To <= i {
			cited = cited[1:]
		}
		switch {
		case g.In&draft.InTag != 0 || draft.Apart(g.Rune):
		case g.IsCode() || g.In&draft.InLink != 0 || len(cited) > 0 && cited[0].From <= i:
			text, places = append(text, 0), append(places, i)
		default:
			text, places = append(text, g.Rune), append(places, i)
		}
	}
	return text, places
}

// Rate is a whole fraction: it is compared exactly, and rounded only in print.
type Rate struct{ Of, In int } // Of parts in a whole of In; In 0 is the rate 0

// Above holds when the rate is more than a part of a whole.
func (r Rate) Above(part, whole int) bool { return r.In > 0 && r.Of*whole > part*r.In }

// Below holds when the rate is less than a part of a whole.
func (r Rate) Below(part, whole int) bool { return r.In == 0 && part > 0 || r.Of*whole < part*r.In }

// MarshalJSON prints the rate with at most six decimals, a half rounded up.
func (r Rate) MarshalJSON() ([]byte, error) { return []byte(r.String()), nil }

func (r Rate) String() string {
	if r.In == 0 {
		return "0"
	}
	// FloatString rounds a half away from zero, and a rate is never below zero.
	text := big.NewRat(int64(r.Of), int64(r.In)).FloatString(6)
	return strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
}
