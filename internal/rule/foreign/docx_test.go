package foreign_test

import (
	"archive/zip"
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidegate/tidegate/internal/rule/foreign"
	"github.com/tidegate/tidegate/internal/test/must"
)

// word is a docx file with the parts that are given.
func word(t *testing.T, parts map[string]string) string {
	t.Helper()
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	for name, text := range parts {
		w := must.Get(z.Create("word/" + name))(t)
		must.Get(w.Write([]byte(text)))(t)
	}
	must.Do(t, z.Close())
	return out.String()
}

// TestDocx reads what Word has of its own: links, fields, footnotes, lists and tables.
// Lines are paragraphs.
func TestDocx(t *testing.T) {
	const run, end = `<w:r><w:t xml:space="preserve">`, `</w:t></w:r>`
	text := func(s string) string { return run + s + end }
	doc := `<w:document xmlns:w="w" xmlns:r="r"><w:body>` +
		`<w:p><w:pPr><w:pStyle w:val="Title"/></w:pPr>` + text("Ferries are here") + `</w:p>` +
		`<w:p>` + text("One is ") + `<w:hyperlink r:id="r1">` + text("here") + `</w:hyperlink>` + text(".") + `</w:p>` +
		`<w:p>` + text("Two is") + `<w:r><w:footnoteReference w:id="2"/></w:r>` + text(". Three is 4 m") + `<w:r><w:rPr><w:vertAlign w:val="superscript"/></w:rPr><w:t>2</w:t></w:r>` + text(".") + `</w:p>` +
		`<w:p><w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText> HYPERLINK "https://x.example/f" </w:instrText></w:r><w:r><w:fldChar w:fldCharType="separate"/></w:r>` + text("Four is so") + `<w:r><w:fldChar w:fldCharType="end"/></w:r>` + text(".") + `</w:p>` +
		`<w:tbl><w:tr><w:tc><w:p>` + text("What [1]") + `</w:p></w:tc><w:tc><w:p>` + text("How many") + `</w:p></w:tc></w:tr>` +
		`<w:tr><w:tc><w:p>` + text("cars") + `</w:p><w:p>` + text("and vans") + `</w:p></w:tc><w:tc><w:p>` + text("120") + `</w:p></w:tc></w:tr></w:tbl>` +
		`<w:p><w:pPr><w:pStyle w:val="Heading2"/></w:pPr>` + text("Sources") + `</w:p>` +
		`<w:p><w:pPr><w:numPr><w:numId w:val="3"/></w:numPr></w:pPr>` + text("A https://x.example/a") + `</w:p></w:body></w:document>`
	got := shown(t, "r.docx", word(t, map[string]string{
		"document.xml": doc, "_rels/document.xml.rels": `<Relationships><Relationship Id="r1" Type="http://x/hyperlink" Target="https://x.example/l"/></Relationships>`,
		"footnotes.xml":            `<w:footnotes xmlns:w="w" xmlns:r="r"><w:footnote w:id="2"><w:p>` + text("Note ") + `<w:hyperlink r:id="r1">` + text("n") + `</w:hyperlink></w:p></w:footnote></w:footnotes>`,
		"_rels/footnotes.xml.rels": `<Relationships><Relationship Id="r1" Type="http://x/hyperlink" Target="https://x.example/n"/></Relationships>`,
	}))
	want := "2 cited One is here. <l>\n3 cited Two is. <n>\n3 uncited Three is 4 m2.\n4 cited Four is so. <f>\n7 cited cars and vans | 120 <a>\n"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// TestAPartThatIsTooLargeIsRefused: no part of a report is left out unsaid.
func TestAPartThatIsTooLargeIsRefused(t *testing.T) {
	for _, part := range []string{"word/footnotes.xml", "word/_rels/document.xml.rels"} {
		var out bytes.Buffer
		z := zip.NewWriter(&out)
		w := must.Get(z.Create("word/document.xml"))(t)
		must.Get(w.Write([]byte(`<w:document xmlns:w="w"><w:p><w:r><w:t>One is https://x.example/a.</w:t></w:r></w:p></w:document>`)))(t)
		must.Get(z.CreateRaw(&zip.FileHeader{Name: part, UncompressedSize64: 65 << 20}))(t)
		must.Do(t, z.Close())
		if _, err := foreign.Read("r.docx", out.Bytes()); err == nil || !strings.Contains(err.Error(), part+" is larger than 64 MiB") {
			t.Errorf("%s: %v", part, err)
		}
	}
}
