package page

import (
	"slices"
	"strings"
)

// font turns the codes of strings into text and widths.
type font struct {
	cmap    *cmap
	table   *[256]string // of a simple font
	wide    bool         // codes have two bytes
	unicode bool         // codes are UTF-16 themselves
	drawn   bool         // its glyphs are drawn by operators, in a size of their own
	widths  map[int]float64
	missing float64 // width of codes without a width, in thousandths
}

// glyph is one code of a string.
type glyph struct {
	text  string
	width float64 // in units of the font size
	space bool    // the code 32 of one byte, which word spacing widens
}

// font reads a font of a page's resources.
func (f *pdfFile) font(o object) *font {
	r, isRef := o.(ref)
	if known := f.fonts[r]; isRef && known != nil {
		return known
	}
	d, ok := f.resolve(o).(dict)
	if !ok {
		return nil
	}
	ft := &font{missing: 500, widths: map[int]float64{}}
	if s, ok := f.resolve(d["ToUnicode"]).(*stream); ok {
		ft.cmap = f.readCMap(s)
	}
	if f.resolve(d["Subtype"]) == name("Type0") {
		f.compositeFont(ft, d)
	} else {
		f.simpleFont(ft, d)
	}
	if isRef {
		f.fonts[r] = ft
	}
	return ft
}

func (f *pdfFile) compositeFont(ft *font, d dict) {
	ft.wide, ft.missing = true, 1000
	if encoding, ok := f.resolve(d["Encoding"]).(name); ok {
		ft.unicode = strings.Contains(string(encoding), "UCS2") || strings.Contains(string(encoding), "UTF16")
	}
	descendants := f.list(d["DescendantFonts"])
	if len(descendants) == 0 {
		return
	}
	descendant, _ := f.resolve(descendants[0]).(dict)
	if w, ok := f.resolve(descendant["DW"]).(float64); ok {
		ft.missing = w
	}
	// W has runs: a code and an array of widths, or two codes and one width.
	list := f.list(descendant["W"])
	for i := 0; i+1 < len(list) && len(ft.widths) < 1<<16; {
		first, ok := f.resolve(list[i]).(float64)
		if !ok {
			break
		}
		switch second := f.resolve(list[i+1]).(type) {
		case array:
			for k, w := range second {
				if width, ok := f.resolve(w).(float64); ok {
					ft.widths[int(first)+k] = width
				}
			}
			i += 2
		case float64:
			if i+2 >= len(list) {
				return
			}
			if width, ok := f.resolve(list[i+2]).(float64); ok {
				for code := int(first); code <= int(min(second, 0xffff)); code++ {
					ft.widths[code] = width
				}
				f.budget -= int(min(max(second-first, 0), 0xffff))
			}
			i += 3
		default:
			return
		}
	}
}

func (f *pdfFile) simpleFont(ft *font, d dict) {
	first, _ := f.resolve(d["FirstChar"]).(float64)
	for i, w := range f.list(d["Widths"]) {
		if width, ok := f.resolve(w).(float64); ok && i < 256 {
			ft.widths[int(first)+i] = width
		}
	}
	if f.resolve(d["Subtype"]) == name("Type3") {
		ft.drawn = true
		// Its widths are in units of its own matrix.
		if m := f.list(d["FontMatrix"]); len(m) == 6 {
			if scale, ok := f.resolve(m[0]).(float64); ok {
				for code := range ft.widths {
					ft.widths[code] *= scale * 1000
				}
			}
		}
	}
	base := standard
	if descriptor, ok := f.resolve(d["FontDescriptor"]).(dict); ok {
		if w, ok := f.resolve(descriptor["MissingWidth"]).(float64); ok && w > 0 {
			ft.missing = w
		}
		if f.resolve(d["Subtype"]) == name("TrueType") {
			base = winAnsi
		}
	}
	var table [256]string
	var differences array
	choose := func(o object) {
		switch o {
		case name("WinAnsiEncoding"):
			base = winAnsi
		case name("MacRomanEncoding"):
			base = macRoman
		case name("StandardEncoding"):
			base = standard
		}
	}
	switch encoding := f.resolve(d["Encoding"]).(type) {
	case name:
		choose(encoding)
	case dict:
		choose(f.resolve(encoding["BaseEncoding"]))
		differences = f.list(encoding["Differences"])
	}
	for i, r := range base() {
		if r != 0 && r != '\ufffd' {
			table[i] = string(r)
		}
	}
	code := 0
	for _, o := range differences {
		switch o := f.resolve(o).(type) {
		case float64:
			code = int(o)
		case name:
			if code >= 0 && code < 256 {
				table[code] = glyphText(string(o))
			}
			code++
		}
	}
	ft.table = &table
}

// glyphs takes a string apart.
func (ft *font) glyphs(s str, visit func(glyph)) {
	for len(s) > 0 {
		n := 1
		if ft.wide {
			n = min(2, len(s))
		}
		if ft.cmap != nil && ft.wide && ft.cmap.lengths[1] && !ft.cmap.lengths[2] {
			n = 1
		}
		code := string(s[:n])
		s = s[n:]
		number := int(codeOf(str(code)))
		g := glyph{width: ft.missing / 1000, space: n == 1 && code[0] == ' '}
		if w, known := ft.widths[number]; known {
			g.width = w / 1000
		}
		mapped := false
		if ft.cmap != nil {
			g.text, mapped = ft.cmap.text(code)
		}
		switch {
		case mapped:
		case ft.unicode:
			g.text = utf16Text(code)
		case ft.table != nil:
			g.text = ft.table[code[0]]
		}
		visit(g)
	}
}

// sortBy sorts a list by a number of each.
func sortBy[T any](list []T, key func(T) int) {
	slices.SortStableFunc(list, func(a, b T) int { return key(a) - key(b) })
}
