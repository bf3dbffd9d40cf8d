package paper

import (
	"archive/zip"
	"bytes"
	"cmp"
	_ "embed" // the styles
	"fmt"
	"html"
	"strconv"
	"strings"
	"time"
)

//go:embed docx.styles.xml
var docxStyles string

const (
	xmlHead       = `<?xml version="1.0" encoding="UTF-8" standalone="yes"?>` + "\n"
	wordNames     = `xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships" xmlns:wp="http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing"`
	relationNames = `xmlns="http://schemas.openxmlformats.org/package/2006/relationships"`
	relationKind  = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/"
)

// pack makes the file. All its times are the same.
func (w *docxWriter) pack() []byte {
	var rels strings.Builder
	for i, kind := range []string{"styles", "numbering", "settings", "footer"} {
		fmt.Fprintf(&rels, `<Relationship Id="rId%d" Type="%s%s" Target="%s.xml"/>`, i+1, relationKind, kind, kind)
	}
	for i, r := range w.relations {
		mode := ""
		if r.external {
			mode = ` TargetMode="External"`
		}
		fmt.Fprintf(&rels, `<Relationship Id="rId%d" Type="%s%s" Target="%s"%s/>`, i+fixedRelations+1, relationKind, r.kind, html.EscapeString(r.target), mode)
	}
	language := cmp.Or(w.Language, "en")
	parts := []File{
		{"[Content_Types].xml", []byte(xmlHead + `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Default Extension="emf" ContentType="image/x-emf"/><Default Extension="svg" ContentType="image/svg+xml"/>` +
			docxTypes("document.main", "word/document.xml") + docxTypes("styles", "word/styles.xml") + docxTypes("numbering", "word/numbering.xml") + docxTypes("settings", "word/settings.xml") + docxTypes("footer", "word/footer.xml") +
			`<Override PartName="/docProps/core.xml" ContentType="application/vnd.openxmlformats-package.core-properties+xml"/></Types>`)},
		{"_rels/.rels", []byte(xmlHead + `<Relationships ` + relationNames + `><Relationship Id="rId1" Type="` + relationKind + `officeDocument" Target="word/document.xml"/><Relationship Id="rId2" Type="http://schemas.openxmlformats.org/package/2006/relationships/metadata/core-properties" Target="docProps/core.xml"/></Relationships>`)},
		{"docProps/core.xml", []byte(xmlHead + `<cp:coreProperties xmlns:cp="http://schemas.openxmlformats.org/package/2006/metadata/core-properties" xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:dcterms="http://purl.org/dc/terms/" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"><dc:title>` + docxText(w.Question) + `</dc:title><dc:creator>` + docxText(w.Program) + `</dc:creator><dc:language>` + docxText(language) + `</dc:language>` + w.createdAt() + `</cp:coreProperties>`)},
		{"word/document.xml", []byte(xmlHead + "<w:document " + wordNames + "><w:body>\n" + w.body.String() + `<w:sectPr><w:footerReference w:type="default" r:id="rId4"/><w:pgSz w:w="11906" w:h="16838"/><w:pgMar w:top="1418" w:right="1418" w:bottom="1418" w:left="1418" w:header="709" w:footer="709" w:gutter="0"/></w:sectPr></w:body></w:document>`)},
		{"word/styles.xml", []byte(xmlHead + strings.Replace(docxStyles, "LANGUAGE", docxText(language), 1))},
		{"word/numbering.xml", []byte(w.numbering())},
		{"word/settings.xml", []byte(xmlHead + "<w:settings " + wordNames + `><w:compat><w:compatSetting w:name="compatibilityMode" w:uri="http://schemas.microsoft.com/office/word" w:val="15"/></w:compat></w:settings>`)},
		{"word/footer.xml", []byte(xmlHead + "<w:ftr " + wordNames + `><w:p><w:pPr><w:pStyle w:val="Footer"/></w:pPr><w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText xml:space="preserve"> PAGE </w:instrText></w:r><w:r><w:fldChar w:fldCharType="separate"/></w:r><w:r><w:t>1</w:t></w:r><w:r><w:fldChar w:fldCharType="end"/></w:r></w:p></w:ftr>`)},
		{"word/_rels/document.xml.rels", []byte(xmlHead + "<Relationships " + relationNames + ">" + rels.String() + "</Relationships>")},
	}
	for _, m := range w.media {
		parts = append(parts, File{"word/media/" + m.Name, m.Data})
	}
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	for _, part := range parts {
		f, err := z.CreateHeader(&zip.FileHeader{Name: part.Name, Method: zip.Deflate, Modified: time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)})
		if err == nil {
			_, err = f.Write(part.Data)
		}
		if err != nil {
			panic(err) // a buffer takes everything
		}
	}
	if err := z.Close(); err != nil {
		panic(err)
	}
	return out.Bytes()
}

func docxTypes(kind, part string) string {
	return `<Override PartName="/` + part + `" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.` + kind + `+xml"/>`
}

// createdAt is when the run was made.
func (w *docxWriter) createdAt() string {
	at, err := time.Parse(time.RFC3339Nano, w.CreatedAt)
	if err != nil {
		return ""
	}
	return `<dcterms:created xsi:type="dcterms:W3CDTF">` + at.UTC().Format(time.RFC3339) + `</dcterms:created>`
}

// numbering has the marks of lists: the first is that of bullets, and each ordered list
// has one of its own.
func (w *docxWriter) numbering() string {
	var b strings.Builder
	b.WriteString(xmlHead + "<w:numbering " + wordNames + ">")
	for kind, format := range []string{"bullet", "decimal"} {
		fmt.Fprintf(&b, `<w:abstractNum w:abstractNumId="%d"><w:multiLevelType w:val="hybridMultilevel"/>`, kind)
		for level := range 9 {
			text := "•"
			if kind == 1 {
				text = "%" + strconv.Itoa(level+1) + "."
			}
			fmt.Fprintf(&b, `<w:lvl w:ilvl="%d"><w:start w:val="1"/><w:numFmt w:val="%s"/><w:lvlText w:val="%s"/><w:lvlJc w:val="left"/><w:pPr><w:ind w:left="%d" w:hanging="400"/></w:pPr></w:lvl>`, level, format, text, 400*(level+1))
		}
		b.WriteString("</w:abstractNum>")
	}
	b.WriteString(`<w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num>`)
	for i, n := range w.numbers {
		fmt.Fprintf(&b, `<w:num w:numId="%d"><w:abstractNumId w:val="1"/><w:lvlOverride w:ilvl="%d"><w:startOverride w:val="%d"/></w:lvlOverride></w:num>`, i+2, n.level, n.start)
	}
	b.WriteString("</w:numbering>")
	return b.String()
}
