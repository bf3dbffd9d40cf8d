package foreign

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/rule/evidence"
	"github.com/tidegate/tidegate/internal/text/link"
	"github.com/tidegate/tidegate/internal/text/page"
	"github.com/tidegate/tidegate/internal/text/sentence"
)

// Document is a report as it was read.
type Document struct {
	Format    string // markdown, html, docx, office, pdf or text
	Language  string // in two letters, "" where it cannot be told
	Styles    []Style
	Sentences []Sentence
	Citations []Citation
	Entries   []Entry
	Headings  []Heading
	headers   []Heading // the first rows of tables
	Left      int       // blocks of code, or paragraphs beside the main part of a page, that are not read

	NotMatched string // says that there seems to be a list of sources that was not understood
}

// Sentence is one of a report, with what bears it.
type Sentence struct {
	evidence.Sentence
	URLs []string // that it cites, itself or by the next citation of its paragraph
	Kind string   // of its paragraph: paragraph, item or row

	level, number int      // of an item: how many lists it lies in, and its number in one that has numbers
	marks         []string // of its citations, as the author wrote them

	cites []int  // its own citations
	sum   string // its calculation, in a report of our own
}

// Heading is one of a report.
type Heading struct {
	Line, Level int
	Text        string
	Before      int // how many sentences stand before it
}

// The forms that a sentence has beside those of a report of ours that cite.
const (
	Structural evidence.Form = "structural" // a line that ends with a colon or a question mark
	Uncited    evidence.Form = "uncited"
)

// MaxReport is how many bytes a report has at most.
const MaxReport = 64 << 20

// maxMarks is how many citations a report has at most: nobody reads one with more.
const maxMarks = 100_000

// maxCited is how many sources of one sentence are looked at.
const maxCited = 100

// carriedBack is how many sentences before it a citation covers.
const carriedBack = 3

// Read reads a report. Name is that of its file or address; its ending tells Markdown
// from text where the bytes do not.
//
// It returns INVALID_ARGS for a report that is too long, and SCHEMA_VALIDATION_FAILED
// for one that cannot be read, that has no sentence, or whose citations are in no style
// that is known, with what was seen.
func Read(name string, body []byte) (*Document, error) {
	if len(body) > MaxReport {
		return nil, tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("report", name, "bytes", len(body)), "the report has more than 64 MiB")
	}
	d := &Document{}
	blocks, err := d.blocks(name, body)
	if err != nil {
		return nil, unreadable(name, "it cannot be read as "+d.Format+": "+err.Error())
	}
	l := findList(blocks)
	d.Entries = l.entries
	d.Language = languageOf(blocks, l)
	d.sentences(blocks, l)
	d.NotMatched = d.notMatched(l)
	if len(d.Sentences) == 0 {
		if d.Format == "pdf" {
			return nil, refused(name, "no sentence can be read from this PDF: it is broken, or its pages are pictures", "open it in a viewer, and save it as text, or print it as a PDF with text")
		}
		return nil, unreadable(name, "it was read as "+d.Format+" and has no sentence")
	}
	if len(d.Citations) > maxMarks {
		return nil, unreadable(name, fmt.Sprintf("it has more than %d citations", maxMarks))
	}
	if len(d.Citations) == 0 {
		return nil, uncited(name, "no style of citation is recognised in it: it was read as "+d.Format+", "+d.seen(body))
	}
	return d, nil
}

func unreadable(name, why string) error {
	return refused(name, why, "the ending of a file says what it is: .md, .html, .docx, .pdf or .txt")
}

func uncited(name, why string) error {
	return refused(name, why, "a citation is a link on a web page, [words](https://…), an address, or a mark such as [1], [^1] or (Holt 2025) with a list of sources below that has its address")
}

func refused(name, why, help string) error {
	return tidegate.Errorf(tidegate.SchemaValidationFailed, tidegate.Pairs("report", name, "help", help), "%s cannot be audited: %s", name, why)
}

// seen says what a report without citations has.
func (d *Document) seen(body []byte) string {
	text := fmt.Sprintf("with %d sentences, %d entries in a list of sources", len(d.Sentences), len(d.Entries))
	for _, mark := range []struct{ bytes, about string }{
		{"\ue200", "marks of a chat window in characters that no font has"}, {"oaicite", "marks of a chat window (oaicite) that lead nowhere"},
		{"[citation needed]", "remarks that a citation is needed"}, {"[@", "citations of a bibliography program ([@key])"}, {`\cite{`, "citations of LaTeX (\\cite)"},
	} {
		if bytes.Contains(body, []byte(mark.bytes)) {
			text += ", " + mark.about
		}
	}
	if d.NotMatched != "" {
		text += "; " + d.NotMatched
	}
	return text
}

// Borne is how many sentences cite something, or are covered by the next citation.
func (d *Document) Borne() (n int) {
	for i := range d.Sentences {
		n += codec.Flag(d.Sentences[i].Form == evidence.Cited || d.Sentences[i].Form == evidence.Carried)
	}
	return n
}

// blocks finds out what the bytes are and reads them.
func (d *Document) blocks(name string, body []byte) ([]block, error) {
	lower := strings.ToLower(name)
	switch {
	case isDocx(body):
		d.Format = "docx"
		return readDocx(body)
	case bytes.HasPrefix(body, []byte("PK\x03\x04")):
		d.Format = "office"
		return readPlain(page.Read(body, "").Text), nil
	case bytes.HasPrefix(body[:min(len(body), 1024)], []byte("%PDF-")):
		d.Format = "pdf"
		return readPrinted(page.Lines(body)), nil
	}
	start := strings.ToLower(strings.TrimSpace(string(bytes.TrimPrefix(body[:min(len(body), 512)], []byte("\xef\xbb\xbf")))))
	if strings.HasPrefix(start, "<!doctype html") || strings.HasPrefix(start, "<html") || strings.HasSuffix(lower, ".html") || strings.HasSuffix(lower, ".htm") {
		d.Format = "html"
		blocks, left := readHTML(page.UTF8(body, "text/html"))
		d.Left = left
		return blocks, nil
	}
	text := page.UTF8(body, "text/plain")
	if bytes.ContainsRune(text, 0) {
		d.Format = "text"
		return nil, fmt.Errorf("it is not text")
	}
	if strings.HasSuffix(lower, ".txt") || strings.HasSuffix(lower, ".text") {
		d.Format = "text"
		return readPlain(strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(string(text))), nil
	}
	d.Format = "markdown"
	blocks, left := readMarkdown(text)
	d.Left = left
	return withoutRecord(blocks), nil
}

// withoutRecord leaves out of a report of our own what it says about itself: the lines
// above its first section, and how it was made.
func withoutRecord(blocks []block) []block {
	n := len(blocks) - 1
	if n < 0 || !strings.HasPrefix(blocks[n].text, "tidegate ") || !strings.Contains(blocks[n].text, ", run ") {
		return blocks
	}
	from := slices.IndexFunc(blocks, func(b block) bool { return b.kind == heading && b.level == 2 })
	to := slices.IndexFunc(blocks, func(b block) bool { return b.kind == heading && b.text == "How this report was made" })
	if from < 0 || to < from {
		return blocks
	}
	return blocks[from:to]
}

// languageOf is the language of the text of a report.
func languageOf(blocks []block, l *list) string {
	var sample strings.Builder
	for i := range blocks {
		if !l.in[i] && sample.Len() < page.LanguageSample {
			sample.WriteString(page.CutBytes(blocks[i].text, 4096))
			sample.WriteByte('\n')
		}
	}
	return page.Language(sample.String())
}

// sentences reads the body of the report.
func (d *Document) sentences(blocks []block, l *list) {
	c := &citer{list: l, brackets: bracketsIn(blocks, l)}
	c.bare = len(l.byID) > 0 && !c.brackets
	heads := map[int][]int{} // table → citations of its header row
	for i := range blocks {
		b := &blocks[i]
		if l.in[i] || len(d.Citations) > maxMarks {
			continue
		}
		clean, cites := c.read(b)
		clean.mask(cites, c.sums)
		first := len(d.Citations)
		d.Citations = append(d.Citations, cites...)
		switch {
		case b.kind == heading || b.kind == paragraph && len(cites) == 0 && isLabel(clean.text):
			d.Headings = append(d.Headings, Heading{b.lineAt(0), max(b.level, 3*codec.Flag(b.kind != heading)), page.TidySpace(clean.text), len(d.Sentences)})
		case b.kind == headerRow:
			d.headers = append(d.headers, Heading{Text: clean.text, Before: len(d.Sentences)})
			for k := range cites {
				heads[b.table] = append(heads[b.table], first+k)
			}
		default:
			d.block(i, &clean, cites, first, heads[b.table], c.sums)
		}
	}
	for _, cite := range d.Citations {
		if !slices.Contains(d.Styles, cite.style) {
			d.Styles = append(d.Styles, cite.style)
		}
	}
	slices.Sort(d.Styles)
}

// mask takes credentials out of a text, before it is cut into sentences: a cut may leave
// the half of an address that nobody knows for one. Marks and lines keep their places.
func (b *block) mask(cites []Citation, sums []sum) {
	if link.Mask(b.text) == b.text {
		return
	}
	var places []*int
	for i := range cites {
		places = append(places, &cites[i].at)
	}
	for i := range sums {
		places = append(places, &sums[i].at)
	}
	for i := range b.starts {
		places = append(places, &b.starts[i].at)
	}
	slices.SortStableFunc(places, func(a, b *int) int { return *a - *b })
	var out strings.Builder
	from := 0
	for _, place := range places {
		out.WriteString(link.Mask(b.text[from:*place]))
		from, *place = *place, out.Len()
	}
	out.WriteString(link.Mask(b.text[from:]))
	b.text = out.String()
}

// bracketsIn reports whether the body cites entries by numbers in brackets, so that a
// number behind a full stop is only a number.
func bracketsIn(blocks []block, l *list) bool {
	for i := range blocks {
		if l.in[i] || blocks[i].kind == heading {
			continue
		}
		for _, m := range anotherID().FindAllString(blocks[i].text, 20) {
			if l.has(strings.Trim(m, "[]【】［］^")) {
				return true
			}
		}
	}
	return false
}

// isLabel reports whether a paragraph is a heading that nobody marked as one: a few
// words without a full stop, a colon or a number.
func isLabel(text string) bool {
	text = strings.TrimSpace(text)
	last, _ := utf8.DecodeLastRuneInString(text)
	return len(text) > 0 && len(text) < 120 && page.CountWords(text) <= 8 && !strings.ContainsRune(".:;!?。：；！？؟…", last) &&
		!strings.ContainsFunc(text, unicode.IsDigit)
}

// block cuts a block into sentences and gives each its citations and its form.
func (d *Document) block(number int, b *block, cites []Citation, first int, header []int, sums []sum) {
	from := len(d.Sentences)
	spans := sentence.Split(b.text, d.Language)
	kind := "paragraph"
	switch b.kind {
	case item:
		kind = "item"
	case row:
		kind = "row"
		spans = []sentence.Span{{Start: 0, End: len(b.text)}}
	}
	starts := []int{}
	for _, s := range spans {
		if text := page.TidySpace(b.text[s.Start:s.End]); strings.ContainsFunc(text, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) && !onlySource(text) {
			d.Sentences = append(d.Sentences, Sentence{Sentence: evidence.Sentence{Line: b.lineAt(s.Start), Text: text, Paragraph: number}, Kind: kind, level: b.level, number: b.number})
			starts = append(starts, s.Start)
		}
	}
	if len(starts) == 0 { // nothing but marks: they belong to what stands before
		if from == 0 {
			return
		}
		from--
		starts = []int{0}
	}
	owner := 0
	for k, cite := range cites {
		for owner+1 < len(starts) && starts[owner+1] < cite.at {
			owner++
		}
		s := &d.Sentences[from+owner]
		s.cites = append(s.cites, first+k)
		if !strings.Contains(s.Text, cite.Text) {
			s.marks = append(s.marks, link.Mask(cite.Text))
		}
	}
	owner = 0
	for _, sum := range sums {
		for owner+1 < len(starts) && starts[owner+1] < sum.at {
			owner++
		}
		d.Sentences[from+owner].sum = sum.text
	}
	for i := from; i < len(d.Sentences); i++ {
		s := &d.Sentences[i]
		if s.Kind == "row" && len(s.cites) == 0 {
			s.cites = slices.Clone(header)
		}
		d.bear(s)
	}
	d.carry(from)
}

// onlySource reports whether a sentence is what a word for source leaves when the marks
// behind it are taken out.
func onlySource(text string) bool {
	return isTitle(strings.TrimRight(text, ":： "))
}

// bear gives a sentence its form by its own citations and its end.
func (d *Document) bear(s *Sentence) {
	s.URLs = []string{}
	for _, k := range s.cites {
		for _, url := range d.Citations[k].URLs {
			if len(s.URLs) < maxCited && !slices.Contains(s.URLs, url) {
				s.URLs = append(s.URLs, url)
			}
		}
	}
	last, _ := utf8.DecodeLastRuneInString(strings.TrimRight(s.Text, "\"”»'’)*_ "))
	switch {
	case len(s.cites) > 0:
		s.Form = evidence.Cited
	case strings.ContainsRune(":：?？؟", last):
		s.Form = Structural
	default:
		s.Form = Uncited
	}
}

// carry lets the citations of a paragraph cover the sentences before them.
func (d *Document) carry(from int) {
	left, urls := 0, []string(nil)
	for i := len(d.Sentences) - 1; i >= from; i-- {
		s := &d.Sentences[i]
		switch s.Form {
		case evidence.Cited:
			left, urls = carriedBack, s.URLs
		case Uncited:
			if left > 0 {
				left--
				s.Form, s.URLs = evidence.Carried, urls
			}
		}
	}
}
