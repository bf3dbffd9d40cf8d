package page

import (
	"slices"
	"sort"
	"strconv"
	"strings"
)

// Line is a line of a printed page, with where it stands: in points, from the lower left.
type Line struct {
	Text        string
	Page        int // from 1
	Left, Right float64
	Base        float64 // how high its letters stand
	Size        float64 // of most of its letters
	Links       []LineLink
	Parts       []Line // what wide gaps part it into; nil where it has none
}

// LineLink is text of a line that leads to a URL.
type LineLink struct {
	Start, End int    // bytes of the line
	URL        string // "#" and a number, another for each link, where it leads to another place of the file
}

// Lines are the lines of a PDF file in the order in which it draws them, none where it
// cannot be read.
func Lines(body []byte) []Line {
	f := openPDF(body)
	p := &printed{file: f}
	t := &pdfWriter{limit: maxPageText, printed: p}
	for i, page := range f.pages() {
		p.number = i + 1
		f.showPage(page, t)
		if t.full() || f.budget <= 0 {
			break
		}
	}
	return p.lines
}

// printed notes where the glyphs of a page stand.
type printed struct {
	file   *pdfFile
	number int
	from   int // where the text of the page begins
	glyphs []placed
	lines  []Line
}

// placed is a glyph: its bytes of the text, and its place.
type placed struct {
	start, end        int
	left, right, base float64
	size              float64
	high              bool
}

// area is a part of a page that leads to a URL.
type area struct {
	left, bottom, right, top float64
	url                      string
}

// maxAreas is how many links of a page are looked at.
const maxAreas = 2_000

// linksOf are the areas of a page that lead to URLs.
func (f *pdfFile) linksOf(page dict) []area {
	var out []area
	for _, o := range f.list(page["Annots"]) {
		d, _ := f.resolve(o).(dict)
		action, _ := f.resolve(d["A"]).(dict)
		corners := f.list(d["Rect"])
		if f.resolve(d["Subtype"]) != name("Link") || len(corners) != 4 || len(out) == maxAreas {
			continue
		}
		url := "#" + strconv.Itoa(len(out)) // another place of the file
		if f.resolve(action["S"]) == name("URI") {
			url = f.textString(action["URI"])
		}
		var at [4]float64
		for i, o := range corners {
			at[i], _ = f.resolve(o).(float64)
		}
		out = append(out, area{min(at[0], at[2]), min(at[1], at[3]), max(at[0], at[2]), max(at[1], at[3]), url})
		f.budget -= 100
	}
	return out
}

// page makes lines of the text that a page added.
func (p *printed) page(t *pdfWriter, links []area) {
	glyphs := p.glyphs
	for from := p.from; from < len(t.out); {
		to := from
		for to < len(t.out) && t.out[to] != '\n' {
			to++
		}
		n := sort.Search(len(glyphs), func(i int) bool { return glyphs[i].start >= to })
		if n > 0 {
			text := string(t.out[from:to])
			line := p.line(text, from, glyphs[:n], links)
			for at, rest := from, glyphs[:n]; strings.Contains(text, "\t") && len(rest) > 0; {
				end := at
				for end < to && t.out[end] != '\t' {
					end++
				}
				if k := sort.Search(len(rest), func(i int) bool { return rest[i].start >= end }); k > 0 {
					line.Parts = append(line.Parts, p.line(string(t.out[at:end]), at, rest[:k], links))
					rest = rest[k:]
				}
				at = end + 1
			}
			p.lines = append(p.lines, line)
		}
		glyphs, from = glyphs[n:], to+1
	}
	p.from, p.glyphs = len(t.out), p.glyphs[:0]
}

func (p *printed) line(text string, from int, glyphs []placed, links []area) Line {
	line := Line{Text: text, Page: p.number, Left: glyphs[0].left, Right: glyphs[0].right}
	var sizes []float64
	for _, g := range glyphs {
		line.Left, line.Right = min(line.Left, g.left), max(line.Right, g.right)
		sizes = append(sizes, g.size)
		p.file.budget -= len(links)
		if p.file.budget <= 0 {
			continue
		}
		x, y := (g.left+g.right)/2, g.base+g.size/4
		i := slices.IndexFunc(links, func(a area) bool { return a.left <= x && x <= a.right && a.bottom <= y && y <= a.top })
		if i < 0 {
			continue
		}
		if n := len(line.Links) - 1; n >= 0 && line.Links[n].URL == links[i].url && isBlank(text[line.Links[n].End:g.start-from]) {
			line.Links[n].End = g.end - from
		} else {
			line.Links = append(line.Links, LineLink{g.start - from, g.end - from, links[i].url})
		}
	}
	slices.Sort(sizes)
	line.Size = sizes[len(sizes)/2]
	for _, g := range glyphs {
		if line.Base = g.base; !g.high && g.size > 0.9*line.Size {
			break
		}
	}
	return line
}

func isBlank(s string) bool {
	for i := range len(s) {
		if !isSpace(s[i]) {
			return false
		}
	}
	return true
}
