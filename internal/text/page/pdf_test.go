package page

import (
	"bytes"
	"compress/zlib"
	"encoding/ascii85"
	"encoding/hex"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/tidegate/tidegate/internal/test/full"
	"github.com/tidegate/tidegate/internal/test/must"
)

var update = flag.Bool("update", false, "rewrite the golden files")

const maxTestText = 1 << 20

// TestRead reads files that other programs made: Ghostscript, Chromium and pdfcpu,
// which encrypted some of them without a user password.
func TestPDFFiles(t *testing.T) {
	files, err := filepath.Glob("testdata/*.pdf")
	if err != nil || len(files) < 5 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		data := must.Get(os.ReadFile(file))(t)
		doc := readPDF(data, maxTestText)
		got := fmt.Sprintf("title: %s\nauthor: %s\ncreated: %s\n\n%s\n", doc.title, doc.author, doc.created, doc.text)
		golden := strings.TrimSuffix(file, ".pdf") + ".txt"
		if *update {
			must.Do(t, os.WriteFile(golden, []byte(got), 0o644))
		}
		want := must.Get(os.ReadFile(golden))(t)
		if got != string(want) {
			t.Errorf("%s: got\n%s\nwant\n%s", file, got, want)
		}
	}
}

func TestAgreesWithPoppler(t *testing.T) {
	if _, err := exec.LookPath("pdftotext"); err != nil {
		t.Skip("pdftotext is not installed")
	}
	files, _ := filepath.Glob("testdata/*.pdf")
	for _, file := range files {
		out, err := exec.Command("pdftotext", "-q", file, "-").Output()
		if err != nil {
			if strings.Contains(file, "locked") {
				continue
			}
			t.Fatal(file, err)
		}
		data := must.Get(os.ReadFile(file))(t)
		have := map[string]int{}
		for _, w := range words(withPlainDigits(readPDF(data, maxTestText).text)) {
			have[w]++
		}
		for _, w := range words(string(out)) {
			if have[w]--; have[w] < 0 && !strings.HasPrefix(w, "metres") { // pdftotext joins the note's number to it
				t.Errorf("%s: %q is missing", file, w)
			}
		}
	}
}

func words(s string) []string {
	return strings.FieldsFunc(strings.ToLower(strings.NewReplacer("ﬃ", "ffi", "ﬁ", "fi", "ﬀ", "ff").Replace(s)), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

func withPlainDigits(s string) string {
	return strings.NewReplacer("¹", "1", "²", "2").Replace(s)
}

// builder puts a file together from objects.
type builder struct{ b bytes.Buffer }

func (b *builder) object(number int, body string) {
	fmt.Fprintf(&b.b, "%d 0 obj\n%s\nendobj\n", number, body)
}

func (b *builder) stream(number int, dict string, data []byte) {
	b.object(number, fmt.Sprintf("<<%s/Length %d>>\nstream\n%s\nendstream", dict, len(data), data))
}

// onePage is a file with a page of that content.
func onePage(dict string, content []byte) []byte {
	b := &builder{}
	b.b.WriteString("%PDF-1.7\n")
	b.object(1, "<</Type/Catalog/Pages 2 0 R>>")
	b.object(2, "<</Type/Pages/Count 1/Kids[3 0 R]>>")
	b.object(3, "<</Type/Page/Parent 2 0 R/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>/XObject<</X 6 0 R>>>>>>")
	b.stream(4, dict, content)
	b.object(5, "<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>")
	b.stream(6, "/Type/XObject/Subtype/Form/BBox[0 0 600 800]", []byte("BT /F1 12 Tf (in a form) Tj ET /X Do"))
	b.b.WriteString("trailer\n<</Root 1 0 R/Size 7>>\nstartxref\n0\n%%EOF\n")
	return b.b.Bytes()
}

func deflated(data []byte) []byte {
	var b bytes.Buffer
	w := zlib.NewWriter(&b)
	_, _ = w.Write(data)
	_ = w.Close()
	return b.Bytes()
}

func TestPDFFilters(t *testing.T) {
	content := []byte("BT /F1 12 Tf 72 700 Td (The tide rises.) Tj 0 -14 Td (And falls.) Tj ET")
	want := "The tide rises.\nAnd falls."
	var a85 bytes.Buffer
	w := ascii85.NewEncoder(&a85)
	_, _ = w.Write(content)
	_ = w.Close()
	a85.WriteString("~>")
	up := []byte{}
	before := make([]byte, 10)
	for i := 0; i < len(content); i += 10 {
		line := make([]byte, 10)
		for k := range line {
			line[k] = ' '
		}
		copy(line, content[i:])
		up = append(up, 2)
		for k := range line {
			up = append(up, line[k]-before[k])
		}
		before = line
	}
	runs := []byte{}
	for _, c := range content {
		runs = append(runs, 0, c)
	}
	runs = append(runs, 255, ' ', 128)
	for name, c := range map[string]struct {
		dict string
		data []byte
	}{
		"none":            {"", content},
		"flate":           {"/Filter/FlateDecode", deflated(content)},
		"a broken end":    {"/Filter/FlateDecode", deflated(append(bytes.Clone(content), bytes.Repeat([]byte(" 1 w"), 5000)...))[:105]},
		"ascii 85":        {"/Filter[/ASCII85Decode]", a85.Bytes()},
		"ascii hex":       {"/Filter/ASCIIHexDecode", []byte(hex.EncodeToString(content) + ">")},
		"two filters":     {"/Filter[/AHx/Fl]", []byte(hex.EncodeToString(deflated(content)) + ">")},
		"run length":      {"/Filter/RunLengthDecode", runs},
		"a predictor":     {"/Filter/FlateDecode/DecodeParms<</Predictor 12/Columns 10>>", deflated(up)},
		"lzw":             {"/Filter/LZWDecode", lzw(content)},
		"a name in hex":   {"/Filter/Fl#61teDecode", deflated(content)},
		"an unknown one":  {"/Filter/DCTDecode", content},
		"none that is so": {"/Filter/FlateDecode", content},
	} {
		got := readPDF(onePage(c.dict, c.data), maxTestText).text
		switch name {
		case "an unknown one", "none that is so":
			if got != "" {
				t.Errorf("%s: %q", name, got)
			}
		default:
			if got != want {
				t.Errorf("%s: got %q, want %q", name, got, want)
			}
		}
	}
}

// lzw writes LZW without compressing: a code of nine bits for each byte, and a fresh
// table before codes grow.
func lzw(data []byte) []byte {
	var out []byte
	held, bits := uint32(0), 0
	put := func(code int) {
		held = held<<9 | uint32(code)
		for bits += 9; bits >= 8; bits -= 8 {
			out = append(out, byte(held>>(bits-8)))
		}
	}
	put(256)
	for i, c := range data {
		if i%200 == 199 {
			put(256)
		}
		put(int(c))
	}
	put(257)
	if bits > 0 {
		out = append(out, byte(held<<(8-bits)))
	}
	return out
}

func TestPDFLayout(t *testing.T) {
	for name, c := range map[string]struct{ content, want string }{
		"one string":         {"BT /F1 12 Tf (a b) Tj ET", "a b"},
		"kerning":            {"BT /F1 12 Tf [(Ti)20(de)-400(rises)] TJ ET", "Tide rises"},
		"lines":              {"BT /F1 12 Tf 14 TL (a) Tj T* (b) Tj (c) ' 1 2 (d) \" ET", "a\nb\nc\nd"},
		"matrices":           {"BT /F1 1 Tf 12 0 0 12 72 700 Tm (a) Tj 12 0 0 12 72 680 Tm (b) Tj ET", "a\nb"},
		"columns of a table": {"BT /F1 12 Tf 72 700 Td (2020) Tj 200 0 Td (5.1) Tj ET", "2020\t5.1"},
		"two blocks":         {"BT /F1 12 Tf 72 700 Td (a) Tj ET BT /F1 12 Tf 72 600 Td (b) Tj ET", "a\nb"},
		"a note":             {"BT /F1 12 Tf 72 700 Td (1962) Tj /F1 7 Tf 26 5 Td (12) Tj ET", "1962¹²"},
		"escapes": {`BT /F1 12 Tf (a\(b\)\101\
c\\) Tj ET`, `a(b)Ac\`},
		"hex":                                {"BT /F1 12 Tf <48 69 2> Tj ET", "Hi"},
		"codes above ASCII":                  {"BT /F1 12 Tf (\\344\\200) Tj ET", "ä€"},
		"an image in between":                {"BI /W 1 ID \x00\x01 EIx EI BT /F1 12 Tf (a) Tj ET", "a"},
		"a form in itself":                   {"/X Do", "in a form"},
		"no font":                            {"BT (a) Tj ET", ""},
		"a blank of no width":                {"BT /F1 12 Tf -6 Tw (yp e) Tj ET", "ype"},
		"text that is not drawn":             {"BT /F1 12 Tf (a) Tj 3 Tr (b) Tj q 7 Tr (c) Tj Q 0 Tr (d) Tj ET", "a d"},
		"nothing but text that is not drawn": {"BT /F1 12 Tf 3 Tr (a) Tj ET", ""},
		"the text of a scan":                 {"BI /W 1 ID \x00 EI BT /F1 12 Tf 3 Tr (a) Tj ET", "a"},
		"a word below a scan":                {"BI /W 1 ID \x00 EI BT /F1 12 Tf 3 Tr (a) Tj 0 Tr (b) Tj ET", "b"},
		"a letter that the font lacks":       {"/Span<</ActualText<FEFF6F6E>>>BDC BT /F1 12 Tf (a) Tj EMC (b) Tj ET", "潮b"},
		"one text for two letters":           {"/P<</MCID 1>>BDC BT /F1 12 Tf /Span<</ActualText(q)>>BDC (ab) Tj EMC (c) Tj ET EMC EMC", "qc"},
		"a mark that says nothing":           {"BT /F1 12 Tf (ti) Tj /Span<</ActualText()>>BDC (-) Tj EMC (de) Tj ET", "tide"},
		"nonsense":                           {"]] >> ) } { /F1 Tf [ 1 2 << /A ", ""},
	} {
		if got := readPDF(onePage("", []byte(c.content)), maxTestText).text; got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

func TestPDFFonts(t *testing.T) {
	cmap := "/CIDInit /ProcSet findresource begin begincmap 1 begincodespacerange <0000><ffff> endcodespacerange\n" +
		"2 beginbfchar <0001><0054> <0002><00660069> endbfchar 2 beginbfrange <0010><0012><0061> <0020><0021>[<03b1><d83ddc1f>] endbfrange endcmap"
	for name, c := range map[string]struct{ font, text, want string }{
		"a map to unicode":      {"<</Type/Font/Subtype/Type0/Encoding/Identity-H/ToUnicode 7 0 R/DescendantFonts[<</DW 500>>]>>", "<00010002001000110012002000210099>", "Tfiabcα🐟"},
		"ucs2":                  {"<</Type/Font/Subtype/Type0/Encoding/UniGB-UCS2-H/DescendantFonts[<<>>]>>", "<6f6e6c50>", "潮汐"},
		"differences":           {"<</Type/Font/Subtype/Type1/Encoding<</Differences[65/fi/f_f_i/uni00E4/emdash/a.alt 70/nothing]>>>>", "(ABCDEF)", "ﬁffiä—a"},
		"the standard code":     {"<</Type/Font/Subtype/Type1>>", "(it's \\256)", "it’s ﬁ"},
		"mac roman":             {"<</Type/Font/Subtype/TrueType/Encoding/MacRomanEncoding>>", "(\\212)", "ä"},
		"one byte of a pair":    {"<</Type/Font/Subtype/Type0/Encoding/Identity-H/ToUnicode 7 0 R>>", "<000100>", "T"},
		"widths that are silly": {"<</Type/Font/Subtype/Type0/Encoding/Identity-H/ToUnicode 7 0 R/DescendantFonts[<</W[0 1e9 500 1 2]>>]>>", "<0010>", "a"},
	} {
		data := onePage("", []byte("BT /F1 12 Tf "+c.text+" Tj ET"))
		b := &builder{}
		b.b.Write(data)
		b.object(5, c.font) // the later one counts
		b.stream(7, "", []byte(cmap))
		if got := readPDF(b.b.Bytes(), maxTestText).text; strings.ReplaceAll(got, " ", "") != strings.ReplaceAll(c.want, " ", "") {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

func TestPDFStructure(t *testing.T) {
	content := "BT /F1 12 Tf (%s) Tj ET"
	page := func(number, contents int, more string) string {
		return fmt.Sprintf("<</Type/Page/Contents %d 0 R%s>>", contents, more)
	}
	build := func(parts func(*builder)) []byte {
		b := &builder{}
		b.b.WriteString("%PDF-1.4\n")
		parts(b)
		return b.b.Bytes()
	}
	font := "/Resources<</Font<</F1 <</Subtype/Type1/Encoding/WinAnsiEncoding>>>>>>"
	for name, c := range map[string]struct {
		data []byte
		want string
	}{
		"no trailer": {build(func(b *builder) {
			b.object(1, "<</Type/Catalog/Pages 2 0 R>>")
			b.object(2, "<</Kids[3 0 R 4 0 R]"+font+">>")
			b.object(3, page(3, 5, ""))
			b.object(4, page(4, 6, ""))
			b.stream(5, "", fmt.Appendf(nil, content, "one"))
			b.stream(6, "", fmt.Appendf(nil, content, "two"))
		}), "one\ntwo"},
		"no page tree": {build(func(b *builder) {
			b.object(3, page(3, 5, font))
			b.stream(5, "", fmt.Appendf(nil, content, "one"))
		}), "one"},
		"a tree that is a ring": {build(func(b *builder) {
			b.object(1, "<</Type/Catalog/Pages 2 0 R>>")
			b.object(2, "<</Kids[2 0 R 3 0 R 2 0 R 3 0 R]"+font+">>")
			b.object(3, page(3, 5, ""))
			b.stream(5, "", fmt.Appendf(nil, content, "one"))
		}), "one"},
		"an object stream": {build(func(b *builder) {
			inner := "<</Type/Catalog/Pages 2 0 R>> <</Kids[3 0 R]" + font + ">> " + page(3, 5, "")
			second, third := strings.Index(inner, "<</Kids"), strings.Index(inner, "<</Type/Page/")
			head := fmt.Sprintf("1 0 2 %d 3 %d ", second, third)
			b.stream(9, fmt.Sprintf("/Type/ObjStm/N 3/First %d/Filter/FlateDecode", len(head)), deflated([]byte(head+inner)))
			b.stream(5, "", fmt.Appendf(nil, content, "one"))
			b.stream(10, "/Type/XRef/Root 1 0 R/Size 40000000000/W[1 1 1]/Prev 9", nil)
		}), "one"},
		"a later version of an object": {build(func(b *builder) {
			b.object(1, "<</Type/Catalog/Pages 2 0 R>>")
			b.object(2, "<</Kids[3 0 R]"+font+">>")
			b.object(3, page(3, 5, ""))
			b.stream(5, "", fmt.Appendf(nil, content, "old"))
			b.stream(5, "", fmt.Appendf(nil, content, "new"))
		}), "new"},
		"a length elsewhere": {build(func(b *builder) {
			b.object(1, "<</Type/Catalog/Pages 2 0 R>>")
			b.object(2, "<</Kids[3 0 R]"+font+">>")
			b.object(3, page(3, 5, ""))
			b.object(5, "<</Length 8 0 R>>\nstream\n"+fmt.Sprintf(content, "one")+"\nendstream")
			b.object(8, "30")
		}), "one"},
		"references in a ring": {build(func(b *builder) {
			b.object(1, "<</Type/Catalog/Pages 2 0 R>>")
			b.object(2, "3 0 R")
			b.object(3, "2 0 R")
			b.b.WriteString("trailer <</Root 1 0 R/Info 2 0 R>>")
		}), ""},
		"nothing":     {nil, ""},
		"only a head": {[]byte("%PDF-1.7"), ""},
	} {
		if got := readPDF(c.data, maxTestText).text; got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

// TestHostileFiles reads files that cost more than their size. The reading ends, and
// returns no more text than was asked for.
func TestHostilePDFFiles(t *testing.T) {
	full.Story(t)
	t.Parallel()
	much, maxText := 1<<13, maxTestText/4 // in the short form a bomb has half a MiB instead of 64
	if full.Asked() {
		much, maxText = 1<<20, maxTestText
	}
	bomb := deflated(bytes.Repeat([]byte("1 "), 32*much))
	twice := deflated(bomb)
	show := deflated(bytes.Repeat([]byte("(aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa)Tj "), much))
	for name, data := range map[string][]byte{
		"a bomb":           onePage("/Filter/FlateDecode", bomb),
		"a bomb in a bomb": onePage("/Filter[/FlateDecode/FlateDecode]", twice),
		"much text":        onePage("/Filter/FlateDecode", append([]byte{}, deflated(append([]byte("BT /F1 1 Tf "), bytes.Repeat([]byte("(aaaaaaaaaaaaaaaaaaaaaaaa)Tj "), much)...))...)),
		"deep":             onePage("", bytes.Repeat([]byte("[<<"), much)),
		"strings":          onePage("", bytes.Repeat([]byte("("), much)),
		"angles":           onePage("", bytes.Repeat([]byte("<"), much)),
		"objects":          bytes.Repeat([]byte("1 0 obj "), much/4),
		"trailers":         bytes.Repeat([]byte("trailer<</Root"), much/8),
		"streams":          bytes.Repeat([]byte("1 0 obj<<>>stream "), much/16),
		"images":           onePage("", bytes.Repeat([]byte("BI ID "), much/4)),
		"shown again":      onePage("/Filter/FlateDecode", show),
	} {
		doc := readPDF(data, maxText)
		if len(doc.text) > maxText+100 || !utf8.ValidString(doc.text) {
			t.Errorf("%s: %d bytes of text", name, len(doc.text))
		}
	}
	// The same page, the same form, a million times.
	b := &builder{}
	b.object(1, "<</Type/Catalog/Pages 2 0 R>>")
	b.object(2, "<</Kids["+strings.Repeat("<</Contents 4 0 R/Resources 5 0 R>>", much/32)+"]>>")
	b.stream(4, "/Filter/FlateDecode", deflated(bytes.Repeat([]byte("/X Do "), much/10)))
	b.object(5, "<</XObject<</X 6 0 R>>>>")
	b.stream(6, "/Subtype/Form/Filter/FlateDecode", deflated(bytes.Repeat([]byte("/X Do "), much/10)))
	if doc := readPDF(b.b.Bytes(), maxText); doc.text != "" {
		t.Errorf("forms that show only themselves have the text %.40q", doc.text)
	}
}

func TestCutPDFFilesGiveWhatIsThere(t *testing.T) {
	t.Parallel()
	for _, file := range []string{"testdata/ghostscript.pdf", "testdata/chromium.pdf", "testdata/aes-128.pdf"} {
		data := must.Get(os.ReadFile(file))(t)
		for n := 0; n < len(data); n += 61 * full.Stride(len(data)/61, 100) {
			if doc := readPDF(data[:n], maxTestText); !utf8.ValidString(doc.text) {
				t.Errorf("%s cut at %d: %q", file, n, doc.text)
			}
		}
	}
	data, _ := os.ReadFile("testdata/ghostscript.pdf")
	if doc := readPDF(data[:len(data)/2], maxTestText); !strings.Contains(doc.text, "The tide at the old harbour") {
		t.Errorf("half a file: %q", doc.text)
	}
}

func FuzzPDF(f *testing.F) {
	f.Add(onePage("", []byte("BT /F1 12 Tf (a) Tj [(b) 200 <63>] TJ ET")))
	f.Add(onePage("/Filter/FlateDecode", deflated([]byte("BT /F1 12 Tf (a) Tj ET"))))
	for _, name := range []string{"rc4-128", "aes-256", "ghostscript"} {
		if data, err := os.ReadFile("testdata/" + name + ".pdf"); err == nil {
			f.Add(data)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		doc := readPDF(data, 1<<16)
		if !utf8.ValidString(doc.text) || len(doc.text) > 1<<16+100 {
			t.Errorf("%q", doc.text)
		}
		if again := readPDF(data, 1<<16); again != doc {
			t.Errorf("twice gives %q and %q", doc.text, again.text)
		}
	})
}

// TestTitlesOfDocuments: a title that a program made up is none.
func TestTitlesOfDocuments(t *testing.T) {
	for title, want := range map[string]string{"The fleet of 2025": "The fleet of 2025", "Microsoft Word - fleet.doc": "", "PowerPoint Presentation": "", "Untitled-1": "", "Presentation1": "", "fleet.xlsx": "", "—": "", "Document 7": "", "Presentations of grief": "Presentations of grief", "Excel for ports": "Excel for ports"} {
		if got := ownTitle(title); got != want {
			t.Errorf("%q: got %q, want %q", title, got, want)
		}
	}
}

func BenchmarkPDF(b *testing.B) {
	data := must.Get(os.ReadFile("testdata/chromium.pdf"))(b)
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		readPDF(data, maxTestText)
	}
}

// TestWhatAPDFShows has ways to hide a text, and ways that look like it.
func TestWhatAPDFShows(t *testing.T) {
	read := func(page, content string) string {
		b := &builder{}
		b.b.WriteString("%PDF-1.7\n")
		b.object(1, "<</Type/Catalog/Pages 2 0 R/OCProperties<</OCGs[7 0 R 8 0 R]/D<</OFF[7 0 R]>>>>>>")
		b.object(2, "<</Type/Pages/Count 1/Kids[3 0 R]/MediaBox[0 0 600 800]>>")
		b.object(3, "<</Type/Page/Parent 2 0 R/Contents 4 0 R"+page+"/Resources<</Font<</F1 5 0 R>>/XObject<</X 6 0 R/Off 9 0 R/I 10 0 R/S 11 0 R>>"+
			"/Properties<</Off 7 0 R/On 8 0 R/None<</Type/OCMD/OCGs[7 0 R]>>>>/ExtGState<</Clear<</ca 0>>/Half<</ca .5>>/Mixed<</BM/Multiply>>>>"+
			"/ColorSpace<</Cut[/Separation/Cut/DeviceGray<<>>]/ICC[/ICCBased 12 0 R]>>>>>>")
		b.stream(4, "", []byte(content))
		b.object(5, "<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>")
		b.stream(6, "/Subtype/Form/BBox[0 0 1 1]", []byte("BT /F1 12 Tf 40 500 Td (walrus) Tj ET"))
		b.object(7, "<</Type/OCG>>")
		b.object(8, "<</Type/OCG>>")
		b.stream(9, "/Subtype/Form/BBox[0 0 600 800]/OC 7 0 R", []byte("BT /F1 12 Tf 40 500 Td (walrus) Tj ET"))
		b.stream(10, "/Subtype/Image/Width 1/Height 1", nil)
		b.stream(11, "/Subtype/Image/Width 1/Height 1/SMask 10 0 R", nil)
		b.stream(12, "/N 3", nil)
		b.b.WriteString("trailer\n<</Root 1 0 R>>\n")
		return readPDF(b.b.Bytes(), maxTestText).text
	}
	const text = " BT /F1 12 Tf 40 500 Td (walrus) Tj ET "
	for _, c := range []struct {
		want          bool
		page, content string
	}{
		{true, "", text},
		{false, "", "1 g" + text},
		{false, "", ".97 g" + text},
		{false, "", "1 1 1 rg" + text},
		{false, "", "0 0 0 0 k" + text},
		{false, "", "/DeviceRGB cs 1 1 1 sc" + text},
		{false, "", "/ICC cs 1 1 1 scn" + text},
		{false, "", "/Cut cs 0 scn" + text},
		{false, "", "/Pattern cs /None scn" + text},
		{true, "", "/Cut cs 1 scn" + text},
		{true, "", "1 g 1 0 0 rg" + text},
		{true, "", "q 1 g Q" + text},
		{true, "", "1 g 0 G 2 Tr" + text},
		{false, "", "0 g 1 G 1 Tr" + text},
		{true, "", "0 0 .5 rg 30 480 200 40 re f 1 g" + text},
		{true, "", "0 0 .5 rg 30 480 m 230 480 l 230 520 l 30 520 l h f* 1 g" + text},
		{true, "", "0 0 .5 rg 120 480 m 160 480 160 560 60 560 c -40 560 -40 440 60 440 c 160 440 160 480 120 480 c f 1 g" + text},
		{true, "", "40 w 30 500 m 230 500 l S 1 g" + text},
		{true, "", "q 400 0 0 400 0 300 cm /I Do Q 1 g" + text},
		{false, "", "0 0 .5 rg 30 480 4 4 re f 1 g" + text},
		{false, "", "q 0 0 2 2 re W n 0 0 600 800 re f Q 1 g" + text},
		{false, "", "0 0 .5 rg 30 480 200 40 re f" + text},
		{false, "", text + "1 g 30 480 200 40 re f"},
		{false, "", text + "0 g 30 480 200 40 re f"},
		{false, "", text + "1 G 40 w 30 500 m 230 500 l S"},
		{false, "", text + "q 400 0 0 400 0 300 cm /I Do Q BT /F1 12 Tf 500 100 Td (seal) Tj ET"},
		{true, "", text + "q 400 0 0 400 0 300 cm /I Do Q"}, // the recognised text of a scan
		{true, "", text + "q 400 0 0 400 0 300 cm /S Do Q BT /F1 12 Tf 500 100 Td (seal) Tj ET"},
		{true, "", text + "/Half gs 1 1 0 rg 30 480 200 40 re f"},
		{true, "", text + "/Mixed gs 1 1 0 rg 30 480 200 40 re f"},
		{true, "", text + "0 g 30 495 200 4 re f"},
		{false, "", "BT /F1 .1 Tf 40 500 Td (walrus) Tj ET"},
		{false, "", "BT /F1 12 Tf .001 0 0 .001 40 500 Tm (walrus) Tj ET"},
		{false, "", "q .001 0 0 .001 0 0 cm" + text + "Q"},
		{false, "/UserUnit .001", text},
		{true, "/UserUnit 10", "BT /F1 .5 Tf 40 500 Td (walrus) Tj ET"},
		{false, "", "BT /F1 12 Tf 40 -500 Td (walrus) Tj ET"},
		{false, "", "BT /F1 12 Tf 4000 500 Td (walrus) Tj ET"},
		{false, "", "BT 2000 Ts /F1 12 Tf 40 500 Td (walrus) Tj ET"},
		{false, "/CropBox[0 600 600 800]", text},
		{true, "/CropBox[0 0 0 0]", text},
		{false, "", "q 0 0 1 1 re W n" + text + "Q"},
		{true, "", "q 0 0 1 1 re W n Q" + text},
		{true, "", "q 30 480 200 40 re W n" + text + "Q"},
		{false, "", "/X Do"},
		{false, "", "/Off Do"},
		{false, "", "/OC /Off BDC" + text + "EMC"},
		{false, "", "/OC /None BDC" + text + "EMC"},
		{true, "", "/OC /On BDC" + text + "EMC"},
		{true, "", "/OC /Off BDC EMC" + text},
		{false, "", "/Clear gs" + text},
		{true, "", "/Half gs" + text},
	} {
		if got := strings.Contains(read(c.page, c.content), "walrus"); got != c.want {
			t.Errorf("%s %s: read: %v", c.page, c.content, got)
		}
	}
}
