package evidence

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/text/markdown"
)

// Edits are how a draft is answered from the second round on.
type Edits struct {
	Replace []Replacement `json:"replace"`
	Insert  []Insertion   `json:"insert"`
	Move    []Movement    `json:"move"`
}

// Replacement puts a text in the place of a sentence; an empty one drops it.
type Replacement struct {
	Sentence string `json:"sentence"`
	With     string `json:"with"`
}

// Insertion puts a text behind a sentence or heading.
type Insertion struct {
	After string `json:"after"`
	Text  string `json:"text"`
}

// Movement puts a sentence behind another or a heading.
type Movement struct {
	Sentence string `json:"sentence"`
	After    string `json:"after"`
}

// EditsShape is the schema of the answer.
var EditsShape = codec.Table(
	codec.Field{Name: "replace", Optional: true, About: "sentences with what stands in their place; a row or list item as a whole", Shape: codec.List(codec.Table(
		codec.Field{Name: "sentence", Shape: codec.NotBlank(), About: "its id"},
		codec.Field{Name: "with", Shape: codec.Text(), About: "Markdown; empty where the sentence is dropped"}), 0)},
	codec.Field{Name: "insert", Optional: true, Shape: codec.List(codec.Table(
		codec.Field{Name: "after", Shape: codec.NotBlank(), About: "the id of a sentence, or the title of a section"},
		codec.Field{Name: "text", Shape: codec.NotBlank(), About: "stands behind the sentence in its block or, where it begins with an empty line, is a block of its own"}), 0)},
	codec.Field{Name: "move", Optional: true, Shape: codec.List(codec.Table(
		codec.Field{Name: "sentence", Shape: codec.NotBlank(), About: "its id"},
		codec.Field{Name: "after", Shape: codec.NotBlank(), About: "the id of a sentence, or the title of a section"}), 0)},
)

// With are these edits and others.
func (e Edits) With(others Edits) Edits {
	return Edits{slices.Concat(e.Replace, others.Replace), slices.Concat(e.Insert, others.Insert), slices.Concat(e.Move, others.Move)}
}

// SectionAt is the title of the section in which a line of the draft stands, "" where it
// stands in none.
func (r *Report) SectionAt(line int) string {
	title := ""
	for _, h := range r.headings {
		if line < 1 || bytes.Count(r.draft[:h.block.from], []byte("\n"))+1 > line {
			break
		}
		title = h.text
	}
	return title
}

// IDsIn are those of some sentences that stand in a section.
func (r *Report) IDsIn(section string, ids []string) []string {
	var in []string
	for i := range r.Sentences {
		if s := &r.Sentences[i]; s.Section == section && slices.Contains(ids, s.ID) {
			in = append(in, s.ID)
		}
	}
	return in
}

// Outside finds the edits that name something outside a section.
func (r *Report) Outside(e Edits, section string) []Fault {
	var faults []Fault
	look := func(name string) {
		at := slices.IndexFunc(r.Sentences, func(s Sentence) bool { return s.ID == name })
		outside := at >= 0 && r.Sentences[at].Section != section ||
			at < 0 && strings.TrimSpace(strings.TrimLeft(name, "#")) != section && slices.ContainsFunc(r.headings, func(h title) bool { return h.text == strings.TrimSpace(strings.TrimLeft(name, "#")) })
		if outside {
			faults = append(faults, NewFault(tidegate.SchemaValidationFailed, 0, "Change the section that you were given, and nothing else.", "%q stands outside the section %q", name, section))
		}
	}
	for _, x := range e.Replace {
		look(x.Sentence)
	}
	for _, x := range e.Insert {
		look(x.After)
	}
	for _, x := range e.Move {
		look(x.Sentence)
		look(x.After)
	}
	return faults
}

// NumberedSection is a section of the draft with ids beside its sentences, and the number
// of its first line.
func (r *Report) NumberedSection(section string) (text string, line int) {
	for i, h := range r.headings {
		if h.text != section {
			continue
		}
		end := len(r.draft)
		if i+1 < len(r.headings) {
			end = r.headings[i+1].block.from
		}
		return r.numbered(h.block.from, end), bytes.Count(r.draft[:h.block.from], []byte("\n")) + 1
	}
	return "", 0
}

// ParseEdits reads edits: INVALID_JSON, SCHEMA_VALIDATION_FAILED.
func ParseEdits(data []byte) (Edits, []Fault) {
	doc, faults := ParseAnswer(data, EditsShape)
	for _, u := range EditsShape.Unknown("$", doc) { // an edit under another name would be lost
		faults = append(faults, NewFault(tidegate.SchemaValidationFailed, 0, "Leave it out, or use replace, insert and move.", "%s is not a field of the answer", u.Path))
	}
	if len(faults) > 0 {
		return Edits{}, faults
	}
	var e Edits
	for _, v := range doc.Get("replace").Elems() {
		e.Replace = append(e.Replace, Replacement{v.Get("sentence").Str(), v.Get("with").Str()})
	}
	for _, v := range doc.Get("insert").Elems() {
		e.Insert = append(e.Insert, Insertion{v.Get("after").Str(), v.Get("text").Str()})
	}
	for _, v := range doc.Get("move").Elems() {
		e.Move = append(e.Move, Movement{v.Get("sentence").Str(), v.Get("after").Str()})
	}
	return e, nil
}

// ParseAnswer reads an answer of JSON: INVALID_JSON, SCHEMA_VALIDATION_FAILED.
func ParseAnswer(data []byte, shape codec.Shape) (*codec.Value, []Fault) {
	doc, err := codec.ParseGiven(data)
	if err != nil {
		line := 0
		if syntax := (*codec.SyntaxError)(nil); errors.As(err, &syntax) {
			line = syntax.Line
		}
		return nil, []Fault{NewFault(tidegate.InvalidJSON, line, "Answer with one JSON object and nothing else: no text around it, no code fence, no key twice.", "the answer is not JSON: %v", err)}
	}
	var faults []Fault
	for _, err := range shape.CheckFields("$", doc) {
		faults = append(faults, NewFault(tidegate.SchemaValidationFailed, 0, "Give the answer the form that the prompt shows.", "%s", tidegate.AsError(err).Message))
	}
	return doc, faults
}

// Edited is a draft that edits made.
type Edited struct {
	Draft  []byte
	places []madeFrom
}

// madeFrom is where what replaced a sentence, or the sentence itself, stands in the
// draft.
type madeFrom struct {
	sentence   string
	start, end int
}

// change is what becomes of a part of the draft.
type change struct {
	from, to int
	text     string
	sentence string // that the text replaces or is
}

// Apply makes the next draft. Drop are the sentences that must go without another in
// their place, else DROP_REQUIRED. An id that the draft does not have, and two edits of
// one sentence, are SCHEMA_VALIDATION_FAILED. Sentences without an entry keep their
// bytes.
func (r *Report) Apply(e Edits, drop []string) (Edited, []Fault) {
	p := editor{Report: r, byID: map[string]*Sentence{}, edited: map[string]bool{}, gone: map[span]int{}, held: map[span]int{}, kept: map[span]bool{}}
	for i := range r.Sentences {
		s := &r.Sentences[i]
		p.byID[s.ID] = s
		p.held[s.block]++
	}
	p.mark(e)
	p.replace(e.Replace)
	p.insert(e.Insert)
	p.move(e.Move)
	written := e.sentences()
	for _, id := range drop {
		if i := slices.IndexFunc(e.Replace, func(x Replacement) bool { return x.Sentence == id }); i < 0 || strings.TrimSpace(e.Replace[i].With) != "" || written[sameWords(p.byID[id].Text)] {
			p.faults = append(p.faults, NewFault(tidegate.DropRequired, p.byID[id].Line, fmt.Sprintf("Answer {\"sentence\":%q,\"with\":\"\"} under replace.", id),
				"sentence %s was not supported in two rounds and must go: %q", id, p.byID[id].Text))
		}
	}
	if len(p.faults) > 0 {
		return Edited{}, p.faults
	}
	return p.write(), nil
}

// sentences are those that edits write, as [sameWords] has them.
func (e Edits) sentences() map[string]bool {
	all := map[string]bool{}
	add := func(text string) {
		r := Read(markdown.Read([]byte(text)), Facts{})
		for i := range r.Sentences {
			all[sameWords(r.Sentences[i].Text)] = true
		}
	}
	for _, x := range e.Replace {
		add(x.With)
	}
	for _, x := range e.Insert {
		add(x.Text)
	}
	return all
}

// sameWords is a sentence without its marks and capitals: what differs in these alone says
// the same.
func sameWords(text string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(plain(text)), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) }), " ")
}

type editor struct {
	*Report
	byID    map[string]*Sentence
	edited  map[string]bool
	held    map[span]int  // how many sentences a block has
	gone    map[span]int  // how many of them leave it
	kept    map[span]bool // something is put into the block
	changes []change
	faults  []Fault
}

func (p *editor) fault(format string, args ...any) {
	p.faults = append(p.faults, NewFault(tidegate.SchemaValidationFailed, 0, "Use the ids that stand beside the sentences of the draft, each in one entry, or the title of a section.", format, args...))
}

// mark notes which sentences leave their blocks, so that a block that loses all goes as
// a whole.
func (p *editor) mark(e Edits) {
	leave := func(id, path string) {
		s := p.byID[id]
		switch {
		case s == nil:
			p.fault("%s names %q, which is no sentence of the draft", path, id)
		case p.edited[id]:
			p.fault("%s names %s, which another entry replaces or moves", path, id)
		}
		p.edited[id] = true
	}
	for i, x := range e.Replace {
		leave(x.Sentence, fmt.Sprintf("$.replace[%d]", i))
		if s := p.byID[x.Sentence]; s != nil && strings.TrimSpace(x.With) == "" {
			p.gone[s.block]++
		}
	}
	for i, x := range e.Move {
		leave(x.Sentence, fmt.Sprintf("$.move[%d]", i))
		if s := p.byID[x.Sentence]; s != nil {
			p.gone[s.block]++
		}
		p.keep(x.After)
	}
	for _, x := range e.Insert {
		p.keep(x.After)
	}
}

func (p *editor) keep(after string) {
	if s := p.byID[after]; s != nil {
		p.kept[s.block] = true
	}
}

func (p *editor) replace(all []Replacement) {
	for _, x := range all {
		s := p.byID[x.Sentence]
		if s == nil {
			continue
		}
		if with := strings.TrimSpace(x.With); with != "" {
			p.changes = append(p.changes, change{s.Start, s.End, s.inPlace(with), s.ID})
			continue
		}
		p.remove(s)
	}
}

// remove takes a sentence out, with its block where nothing is left in it.
func (p *editor) remove(s *Sentence) {
	if p.gone[s.block] == p.held[s.block] && !p.kept[s.block] {
		p.changes = append(p.changes, change{from: s.block.from, to: s.block.to})
		return
	}
	end := s.End
	for end < s.block.to && (p.draft[end] == ' ' || p.draft[end] == '\t') {
		end++
	}
	gap := ""
	if end == s.End && end < s.block.to && s.Start > 0 && !isBlank(p.draft[s.Start-1]) && p.draft[end] < utf8.RuneSelf && !isBlank(p.draft[end]) {
		gap = " " // the sentences beside it stay two
	}
	p.changes = append(p.changes, change{from: s.Start, to: end, text: gap})
}

// markers begin a list item, a heading or a quote.
var markers = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(?:[-*+]|\d{1,9}[.)]|#{1,6}|>)\s+`) })

// inPlace is a text as it can stand where a sentence stands, which keeps the mark of its
// list item; a heading keeps its level where the text has none.
func (s *Sentence) inPlace(text string) string {
	switch {
	case s.kind == heading && !strings.HasPrefix(text, "#"):
		return "### " + text
	case s.kind == prose:
		return markers().ReplaceAllString(text, "")
	}
	return text
}

func (p *editor) insert(all []Insertion) {
	for i, x := range all {
		if !p.put(x.After, x.Text, "") {
			p.fault("$.insert[%d] stands after %q, which is no sentence and no section of the draft", i, x.After)
		}
	}
}

func (p *editor) move(all []Movement) {
	for i, x := range all {
		s := p.byID[x.Sentence]
		if s == nil {
			continue
		}
		text := string(p.draft[s.Start:s.End])
		if s.kind != prose || s.item && p.held[s.block] == 1 {
			text = strings.TrimSpace(string(p.draft[s.block.from:s.block.to]))
		}
		if x.After == x.Sentence || !p.put(x.After, text, s.ID) {
			p.fault("$.move[%d] goes behind %q, which is no other sentence and no section of the draft", i, x.After)
			continue
		}
		p.remove(s)
	}
}

// put places a text behind a sentence or the heading of a section.
func (p *editor) put(after, text, sentence string) bool {
	own := strings.TrimLeft(text, " \t\r")
	block := strings.HasPrefix(own, "\n")
	own = strings.TrimSpace(text)
	if s := p.byID[after]; s != nil {
		switch {
		case s.kind == heading || block:
			p.changes = append(p.changes, change{s.block.to, s.block.to, "\n" + own + "\n\n", sentence})
		case s.kind != prose || s.item && markers().MatchString(own): // a further row or item
			indent := p.draft[s.block.from:s.Start]
			indent = indent[:len(indent)-len(bytes.TrimLeft(indent, " \t>"))]
			p.changes = append(p.changes, change{s.block.to, s.block.to, string(indent) + own + "\n", sentence})
		default:
			p.changes = append(p.changes, change{s.End, s.End, " " + own, sentence})
		}
		return true
	}
	i := slices.IndexFunc(p.headings, func(h title) bool { return h.text == strings.TrimSpace(strings.TrimLeft(after, "#")) })
	if i < 0 {
		return false
	}
	end := p.headings[i].block.to
	p.changes = append(p.changes, change{end, end, "\n" + own + "\n", sentence})
	return true
}

// write makes the draft.
func (p *editor) write() Edited {
	slices.SortStableFunc(p.changes, func(a, b change) int { return cmp.Or(a.from-b.from, a.to-b.to) })
	var out Edited
	at := 0
	for _, c := range p.changes {
		if c.from < at { // it stands in a block that goes as a whole
			if c.to <= at {
				continue
			}
			c.from = at
		}
		out.Draft = append(out.Draft, p.draft[at:c.from]...)
		if n := len(out.Draft); c.text != "" && n > 0 && c.from == c.to && out.Draft[n-1] != '\n' && strings.HasSuffix(c.text, "\n") {
			out.Draft = append(out.Draft, '\n') // behind a last line without an end
		}
		start := len(out.Draft)
		out.Draft = append(out.Draft, c.text...)
		if c.sentence != "" {
			out.places = append(out.places, madeFrom{c.sentence, start, len(out.Draft)})
		}
		at = c.to
	}
	out.Draft = append(out.Draft, p.draft[at:]...)
	return out
}

// Carry gives the strikes of the sentences of a draft to those of the next: to the ones
// that replaced or are them.
func (e Edited) Carry(strikes map[string]int, from, to Report) map[string]int {
	carried := map[string]int{}
	same := map[string]int{} // by text
	for i := range from.Sentences {
		s := &from.Sentences[i]
		same[s.Text] = max(same[s.Text], strikes[s.ID])
	}
	for i := range to.Sentences {
		s := &to.Sentences[i]
		n := same[s.Text]
		for _, p := range e.places {
			if s.Start < p.end && p.start < s.End {
				n = max(n, strikes[p.sentence])
			}
		}
		if n > 0 {
			carried[s.ID] = n
		}
	}
	return carried
}

// Numbered is the draft with its ids beside the sentences, as edits name them.
func (r *Report) Numbered() string { return r.numbered(0, len(r.draft)) }

func (r *Report) numbered(at, end int) string {
	var b strings.Builder
	for i := range r.Sentences {
		s := &r.Sentences[i]
		if s.Start < at || s.Start >= end {
			continue
		}
		b.Write(r.draft[at:s.Start])
		fmt.Fprintf(&b, "⟦%s⟧ ", s.ID)
		at = s.Start
	}
	b.Write(r.draft[at:end])
	return b.String()
}
