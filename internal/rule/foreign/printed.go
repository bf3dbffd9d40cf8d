package foreign

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tidegate/tidegate/internal/text/page"
)

// readPrinted reads the blocks of a printed report by where its lines stand: what is set
// larger is a heading, a wider gap or a line that ends early ends a paragraph, what
// repeats itself at the edges of pages is no part of the report, and an address goes on in
// the next line.
func readPrinted(lines []page.Line) []block {
	lines = withoutEdges(lines)
	p := &printer{lines: lines}
	p.measure()
	tables := tablesOf(lines, p.step)
	for i := 0; i < len(lines); i++ {
		if i > 0 && p.text.Len() > 0 && p.parts(i) {
			p.end()
		}
		if len(tables) > 0 && tables[0].from == i {
			p.end()
			p.table(tables[0])
			i, tables = tables[0].to-1, tables[1:]
			continue
		}
		if p.text.Len() == 0 {
			p.first = i
		}
		p.add(&lines[i], i)
	}
	p.end()
	return p.out
}

type printer struct {
	builder
	lines  []page.Line
	size   float64 // of most letters
	step   float64 // from one line of a paragraph to the next
	right  float64 // where full lines end
	levels []float64
	words  map[string]bool // that stand inside a line
	first  int             // line of the block that is open
	cut    bool            // what is added goes on in the middle of a word
}

// measure finds what most lines have.
func (p *printer) measure() {
	letters := map[float64]int{}
	p.words = map[string]bool{}
	for _, l := range p.lines {
		letters[rounded(l.Size)] += len(l.Text)
		words := strings.Fields(strings.ToLower(l.Text))
		for k := 1; k+1 < len(words); k++ {
			p.words[strings.Trim(words[k], "([.,;:)]")] = true
		}
	}
	for size, n := range letters {
		if n > letters[p.size] || n == letters[p.size] && size < p.size {
			p.size = size
		}
	}
	for size := range letters {
		if p.larger(size) {
			p.levels = append(p.levels, size)
		}
	}
	slices.SortFunc(p.levels, func(a, b float64) int { return cmp.Compare(b, a) })
	var steps, rights []float64
	for i, l := range p.lines {
		if rounded(l.Size) != p.size {
			continue
		}
		rights = append(rights, l.Right)
		if i > 0 && p.lines[i-1].Page == l.Page && rounded(p.lines[i-1].Size) == p.size {
			if step := p.lines[i-1].Base - l.Base; step > 0 && step < 3*l.Size {
				steps = append(steps, step)
			}
		}
	}
	if slices.Sort(rights); len(rights) > 0 {
		p.right = rights[len(rights)-1-len(rights)/50]
	}
	if slices.Sort(steps); len(steps) > 0 {
		p.step = steps[len(steps)/3]
	}
}

// rounded is a size as it is compared: in half points.
func rounded(size float64) float64 { return float64(int(2*size+0.5)) / 2 }

func (p *printer) larger(size float64) bool { return size > 1.08*p.size }

// parts reports whether a line begins a block.
func (p *printer) parts(i int) bool {
	last, l := &p.lines[i-1], &p.lines[i]
	full := p.full(last, l)
	begins := begins().MatchString(l.Text)
	gap := last.Base - l.Base
	switch {
	case p.larger(last.Size) != p.larger(l.Size), p.larger(l.Size) && rounded(l.Size) != rounded(last.Size):
		return true
	case l.Page != last.Page:
		return begins || !full || strings.ContainsRune(".!?。！？", lastRune(last.Text))
	case gap > 1.35*p.step+0.5 && !p.larger(l.Size), gap > 2*l.Size, gap < -l.Size:
		return true
	case p.larger(l.Size):
		return false
	case begins:
		return !full || l.Left < last.Left-1 || bracketID().MatchString(l.Text)
	}
	return !full
}

var bracketID = pattern(`^[\[【［〔]\^?\d{1,4}\^?[\]】］〕]`)

// full reports whether a line is as long as it can be: the first word of the next one had
// no place in it.
func (p *printer) full(last, next *page.Line) bool {
	word, _, _ := strings.Cut(strings.TrimLeft(next.Text, " "), " ")
	if first, size := utf8.DecodeRuneInString(word); page.IsDense(first) {
		word = word[:size]
	}
	letters := max(1, utf8.RuneCountInString(next.Text))
	width := (next.Right - next.Left) * float64(utf8.RuneCountInString(word)) / float64(letters)
	return last.Right+width+0.2*last.Size >= p.right-0.5*last.Size
}

func lastRune(s string) rune {
	r, _ := utf8.DecodeLastRuneInString(strings.TrimRight(s, " \t"))
	return r
}

// itemMark is what an item of a list begins with.
var itemMark = pattern(`^(?:[` + bullets + `]|(\d{1,3})[.)])[ \t]+`)

// bullets are marks with which items of lists begin.
const bullets = `•◦▪–*·●○‣-`

// add adds a line, which is number i of the report, to the block that is open.
func (p *printer) add(l *page.Line, i int) {
	text, links, cut := l.Text, l.Links, 0
	switch {
	case p.text.Len() == 0:
		if m := itemMark().FindStringSubmatch(text); m != nil {
			p.now.kind, cut = item, len(m[0])
			p.now.number, _ = strconv.Atoi(m[1])
		}
	case p.cut:
		p.closeLink()
	case p.inLink > 0 && len(links) > 0 && links[0].Start == 0 && links[0].URL == p.now.links[p.inLink-1].url:
		p.part(text, i)
	default:
		p.closeLink()
		p.part(text, i)
	}
	at := cut
	for _, link := range links {
		if link.Start < at {
			continue
		}
		p.builder.add(strings.ReplaceAll(text[at:link.Start], "\t", " "), i+1)
		if p.inLink == 0 || link.Start > 0 {
			p.begin(&element{name: "a", url: link.URL})
		}
		p.builder.add(text[link.Start:link.End], i+1)
		at = link.End
		if at < len(text) {
			p.closeLink()
		}
	}
	p.builder.add(strings.ReplaceAll(text[at:], "\t", " "), i+1)
}

// part adds what stands between the text so far and its next line.
func (p *printer) part(next string, i int) {
	first, _ := utf8.DecodeRuneInString(next)
	if text := p.text.String(); !goesOn(text, next) && !(page.IsDense(first) && page.IsDense(lastRune(text))) {
		p.builder.add(" ", i)
	}
}

// goesOn reports whether a line goes on in the middle of an address with which the text
// before it ends: it was broken at one of its marks, or what comes looks like one.
func goesOn(text, next string) bool {
	address := text[strings.LastIndexAny(text, " \t\n")+1:]
	at := strings.Index(address, "://")
	if at < 0 || at+3 == len(address) || strings.ContainsAny(address[at:], ">)]") {
		return false
	}
	word, rest, _ := strings.Cut(next, " ")
	last := address[len(address)-1]
	switch first, _ := utf8.DecodeRuneInString(word); {
	case begins().MatchString(next) || strings.Contains(word, "://"):
		return false
	case strings.IndexByte("/-_=&?%#~+", last) >= 0, strings.ContainsRune("/-_=&?%#.", first):
		return true
	case strings.IndexByte(".,;:", last) >= 0:
		return strings.ContainsAny(word, "/-_=&?%") && !unicode.IsUpper(first)
	}
	return rest == "" || strings.ContainsAny(strings.TrimRight(word, ".,;:"), "/_=&?%.") || strings.ContainsAny(word, "0123456789-") && !strings.ContainsAny(word, "[(")
}

// end ends the block that is open.
func (p *printer) end() {
	if p.text.Len() == 0 {
		return
	}
	if l := &p.lines[p.first]; p.larger(l.Size) && page.CountWords(p.text.String()) <= headingWords {
		p.now.kind, p.now.level = heading, 1+slices.Index(p.levels, rounded(l.Size))
	}
	p.take(p.done())
}

// headingWords is how many words a heading has at most.
const headingWords = 30

// edgeLines is how many lines at the top and the bottom of a page can be a header or a footer.
const edgeLines = 3

// withoutEdges leaves out headers and footers: lines at the edge of a page which most
// pages have, whatever numbers stand in them.
func withoutEdges(lines []page.Line) []page.Line {
	var pages [][]int
	for i := range lines {
		if i == 0 || lines[i].Page != lines[i-1].Page {
			pages = append(pages, nil)
		}
		pages[len(pages)-1] = append(pages[len(pages)-1], i)
	}
	if len(pages) < 2 {
		return lines
	}
	kind := func(i int) string {
		return strings.Join(strings.FieldsFunc(lines[i].Text, func(r rune) bool { return unicode.IsDigit(r) || unicode.IsSpace(r) }), "#")
	}
	edges, seen := map[int]bool{}, map[string]int{}
	for _, on := range pages {
		byHeight := slices.Clone(on)
		slices.SortStableFunc(byHeight, func(a, b int) int { return cmp.Compare(lines[b].Base, lines[a].Base) })
		here := map[string]bool{}
		for k, i := range byHeight {
			if k < edgeLines || k >= len(byHeight)-edgeLines {
				edges[i], here[kind(i)] = true, true
			}
		}
		for k := range here {
			seen[k]++
		}
	}
	var out []page.Line
	for i := range lines {
		if !edges[i] || 10*seen[kind(i)] < 6*len(pages) || seen[kind(i)] < 2 {
			out = append(out, lines[i])
		}
	}
	return out
}
