package page

import (
	_ "embed"
	"slices"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/text/encoding/charmap"
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

// glyphList is the part of Adobe's glyph list that European texts use, and the
// symbols: a name and its code on each line.
//
//go:embed glyphs.txt
var glyphList string

var glyphs = sync.OnceValue(func() map[string]rune {
	list := make(map[string]rune, 2000)
	for line := range strings.Lines(glyphList) {
		name, code, _ := strings.Cut(strings.TrimSpace(line), " ")
		if r, err := strconv.ParseUint(code, 16, 32); err == nil {
			list[name] = rune(r)
		}
	}
	return list
})

// glyphText is the text of a glyph by its name, "" where the name says nothing.
func glyphText(glyph string) string {
	if r, known := glyphs()[glyph]; known {
		return string(r)
	}
	base, _, _ := strings.Cut(glyph, ".")
	if base != glyph && base != "" {
		return glyphText(base)
	}
	if strings.Contains(glyph, "_") && len(glyph) < 64 { // f_f_i
		var b strings.Builder
		for part := range strings.SplitSeq(glyph, "_") {
			text := ""
			if part != "" {
				text = glyphText(strings.ReplaceAll(part, "_", ""))
			}
			if text == "" {
				return ""
			}
			b.WriteString(text)
		}
		return b.String()
	}
	for _, prefix := range []string{"uni", "u"} {
		if code, found := strings.CutPrefix(glyph, prefix); found && len(code) >= 4 && len(code) <= 6 {
			if r, err := strconv.ParseUint(code, 16, 32); err == nil && r < 0x110000 {
				return string(rune(r))
			}
		}
	}
	return ""
}

// codeTable is what the codes of a font stand for.
type codeTable [256]rune

var (
	winAnsi  = sync.OnceValue(func() *codeTable { return codePage(charmap.Windows1252) })
	macRoman = sync.OnceValue(func() *codeTable { return codePage(charmap.Macintosh) })
	standard = sync.OnceValue(standardEncoding)
)

func codePage(page *charmap.Charmap) *codeTable {
	table := new(codeTable)
	for i := range table {
		table[i] = page.DecodeByte(byte(i))
	}
	return table
}

// standardEncoding is Adobe's own encoding: ASCII with other quotation marks, and a
// few characters above it.
func standardEncoding() *codeTable {
	table := new(codeTable)
	for i := 0x20; i < 0x7f; i++ {
		table[i] = rune(i)
	}
	table['\''], table['`'] = '’', '‘'
	for i, r := range []rune("¡¢£⁄¥ƒ§¤'“«‹›ﬁﬂ\x00–†‡·\x00¶•‚„”»…‰\x00¿\x00`´ˆ˜¯˘˙¨\x00˚¸\x00˝˛ˇ—") {
		if r != 0 {
			table[0xa1+i] = r
		}
	}
	for code, r := range map[int]rune{0xe1: 'Æ', 0xe3: 'ª', 0xe8: 'Ł', 0xe9: 'Ø', 0xea: 'Œ', 0xeb: 'º', 0xf1: 'æ', 0xf5: 'ı', 0xf8: 'ł', 0xf9: 'ø', 0xfa: 'œ', 0xfb: 'ß'} {
		table[code] = r
	}
	return table
}
