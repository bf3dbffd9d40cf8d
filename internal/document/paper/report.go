package paper

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/tidegate/tidegate/internal/rule/claim"
	"github.com/tidegate/tidegate/internal/rule/evidence"
	"github.com/tidegate/tidegate/internal/text/draft"
	"github.com/tidegate/tidegate/internal/text/markdown"
)

// Report is everything that a report shows a person. All texts in it may come
// from an agent or a page: each export shows them as text.
type Report struct {
	Question  string
	RunID     string
	CreatedAt string // of the run, RFC 3339
	Minutes   int    // that the run took, 0 where nobody knows
	Program   string // what made the report, such as "tidegate 1.4.0"

	Trust     string   // how the sentences were checked, "" where nothing is known of that
	Language  string   // of the report, in two letters; "" for English
	Partial   string   // why the report is partial, "" for a complete one
	Unsourced bool     // a person let the run go on without a single checked source
	Notes     []string // what else a reader must know before the first line

	// AnswerTitle is the heading of the section that answers the question; "" stands for the
	// first.
	AnswerTitle string

	Parts     []Part
	Sources   []Source
	Decisions []string // of people in the life of the run, one line each
	Confined  []string // how agents were kept
	Allowed   []string // what the person asked of sources
	Gates     []GateLine
	Contracts []Contract
	Agents    []Agent
	Cost      Cost
	LeftOut   []Gap
	Audit     *Audit // of an audit, which has no run; nil for the report of one
	Since     *Since // what changed since the report that this one builds on; nil where it builds on none
}

// Since is what became of the sentences of an earlier report.
type Since struct {
	RunID   string
	Kept    int // sentences that are the same
	Changed []SinceSentence
	Dropped []string
	Added   []string
}

// SinceSentence is a sentence that the report has in other words.
type SinceSentence struct{ Was, Is string }

// say is a phrase in the language of the report.
func (r *Report) say(phrase string, args ...any) string {
	return evidence.Say(r.Language, phrase, args...)
}

// english reports whether the report is in English.
func (r *Report) english() bool { return r.Language == "" || r.Language == "en" }

// Part is a document of the report: the synthesis, or, in a partial report, a
// summary or an output.
type Part struct {
	Title     string          // "" for the synthesis
	Text      []byte          // Markdown with citations [@cid]
	Sentences []ShownSentence // where they were checked, all of them in order
}

// Source is a source of the run. A page known under several cids is shown once.
type Source struct {
	CID        string
	SameAs     string // the cid of the same page, "" for the first
	Title      string
	Author     string // names, with semicolons between them
	Publisher  string
	Date       string
	URL        string // as it was cited
	ReplacedBy string // the address that a person named instead, "" when none did
	File       string // the name of a person's own document, "" for a page
	Attached   bool   // a person put the evidence there
	Origin     string // where its address comes from, in words; "" in a run that does not say
	Undated    bool   // the person asked for dates, and the page has none
	Status     string // valid, paywalled, blocked, mismatch, invalid
	Reason     string // why it has that status
	FetchedAt  string // RFC 3339, "" when it was not fetched
	Text       string // what the page says; the places of [claim.Match] are in it
}

// GateLine is a gate as the report shows it.
type GateLine struct {
	ID, Name, Status string
	Accepted         string // the reason of the person who accepted it, "" when its judge passed it
	Notes            string
}

// Contract is what one output had to meet, and what it has.
type Contract struct {
	ID, Title           string
	Wave                int
	Words, MaxWords     int
	Sources, MaxSources int
	Sections            []string
}

// Agent is an agent that wrote accepted answers.
type Agent struct {
	Role, Driver, Model, Version string
	Answers                      int
}

// Cost is what the accepted answers cost.
type Cost struct {
	InputTokens, OutputTokens int64
	USD                       float64
	Priced                    bool    // the cost is known
	All                       float64 // USD, with answers that were refused
}

// Known reports whether anybody counted what the answers cost.
func (c Cost) Known() bool { return c.Priced || c.InputTokens+c.OutputTokens > 0 }

// Gap is something that a wave left open and no second wave closed.
type Gap struct{ ID, Priority, Text string }

// reference is a source with the number under which the report cites it.
type reference struct {
	number int
	*Source
	places   []claim.Match // that were found on it
	passages []excerpt     // all that the report rests on
}

// layout is a report made ready for an export: its documents read, its sources
// numbered in the order in which they are cited.
type layout struct {
	*Report
	parts  []layoutPart
	cited  []*reference
	others []*Source // those that are not cited, in the order of the report
	byCID  map[string]*reference
	drawn  []*drawnTable
}

type layoutPart struct {
	title  string
	doc    *draft.Document
	on     map[*draft.Block][]sentenceRun // the sentences of a leaf
	charts map[*draft.Block]*drawnTable   // of tables that ask to be drawn
	left   map[*draft.Block]bool          // what is left out of the report: marks that were carried out
	own    bool                           // its texts are the report's own, and cite nothing
}

func (r *Report) layout() *layout {
	l := &layout{Report: r, byCID: map[string]*reference{}}
	for i := range r.Sources {
		if s := &r.Sources[i]; s.SameAs == "" {
			l.byCID[s.CID] = &reference{Source: s}
		}
	}
	for i := range r.Sources {
		if s := &r.Sources[i]; s.SameAs != "" {
			if first := l.byCID[s.SameAs]; first != nil {
				l.byCID[s.CID] = first
			} else {
				l.byCID[s.CID] = &reference{Source: s}
			}
		}
	}
	for i := range r.Sources {
		if ref := l.byCID[r.Sources[i].CID]; r.Audit != nil {
			l.number(ref) // as they stand in the list: the text has marks of its own
		}
	}
	for i := range r.Parts {
		l.part(&r.Parts[i])
	}
	for i := range r.Sources {
		if s := &r.Sources[i]; l.byCID[s.CID].Source == s && l.byCID[s.CID].number == 0 {
			l.others = append(l.others, s)
		}
	}
	for i := range r.Parts {
		l.place(&r.Parts[i])
	}
	for _, ref := range l.cited {
		ref.passages = excerpts(ref.Text, ref.places)
	}
	return l
}

// place gives every source the places that the sentences of a part have on it.
func (l *layout) place(p *Part) {
	for i := range p.Sentences {
		s := &p.Sentences[i]
		var refs []*reference
		for _, w := range s.Windows {
			if ref := l.byCID[w.CID]; ref != nil && !slices.Contains(refs, ref) {
				refs = append(refs, ref)
				ref.places = append(ref.places, l.restsOn(ref, s)...)
			}
		}
	}
}

// number gives a source that is cited its number.
func (l *layout) number(ref *reference) {
	if ref.number == 0 {
		l.cited = append(l.cited, ref)
		ref.number = len(l.cited)
	}
}

func (l *layout) part(p *Part) {
	doc := draft.Read(markdown.Read(p.Text))
	part := layoutPart{title: p.Title, doc: doc,
		charts: map[*draft.Block]*drawnTable{}, left: map[*draft.Block]bool{}, on: sentencesOn(doc, p.Sentences)}
	doc.EachLeaf(func(b *draft.Block) {
		for _, place := range l.citations(b.Leaf) {
			for _, ref := range place.refs {
				l.number(ref)
			}
		}
	})
	l.drawTables(&part, doc.Blocks, p.Sentences != nil)
	doc.Markdown = nil // a report may have a thousand parts, each held until it is written
	l.parts = append(l.parts, part)
}

// link is the address that leads to a source, with a fragment that leads to the
// first of some places where there is one. It is "" for a person's own document
// and for what is not on the web.
func (ref *reference) link(matches []claim.Match) string {
	if ref.File != "" {
		return ""
	}
	for _, m := range matches {
		if isWeb(m.Link) {
			return m.Link
		}
	}
	for _, address := range []string{ref.ReplacedBy, ref.URL} {
		if isWeb(address) {
			return address
		}
	}
	return ""
}

// name is what a source is called where it has no title.
func (s *Source) name() string {
	for _, name := range []string{s.Title, s.File, shownText(s.URL)} {
		if name != "" {
			return name
		}
	}
	return shownText(s.CID)
}

// mark is the number of a source as a text has it.
func (ref *reference) mark() string { return strconv.Itoa(ref.number) }

// citationPlace is the place in a leaf of a citation whose source the report
// knows.
type citationPlace struct {
	blank    int // where the white space before it begins
	from, to int
	refs     []*reference
	draft.Mention
}

func (l *layout) citations(text draft.Leaf) []citationPlace {
	var out []citationPlace
	end := 0 // of the one before
	for _, m := range text.Markings() {
		place := citationPlace{blank: m.From, from: m.From, to: m.To, Mention: m}
		for _, cid := range m.CIDs() {
			if ref := l.byCID[cid]; ref != nil && !slices.Contains(place.refs, ref) {
				place.refs = append(place.refs, ref)
			}
		}
		if len(place.refs) == 0 && m.Inferred == nil && m.Calculated == "" && m.Absent == "" || !m.Seen {
			continue
		}
		for m.Absent == "" && place.blank > end && unicode.IsSpace(text.Glyphs[place.blank-1].Rune) {
			place.blank--
		}
		out, end = append(out, place), m.To
	}
	return out
}

// shown is a character as a report shows it. What would hide, reorder or break the
// text around it is named instead, as U+202E.
func shown(r rune) string {
	if concealed(r) {
		return fmt.Sprintf("U+%04X", r)
	}
	return string(r)
}

// concealed holds for controls, for characters that change the direction of a
// text, and for those that no font draws. Joiners, marks and variation selectors
// belong to what they stand with.
func concealed(r rune) bool {
	switch {
	case r == '\n' || r == '\t' || markdown.Joins(r) || r >= ' ' && r < 0x7f:
		return false
	case unicode.Is(unicode.Variation_Selector, r):
		return false
	}
	return markdown.Concealed(r) || unicode.Is(unicode.Cf, r)
}

// shownText is a text of one line as a report shows it.
func shownText(text string) string {
	var b strings.Builder
	for _, r := range singleBlanks(text) {
		b.WriteString(shown(r))
	}
	return strings.TrimSpace(b.String())
}

// isWeb holds for an address that a report may link to.
func isWeb(address string) bool {
	scheme, rest, found := strings.Cut(address, "://")
	scheme = strings.ToLower(scheme)
	return found && (scheme == "http" || scheme == "https") && rest != "" && !strings.ContainsFunc(address, func(r rune) bool {
		return unicode.IsSpace(r) || concealed(r) || r == '"' || r == '<' || r == '>' || r == '`' || r == '\\'
	})
}

// shown is the report with what stands at its head, and its sources, on one line and as
// they can be shown. The documents, and the addresses and pages of sources, stay as they
// are: they are read, or compared.
func (r Report) shown() Report {
	r.Sources, r.Notes, r.Parts = slices.Clone(r.Sources), slices.Clone(r.Notes), slices.Clone(r.Parts)
	show := func(texts ...*string) {
		for _, text := range texts {
			*text = shownText(*text)
		}
	}
	show(&r.Question, &r.RunID, &r.CreatedAt, &r.Program, &r.Trust, &r.Partial)
	for i := range r.Notes {
		show(&r.Notes[i])
	}
	for i := range r.Parts {
		show(&r.Parts[i].Title)
	}
	for i := range r.Sources {
		s := &r.Sources[i]
		show(&s.Title, &s.Author, &s.Publisher, &s.Date, &s.File, &s.Status, &s.Reason, &s.FetchedAt)
	}
	return r
}
