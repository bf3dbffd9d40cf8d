package evidence

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/text/chart"
	"github.com/tidegate/tidegate/internal/text/draft"
	"github.com/tidegate/tidegate/internal/text/markdown"
	"github.com/tidegate/tidegate/internal/text/page"
	"github.com/tidegate/tidegate/internal/text/sentence"
)

// Grammar says how the marks of a sentence are written.
const Grammar = "`[@id]`, `[inferred from @id, @id]` with up to three ids, `[calculated: EXPRESSION = RESULT]`, `[not found on the archived pages: WORDS]` as a sentence of its own, and, on a line of its own, `[chart: bar]` or `[chart: line]`"

// mark is what stands in brackets behind a text and says what the text rests on.
type mark struct {
	at         int // where it was taken out of the text
	start, end int // where it stands in the draft
	cited      string
	inferred   []string
	calculated string
	absent     string
}

type markGrammar struct{ like, cited, inferred, ids, calculated, absent, chart *regexp.Regexp }

var marks = sync.OnceValue(func() markGrammar {
	return markGrammar{
		like:       regexp.MustCompile(`^(?i:\[\s*(?:@|inferred\b|calculated\b|not found on\b|chart\s*:))`),
		cited:      regexp.MustCompile(`^\[(` + draft.MarkedID + `)\]`),
		inferred:   regexp.MustCompile("^" + draft.Inference),
		ids:        regexp.MustCompile(draft.MarkedID),
		calculated: regexp.MustCompile("^" + draft.Calculation),
		absent:     regexp.MustCompile("^" + draft.Absence),
		chart:      regexp.MustCompile(`^\[chart: (bar|line)\]$`),
	}
})

// leaf is the text of a paragraph, a heading or a cell as a reader sees it, without
// its marks.
type leaf struct {
	text   []byte
	places []place // of each byte of the text
	marks  []mark
	bad    []int      // where something in the draft begins like a mark and is none
	notes  []int      // where the mark of a footnote stands
	chart  chart.Kind // how the table above is drawn, where it is nothing but the mark of a chart
}

// place is where a byte comes from in the draft, and how it is shown.
type place struct {
	from, to           int32
	code, italic, bold bool
}

func (l *leaf) add(c byte, p place) { l.text, l.places = append(l.text, c), append(l.places, p) }

// leafOf reads a block. A line end that is none for the reader is a blank, and one that
// is one stays.
func leafOf(doc *markdown.Document, b markdown.Block) leaf {
	var all leaf
	italic, bold := 0, 0
	for _, piece := range doc.Rendered(b) {
		text := piece.Text
		switch {
		case piece.Span == markdown.EmphasisSpan && piece.Kind == markdown.OpenInline:
			italic++
		case piece.Span == markdown.EmphasisSpan && piece.Kind == markdown.CloseInline:
			italic--
		case piece.Span == markdown.StrongSpan && piece.Kind == markdown.OpenInline:
			bold++
		case piece.Span == markdown.StrongSpan && piece.Kind == markdown.CloseInline:
			bold--
		case piece.Kind == markdown.BreakInline && piece.Hard:
			text = []byte("\n")
		case piece.Kind == markdown.BreakInline:
			text = []byte(" ")
		}
		if piece.Kind != markdown.TextInline && piece.Kind != markdown.CodeInline && piece.Kind != markdown.BreakInline || piece.InImage {
			continue
		}
		for i, c := range text {
			from, to := piece.Start, piece.End
			if len(text) == to-from {
				from, to = from+i, from+i+1
			}
			all.add(c, place{int32(from), int32(to), piece.Kind == markdown.CodeInline, italic > 0, bold > 0})
		}
	}
	return all.withoutMarks()
}

// withoutMarks takes the marks out of a text, with the white space before them.
func (l leaf) withoutMarks() leaf {
	grammar := marks()
	if m := grammar.chart.FindSubmatch(l.text); m != nil {
		return leaf{chart: chart.Kind(m[1])}
	}
	out := leaf{text: make([]byte, 0, len(l.text)), places: make([]place, 0, len(l.text))}
	for i := 0; i < len(l.text); i++ {
		if l.text[i] != '[' || l.places[i].code {
			out.add(l.text[i], l.places[i])
			continue
		}
		rest := l.text[i:]
		m, n := parseMark(rest)
		switch {
		case n > 0:
			out.text = bytes.TrimRight(out.text, " \t\n")
			out.places = out.places[:len(out.text)]
			m.at, m.start, m.end = len(out.text), int(l.places[i].from), int(l.places[i+n-1].to)
			out.marks = append(out.marks, m)
			if i += n - 1; len(out.text) > 0 && joinsWord(l.text[i+1:]) {
				out.add(' ', place{from: int32(m.end), to: int32(m.end)})
			}
			continue
		case grammar.like.Match(rest):
			out.bad = append(out.bad, int(l.places[i].from))
		case len(rest) > 1 && rest[1] == '^':
			out.notes = append(out.notes, int(l.places[i].from))
		}
		out.add(l.text[i], l.places[i])
	}
	return out
}

// labelled joins a label, such as **Cost.**, to the sentence behind it: a few bold words at the
// beginning that end in a full stop or colon, without a mark of their own.
func (l leaf) labelled(spans []sentence.Span) []sentence.Span {
	if len(spans) < 2 {
		return spans
	}
	label, next := spans[0], &spans[1]
	text := string(l.text[label.Start:label.End])
	if words(text) > maxHeading || !strings.ContainsRune(".:。：", lastRune(text)) || slices.ContainsFunc(l.marks, func(m mark) bool { return m.at <= next.Start }) {
		return spans
	}
	for i, r := range text {
		if (unicode.IsLetter(r) || unicode.IsDigit(r)) && !l.places[label.Start+i].bold {
			return spans
		}
	}
	next.Start = label.Start
	return spans[1:]
}

// italics are the parts of a sentence that are set in italics.
func (l leaf) italics(of sentence.Span) (parts []string) {
	for at := of.Start; at < of.End; {
		end := at
		for end < of.End && l.places[end].italic {
			end++
		}
		if end > at {
			parts = append(parts, markdown.OneLine(string(l.text[at:end])))
		}
		at = end + 1
	}
	return parts
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

// joinsWord holds for a text that would read as one word with what stands before it.
func joinsWord(text []byte) bool {
	r, _ := utf8.DecodeRune(text)
	return (unicode.IsLetter(r) || unicode.IsDigit(r) || r == '(') && !page.IsDense(r)
}

// parseMark reads the mark that a text begins with. n is its length, 0 for none.
func parseMark(text []byte) (m mark, n int) {
	grammar := marks()
	if found := grammar.cited.FindSubmatch(text); found != nil {
		return mark{cited: string(found[1][1:])}, len(found[0])
	}
	if found := grammar.inferred.FindSubmatch(text); found != nil {
		for _, id := range grammar.ids.FindAll(found[1], -1) {
			m.inferred = append(m.inferred, string(id[1:]))
		}
		return m, len(found[0])
	}
	if found := grammar.calculated.FindSubmatch(text); found != nil {
		return mark{calculated: string(found[1])}, len(found[0])
	}
	if found := grammar.absent.FindSubmatch(text); found != nil {
		return mark{absent: strings.TrimSpace(string(found[1]))}, len(found[0])
	}
	return mark{}, 0
}

// ChartOf reads how a table is drawn, "" where it is not: the mark stands below it, in a
// paragraph of its own or, without an empty line between them, as what Markdown takes for
// the last row. Nodes begin with the table and go on with what stands behind it. Lines
// are those of the rows.
func ChartOf(doc *markdown.Document, nodes []*markdown.Node, language string) (kind chart.Kind, t chart.Table, lines []int) {
	rows := nodes[0].Children
	if last := len(rows) - 1; last > 0 {
		if kind = chartIn(doc, rows[last]); kind != "" {
			rows = rows[:last]
		}
	}
	if kind == "" && len(nodes) > 1 && nodes[1].Kind == markdown.ParagraphBlock {
		kind = leafOf(doc, nodes[1].Block).chart
	}
	t.Language = language
	for i, row := range rows {
		cells := make([]string, len(row.Children))
		for k, cell := range row.Children {
			cells[k] = string(leafOf(doc, cell.Block).text)
		}
		if i == 0 {
			t.Head = cells
		} else {
			t.Rows, lines = append(t.Rows, cells), append(lines, row.Line)
		}
	}
	return kind, t, lines
}

// chartIn is the mark of a chart that a row has in its first cell and nothing else.
func chartIn(doc *markdown.Document, row *markdown.Node) (kind chart.Kind) {
	for i, cell := range row.Children {
		l := leafOf(doc, cell.Block)
		switch {
		case i == 0 && l.chart != "":
			kind = l.chart
		case len(l.text) > 0 || len(l.marks) > 0 || l.chart != "":
			return ""
		}
	}
	return kind
}

// drawn looks whether a table can be drawn as its mark asks for.
func (w *walker) drawn(nodes []*markdown.Node) {
	kind, t, lines := ChartOf(w.doc, nodes, w.facts.Language)
	if kind == "" {
		return
	}
	if _, problem := chart.New(kind, t); problem != nil {
		line := nodes[0].Line
		if problem.Row >= 0 {
			line = lines[problem.Row]
		}
		w.fault(tidegate.FormMixed, line, problem.Change, "the table of line %d cannot be drawn: %s", nodes[0].Line, problem.What)
	}
}
