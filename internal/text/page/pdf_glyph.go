package page

import (
	_ "embed"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/text/encoding/charmap"
)

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
