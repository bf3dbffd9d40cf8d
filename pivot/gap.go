package pivot

import (
	"bytes"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/text/markdown"
	"github.com/tidegate/tidegate/wave"
)

// The sources of a gap.
const (
	Explicit = "explicit"     // an operator stated it
	Parsed   = "parsed_wave1" // a wave-1 output states it
)

// Priorities are the four priorities, the most urgent first.
var Priorities = []string{"P0", "P1", "P2", "P3"}

// Gap is one open question, normalised: see [Extract] and [Check].
type Gap struct {
	ID       string   `json:"gap_id" jsonschema:"unique among the gaps"`
	Priority string   `json:"priority" jsonschema:"P0 is the most urgent" enum:"P0,P1,P2,P3"`
	Text     string   `json:"text" jsonschema:"trimmed, white space collapsed"`
	Tags     []string `json:"tags" jsonschema:"each once, in byte order"`
	Source   string   `json:"source" jsonschema:"who stated it" enum:"explicit,parsed_wave1"`
	From     string   `json:"from_perspective_id,omitzero" jsonschema:"the perspective whose output states it"`

	// Where a parsed gap stands, for the report. [Extract] does not know the file.
	File string `json:"-"`
	Line int    `json:"-"`
}

// collapse trims text and makes every run of white space in it one blank. A
// byte that is not UTF-8 becomes U+FFFD, so that text means the same wherever it
// is written.
func collapse(text string) string {
	if isCollapsed(text) {
		return text
	}
	if !utf8.ValidString(text) {
		text = string([]rune(text))
	}
	return markdown.OneLine(text)
}

// isCollapsed reports whether text is ASCII that collapse would not change, as
// most text is.
func isCollapsed(text string) bool {
	blank := true
	for i := range len(text) {
		switch c := text[i]; {
		case c == ' ':
			if blank {
				return false
			}
			blank = true
		case c >= '\t' && c <= '\r' || c >= utf8.RuneSelf:
			return false
		default:
			blank = false
		}
	}
	return !blank
}

// tagSet puts tags in byte order, each once, and returns what is left; never
// nil.
func tagSet(tags []string) []string {
	if len(tags) == 0 {
		return []string{}
	}
	slices.Sort(tags)
	return slices.Compact(tags)
}

// tagsIn lists what follows a # in text and is made of a-z, 0-9, _ and -.
func tagsIn(text string) []string {
	var tags []string
	for {
		_, after, found := strings.Cut(text, "#")
		if !found {
			return tagSet(tags)
		}
		n := 0
		for n < len(after) && isTagByte(after[n]) {
			n++
		}
		if n > 0 {
			tags = append(tags, after[:n])
		}
		text = after[n:]
	}
}

func isTagByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '_' || c == '-'
}

// explicitGaps normalises stated gaps and checks them one by one, in the order
// given. It returns INVALID_ARGS, DUPLICATE_GAP_ID and INVALID_GAP_PRIORITY.
func explicitGaps(values []*codec.Value) ([]Gap, error) {
	gaps := make([]Gap, 0, len(values))
	taken := make(map[string]bool, len(values))
	for i, v := range values {
		g, err := readGap(fmt.Sprintf("explicit_gaps[%d]", i), v)
		if err != nil {
			return nil, err
		}
		if taken[g.ID] {
			return nil, tidegate.Errorf(tidegate.DuplicateGapID, tidegate.Pairs("gap_id", g.ID), "explicit_gaps has the gap %q twice", tidegate.Cut(g.ID))
		}
		taken[g.ID] = true
		priority := v.Get("priority")
		if !slices.Contains(Priorities, priority.Str()) {
			return nil, tidegate.Errorf(tidegate.InvalidGapPriority, tidegate.Pairs("gap_id", g.ID, "priority", quoted(priority)),
				"the priority of the gap %q must be one of %s", tidegate.Cut(g.ID), strings.Join(Priorities, ", "))
		}
		g.Priority = priority.Str()
		gaps = append(gaps, g)
	}
	return gaps, nil
}

// readGap reads all of a gap but its priority, which must only be there: what it
// may be has a code of its own.
func readGap(name string, v *codec.Value) (Gap, error) {
	g := Gap{Source: Explicit}
	if v.Kind() != codec.Object {
		return g, wrongValue(name, v, "must be an object")
	}
	if err := checkText(name+".gap_id", v.Get("gap_id")); err != nil {
		return g, err
	}
	g.ID = strings.TrimSpace(v.Get("gap_id").Str())
	if given(v, "priority") == nil {
		return g, wrongValue(name+".priority", nil, "must be one of "+strings.Join(Priorities, ", "))
	}
	if err := checkText(name+".text", v.Get("text")); err != nil {
		return g, err
	}
	g.Text = collapse(v.Get("text").Str())
	tags := given(v, "tags")
	if tags != nil && tags.Kind() != codec.Array {
		return g, wrongValue(name+".tags", tags, "must be an array of strings")
	}
	for i, tag := range tags.Elems() {
		if err := checkText(fmt.Sprintf("%s.tags[%d]", name, i), tag); err != nil {
			return g, err
		}
		g.Tags = append(g.Tags, strings.TrimSpace(tag.Str()))
	}
	g.Tags = tagSet(g.Tags)
	if from := given(v, "from_perspective_id"); from != nil {
		if err := checkText(name+".from_perspective_id", from); err != nil {
			return g, err
		}
		g.From = from.Str()
	}
	return g, nil
}

// given is a member of an object; null counts as absent.
func given(v *codec.Value, key string) *codec.Value {
	if member := v.Get(key); member.Kind() != codec.Null {
		return member
	}
	return nil
}

// gapsTitle is the heading under which an output states its gaps.
const gapsTitle = "Gaps"

// Extract reads an output to its end and returns the gaps that it states, in
// document order: the lines "- (P1) text" between the first top-level heading
// Gaps and the next heading. It returns GAPS_SECTION_NOT_FOUND when there is no
// such heading, GAPS_PARSE_FAILED for the first bullet line that has another
// form, and the errors of r as they are.
//
// A bullet line begins, after white space, with "-" and is not a thematic break,
// with another list marker, or, to a reader of the page, with a priority in
// parentheses: list markers of any kind, quote marks, emphasis, escapes, tags and
// zero-width characters before it hide nothing. Lines in fenced code and in HTML
// comments do not count as such, and all other lines are ignored. A bullet line
// longer than [markdown.MaxLine] has no form that is accepted.
func Extract(perspectiveID string, r io.Reader) ([]Gap, error) {
	return new(Extractor).Extract(perspectiveID, r)
}

// Extractor extracts from one output after the other. The zero value is ready; it
// keeps its buffers, and must not be used by two goroutines at once.
type Extractor struct {
	scanner markdown.Scanner
	lines   bulletLines
	id      string
	found   bool // the section
	gaps    []Gap
	fault   error // the first one
}

// Extract is the function [Extract].
func (e *Extractor) Extract(id string, r io.Reader) ([]Gap, error) {
	e.id, e.found, e.gaps, e.fault = id, false, nil, nil
	e.lines.bullet = e.bullet
	_, err := e.scanner.Scan(r, markdown.Events{Heading: e.heading, Line: e.lines.line})
	switch {
	case err != nil:
		return nil, err
	case !e.found:
		return nil, tidegate.Errorf(tidegate.GapsSectionNotFound, tidegate.Pairs("perspective_id", id),
			"the output of %q has no top-level heading %s", tidegate.Cut(id), gapsTitle)
	}
	return e.gaps, e.fault
}

func (e *Extractor) heading(h markdown.Heading) bool {
	if e.found || string(h.Text) != gapsTitle {
		return false
	}
	e.found = true
	return true
}

func (e *Extractor) bullet(b bullet) {
	switch {
	case e.fault != nil:
	case b.fault != "":
		e.gaps = nil
		e.fault = tidegate.Errorf(tidegate.GapsParseFailed,
			tidegate.Pairs("perspective_id", e.id, "line", b.quote, "line_number", b.number),
			"line %d of the output of %q, a bullet under %s, %s", b.number, tidegate.Cut(e.id), gapsTitle, b.fault)
	default:
		e.gaps = append(e.gaps, Gap{
			ID:       "gap_" + e.id + "_" + strconv.Itoa(len(e.gaps)+1),
			Priority: b.priority, Text: b.text, Tags: tagsIn(b.text), Source: Parsed, From: e.id, Line: b.number,
		})
	}
}

// bullet is a bullet line: a gap, or what is wrong with it.
type bullet struct {
	number         int
	quote          string // the line, cut
	priority, text string
	fault          string // "" for a gap
	marked         bool   // to a reader it begins with a priority
}

// bulletLines finds the bullet lines among the lines of a section.
type bulletLines struct {
	bullet func(bullet)

	// of a line that comes in pieces
	quote []byte // its beginning
	start []byte // its beginning after white space
}

const (
	// quoteSize holds as many characters as a quotation may have.
	quoteSize = tidegate.MaxText * utf8.UTFMax
	// startSize is how much of a long line is looked at, white space before it
	// aside.
	startSize = 4096
)

func (b *bulletLines) line(l markdown.Line) {
	switch {
	case l.In == markdown.InFence:
	case l.In == markdown.InComment:
		b.afterComment(l)
	case l.First && l.Last:
		b.judge(l.Number, l.Text)
	default:
		b.piece(l)
	}
}

// afterComment looks at what follows a comment, in the line that ends it.
func (b *bulletLines) afterComment(l markdown.Line) {
	_, rest, ended := bytes.Cut(l.Text, []byte("-->"))
	if ended && l.First && readStart(rest, !l.Last) == gapLine {
		b.bullet(bullet{number: l.Number, quote: tidegate.Cut(string(l.Text[:min(len(l.Text), quoteSize)])), marked: true,
			fault: "stands behind a comment, and is not of the form - (P0|P1|P2|P3) text"})
	}
}

func (b *bulletLines) judge(number int, line []byte) {
	text := bytes.TrimLeftFunc(line, unicode.IsSpace)
	plain := startsLikeBullet(text) && !markdown.ThematicBreak(text)
	marked := readStart(text, false) == gapLine
	if !plain && !marked {
		return
	}
	found := bullet{number: number, quote: tidegate.Cut(string(line)), marked: marked}
	var rest []byte
	found.priority, rest = readBullet(text)
	if found.text = collapse(string(rest)); found.text == "" {
		found.fault = "is not of the form - (P0|P1|P2|P3) text"
	}
	b.bullet(found)
}

// piece takes a piece of a line longer than [markdown.MaxLine]. Only as much of
// such a line is kept as shows whether it is a bullet line.
func (b *bulletLines) piece(l markdown.Line) {
	if l.First {
		b.quote, b.start = b.quote[:0], b.start[:0]
	}
	b.quote = append(b.quote, l.Text[:min(len(l.Text), quoteSize-len(b.quote))]...)
	if len(b.start) < startSize {
		b.start = bytes.TrimLeftFunc(append(b.start, l.Text...), unicode.IsSpace)
	}
	if !l.Last || len(b.start) == 0 {
		return
	}
	start := b.start[:min(len(b.start), startSize)]
	if found := readStart(start, true); startsLikeBullet(start) || found != prose {
		b.bullet(bullet{number: l.Number, quote: tidegate.Cut(string(b.quote)), marked: found == gapLine,
			fault: "is longer than a gap may be, " + strconv.Itoa(markdown.MaxLine) + " bytes"})
	}
}

// startsLikeBullet reports whether text, which has no white space before it,
// begins as a bullet line does.
func startsLikeBullet(text []byte) bool {
	if len(text) == 0 {
		return false
	}
	n := 1
	switch c := text[0]; {
	case c == '-':
		return true
	case c == '(':
		return priorityMark(text) != ""
	case c == '*' || c == '+':
	case c >= '0' && c <= '9':
		for n < len(text) && text[n] >= '0' && text[n] <= '9' {
			n++
		}
		if n > maxDigits || n == len(text) || text[n] != '.' && text[n] != ')' {
			return false
		}
		n++
	default:
		return false
	}
	return n == len(text) || isBlank(text[n])
}

// maxDigits is how many digits the number of a list item may have.
const maxDigits = 9

// readBullet takes a bullet line apart. The rest is nil when its form is not "-
// (P1) rest".
func readBullet(text []byte) (priority string, rest []byte) {
	if text[0] != '-' {
		return "", nil
	}
	text, ok := skipBlanks(text[1:])
	if !ok {
		return "", nil
	}
	if priority = priorityMark(text); priority == "" {
		return "", nil
	}
	if rest, ok = skipBlanks(text[len("(P0)"):]); !ok {
		return "", nil
	}
	return priority, rest
}

// priorityMark is the priority whose mark, such as (P0), text begins with, or "".
func priorityMark(text []byte) string {
	if len(text) < len("(P0)") || text[0] != '(' || text[1] != 'P' || text[2] < '0' || text[2] > '3' || text[3] != ')' {
		return ""
	}
	return Priorities[text[2]-'0']
}

// skipBlanks goes past blanks and tabs; ok is false when there are none.
func skipBlanks(text []byte) (rest []byte, ok bool) {
	rest = bytes.TrimLeft(text, " \t")
	return rest, len(rest) < len(text)
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' }

// maxFaults is how many lines that do not state a gap properly are listed.
const maxFaults = 20

// CheckGaps judges the gaps of an output before a run takes it, while their author
// can still correct them. Its faults, all GAPS_PARSE_FAILED and in document order,
// are of two kinds: the bullet lines of the Gaps section that [Extract] refuses;
// and, below a deeper heading inside Gaps, up to the next heading of the same or a
// higher level, every line that begins with a priority to a reader of the page,
// well-formed or not: Extract looks at nothing there, and a gap would be lost. The
// headings themselves are such lines. Where very many lines are at fault, the last
// one listed says how many more there are. An output without a Gaps section has no
// such fault.
func CheckGaps(output []byte) []wave.Fault {
	var g gapChecker
	lines := bulletLines{bullet: g.bullet}
	// A bytes.Reader does not fail.
	_, _ = new(markdown.Scanner).Scan(bytes.NewReader(output), markdown.Events{Heading: g.heading, Line: lines.line})
	if more := g.count - maxFaults; more > 0 {
		last := &g.faults[maxFaults-1]
		last.Error = tidegate.AsError(tidegate.Errorf(last.Error.Code, last.Error.Details, "%s; %d more lines likewise", last.Error.Message, more))
	}
	return g.faults
}

type gapChecker struct {
	level  int  // of the heading Gaps, 0 before it
	below  bool // a deeper heading
	over   bool // the section has ended
	faults []wave.Fault
	count  int
}

func (g *gapChecker) heading(h markdown.Heading) bool {
	switch {
	case g.over:
	case g.level == 0:
		if string(h.Text) == gapsTitle {
			g.level = h.Level
		}
	case h.Level <= g.level:
		g.over = true
	default:
		g.below = true
		if readStart(h.Text, false) == gapLine {
			g.bullet(bullet{number: h.Line, quote: tidegate.Cut(string(h.Text)), marked: true})
		}
	}
	return g.level > 0 && !g.over
}

func (g *gapChecker) bullet(b bullet) {
	var message, note string
	switch {
	case g.below && !b.marked, !g.below && b.fault == "":
		return
	case g.below:
		message = fmt.Sprintf("line %d begins with a priority below a heading inside %s, where no gap is looked for", b.number, gapsTitle)
		note = fmt.Sprintf("Move the gap in line %d up into the section %s, before the first heading inside it, as `- (P1) text of the gap`.", b.number, gapsTitle)
	default:
		message = fmt.Sprintf("line %d, a bullet under %s, %s", b.number, gapsTitle, b.fault)
		note = fmt.Sprintf("Write line %d as `- (P1) text of the gap`, with P0, P1, P2 or P3, or, if it states no gap, as a sentence that is not a list item.", b.number)
	}
	if g.count++; g.count > maxFaults {
		return
	}
	g.faults = append(g.faults, wave.Fault{
		Error: tidegate.AsError(tidegate.Errorf(tidegate.GapsParseFailed, tidegate.Pairs("line", b.quote, "line_number", b.number), "%s", message)),
		Line:  b.number, ChangeNote: note,
	})
}

// stated says whether a line states a gap to a reader of the page.
type stated uint8

const (
	prose   stated = iota // its first word is not a list marker
	gapLine               // its visible text begins with a priority
	unclear               // it has nothing but signs and white space
)

// readStart looks for a priority at the start of the visible text of a line: (P0)
// to (P3), once list markers of any kind, quote marks, emphasis, escapes,
// character references, tags, bars of tables and zero-width characters before it
// and in it are removed. A list marker is a sign, or a number, a single letter or
// a small Roman number, in brackets or not. The article a is not one, so that
// prose may begin with it.
//
// A line that is cut goes on beyond what is seen, where a tag may end.
func readStart(line []byte, cut bool) stated {
	c := characters{line: line, cut: cut}
	for {
		r, ok := c.next()
		switch {
		case !ok:
			return unclear
		case r == '(' && c.atPriority():
			return gapLine
		case !isNumeral(r):
			continue // a sign, or white space
		}
		word := []rune{r}
		for r, ok = c.next(); ok && isNumeral(r); r, ok = c.next() {
			if word = append(word, r); len(word) > longestNumber {
				return prose
			}
		}
		if !isListNumber(string(word), !ok || unicode.IsSpace(r)) {
			return prose
		}
		if ok {
			c.back() // it may be the parenthesis of a priority
		}
	}
}

// longestNumber is the length of the longest number of a list.
const longestNumber = 12

func isNumeral(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }

var (
	romanNumber = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(?:x{0,3}(?:ix|iv|v?i{0,3})|X{0,3}(?:IX|IV|V?I{0,3}))$`)
	})
	chineseNumber = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[一二三四五六七八九十百]+$`) })
	mixedNumber   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(?:\pL\d{1,2}|\d{1,3}\pL)$`) }) // G1, 1a
)

// isListNumber reports whether a word numbers an item of a list. Bare says that no
// sign follows it.
func isListNumber(word string, bare bool) bool {
	switch {
	case strings.IndexFunc(word, func(r rune) bool { return !unicode.IsNumber(r) }) < 0, romanNumber().MatchString(word):
		return true
	case bare && strings.EqualFold(word, "a"):
		return false
	}
	return utf8.RuneCountInString(word) == 1 || chineseNumber().MatchString(word) || !bare && mixedNumber().MatchString(word)
}

// characters are the characters of a line that a page shows.
type characters struct {
	line    []byte
	at      int
	decoded []rune // of a character reference, still to come
	last    rune
	again   bool // last comes once more
	noEnd   bool // no tag ends in the rest of the line
	cut     bool // the line goes on
}

// back makes the last character come once more.
func (c *characters) back() { c.again = true }

// next is the next character; it is not ok at the end of the line.
func (c *characters) next() (r rune, ok bool) {
	if c.again {
		c.again = false
		return c.last, true
	}
	for {
		if len(c.decoded) > 0 {
			r, c.decoded = c.decoded[0], c.decoded[1:]
		} else if r, ok = c.read(); !ok {
			return 0, false
		}
		if r >= '！' && r <= '～' { // the wide forms of ASCII
			r -= '！' - '!'
		}
		// Marks, such as that of a key cap, belong to the character before.
		if r > 0 && !markdown.Hidden(r) && !unicode.IsMark(r) {
			c.last = r
			return r, true
		}
	}
}

// read takes the next character of the line, 0 for what is not one.
func (c *characters) read() (r rune, ok bool) {
	if c.at == len(c.line) {
		return 0, false
	}
	rest := c.line[c.at:]
	switch {
	case rest[0] == '\\' && len(rest) > 1 && strings.IndexByte("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~", rest[1]) >= 0:
		c.at++
		return 0, true
	case rest[0] == '&':
		if text, n := markdown.CharacterReference(rest); n > 0 {
			c.at += n
			c.decoded = []rune(text)
			return 0, true
		}
	case rest[0] == '<' && !c.noEnd && len(rest) > 1 && (rest[1] == '/' || rest[1] == '!' || rest[1] == '?' || rest[1]|0x20 >= 'a' && rest[1]|0x20 <= 'z'):
		end := bytes.IndexByte(rest, '>')
		if bytes.HasPrefix(rest, []byte("<!--")) {
			if i := bytes.Index(rest, []byte("-->")); i >= 0 {
				end = i + len("--")
			}
		}
		switch {
		case end >= 0:
			c.at += end + 1
			return 0, true
		case c.cut:
			return 0, false
		}
		c.noEnd = true
	}
	r, size := utf8.DecodeRune(rest)
	c.at += size
	return r, true
}

// atPriority reports whether P0) to P3) comes next, marks of emphasis aside.
func (c *characters) atPriority() bool {
	ahead := *c
	want := []string{"P", "0123", ")"}
	for _, one := range want {
		r, ok := ahead.next()
		for ok && strings.ContainsRune("*_~`", r) {
			r, ok = ahead.next()
		}
		if !ok || !strings.ContainsRune(one, r) {
			return false
		}
	}
	return true
}
