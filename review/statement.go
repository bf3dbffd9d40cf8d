package review

import (
	"fmt"
	"html"
	"slices"
	"strings"
	"unicode"

	"github.com/tidegate/tidegate/internal/text/markdown"
)

// A statement is one place in a file that states a verdict.
type statement struct {
	line    int
	verdict Verdict
	form    form
}

type form int

const (
	header form = iota // a heading with the word in it
	plain              // the word as a paragraph of its own in the verdict section
	ticked             // a checked box
	loose              // any other way to state it, which decides nothing but can contradict
)

const words = `(?i:APPROVED|NEEDS_FIX|NEEDS_CHANGES|MAJOR_ISSUES)`

var (
	verdictTitle  = pattern(`^(?i:verdict)[ \t]*:?$`)
	verdictInline = pattern(`^(?i:verdict)(?:[ \t]*:[ \t]*|[ \t]+)(` + words + `)$`)
	plainWord     = pattern(`^(` + words + `)[ \t]*$`)
	tickedBox     = pattern(`^\[[xX]\][ \t]+(` + words + `)(?:[ \t]*|:.*|[ \t]+[-–—(:].*)$`)
	// A footnote, which a page shows at its end, and what begins an alert. Texts of a
	// reviewer have neither, because both are escaped there.
	footnote = pattern(`(?m)^[ \t>]*\[\^[^\[\]\s]+\]:[ \t]*`)
	alert    = pattern(`^\[!(?i:NOTE|TIP|IMPORTANT|WARNING|CAUTION)\][ \t]*$`)
	checked  = pattern(`^\[[xX]\]`)
	// The bullets of our layout that quote a reviewer on one line.
	quotedField = pattern(`^\*\*(?:Change|Category|File|Description|Recommendation)\*\*:`)
)

// maxProblems bounds what is said about one file.
const maxProblems = 10

// statedVerdict is the verdict that a file of any layout states, or "" with the
// reasons why it states none.
func statedVerdict(text string) (Verdict, []string) {
	all, sections := statements(text)
	found := slices.DeleteFunc(slices.Clone(all), func(s statement) bool { return s.form == loose })
	if len(found) == 0 {
		if sections == 0 {
			return "", []string{"no verdict: there is neither a verdict heading nor a checked verdict box"}
		}
		return "", []string{"no verdict: the verdict section has neither a checked box nor the word alone on its line"}
	}
	var contradictory, repeated []string
	if line := hiding(text); line > 0 {
		contradictory = append(contradictory, fmt.Sprintf("hidden text: the HTML in line %d hides what stands in it from a reader of the page", line))
	}
	if sections > 1 {
		repeated = append(repeated, fmt.Sprintf("repeated verdict: there are %d verdict sections", sections))
	}
	seen := map[form]int{}
	for _, s := range all {
		if first := found[0]; s.verdict != first.verdict {
			contradictory = append(contradictory, fmt.Sprintf("contradictory verdicts: line %d says %s, line %d says %s",
				first.line, first.verdict, s.line, s.verdict))
		} else if before, twice := seen[s.form]; twice && s.form != loose {
			repeated = append(repeated, fmt.Sprintf("repeated verdict: line %d says %s again after line %d", s.line, s.verdict, before))
		}
		seen[s.form] = s.line
	}
	problems := append(contradictory, repeated...)
	if len(problems) > maxProblems {
		more := fmt.Sprintf("%d more of this kind", len(problems)-maxProblems)
		problems = append(problems[:maxProblems], more)
	}
	if len(problems) > 0 {
		return "", problems
	}
	return found[0].verdict, nil
}

// statements collects what states a verdict, and counts the verdict sections.
func statements(text string) (found []statement, sections int) {
	s := reader{Document: markdown.Parse([]byte(text))}
	for _, n := range s.Tree() {
		s.block(n)
	}
	shown := reader{Document: markdown.ParseGitHub([]byte(text))}
	for _, n := range shown.Tree() {
		shown.rows(n)
	}
	known := map[statement]bool{}
	for _, one := range s.found {
		known[one] = true
	}
	for _, one := range append(shown.found, footnotes(text)...) {
		if !known[one] {
			s.found = append(s.found, one)
		}
	}
	return s.found, s.sections
}

// footnotes are what the footnotes of a file state, and all else in it again, none of
// which decides anything. A reader who knows none takes them for definitions of links.
func footnotes(text string) []statement {
	items := footnote().ReplaceAllString(text, "- ")
	if items == text {
		return nil
	}
	s := reader{Document: markdown.Parse([]byte(items))}
	for _, n := range s.Tree() {
		s.block(n)
	}
	for i := range s.found {
		s.found[i].form = loose
	}
	return s.found
}

// hiding is the line of the first HTML of a file that hides from a reader of the page
// what stands in it; 0 for none.
func hiding(text string) int {
	s := reader{Document: markdown.Parse([]byte(text))}
	var first func(nodes []*markdown.Node) int
	first = func(nodes []*markdown.Node) int {
		for _, n := range nodes {
			raw := ""
			switch n.Kind {
			case markdown.HTMLBlock:
				raw = unshown().ReplaceAllString(s.Raw(n.Block), "")
			case markdown.ParagraphBlock, markdown.HeadingBlock, markdown.CellBlock:
				for _, piece := range s.Rendered(n.Block) {
					if piece.Kind == markdown.HTMLInline {
						raw += string(piece.Text)
					}
				}
			}
			if hidden().MatchString(raw) {
				return n.Line
			}
			if line := first(n.Children); line > 0 {
				return line
			}
		}
		return 0
	}
	return first(s.Tree())
}

// reader reads a file block by block. Headings, paragraphs and bullets of its own
// state a verdict; what a person sees elsewhere, outside code and quotes, can
// contradict it.
type reader struct {
	*markdown.Document
	found     []statement
	sections  int  // verdict sections so far
	inVerdict bool // the present section is one
}

func (s *reader) state(line int, word string, f form) {
	verdict := Verdict(strings.NewReplacer(" ", "_", "-", "_").Replace(strings.ToUpper(word)))
	if verdict == "NEEDS_CHANGES" {
		verdict = NeedsFix
	}
	s.found = append(s.found, statement{line: line, verdict: verdict, form: f})
}

// block reads a block at the top level.
func (s *reader) block(n *markdown.Node) {
	before := len(s.found)
	first := s.firstLine(n)
	switch n.Kind {
	case markdown.HeadingBlock:
		if n.Level == 3 && strings.HasPrefix(first, "Issue: ") {
			s.inVerdict = false // our layout quotes a reviewer there
			return
		}
		s.heading(n, first)
	case markdown.ParagraphBlock:
		word := plainWord().FindStringSubmatch(first)
		if start, end := s.Range(n.Block); s.inVerdict && word != nil && end-start == len(first) {
			s.state(n.Line, word[1], plain)
		}
	case markdown.ListBlock:
		for _, item := range n.Children {
			s.bullet(item, n.Ordered)
		}
		return
	case markdown.QuoteBlock:
		if len(n.Children) > 0 && alert().MatchString(s.firstLine(n.Children[0])) {
			for _, child := range n.Children { // GitHub shows it as a box of the page
				s.loosely(child, 0)
			}
			return
		}
	}
	if len(s.found) == before {
		s.loosely(n, 0)
	}
}

// firstLine is the first line of a paragraph or heading as it is written.
func (s *reader) firstLine(n *markdown.Node) (first string) {
	if n.Kind == markdown.ParagraphBlock || n.Kind == markdown.HeadingBlock {
		s.Lines(n.Block, func(number, _ int, line []byte) {
			if number == n.Line {
				first = string(line)
			}
		})
	}
	return first
}

func (s *reader) heading(n *markdown.Node, title string) {
	if s.inVerdict = verdictTitle().MatchString(title); s.inVerdict {
		s.sections++
	}
	if inline := verdictInline().FindStringSubmatch(title); inline != nil {
		s.state(n.Line, inline[1], header)
	} else if other := otherVerdict(strings.Join(s.rendered(n, true), " ")); other != "" {
		s.found = append(s.found, statement{line: n.Line, verdict: Verdict(other), form: loose})
	}
}

// bullet reads an item of a list at the top level.
func (s *reader) bullet(item *markdown.Node, ordered bool) {
	for i, n := range item.Children {
		skip := 0
		if i == 0 && n.Line == item.Line && n.Kind == markdown.ParagraphBlock && !ordered {
			first := s.firstLine(n)
			if box := tickedBox().FindStringSubmatch(first); box != nil {
				s.state(n.Line, box[1], ticked)
				if word := refusal(s.rendered(n, false)[0]); word != "" && strings.EqualFold(box[1], string(Approved)) {
					s.state(n.Line, word, loose)
				}
				skip = 1
			} else if quotedField().MatchString(first) {
				skip = 1
			}
		}
		s.loosely(n, skip)
	}
}

// loosely reads a block for what a person takes for a verdict, after its first
// lines: line by line, and a paragraph also as the one text that it is on the page.
// It is read as it stands there, and without what is struck through.
func (s *reader) loosely(n *markdown.Node, skip int) {
	switch n.Kind {
	case markdown.CodeBlock:
		return
	case markdown.QuoteBlock:
		s.quoted(n)
		return
	}
	for _, child := range n.Children {
		s.loosely(child, 0)
	}
	lines := s.rendered(n, true)
	s.looseLines(n, lines, skip)
	if left := s.rendered(n, false); !slices.Equal(left, lines) {
		s.looseLines(n, left, skip)
	}
}

// quoted reads a quote for a refusal that somebody wrote there: a heading, or a
// checked box. The texts of a reviewer stand in quotes, too, and have neither,
// because both are escaped there. An approval that is quoted is none.
func (s *reader) quoted(n *markdown.Node) {
	before := len(s.found)
	for _, child := range n.Children {
		if child.Kind == markdown.HeadingBlock || checked().MatchString(s.firstLine(child)) {
			s.loosely(child, 0)
		} else {
			s.quoted(child)
		}
	}
	said := slices.DeleteFunc(s.found[before:], func(s statement) bool { return s.verdict == Approved })
	s.found = s.found[:before+len(said)]
}

func (s *reader) looseLines(n *markdown.Node, lines []string, skip int) {
	for i, line := range lines {
		if word := looseVerdict(line, s.inVerdict, n.Kind == markdown.HTMLBlock); word != "" && i >= skip {
			s.state(n.Line+i, word, loose)
		}
	}
	if n.Kind == markdown.ParagraphBlock && len(lines) > skip+1 {
		if word := looseVerdict(strings.Join(lines[skip:], " "), s.inVerdict, false); word != "" {
			s.state(n.Line, word, loose)
		}
	}
}

// rows reads the rows of tables loosely, cell by cell: what is a comment or code to
// a reader who knows no tables can be the text of several cells.
func (s *reader) rows(n *markdown.Node) {
	if n.Kind == markdown.QuoteBlock {
		return
	}
	var cells []string
	for _, child := range n.Children {
		s.rows(child)
		if child.Kind == markdown.CellBlock {
			cells = append(cells, strings.Join(s.rendered(child, true), " "))
		}
	}
	for _, text := range append(cells, strings.Join(cells, " | ")) {
		if word := looseVerdict(text, false, false); word != "" && (len(cells) == 1 || looseLabel().MatchString(text)) {
			s.state(n.Line, word, loose)
		}
	}
}

var (
	// What a browser does not show of a block of HTML, or as code: comments, and
	// what begins a block that has an end of its own.
	unshown = pattern(`(?is)<!--.*?-->|^\s*<(?:pre|script|style|textarea)\b.*?(?:</(?:pre|script|style|textarea)>|$)|^\s*<(?:!--.*|[?!][^>]*)(?:>|$)`)
	tags    = pattern(`</?[A-Za-z][^<>]*>`)
	// Tags of elements that a page does not show, by their name or an attribute.
	hidden     = pattern(`(?is)<(?:template|dialog|noscript|datalist|select|iframe|object|title)\b|<[a-z][^<>]*\s(?:hidden|style|popover)(?:[\s=/>]|$)`)
	bracketed  = pattern(`\[([^\[\]]*\pL{2}[^\[\]]*)\](?:\([^()]*\)|\[[^\[\]]*\])?`)
	struckTag  = pattern(`(?i)</?(?:del|s|strike)(?:\s[^<>]*)?>`)
	struckText = pattern(`~{1,2}[^~]+~{1,2}`)
	emphasis   = strings.NewReplacer("*", "", "`", "", "~", "")
)

// rendered are the lines of a block as a person sees them on the page: without
// tags, comments, marks of emphasis and zero-width characters, with full-width
// letters as what they stand for, words in brackets without them, and one blank for
// any white space. What is struck through is among them only when struck is true.
func (s *reader) rendered(n *markdown.Node, struck bool) []string {
	var text strings.Builder
	switch n.Kind {
	case markdown.HTMLBlock:
		raw := unshown().ReplaceAllStringFunc(s.Raw(n.Block), func(gone string) string { return strings.Repeat("\n", strings.Count(gone, "\n")) })
		text.WriteString(html.UnescapeString(tags().ReplaceAllString(struckTag().ReplaceAllString(raw, "~"), "")))
	case markdown.ParagraphBlock, markdown.HeadingBlock, markdown.CellBlock:
		for _, piece := range s.Rendered(n.Block) {
			if piece.Kind != markdown.HTMLInline {
				text.Write(piece.Text)
			} else if struckTag().Match(piece.Text) {
				text.WriteByte('~')
			}
		}
	}
	lines := strings.Split(text.String(), "\n")
	for i, line := range lines {
		if !struck {
			line = struckText().ReplaceAllString(line, " ")
		}
		if n.Kind != markdown.HeadingBlock {
			line = listMarks().ReplaceAllString(line, "")
		}
		line = bracketed().ReplaceAllString(line, "$1")
		lines[i] = strings.Join(strings.Fields(strings.Map(visible, emphasis.Replace(line))), " ")
	}
	return lines
}

// visible is the character that stands on the page for r, -1 for none.
func visible(r rune) rune {
	switch {
	case unicode.IsSpace(r):
		return ' '
	case unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector):
		return -1
	case r >= '！' && r <= '～': // the full-width forms of ASCII
		return r - '！' + '!'
	}
	return r
}
