package page

import (
	"math"
	"slices"

	"github.com/tidegate/tidegate/internal/text/style"
)

// What of a page's text is seen follows from what the page paints: the ink of the letters, what
// was painted below them and is painted over them, and the box that all of it is cut to.

// ink is what letters and areas are painted with.
type ink struct {
	colour [3]float64
	space  object // what it is a colour of
	mixed  bool   // its colour is not known: a pattern, a table of colours
	none   bool   // it paints nothing
	thin   bool   // what is below it shows through
}

// box is a rectangle by its least and its greatest corner.
type box [4]float64

var everywhere = box{math.Inf(-1), math.Inf(-1), math.Inf(1), math.Inf(1)}

func (b box) and(c box) box {
	return box{max(b[0], c[0]), max(b[1], c[1]), min(b[2], c[2]), min(b[3], c[3])}
}

func (b box) isEmpty() bool { return b[2] <= b[0] || b[3] <= b[1] }

func (b box) area() float64 { return max(0, b[2]-b[0]) * max(0, b[3]-b[1]) }

// around is the box around points.
func around(points [][2]float64) box {
	b := box{math.Inf(1), math.Inf(1), math.Inf(-1), math.Inf(-1)}
	for _, p := range points {
		b = box{min(b[0], p[0]), min(b[1], p[1]), max(b[2], p[0]), max(b[3], p[1])}
	}
	return b
}

func (m matrix) point(x, y float64) [2]float64 {
	return [2]float64{x*m[0] + y*m[2] + m[4], x*m[1] + y*m[3] + m[5]}
}

// corners are those of a rectangle, as a matrix places them.
func (m matrix) corners(b box) [][2]float64 {
	return [][2]float64{m.point(b[0], b[1]), m.point(b[2], b[1]), m.point(b[2], b[3]), m.point(b[0], b[3])}
}

// boxOf reads a rectangle; it is everywhere where none is given that has room.
func (f *pdfFile) boxOf(o object) box {
	list := f.list(o)
	if len(list) != 4 {
		return everywhere
	}
	var v [4]float64
	for i := range list {
		v[i], _ = f.resolve(list[i]).(float64)
	}
	if b := around([][2]float64{{v[0], v[1]}, {v[2], v[3]}}); !b.isEmpty() {
		return b
	}
	return everywhere
}

// areaOf is a part of the page that was painted: a polygon, cut to a box.
type areaOf struct {
	points [][2]float64
	within box
	ink    ink
}

// has reports whether the body of a letter lies in the area. The outline of a letter does not
// have the letter.
func (a *areaOf) has(body [4][2]float64) bool {
	return a.hasPoint(body[0]) && a.hasPoint(body[1]) && a.hasPoint(body[2]) && a.hasPoint(body[3])
}

func (a *areaOf) hasPoint(at [2]float64) bool {
	x, y := at[0], at[1]
	if b := a.within; x < b[0] || x > b[2] || y < b[1] || y > b[3] {
		return false
	}
	in := false
	for i, p := range a.points {
		q := a.points[(i+1)%len(a.points)]
		if (p[1] > y) != (q[1] > y) && x < p[0]+(y-p[1])/(q[1]-p[1])*(q[0]-p[0]) {
			in = !in
		}
	}
	return in
}

// The limits on what is kept of what a page paints. What is smaller than a letter is no ground
// for one.
const (
	maxPainted = 4096
	maxCorners = 256
	leastArea  = 3.0
	maxCovers  = 1 << 26 // letters times areas that are compared on one page
	compares   = 8       // of which cost as much as a byte that is read
)

// drawn is a glyph that waits for what is painted over it.
type drawn struct {
	text    string
	at, end matrix
	body    [4][2]float64
	seen    bool
}

// isGone reports whether nothing is drawn here: in a part that is off.
func (p *painter) isGone() bool {
	return p.state.gone || slices.ContainsFunc(p.marked, func(a actual) bool { return a.off })
}

// paint notes an area. What it covers is not seen, where nothing shows through.
func (p *painter) paint(points [][2]float64, i ink, picture bool) {
	within := around(points).and(p.state.clip)
	if within[2]-within[0] < leastArea || within[3]-within[1] < leastArea || i.none || p.isGone() {
		return
	}
	s := p.seen
	a := areaOf{points, within, i}
	if len(points) > maxCorners {
		a.points, a.ink.mixed, a.ink.thin = within.rectangle(), true, true
	}
	if !a.ink.thin && !(picture && s.invisible) {
		for k := 0; k < len(s.glyphs) && s.compared < maxCovers; k++ {
			if g := &s.glyphs[k]; g.seen && a.has(g.body) {
				g.seen = false
				s.left = s.left || picture
			}
			s.compared++
		}
		p.file.budget -= len(s.glyphs) / compares
	}
	if s.areas = append(s.areas, a); len(s.areas) > maxPainted { // the smaller half of them is left
		sizes := make([]float64, len(s.areas))
		for k := range s.areas {
			sizes[k] = s.areas[k].within.area()
		}
		slices.Sort(sizes)
		s.areas = slices.DeleteFunc(s.areas, func(a areaOf) bool { return a.within.area() <= sizes[maxPainted/2] })
	}
}

func (b box) rectangle() [][2]float64 { return identity.corners(b) }

// isSeen reports whether letters painted with an ink at a place differ from what is below.
func (p *painter) isSeen(i ink, body [4][2]float64) bool {
	if i.none || i.mixed {
		return i.mixed && !i.none
	}
	p.file.budget -= len(p.seen.areas) / compares
	for k := len(p.seen.areas) - 1; k >= 0 && p.seen.compared < maxCovers; k-- {
		p.seen.compared++
		if a := &p.seen.areas[k]; a.has(body) {
			return a.ink.mixed || a.ink.thin || !style.Alike(i.colour, a.ink.colour)
		}
	}
	return !style.Alike(i.colour, [3]float64{1, 1, 1})
}

// hides reports whether a glyph from one place to another is not seen: it is too small, cut
// away, or painted like its ground.
func (p *painter) hides(at, end matrix) (body [4][2]float64, hidden bool) {
	s := &p.state
	width := math.Hypot(end[4]-at[4], end[5]-at[5])
	em := math.Hypot(at[0], at[1])
	if em > 0 {
		width /= em
	}
	letter := box{0, -0.2, max(width, 0.2), 0.8}
	corners := at.corners(letter)
	body = [4][2]float64(at.corners(box{letter[2] * 0.03, -0.05, letter[2] * 0.97, 0.5}))
	full := around(corners)
	small := min(em, math.Hypot(at[2], at[3]))*p.seen.unit < leastLetter && !s.font.drawn
	cut := full.and(s.clip).area() < full.area()/10
	stroked := s.penAlpha >= leastAlpha && (s.mode == 1 || s.mode == 2 || s.mode == 5 || s.mode == 6)
	filled := s.alpha >= leastAlpha && s.mode != 1 && s.mode != 5
	painted := filled && p.isSeen(s.fill, body) || stroked && p.isSeen(s.stroke, body)
	return body, p.isGone() || small || cut || !painted
}

// leastLetter is the size in points below which letters are dots.
const leastLetter = 1.0

// path takes the operators that build a path and paint it, and those of colours. It reports
// whether the operator is one of them.
func (p *painter) path(word string, operands []object) {
	s := &p.state
	var v []float64
	for _, o := range operands {
		n, _ := o.(float64)
		v = append(v, n)
	}
	switch word {
	case "m", "l":
		if len(v) >= 2 && len(p.open) <= maxCorners {
			p.open = append(p.open, s.ctm.point(v[0], v[1]))
		}
	case "c", "v", "y":
		p.curve(word, v)
	case "re":
		if len(v) >= 4 {
			p.closed = append(p.closed, s.ctm.corners(box{v[0], v[1], v[0] + v[2], v[1] + v[3]}))
		}
	case "W", "W*":
		p.clips = true
	case "w":
		if len(v) > 0 {
			s.pen = v[len(v)-1]
		}
	case "f", "F", "f*", "B", "B*", "b", "b*", "S", "s", "n":
		p.endPath(word)
		return
	}
	if word == "m" && len(p.open) > 1 { // the one before it ends
		last := len(p.open) - 1
		p.closed, p.open = append(p.closed, p.open[:last:last]), p.open[last:]
	}
	if len(p.closed) > maxPainted {
		p.closed = p.closed[maxPainted/2:]
	}
}

// curve adds a curve to the path, as straight lines.
func (p *painter) curve(word string, v []float64) {
	n := len(p.open)
	if n == 0 || n > maxCorners || len(v) < 4 || word == "c" && len(v) < 6 {
		return
	}
	from := p.open[n-1]
	var by [][2]float64
	for i := 0; i+1 < len(v); i += 2 {
		by = append(by, p.state.ctm.point(v[i], v[i+1]))
	}
	switch word {
	case "v":
		by = [][2]float64{from, by[0], by[1]}
	case "y":
		by = [][2]float64{by[0], by[1], by[1]}
	}
	for _, t := range []float64{0.25, 0.5, 0.75, 1} {
		var at [2]float64
		for k := range at {
			u := 1 - t
			at[k] = u*u*u*from[k] + 3*u*u*t*by[0][k] + 3*u*t*t*by[1][k] + t*t*t*by[2][k]
		}
		p.open = append(p.open, at)
	}
}

// endPath paints the path, and cuts what follows to it where that was asked.
func (p *painter) endPath(word string) {
	p.state.through()
	all := p.closed
	if len(p.open) > 0 {
		all = append(all, p.open)
	}
	room := box{math.Inf(1), math.Inf(1), math.Inf(-1), math.Inf(-1)}
	pen := p.state.pen * math.Sqrt(math.Abs(p.state.ctm[0]*p.state.ctm[3]-p.state.ctm[1]*p.state.ctm[2]))
	for _, points := range all {
		b := around(points)
		room = box{min(room[0], b[0]), min(room[1], b[1]), max(room[2], b[2]), max(room[3], b[3])}
		switch {
		case word == "n":
		case word != "S" && word != "s":
			p.paint(points, p.state.fill, false)
		case pen >= leastArea: // the lines are as wide as a letter
			for i := 1; i < len(points); i++ {
				p.paint(thick(points[i-1], points[i], pen), p.state.stroke, false)
			}
		}
	}
	if p.clips && len(all) > 0 {
		p.state.clip = p.state.clip.and(room)
	}
	p.open, p.closed, p.clips = nil, nil, false
}

// thick are the corners of a line of a width.
func thick(from, to [2]float64, width float64) [][2]float64 {
	dx, dy := to[0]-from[0], to[1]-from[1]
	length := math.Hypot(dx, dy)
	if length == 0 {
		return [][2]float64{from}
	}
	x, y := -dy/length*width/2, dx/length*width/2
	return [][2]float64{{from[0] + x, from[1] + y}, {to[0] + x, to[1] + y}, {to[0] - x, to[1] - y}, {from[0] - x, from[1] - y}}
}

// colour takes the operators that choose an ink.
func (p *painter) colour(word string, operands []object) {
	s := &p.state
	i := &s.fill
	if 'A' <= word[0] && word[0] <= 'Z' {
		i = &s.stroke
	}
	var v []float64
	for _, o := range operands {
		if n, ok := o.(float64); ok {
			v = append(v, n)
		}
	}
	var last object
	if len(operands) > 0 {
		last = operands[len(operands)-1]
	}
	switch word {
	case "g", "G", "rg", "RG", "k", "K":
		i.space = name(map[int]string{1: "DeviceGray", 2: "DeviceRGB"}[len(word)])
		if word == "k" || word == "K" {
			i.space = name("DeviceCMYK")
		}
	case "cs", "CS":
		spaces, _ := p.file.resolve(p.resources["ColorSpace"]).(dict)
		key, _ := last.(name)
		if i.space = p.file.resolve(spaces[key]); i.space == nil {
			i.space = key
		}
		*i = ink{space: i.space, thin: i.thin} // black
		return
	}
	p.file.mix(i, v)
	if key, ok := last.(name); ok { // a pattern, which may lack
		patterns, _ := p.file.resolve(p.resources["Pattern"]).(dict)
		i.mixed, i.none = true, patterns[key] == nil
	}
}

// mix gives an ink the colour that the numbers are in its space.
func (f *pdfFile) mix(i *ink, v []float64) {
	i.mixed, i.none = false, false
	kind, _ := i.space.(name)
	n := 0
	if list, ok := i.space.(array); ok && len(list) > 1 {
		kind, _ = f.resolve(list[0]).(name)
		switch kind {
		case "ICCBased":
			if s, ok := f.resolve(list[1]).(*stream); ok {
				components, _ := f.resolve(s.dict["N"]).(float64)
				n = int(components)
			}
		case "Separation", "DeviceN":
			ground := true
			for _, one := range v {
				ground = ground && one < 0.03
			}
			i.none = f.resolve(list[1]) == name("None")
			if i.mixed = !ground; ground {
				i.colour = [3]float64{1, 1, 1} // no ink is the paper
			}
			return
		}
	}
	switch {
	case (kind == "DeviceGray" || kind == "CalGray" || kind == "G" || n == 1) && len(v) == 1:
		i.colour = [3]float64{v[0], v[0], v[0]}
	case (kind == "DeviceRGB" || kind == "CalRGB" || n == 3) && len(v) == 3:
		i.colour = [3]float64(v)
	case (kind == "DeviceCMYK" || n == 4) && len(v) == 4:
		i.colour = [3]float64{(1 - v[0]) * (1 - v[3]), (1 - v[1]) * (1 - v[3]), (1 - v[2]) * (1 - v[3])}
	default:
		i.mixed = true
	}
	for k := range i.colour {
		i.colour[k] = min(1, max(0, i.colour[k]))
	}
}

// graphics takes a set of parameters that the resources name.
func (p *painter) graphics(key name) {
	sets, _ := p.file.resolve(p.resources["ExtGState"]).(dict)
	set, _ := p.file.resolve(sets[key]).(dict)
	s := &p.state
	if v, ok := p.file.resolve(set["ca"]).(float64); ok {
		s.alpha = v
	}
	if v, ok := p.file.resolve(set["CA"]).(float64); ok {
		s.penAlpha = v
	}
	if mode := p.file.resolve(set["BM"]); mode != nil {
		s.blends = mode != name("Normal") && mode != name("Compatible")
	}
	if mask := p.file.resolve(set["SMask"]); mask != nil {
		s.masked = mask != name("None")
	}
	if font := p.file.list(set["Font"]); len(font) == 2 {
		s.font = p.file.font(font[0])
		s.size, _ = p.file.resolve(font[1]).(float64)
	}
}

// through gives the inks what the parameters say of what shows through them.
func (s *state) through() {
	s.fill.thin = s.blends || s.masked || s.alpha < 1
	s.stroke.thin = s.blends || s.masked || s.penAlpha < 1
}

// leastAlpha is the share of opacity below which nobody sees a text.
const leastAlpha = 0.05

// isOff reports whether a group of optional content, or a rule about groups, is not shown.
func (f *pdfFile) isOff(o object) bool {
	d, _ := f.resolve(o).(dict)
	if f.resolve(d["Type"]) != name("OCMD") {
		r, isRef := o.(ref)
		return isRef && f.hiddenGroups()[r.number]
	}
	groups, ok := f.resolve(d["OCGs"]).(array)
	if !ok && d["OCGs"] != nil {
		groups = array{d["OCGs"]}
	}
	off := 0
	for _, group := range groups {
		if r, isRef := group.(ref); isRef && f.hiddenGroups()[r.number] {
			off++
		}
	}
	switch f.resolve(d["P"]) {
	case name("AllOn"):
		return off > 0
	case name("AnyOff"):
		return len(groups) > 0 && off == 0
	case name("AllOff"):
		return off < len(groups)
	}
	return len(groups) > 0 && off == len(groups)
}

// hiddenGroups are the numbers of the groups of optional content that are off at first.
func (f *pdfFile) hiddenGroups() map[int]bool {
	if f.off != nil {
		return f.off
	}
	f.off = map[int]bool{}
	root, _ := f.resolve(f.trailer["Root"]).(dict)
	all, _ := f.resolve(root["OCProperties"]).(dict)
	first, _ := f.resolve(all["D"]).(dict)
	set := func(list object, off bool) {
		for _, group := range f.list(list) {
			if r, ok := group.(ref); ok {
				f.off[r.number] = off
			}
		}
	}
	if f.resolve(first["BaseState"]) == name("OFF") {
		set(all["OCGs"], true)
	}
	set(first["OFF"], true)
	set(first["ON"], false)
	return f.off
}
