package office

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/tidegate/tidegate/internal/text/style"
)

// look is what properties of Word say about how a text is seen. What is not set is empty or 0.
type look struct {
	colour  string // of the letters, in six hexadecimal digits
	ground  string // behind them, likewise; unknown for another
	vanish  string // on or off
	size    int    // of the letters, in half points
	spacing int    // between them, in twentieths of a point
	away    bool   // it is moved off the page, squeezed or cut away
}

// unknown is a colour that is not followed.
const unknown = "unknown"

// over is the look of what has properties of its own, in what has others.
func (l look) over(outer look) look {
	return look{
		colour: cmp.Or(l.colour, outer.colour), ground: cmp.Or(l.ground, outer.ground), vanish: cmp.Or(l.vanish, outer.vanish),
		size: cmp.Or(l.size, outer.size), spacing: cmp.Or(l.spacing, outer.spacing), away: l.away || outer.away,
	}
}

// The limits of what is read: a point, a page's width and more, and the size that nothing set.
const (
	leastSize, leastLine = 2, 20
	farAway              = 12000
	commonSize           = 20
)

// hides reports whether nobody sees the text.
func (l look) hides() bool {
	size := cmp.Or(l.size, commonSize)
	if l.vanish == "on" || l.away || size <= leastSize || l.spacing < 0 && -l.spacing >= size*9 {
		return true
	}
	letters, known := channels(l.colour)
	ground, plain := channels(cmp.Or(l.ground, "ffffff"))
	return known && plain && style.Alike(letters, ground)
}

func channels(digits string) (c [3]float64, ok bool) {
	n, err := strconv.ParseUint(digits, 16, 32)
	for i, shift := range []int{16, 8, 0} {
		c[i] = float64(n>>shift&255) / 255
	}
	return c, err == nil && len(digits) == 6
}

// take takes one property of a run, a paragraph or a cell.
func (l *look) take(n node, theme map[string]string) {
	value := n.attr("val")
	number, _ := strconv.Atoi(value)
	switch n.name {
	case "vanish", "specVanish", "webHidden":
		if l.vanish = "on"; value == "0" || value == "false" || value == "off" {
			l.vanish = "off"
		}
	case "color":
		l.colour = themed(n, value, "theme", theme)
	case "shd":
		switch value {
		case "", "clear", "nil":
			if l.ground = themed(n, n.attr("fill"), "themeFill", theme); l.ground == "auto" {
				l.ground = ""
			}
		default:
			l.ground = unknown
		}
	case "highlight":
		l.ground = cmp.Or(highlights[value], unknown)
	case "noFill":
		l.colour, l.away = unknown, true
	case "srgbClr", "schemeClr":
		l.colour = cmp.Or(theme[map[string]string{"bg1": "background1", "bg2": "background2"}[value]], theme[value], strings.ToLower(value))
	case "sz":
		l.size = max(1, number)
	case "spacing":
		line, err := strconv.Atoi(n.attr("line"))
		l.away = l.away || err == nil && n.attr("lineRule") == "exact" && line <= leastLine
		l.spacing = number
	case "w":
		l.away = l.away || value != "" && number <= 5
	case "position":
		l.away = l.away || number <= -farAway/20 || number >= farAway/20
	case "ind", "framePr":
		for _, name := range []string{"left", "start", "x", "y"} {
			to, _ := strconv.Atoi(n.attr(name))
			l.away = l.away || to <= -farAway || to >= 2*farAway
		}
	}
}

// themed is a colour that may be one of the theme. Shades of those are written out beside.
func themed(n node, value, prefix string, theme map[string]string) string {
	key := n.attr(strings.TrimSuffix(prefix, "Fill") + "Color")
	if prefix == "themeFill" {
		key = n.attr("themeFill")
	}
	if known := theme[key]; known != "" && n.attr(prefix+"Tint") == "" && n.attr(prefix+"Shade") == "" {
		return known
	}
	return strings.ToLower(value)
}

// highlights are the colours of text markers.
var highlights = map[string]string{
	"black": "000000", "blue": "0000ff", "cyan": "00ffff", "green": "00ff00", "magenta": "ff00ff", "red": "ff0000", "yellow": "ffff00", "white": "ffffff",
	"darkBlue": "000080", "darkCyan": "008080", "darkGreen": "008000", "darkMagenta": "800080", "darkRed": "800000", "darkYellow": "808000",
	"darkGray": "808080", "lightGray": "c0c0c0", "none": "ffffff",
}

// themeOf reads the colours of the theme by the names that properties give them.
func themeOf(p *pack) map[string]string {
	names := map[string]string{"lt1": "background1 light1", "dk1": "text1 dark1", "lt2": "background2 light2", "dk2": "text2 dark2", "hlink": "hyperlink", "folHlink": "followedHyperlink"}
	theme, open := map[string]string{"background1": "ffffff", "light1": "ffffff"}, ""
	p.walk("word/theme/theme1.xml", visitor{start: func(n node) bool {
		switch n.name {
		case "lt1", "dk1", "lt2", "dk2", "hlink", "folHlink", "accent1", "accent2", "accent3", "accent4", "accent5", "accent6":
			open = cmp.Or(names[n.name], n.name)
		case "srgbClr", "sysClr":
			for name := range strings.FieldsSeq(open) {
				theme[name] = strings.ToLower(cmp.Or(n.attr("lastClr"), n.attr("val")))
			}
			open = ""
		}
		return n.name != "fmtScheme"
	}})
	return theme
}

// wordStyle is a style of a file of Word.
type wordStyle struct {
	title  bool // it makes a paragraph a heading: programs translate the ids, but not the names
	based  string
	look   look
	shaded bool // it may have a ground of its own in some parts of a table
}

// wordStyles are the styles of a file with what they are based on; that of "" holds where none
// is named.
func wordStyles(p *pack, theme map[string]string) map[string]wordStyle {
	all, ids := map[string]wordStyle{}, []string{""}
	id, first, part := "", "", false
	p.walk("word/styles.xml", visitor{start: func(n node) bool {
		one := all[id]
		switch n.name {
		case "style":
			if id = n.attr("styleId"); n.attr("type") == "paragraph" && (n.attr("default") == "1" || n.attr("default") == "true") {
				first = id
			}
			ids = append(ids, id)
			part, one = false, wordStyle{}
		case "name":
			name := strings.ToLower(n.attr("val"))
			one.title = strings.HasPrefix(name, "heading") || name == "title"
		case "basedOn":
			one.based = n.attr("val")
		case "tblStylePr":
			part = true
		case "shd":
			one.shaded = true
			fallthrough
		default:
			if !part {
				one.look.take(n, theme)
			}
		}
		all[id] = one
		return !isBeside(n.name)
	}})
	whole := map[string]wordStyle{}
	for _, id := range ids {
		s := all[id]
		for at, depth := s.based, 0; at != "" && depth < 10; depth++ {
			outer := all[at]
			s.look, s.shaded = s.look.over(outer.look), s.shaded || outer.shaded
			at = outer.based
		}
		whole[id] = s
	}
	common := whole[""].look
	if first != "" {
		common = whole[first].look.over(common)
	}
	whole[""] = wordStyle{look: common}
	return whole
}

// isBeside holds for properties that were changed, and for those of an outline or a shadow.
func isBeside(name string) bool {
	switch name {
	case "textOutline", "shadow", "glow", "reflection", "props3d", "scene3d":
		return true
	}
	return strings.HasSuffix(name, "PrChange")
}

// sight follows the properties that are open in a text of Word.
type sight struct {
	theme     map[string]string
	styles    map[string]wordStyle
	within    string // the kind of properties that is open
	run       look   // by the properties of the run
	character string // its style
	paragraph look
	named     string // the style of the paragraph
	rows      []row  // of the tables that are open
	fields    []bool // that are open: whether their result has begun
	page      string // the colour of the paper
	outer     *sight // that of the text around a drawing
}

// row is what a row of a table and its cell say.
type row struct {
	shaded, hidden bool
	cell           look
}

func (s *sight) start(n node) {
	last := len(s.rows) - 1
	switch n.name {
	case "background":
		s.page = cmp.Or(themed(n, n.attr("color"), "theme", s.theme), unknown)
	case "txbxContent":
		outer := *s
		*s = sight{theme: s.theme, styles: s.styles, page: unknown, fields: s.fields, outer: &outer}
	case "p":
		s.paragraph, s.named = look{}, ""
	case "r":
		s.run, s.character = look{}, ""
	case "tbl":
		s.rows = append(s.rows, row{})
	case "tc":
		if last >= 0 {
			s.rows[last].cell = look{}
		}
	case "tr":
		if last >= 0 {
			s.rows[last].hidden = false
		}
	case "fldChar":
		switch at := len(s.fields) - 1; n.attr("fldCharType") {
		case "begin":
			s.fields = append(s.fields, false)
		case "separate":
			if at >= 0 {
				s.fields[at] = true
			}
		case "end":
			s.fields = s.fields[:max(0, at)]
		}
	case "rPr", "pPr", "tcPr", "trPr", "tblPr":
		if n.name == "rPr" && s.within != "" { // of the mark that ends a paragraph
			s.within = "mark"
		} else {
			s.within = n.name
		}
	default:
		s.property(n)
	}
}

func (s *sight) property(n node) {
	last := len(s.rows) - 1
	switch {
	case n.name == "rStyle" && s.within == "rPr":
		s.character = n.attr("val")
	case n.name == "pStyle" && s.within == "pPr":
		s.named = n.attr("val")
	case s.within == "rPr":
		s.run.take(n, s.theme)
	case s.within == "pPr":
		s.paragraph.take(n, s.theme)
	case last < 0:
	case s.within == "tcPr":
		s.rows[last].cell.take(n, s.theme)
	case n.name == "tblStyle":
		s.rows[last].shaded = s.styles[n.attr("val")].shaded
	case n.name == "shd" && s.within == "tblPr":
		s.rows[last].shaded = true
	case n.name == "hidden" && s.within == "trPr":
		s.rows[last].hidden = n.attr("val") != "0" && n.attr("val") != "false"
	case n.name == "trHeight" && s.within == "trPr":
		height, _ := strconv.Atoi(n.attr("val"))
		s.rows[last].hidden = s.rows[last].hidden || n.attr("hRule") == "exact" && height <= leastLine
	}
}

func (s *sight) end(name string) {
	switch name {
	case "rPr", "pPr", "tcPr", "trPr", "tblPr":
		if s.within == "mark" {
			s.within = "pPr"
		} else {
			s.within = ""
		}
	case "r":
		s.run, s.character = look{}, ""
	case "txbxContent":
		if s.outer != nil {
			*s = *s.outer
		}
	case "tbl":
		s.rows = s.rows[:max(0, len(s.rows)-1)]
	}
}

// hides reports whether the text of the run is not seen.
func (s *sight) hides() bool {
	for _, result := range s.fields {
		if !result {
			return true
		}
	}
	outer := look{ground: s.page}
	for _, r := range s.rows {
		if r.hidden {
			return true
		}
		if r.shaded {
			outer.ground = unknown
		}
		outer.ground = cmp.Or(r.cell.ground, outer.ground)
	}
	l := s.styles[s.character].look
	if s.character == "" {
		l = look{}
	}
	return s.run.over(l).over(s.paragraph).over(s.styles[s.named].look).over(s.styles[""].look).over(outer).hides()
}
