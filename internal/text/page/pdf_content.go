package page

import (
	"bytes"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// matrix is a transformation of the plane.
type matrix [6]float64

var identity = matrix{1, 0, 0, 1, 0, 0}

// then applies m first and n second.
func (m matrix) then(n matrix) matrix {
	return matrix{
		m[0]*n[0] + m[1]*n[2], m[0]*n[1] + m[1]*n[3],
		m[2]*n[0] + m[3]*n[2], m[2]*n[1] + m[3]*n[3],
		m[4]*n[0] + m[5]*n[2] + n[4], m[4]*n[1] + m[5]*n[3] + n[5],
	}
}

// state is what the operators of a page change.
type state struct {
	ctm                              matrix
	font                             *font
	size, char, word, scale, leading float64
	rise                             float64
	mode                             int // how text is drawn
	fill, stroke                     ink
	clip                             box
	pen                              float64 // the width of lines
	alpha, penAlpha                  float64
	blends, masked                   bool
	gone                             bool // nothing is drawn
}

// painter runs the operators of a page and writes the text that they show.
type painter struct {
	file      *pdfFile
	out       *pdfWriter
	resources dict
	state     state
	stack     []state
	text      matrix    // where the next glyph goes
	line      matrix    // where the line began
	forms     []*stream // that are open
	marked    []actual  // marked parts that are open
	seen      *seen

	open   [][2]float64   // the path that is built
	closed [][][2]float64 // and what it has besides
	clips  bool           // it cuts what follows
}

// actual is what a marked part of a page says in place of its glyphs, where it says so:
// a letter that the font lacks, for one.
type actual struct {
	says bool
	text string
	off  bool // it belongs to what is not shown
}

// maxMarked is how deep marked parts are followed.
const maxMarked = 100

// beginMarked begins a marked part of a kind with its properties.
func (p *painter) beginMarked(kind, properties object) {
	if key, ok := properties.(name); ok {
		named, _ := p.file.resolve(p.resources["Properties"]).(dict)
		properties = named[key]
	}
	d, _ := p.file.resolve(properties).(dict)
	off := kind == name("OC") && p.file.isOff(properties)
	text, says := p.file.resolve(d["ActualText"]).(str)
	if len(p.marked) < maxMarked {
		p.marked = append(p.marked, actual{says, p.file.textString(text), off})
	}
}

// said is what a glyph says: the first one of a part with a text of its own has it all,
// and the others nothing.
func (p *painter) said(g glyph) string {
	for i := range p.marked {
		if a := &p.marked[i]; a.says {
			text := a.text
			a.text = ""
			return text
		}
	}
	return g.text
}

// seen is what a reader sees of a page.
type seen struct {
	invisible bool // show text that is not drawn
	left      bool // some text was left out
	picture   bool // the page has a picture

	unit     float64 // of the page, in points
	glyphs   []drawn
	areas    []areaOf // in the order in which they were painted
	compared int      // letters with areas
}

// showPage writes the text that a page draws. Text that is not drawn is read only
// where there is no other text, but a picture: a scan has its recognised text in this
// form.
func (f *pdfFile) showPage(page dict, out *pdfWriter) {
	var content []byte
	for _, part := range f.list(page["Contents"]) {
		if s, ok := f.resolve(part).(*stream); ok {
			content = append(append(content, f.decode(s)...), '\n')
		}
	}
	resources, _ := f.resolve(page["Resources"]).(dict)
	unit, ok := f.resolve(page["UserUnit"]).(float64)
	if !ok {
		unit = 1
	}
	media := f.boxOf(page["MediaBox"])
	if crop := f.boxOf(page["CropBox"]).and(media); !crop.isEmpty() {
		media = crop
	}
	paint := func(invisible bool) seen {
		s := seen{invisible: invisible, unit: unit}
		p := painter{file: f, out: out, resources: resources, state: state{ctm: identity, scale: 1, clip: media, alpha: 1, penAlpha: 1, pen: 1}, text: identity, line: identity, seen: &s}
		p.run(content)
		s.write(out)
		return s
	}
	if s := paint(false); s.left && s.picture && !out.has {
		paint(true)
	}
	if out.printed != nil {
		out.printed.page(out, f.linksOf(page))
	}
	out.newPage()
}

// write writes the glyphs that nothing covers.
func (s *seen) write(out *pdfWriter) {
	for i := range s.glyphs {
		switch g := &s.glyphs[i]; {
		case !g.seen:
		case g.text != "":
			out.glyph(g.text, g.at, g.end)
		case out.has:
			out.end = g.end
		}
	}
	s.glyphs = nil
}

// maxGlyphs is how many wait for what is painted over them.
const maxGlyphs = 1 << 18

// maxOperands is how many operands an operator can have; earlier ones are dropped.
const maxOperands = 1 << 10

func (p *painter) run(content []byte) {
	l := lexer{content, 0, &p.file.budget}
	var operands []object
	for !l.done() && !p.out.full() {
		o := l.object(0)
		word, isWord := o.(keyword)
		if !isWord {
			if operands = append(operands, o); len(operands) > maxOperands {
				operands = operands[maxOperands/2:]
			}
			continue
		}
		if word == "BI" {
			p.picture()
			skipImage(&l)
		} else {
			p.operator(string(word), operands)
		}
		operands = operands[:0]
	}
}

// skipImage skips an image in the content.
func skipImage(l *lexer) {
	n := bytes.Index(l.data[l.at:], []byte("ID"))
	if n < 0 {
		l.at = len(l.data)
		return
	}
	for at := l.at + n + 2; ; {
		n := bytes.Index(l.data[at:], []byte("EI"))
		if n < 0 {
			*l.budget -= len(l.data) - l.at
			l.at = len(l.data)
			return
		}
		at += n + 2
		if isSpace(l.data[at-3]) && (at == len(l.data) || isSpace(l.data[at])) {
			*l.budget -= at - l.at
			l.at = at
			return
		}
	}
}

func (p *painter) operator(word string, operands []object) {
	number := func(fromEnd int) float64 {
		if i := len(operands) - 1 - fromEnd; i >= 0 {
			v, _ := operands[i].(float64)
			return v
		}
		return 0
	}
	last := object(nil)
	if len(operands) > 0 {
		last = operands[len(operands)-1]
	}
	s := &p.state
	switch word {
	case "q":
		if len(p.stack) < maxDepth*4 {
			p.stack = append(p.stack, *s)
		}
	case "Q":
		if n := len(p.stack); n > 0 {
			*s, p.stack = p.stack[n-1], p.stack[:n-1]
		}
	case "cm":
		s.ctm = matrix{number(5), number(4), number(3), number(2), number(1), number(0)}.then(s.ctm)
	case "BT":
		p.text, p.line = identity, identity
	case "Tf":
		s.size = number(0)
		if len(operands) >= 2 {
			if key, ok := operands[len(operands)-2].(name); ok {
				fonts, _ := p.file.resolve(p.resources["Font"]).(dict)
				s.font = p.file.font(fonts[key])
			}
		}
	case "Tc":
		s.char = number(0)
	case "Tw":
		s.word = number(0)
	case "Tz":
		s.scale = number(0) / 100
	case "TL":
		s.leading = number(0)
	case "Tr":
		s.mode = int(number(0))
	case "Ts":
		s.rise = number(0)
	case "Td":
		p.move(number(1), number(0))
	case "TD":
		s.leading = -number(0)
		p.move(number(1), number(0))
	case "Tm":
		p.line = matrix{number(5), number(4), number(3), number(2), number(1), number(0)}
		p.text = p.line
	case "T*":
		p.move(0, -s.leading)
	case "Tj":
		p.show(last)
	case "'":
		p.move(0, -s.leading)
		p.show(last)
	case "\"":
		s.word, s.char = number(2), number(1)
		p.move(0, -s.leading)
		p.show(last)
	case "TJ":
		list, _ := last.(array)
		for _, o := range list {
			if v, ok := o.(float64); ok {
				p.text = matrix{1, 0, 0, 1, -v / 1000 * s.size * s.scale, 0}.then(p.text)
			} else {
				p.show(o)
			}
		}
	case "BMC":
		p.beginMarked(nil, nil)
	case "BDC":
		if len(operands) == 2 {
			p.beginMarked(operands[0], last)
		} else {
			p.beginMarked(nil, last)
		}
	case "EMC":
		p.marked = p.marked[:max(0, len(p.marked)-1)]
	case "Do":
		if key, ok := last.(name); ok {
			p.form(key)
		}
	case "gs":
		if key, ok := last.(name); ok {
			p.graphics(key)
		}
	case "sh":
		p.paint(s.clip.rectangle(), ink{mixed: true, thin: true}, false)
	case "g", "G", "rg", "RG", "k", "K", "cs", "CS", "sc", "SC", "scn", "SCN":
		p.colour(word, operands)
	default:
		p.path(word, operands)
	}
}

func (p *painter) move(x, y float64) {
	p.line = matrix{1, 0, 0, 1, x, y}.then(p.line)
	p.text = p.line
}

// show writes a string.
func (p *painter) show(o object) {
	text, ok := o.(str)
	s := &p.state
	if !ok || s.font == nil {
		return
	}
	p.file.budget -= 8 * len(text)
	s.through()
	s.font.glyphs(text, func(g glyph) {
		at := matrix{s.size * s.scale, 0, 0, s.size, 0, s.rise}.then(p.text).then(s.ctm)
		end := matrix{1, 0, 0, 1, g.width * s.size * s.scale, s.rise}.then(p.text).then(s.ctm)
		unseen := s.mode == 3 || s.mode == 7 // not drawn at all, or only used for clipping
		p.seen.left = p.seen.left || unseen
		if !unseen || p.seen.invisible {
			body, hidden := p.hides(at, end)
			if !hidden || unseen {
				d := drawn{text: p.said(g), at: at, end: end, body: body, seen: true}
				if d.text != "" || g.text != "" {
					p.seen.glyphs = append(p.seen.glyphs, d)
				}
			}
			if len(p.seen.glyphs) >= maxGlyphs {
				p.seen.write(p.out)
			}
		}
		advance := g.width*s.size + s.char
		if g.space {
			advance += s.word
		}
		p.text = matrix{1, 0, 0, 1, advance * s.scale, 0}.then(p.text)
	})
}

// picture notes an image, which fills the square of the matrix. What shows through does not
// cover.
func (p *painter) picture(masks ...object) {
	p.seen.picture = true
	p.state.through()
	i := ink{mixed: true, thin: p.state.fill.thin}
	for _, mask := range masks {
		i.thin = i.thin || mask != nil
	}
	p.paint(p.state.ctm.corners(box{0, 0, 1, 1}), i, true)
}

// maxForms is how deep forms may be nested.
const maxForms = 8

// form runs a form that the page shows.
func (p *painter) form(key name) {
	forms, _ := p.file.resolve(p.resources["XObject"]).(dict)
	s, ok := p.file.resolve(forms[key]).(*stream)
	if ok && s.dict["OC"] != nil && p.file.isOff(s.dict["OC"]) {
		return
	}
	if ok && p.file.resolve(s.dict["Subtype"]) == name("Image") {
		p.picture(s.dict["SMask"], s.dict["Mask"], s.dict["ImageMask"])
	}
	if !ok || len(p.forms) >= maxForms || slices.Contains(p.forms, s) || p.file.resolve(s.dict["Subtype"]) != name("Form") {
		return
	}
	inner := painter{file: p.file, out: p.out, resources: p.resources, state: p.state, text: identity, line: identity, forms: append(p.forms, s), seen: p.seen}
	if own, ok := p.file.resolve(s.dict["Resources"]).(dict); ok {
		inner.resources = own
	}
	if m := p.file.list(s.dict["Matrix"]); len(m) == 6 {
		var own matrix
		for i, o := range m {
			own[i], _ = p.file.resolve(o).(float64)
		}
		inner.state.ctm = own.then(inner.state.ctm)
	}
	if b := p.file.boxOf(s.dict["BBox"]); b != everywhere {
		inner.state.clip = inner.state.clip.and(around(inner.state.ctm.corners(b)))
	}
	inner.state.gone = p.isGone() || s.dict["Group"] != nil && p.state.alpha < leastAlpha
	p.file.budget -= 1024
	inner.run(p.file.decode(s))
}

// pdfWriter joins glyphs into lines.
type pdfWriter struct {
	out   []byte
	limit int
	has   bool   // a glyph was written on this page
	high  bool   // the last one was raised
	end   matrix // where the last one ended
	start matrix // and where it began

	printed *printed // where glyphs stand, where that is asked
}

func (t *pdfWriter) full() bool { return len(t.out) >= t.limit }

func (t *pdfWriter) newPage() {
	if t.has {
		t.out = append(t.out, '\n')
	}
	t.has = false
}

// glyph writes the text of a glyph that goes from one place to another. A gap
// becomes a blank, a wide gap a tab, another base line a line end. Blanks themselves
// count as gaps: in some files they have no width and mean nothing.
func (t *pdfWriter) glyph(text string, at, end matrix) {
	if text == "" || text == " " || text == "\u00a0" || t.full() {
		return
	}
	high := false
	if size := math.Hypot(at[2], at[3]); t.has && size > 0 {
		along, across := t.gap(at, size)
		before := math.Hypot(t.start[2], t.start[3])
		if isOneDigit(text) && math.Abs(along) < 0.5 && (size < 0.85*before && across > 0.15 && across < 1 || t.high && math.Abs(across) < 0.1) {
			text, high = raise(text), true
		} else if c := blankFor(along, across); c != 0 {
			t.blank(c)
		}
	}
	from := len(t.out)
	for _, r := range text {
		switch {
		case r == '\u00a0' || r == '\t' || r == ' ':
			t.blank(' ')
		case r < ' ' || r == utf8.RuneError:
		case r >= 0x2f00 && r < 0x2fe0: // a radical, which fonts have in the place of its character
			t.out = append(t.out, norm.NFKC.String(string(r))...)
		default:
			t.out = utf8.AppendRune(t.out, r)
		}
	}
	t.has, t.high, t.start, t.end = true, high, at, end
	if t.printed != nil && len(t.out) > from {
		t.printed.glyphs = append(t.printed.glyphs, placed{from, len(t.out), at[4], end[4], at[5], math.Hypot(at[2], at[3]), high})
	}
}

// gap is the distance from the last glyph to a place, along the line and across it,
// in units of the size.
func (t *pdfWriter) gap(at matrix, size float64) (along, across float64) {
	dx, dy := at[4]-t.end[4], at[5]-t.end[5]
	length := math.Hypot(at[0], at[1])
	if length == 0 {
		length = 1
	}
	return (dx*at[0] + dy*at[1]) / length / size, (dy*at[0] - dx*at[1]) / length / size
}

// blankFor is what a gap amounts to, 0 for nothing.
func blankFor(along, across float64) byte {
	switch {
	case math.Abs(across) > 0.7 || along < -1.5 && math.Abs(across) > 0.2 || along < -3:
		return '\n'
	case along > 3:
		return '\t'
	case along > 0.15:
		return ' '
	}
	return 0
}

// blank writes one blank, tab or line end.
func (t *pdfWriter) blank(c byte) {
	if n := len(t.out); n > 0 && !isSpace(t.out[n-1]) {
		t.out = append(t.out, c)
	} else if n > 0 && c == '\n' {
		t.out[n-1] = c
	}
}

func isOneDigit(text string) bool { return len(text) == 1 && '0' <= text[0] && text[0] <= '9' }

// raise writes a digit as a superscript.
func raise(digit string) string {
	forms := []string{"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"}
	return forms[strings.IndexByte("0123456789", digit[0])]
}
