package office_test

import (
	"archive/zip"
	"bytes"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/tidegate/tidegate/internal/test/full"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/text/office"
)

// packed is a package with some parts, in the order of their names and texts.
func packed(t testing.TB, parts ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for i := 0; i < len(parts); i += 2 {
		w, err := z.Create(parts[i])
		if err == nil {
			_, err = w.Write([]byte(parts[i+1]))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	must.Do(t, z.Close())
	return b.Bytes()
}

const core = `<cp:coreProperties xmlns:cp="c" xmlns:dc="d" xmlns:dcterms="t"><dc:title>Tugs of the port</dc:title><dc:creator>Ada Boom</dc:creator><dcterms:created>2024-05-06T07:08:09Z</dcterms:created></cp:coreProperties>`

func word(t testing.TB, body string) []byte {
	return packed(t, "word/document.xml", `<w:document xmlns:w="w"><w:body>`+body+`</w:body></w:document>`, "docProps/core.xml", core,
		"word/styles.xml", `<w:styles xmlns:w="w"><w:style w:styleId="berschrift1"><w:name w:val="heading 1"/></w:style></w:styles>`,
		"word/footnotes.xml", `<w:footnotes xmlns:w="w"><w:footnote><w:p><w:r><w:t>Measured in calm water.</w:t></w:r></w:p></w:footnote></w:footnotes>`)
}

func sheet(t testing.TB, workbook, rows string) []byte {
	return packed(t, "xl/workbook.xml", `<workbook xmlns:r="r">`+workbook+`</workbook>`,
		"xl/_rels/workbook.xml.rels", `<Relationships><Relationship Id="r1" Target="worksheets/sheet1.xml"/><Relationship Id="r2" Target="/xl/worksheets/sheet2.xml"/><Relationship Id="r3" Target="file:///etc/passwd" TargetMode="External"/></Relationships>`,
		"xl/sharedStrings.xml", `<sst><si><t>Tug</t></si><si><r><t>Pull </t></r><r><t>in tonnes</t></r><rPh><t>aloud</t></rPh></si><si><t>Share</t></si><si><t>Since</t></si><si><t>Möwe</t></si></sst>`,
		"xl/styles.xml", `<styleSheet><numFmts><numFmt numFmtId="170" formatCode="dd\.mm\.yyyy"/></numFmts><cellStyleXfs><xf numFmtId="9"/></cellStyleXfs><cellXfs><xf numFmtId="0"/><xf numFmtId="10"/><xf numFmtId="14"/><xf numFmtId="170"/></cellXfs></styleSheet>`,
		"xl/worksheets/sheet1.xml", `<worksheet><cols><col min="6" max="6" hidden="1"/></cols><sheetData>`+rows+`</sheetData></worksheet>`,
		"xl/worksheets/sheet2.xml", `<worksheet><sheetData><row r="1"><c r="A1" t="inlineStr"><is><t>unseen</t></is></c></row></sheetData></worksheet>`)
}

const sheets = `<sheets><sheet name="Fleet" r:id="r1"/><sheet name="Drafts" state="hidden" r:id="r2"/></sheets>`

func TestRead(t *testing.T) {
	for name, tt := range map[string]struct {
		body     []byte
		want     string
		headings string
	}{
		"word": {word(t, `<w:p><w:pPr><w:pStyle w:val="berschrift1"/></w:pPr><w:r><w:t>The fleet</w:t></w:r></w:p>
			<w:p><w:pPr><w:rPr><w:strike/></w:rPr></w:pPr><w:r><w:t xml:space="preserve">The tug pulls </w:t></w:r><w:del><w:r><w:delText>70</w:delText><w:t>71</w:t></w:r></w:del><w:ins><w:r><w:t>68</w:t></w:r></w:ins><w:r><w:t xml:space="preserve"> tonnes</w:t><w:tab/><w:t>&amp; more.</w:t></w:r>
			<w:r><w:rPr><w:vanish/></w:rPr><w:t>unseen</w:t></w:r><w:r><w:rPr><w:strike w:val="0"/></w:rPr><w:t xml:space="preserve"> Seen.</w:t></w:r><w:r><w:rPr><w:dstrike/></w:rPr><w:t>struck out</w:t></w:r></w:p>
			<w:tbl><w:tr><w:tc><w:p><w:r><w:t>Tug</w:t></w:r></w:p></w:tc><w:tc><w:p><w:r><w:t>Pull</w:t></w:r></w:p></w:tc></w:tr>
			<w:tr><w:tc><w:p><w:r><w:t>Möwe</w:t></w:r></w:p></w:tc><w:tc><w:p><w:r><w:t>68</w:t></w:r></w:p><w:p><w:r><w:t>tonnes</w:t></w:r></w:p></w:tc></w:tr></w:tbl>
			<w:p><mc:AlternateContent xmlns:mc="m"><mc:Choice><w:r><w:t>Once.</w:t></w:r></mc:Choice><mc:Fallback><w:r><w:t>Once.</w:t></w:r></mc:Fallback></mc:AlternateContent></w:p>`),
			"The fleet\nThe tug pulls 68 tonnes & more. Seen.\nTug\tPull\nTug: Möwe\tPull: 68 tonnes\nOnce.\nMeasured in calm water.", "The fleet"},
		"sheets": {sheet(t, sheets, `<row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1" t="s"><v>1</v></c><c r="C1" t="s"><v>2</v></c><c r="D1" t="s"><v>3</v></c></row>
			<row r="2"><c r="A2" t="s"><v>4</v></c><c r="B2"><f>SUM(B7:B9)</f><v>68.400000000000006</v></c><c r="C2" s="1"><v>0.123</v></c><c r="D2" s="2"><v>45292</v></c><c r="F2"><v>99</v></c></row>
			<row r="3" hidden="1"><c r="A3"><v>12345</v></c></row><row r="4"><c r="B4"><f>NOW()</f></c><c r="D4" s="3"><v>45292.5</v></c></row>
			<row r="9"><c r="A9" t="str"><v>Total</v></c><c r="B9"><v>1200000</v></c></row>`),
			"Fleet\nTug\tPull in tonnes\tShare\tSince\nTug: Möwe\tPull in tonnes: 68.4\tShare: 12.3%\tSince: 2024-01-01\nPull in tonnes: (not calculated)\tSince: 2024-01-01 12:00\nTotal\t1200000", "Fleet"},
		"slides": {packed(t, "ppt/presentation.xml", `<p:presentation xmlns:r="r"><p:sldIdLst><p:sldId id="256" r:id="a"/><p:sldId id="257" r:id="b"/></p:sldIdLst></p:presentation>`,
			"ppt/_rels/presentation.xml.rels", `<Relationships><Relationship Id="a" Target="slides/slide2.xml"/><Relationship Id="b" Target="slides/slide1.xml"/></Relationships>`,
			"ppt/slides/slide2.xml", `<p:sld><p:sp><p:nvPr><p:ph type="title"/></p:nvPr><a:p><a:r><a:t>Our tugs</a:t></a:r></a:p></p:sp><p:sp><a:p><a:r><a:t>They pull </a:t></a:r><a:r><a:rPr strike="sngStrike"/><a:t>70</a:t></a:r><a:r><a:t>68 tonnes.</a:t></a:r></a:p></p:sp></p:sld>`,
			"ppt/slides/_rels/slide2.xml.rels", `<Relationships><Relationship Id="n" Target="../notesSlides/n.xml"/></Relationships>`,
			"ppt/notesSlides/n.xml", `<p:notes><a:p><a:r><a:t>Say it slowly.</a:t></a:r></a:p></p:notes>`,
			"ppt/slides/slide1.xml", `<p:sld show="0"><a:p><a:r><a:t>unseen</a:t></a:r></a:p></p:sld>`),
			"Our tugs\nThey pull 68 tonnes.\nSay it slowly.", "Our tugs"},
		"open text": {packed(t, "mimetype", "application/vnd.oasis.opendocument.text", "content.xml", `<office:document-content><office:automatic-styles><style:style style:name="T1"><style:text-properties text:display="none"/></style:style><style:style style:name="T2"><style:text-properties style:text-line-through-style="solid"/></style:style></office:automatic-styles>
			<office:body><office:text><text:tracked-changes><text:p>deleted</text:p></text:tracked-changes><text:h text:outline-level="1">The fleet</text:h>
			<text:p>The tug<text:s/>pulls <text:span text:style-name="T1">unseen</text:span><text:span text:style-name="T2">70 </text:span>68 tonnes<text:note><text:note-citation>1</text:note-citation><text:note-body><text:p>Measured in calm water.</text:p></text:note-body></text:note>.<office:annotation><text:p>really?</text:p></office:annotation></text:p>
			<table:table table:name="T"><table:table-row><table:table-cell><text:p>Tug</text:p></table:table-cell><table:table-cell><text:p>Pull</text:p></table:table-cell></table:table-row><table:table-row><table:table-cell table:number-columns-repeated="2"><text:p>68</text:p></table:table-cell></table:table-row></table:table></office:text></office:body></office:document-content>`),
			"The fleet\nThe tug pulls 68 tonnes.\nT\nTug\tPull\nTug: 68\tPull: 68\nMeasured in calm water.", "The fleet T"},
	} {
		t.Run(name, func(t *testing.T) {
			doc, known := office.Read(tt.body, 1<<20)
			if !known || !doc.Whole || doc.Text != tt.want || strings.Join(doc.Headings, " ") != tt.headings {
				t.Errorf("known %v, whole %v, headings %q, text:\n%s\nwant:\n%s", known, doc.Whole, doc.Headings, doc.Text, tt.want)
			}
		})
	}
	doc, _ := office.Read(word(t, ""), 1<<20)
	if doc.Title != "Tugs of the port" || doc.Author != "Ada Boom" || doc.Created != "2024-05-06T07:08:09Z" {
		t.Errorf("%+v", doc)
	}
	book, known := office.Read(packed(t, "mimetype", "application/epub+zip", "META-INF/container.xml", `<container><rootfiles><rootfile full-path="OEBPS/book.opf"/></rootfiles></container>`,
		"OEBPS/book.opf", `<package><metadata><dc:title>The Tug</dc:title></metadata><manifest><item id="b" href="two.xhtml" media-type="application/xhtml+xml"/><item id="a" href="one%20.xhtml" media-type="application/xhtml+xml"/><item id="c" href="x.css" media-type="text/css"/></manifest><spine><itemref idref="a"/><itemref idref="b"/><itemref idref="b"/><itemref idref="c"/></spine></package>`,
		"OEBPS/one .xhtml", "<p>One</p>", "OEBPS/two.xhtml", "<p>Two</p>"), 1<<20)
	if !known || !book.Whole || book.Title != "The Tug" || string(bytes.Join(book.Pages, nil)) != "<p>One</p><p>Two</p>" {
		t.Errorf("%+v", book)
	}
}

// TestHostile: whatever a file holds, it costs little, gives text that it has, and is
// not called whole where it was not read whole.
func TestHostile(t *testing.T) {
	full.Story(t)
	t.Parallel()
	deep := strings.Repeat("<w:p>", 100_000)
	bomb := strings.Repeat(" ", 17<<20)
	for name, tt := range map[string]struct {
		body  []byte
		whole bool
	}{
		"nested":                {word(t, deep), false},
		"one huge text":         {word(t, "<w:p><w:r><w:t>"+bomb+"</w:t></w:r></w:p>"), false},
		"unpacks without end":   {word(t, strings.Repeat("<w:p><w:r><w:t>"+bomb[:15<<20]+"</w:t></w:r></w:p>", 3)), false},
		"entities":              {packed(t, "word/document.xml", `<!DOCTYPE a [<!ENTITY a "aaaaaaaa"><!ENTITY b "&a;&a;&a;"><!ENTITY c SYSTEM "file:///etc/passwd">]><w:p><w:r><w:t>&b;&c;</w:t></w:r></w:p>`), false},
		"cut off":               {word(t, "")[:200], false},
		"another encoding":      {packed(t, "word/document.xml", `<?xml version="1.0" encoding="utf-7"?><a/>`), false},
		"a sheet outside":       {sheet(t, `<sheets><sheet name="Out" r:id="r3"/></sheets>`, ""), false},
		"a column beyond":       {sheet(t, sheets, `<row><c r="ZZZZ1"><v>1</v></c><c r="1"><v>2</v></c></row>`), true},
		"hidden without end":    {sheet(t, sheets+`<cols><col min="1" max="999999999" hidden="1"/></cols>`, `<row/>`), true},
		"rows without end":      {packed(t, "mimetype", "application/vnd.oasis.opendocument.spreadsheet", "content.xml", `<a><table><table-row number-rows-repeated="99999999"><table-cell number-columns-repeated="99999999"><p>123</p></table-cell></table-row></table></a>`), false},
		"cells without end":     {packed(t, "mimetype", "application/vnd.oasis.opendocument.spreadsheet", "content.xml", `<a><table>`+strings.Repeat(`<table-row><table-cell number-columns-repeated="16384"><p>`+strings.Repeat("x", 1<<16)+`</p></table-cell></table-row>`, 50)+`</table></a>`), false},
		"columns hidden often":  {packed(t, "xl/workbook.xml", "<w>"+sheets+"</w>", "xl/_rels/workbook.xml.rels", `<R><Relationship Id="r1" Target="s.xml"/></R>`, "xl/s.xml", "<s>"+strings.Repeat(`<col min="1" max="16384" hidden="1"/>`, 100_000)+"</s>"), true},
		"a book out of itself":  {packed(t, "mimetype", "application/epub+zip", "META-INF/container.xml", `<c><rootfile full-path="../../etc/passwd"/></c>`), false},
		"a page out of a book":  {packed(t, "mimetype", "application/epub+zip", "META-INF/container.xml", `<c><rootfile full-path="b"/></c>`, "b", `<p><item id="a" href="../../etc/passwd" media-type="text/html"/><itemref idref="a"/></p>`), false},
		"an end without start":  {packed(t, "word/document.xml", `</w:p>`), false},
		"a text beyond a limit": {word(t, strings.Repeat("<w:p><w:r><w:t>"+strings.Repeat("word ", 1000)+"</w:t></w:r></w:p>", 300)), false},
	} {
		t.Run(name, func(t *testing.T) {
			doc, known := office.Read(tt.body, 1<<20)
			if known && doc.Whole != tt.whole || len(doc.Text) > 1<<20 || strings.Contains(doc.Text, "root:") {
				t.Errorf("known %v, whole %v, %d bytes", known, doc.Whole, len(doc.Text))
			}
		})
	}
	var many bytes.Buffer
	z := zip.NewWriter(&many)
	for i := range 60_000 {
		z.CreateHeader(&zip.FileHeader{Name: fmt.Sprint(i)}) // stored: to begin a packed one takes long
	}
	z.Close()
	if _, known := office.Read(many.Bytes(), 1<<20); known {
		t.Error("a package with 60,000 files was read")
	}
}

func FuzzRead(f *testing.F) {
	f.Add(word(f, `<w:tbl><w:tr><w:tc><w:p><w:r><w:t>a</w:t></w:r></w:p></w:tc></w:tr></w:tbl>`), "word/document.xml", "<w:p/>")
	f.Add(sheet(f, sheets, `<row r="1"><c r="A1" t="s"><v>0</v></c></row>`), "xl/worksheets/sheet1.xml", `<row><c r="B1" s="2"><v>1e300</v></c></row>`)
	f.Add([]byte(nil), "content.xml", `<h><note><p>x</p></note></h>`)
	f.Fuzz(func(t *testing.T, body []byte, name, part string) {
		for _, data := range [][]byte{body, packed(t, name, part), packed(t, "mimetype", "application/vnd.oasis.opendocument.text", name, part), packed(t, "word/document.xml", part), packed(t, "xl/workbook.xml", sheets, "xl/styles.xml", part, "xl/worksheets/sheet1.xml", part, "xl/_rels/workbook.xml.rels", part)} {
			doc, _ := office.Read(data, 1<<16)
			if len(doc.Text) > 1<<16 || utf8.ValidString(part) && utf8.Valid(body) && !utf8.ValidString(doc.Text) {
				t.Errorf("%q", doc.Text)
			}
			if again, _ := office.Read(data, 1<<16); again.Text != doc.Text || again.Whole != doc.Whole {
				t.Errorf("twice gives %q and %q", doc.Text, again.Text)
			}
		}
	})
}

// TestWhatWordShows has ways to hide a text, and ways that look like it.
func TestWhatWordShows(t *testing.T) {
	run := func(properties string) string {
		return `<w:p><w:r><w:rPr>` + properties + `</w:rPr><w:t>walrus</w:t></w:r></w:p>`
	}
	paragraph := func(properties string) string {
		return `<w:p><w:pPr>` + properties + `</w:pPr><w:r><w:t>walrus</w:t></w:r></w:p>`
	}
	row := func(table, row, cell, colour string) string {
		return `<w:tbl><w:tblPr>` + table + `</w:tblPr><w:tr><w:trPr>` + row + `</w:trPr><w:tc><w:tcPr>` + cell + `</w:tcPr>` + run(colour) + `</w:tc></w:tr></w:tbl>`
	}
	field := func(kind string) string { return `<w:r><w:fldChar w:fldCharType="` + kind + `"/></w:r>` }
	const styles = `<w:docDefaults><w:rPrDefault><w:rPr><w:sz w:val="22"/></w:rPr></w:rPrDefault></w:docDefaults>
		<w:style w:type="paragraph" w:styleId="Gone"><w:rPr><w:vanish/></w:rPr></w:style>
		<w:style w:type="character" w:styleId="White"><w:rPr><w:color w:val="FFFFFF"/></w:rPr></w:style>
		<w:style w:type="character" w:styleId="Also"><w:basedOn w:val="White"/></w:style>
		<w:style w:type="table" w:styleId="Dark"><w:tblStylePr w:type="firstRow"><w:tcPr><w:shd w:val="clear" w:fill="000080"/></w:tcPr></w:tblStylePr></w:style>`
	const white = `<w:color w:val="FFFFFF"/>`
	for body, want := range map[string]bool{
		run(""):                          true,
		run(`<w:vanish/>`):               false,
		run(`<w:vanish w:val="0"/>`):     true,
		run(`<w:webHidden/>`):            false,
		run(white):                       false,
		run(`<w:color w:val="fffffe"/>`): false,
		run(`<w:color w:val="000000" w:themeColor="background1"/>`):                                    false,
		run(`<w:color w:val="BFBFBF" w:themeColor="background1" w:themeShade="BF"/>`):                  true,
		run(`<w:color w:val="000000" w:themeColor="accent1"/>`):                                        false,
		run(`<w:color w:val="auto"/>`):                                                                 true,
		run(white + `<w:shd w:val="clear" w:fill="000080"/>`):                                          true,
		run(white + `<w:highlight w:val="black"/>`):                                                    true,
		run(`<w:color w:val="FF0000"/><w:shd w:val="clear" w:fill="FF0000"/>`):                         false,
		run(`<w:color w:val="FFFF00"/><w:highlight w:val="yellow"/>`):                                  false,
		run(`<w:sz w:val="2"/>`):                                                                       false,
		run(`<w:sz w:val="12"/>`):                                                                      true,
		run(`<w:w w:val="1"/>`):                                                                        false,
		run(`<w:w w:val="80"/>`):                                                                       true,
		run(`<w:spacing w:val="-400"/>`):                                                               false,
		run(`<w:spacing w:val="-10"/>`):                                                                true,
		run(`<w:position w:val="-3000"/>`):                                                             false,
		run(`<w:position w:val="-6"/>`):                                                                true,
		run(`<w14:textFill><w14:noFill/></w14:textFill>`):                                              false,
		run(`<w14:textOutline><w14:noFill/></w14:textOutline>`):                                        true,
		run(`<w:rPrChange><w:rPr><w:vanish/></w:rPr></w:rPrChange>`):                                   true,
		run(`<w:rStyle w:val="White"/>`):                                                               false,
		run(`<w:rStyle w:val="Also"/>`):                                                                false,
		run(`<w:rStyle w:val="White"/><w:color w:val="000000"/>`):                                      true,
		paragraph(`<w:pStyle w:val="Gone"/>`):                                                          false,
		paragraph(`<w:rPr><w:vanish/></w:rPr>`):                                                        true,
		paragraph(`<w:spacing w:line="1" w:lineRule="exact"/>`):                                        false,
		paragraph(`<w:spacing w:line="240" w:lineRule="auto"/>`):                                       true,
		paragraph(`<w:ind w:left="-30000"/>`):                                                          false,
		paragraph(`<w:ind w:left="-720"/>`):                                                            true,
		`<w:p><w:pPr><w:shd w:val="clear" w:fill="000080"/></w:pPr>` + run(white)[5:]:                  true,
		row("", "", "", white):                                                                         false,
		row("", "", `<w:shd w:val="clear" w:fill="000080"/>`, white):                                   true,
		row(`<w:tblStyle w:val="Dark"/>`, "", "", white):                                               true,
		row("", "", `<w:shd w:val="clear" w:fill="FF0000"/>`, `<w:color w:val="FF0000"/>`):             false,
		row("", `<w:hidden/>`, "", ""):                                                                 false,
		row("", `<w:trHeight w:val="1" w:hRule="exact"/>`, "", ""):                                     false,
		row("", `<w:trHeight w:val="1"/>`, "", ""):                                                     true,
		`<w:p>` + field("begin") + run("")[5:] + `<w:p>` + field("separate") + field("end") + `</w:p>`: false,
		`<w:p>` + field("begin") + field("separate") + run("")[5:] + `<w:p>` + field("end") + `</w:p>`: true,
		`<w:p><w:r><w:txbxContent>` + run(white) + `</w:txbxContent></w:r></w:p>`:                      true,
		`<w:p><w:r><w:rPr>` + white + `</w:rPr><w:txbxContent/><w:t>walrus</w:t></w:r></w:p>`:          false,
	} {
		file := packed(t, "word/document.xml", `<w:document xmlns:w="w" xmlns:w14="x"><w:body>`+body+`</w:body></w:document>`, "word/styles.xml", `<w:styles xmlns:w="w">`+styles+`</w:styles>`,
			"word/theme/theme1.xml", `<a:theme xmlns:a="a"><a:accent1><a:srgbClr val="FEFEFE"/></a:accent1></a:theme>`)
		if doc, ok := office.Read(file, 1000); !ok || strings.Contains(doc.Text, "walrus") != want {
			t.Errorf("%s: read: %v", body, !want)
		}
	}
	dark := packed(t, "word/document.xml", `<w:document xmlns:w="w"><w:background w:color="000080"/><w:body>`+run(white)+`</w:body></w:document>`)
	if doc, _ := office.Read(dark, 1000); doc.Text != "walrus" {
		t.Errorf("on a dark page: %q", doc.Text)
	}
}
