package synthesis

import (
	"archive/zip"
	"bytes"
	"cmp"
	_ "embed" // the styles
	"fmt"
	"html"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/tidegate/tidegate/internal/rule/claim"
	"github.com/tidegate/tidegate/internal/rule/evidence"
	"github.com/tidegate/tidegate/internal/text/markdown"
)

//go:embed docx.styles.xml
var docxStyles string

// Docx is the report as a file of Word: headings, tables and lists in styles that a
// person can change, citations that lead to their references, and charts as pictures.
// It names nothing outside itself but the addresses that a reader follows, and the same
// report gives the same bytes.
func (r Report) Docx() []byte {
	r = r.shown()
	w := &docxWriter{layout: r.layout()}
	w.opening()
	for i := range w.parts {
		w.part = &w.parts[i]
		if w.part.title != "" {
			w.styled("Heading1", w.part.title)
		}
		walk(w.part.doc.blocks, w)
	}
	w.references()
	w.making()
	return w.pack()
}

// docxWriter writes the body of the document.
type docxWriter struct {
	*layout
	part      *layoutPart
	body      strings.Builder
	relations []docxRelation
	media     []File
	numbers   []docxNumbers
	lists     []docxList
	quotes    int
	inHeader  bool // of a table
	columns   int
}

// docxRelation is something that the document refers to by an id.
type docxRelation struct {
	kind, target string
	external     bool
}

// docxNumbers is an ordered list, which counts by itself.
type docxNumbers struct{ level, start int }

// docxList is an open list or, with items, the item under way.
type docxList struct {
	number int  // of its numbering
	fresh  bool // the item has no paragraph yet
}

func (w *docxWriter) xml(parts ...string) {
	for _, part := range parts {
		w.body.WriteString(part)
	}
}

// docxText writes text so that it can become no part of the markup. What XML does not
// allow is shown as its number.
func docxText(text string) string {
	var b strings.Builder
	for _, r := range text {
		if r == '\t' || r == '\n' {
			r = ' '
		}
		if r == unicode.ReplacementChar || r == 0xfffe || r == 0xffff {
			b.WriteString("\ufffd")
			continue
		}
		b.WriteString(html.EscapeString(shown(r)))
	}
	return b.String()
}

// run is a run of text.
func docxRun(properties, text string) string {
	if text == "" {
		return ""
	}
	if properties != "" {
		properties = "<w:rPr>" + properties + "</w:rPr>"
	}
	return "<w:r>" + properties + `<w:t xml:space="preserve">` + docxText(text) + "</w:t></w:r>"
}

// rightToLeft reports whether the first letter of a text is of a script that is read
// from right to left.
func rightToLeft(text string) bool {
	for _, r := range text {
		if unicode.IsLetter(r) {
			return unicode.In(r, unicode.Arabic, unicode.Hebrew, unicode.Syriac, unicode.Thaana, unicode.Nko)
		}
	}
	return false
}

func (w *docxWriter) paragraph(properties, runs string) {
	w.xml("<w:p>")
	if properties != "" {
		w.xml("<w:pPr>", properties, "</w:pPr>")
	}
	w.xml(runs, "</w:p>\n")
}

// styled is a paragraph of one text.
func (w *docxWriter) styled(style, text string) {
	properties := `<w:pStyle w:val="` + style + `"/>`
	run := ""
	if rightToLeft(text) {
		properties, run = properties+"<w:bidi/>", "<w:rtl/>"
	}
	w.paragraph(properties, docxRun(run, text))
}

// relate is the id of something that the document refers to.
func (w *docxWriter) relate(kind, target string, external bool) string {
	w.relations = append(w.relations, docxRelation{kind, target, external})
	return "rId" + strconv.Itoa(len(w.relations)+fixedRelations)
}

// fixedRelations are styles, numbering, settings and the footer.
const fixedRelations = 4

func (w *docxWriter) opening() {
	for _, b := range w.banners() {
		properties, run := `<w:pStyle w:val="Banner"/>`, ""
		if rightToLeft(b.Title) {
			properties, run = properties+"<w:bidi/>", "<w:rtl/>"
		}
		w.paragraph(properties, docxRun("<w:b/>"+run, b.Title+". ")+docxRun(run, b.Text))
	}
	w.styled("Title", w.Question)
	kind := w.say("Research report")
	if w.Partial != "" {
		kind = w.say("Partial research report")
	}
	if created := w.day(w.CreatedAt); created != "" {
		kind += " · " + created
	}
	w.styled("Subtitle", kind)
	if w.Trust != "" {
		w.styled("Trust", w.Trust)
	}
}

func (w *docxWriter) open(b *block, first bool) {
	switch b.Kind {
	case markdown.HeadingBlock:
		w.leafParagraph(b, `<w:pStyle w:val="Heading`+strconv.Itoa(min(6, w.part.headingLevel(b)-1))+`"/>`)
	case markdown.ParagraphBlock:
		w.leafParagraph(b, w.place("")) // in its list or quotation
	case markdown.CodeBlock, markdown.HTMLBlock:
		for line := range strings.SplitSeq(strings.TrimSuffix(b.text, "\n"), "\n") {
			w.paragraph(w.place("Code"), docxRun("", line))
		}
	case markdown.RuleBlock:
		w.paragraph(`<w:pBdr><w:bottom w:val="single" w:sz="4" w:space="1" w:color="DCDFDC"/></w:pBdr>`, "")
	case markdown.QuoteBlock:
		w.quotes++
	case markdown.ListBlock:
		list := docxList{number: 1}
		if b.Ordered {
			w.numbers = append(w.numbers, docxNumbers{min(len(w.lists), 8), b.Start})
			list.number = len(w.numbers) + 1
		}
		w.lists = append(w.lists, list)
	case markdown.ItemBlock:
		w.lists[len(w.lists)-1].fresh = true
	case markdown.TableBlock:
		w.openTable(b)
	case markdown.RowBlock:
		w.inHeader = first
		w.xml("<w:tr>")
		if first {
			w.xml("<w:trPr><w:cantSplit/><w:tblHeader/></w:trPr>")
		} else {
			w.xml("<w:trPr><w:cantSplit/></w:trPr>")
		}
	case markdown.CellBlock:
		w.xml("<w:tc><w:tcPr>")
		if w.inHeader {
			w.xml(`<w:tcBorders><w:bottom w:val="single" w:sz="8" w:space="0" w:color="55616A"/></w:tcBorders>`)
		}
		w.xml("</w:tcPr>")
		align := map[string]string{"right": `<w:jc w:val="right"/>`, "center": `<w:jc w:val="center"/>`}[b.Align]
		w.leafParagraph(b, `<w:pStyle w:val="Cell"/>`+align)
		w.xml("</w:tc>")
	}
}

func (w *docxWriter) close(b *block) {
	switch b.Kind {
	case markdown.QuoteBlock:
		w.quotes--
	case markdown.ListBlock:
		w.lists = w.lists[:len(w.lists)-1]
	case markdown.RowBlock:
		w.xml("</w:tr>\n")
	case markdown.TableBlock:
		w.closeTable()
		if b.drawn != nil {
			w.chart(b.drawn)
		}
	}
}

// place are the properties of a paragraph by what it stands in.
func (w *docxWriter) place(style string) string {
	if style == "" && w.quotes > 0 {
		style = "Quote"
	}
	properties := ""
	if style != "" {
		properties = `<w:pStyle w:val="` + style + `"/>`
	}
	if len(w.lists) == 0 {
		return properties
	}
	list, level := &w.lists[len(w.lists)-1], min(len(w.lists), 9)-1
	if list.fresh && style != "Code" {
		list.fresh = false
		return fmt.Sprintf(`%s<w:numPr><w:ilvl w:val="%d"/><w:numId w:val="%d"/></w:numPr>`, properties, level, list.number)
	}
	return fmt.Sprintf(`%s<w:ind w:left="%d"/>`, properties, 400*(level+1))
}

func (w *docxWriter) openTable(b *block) {
	w.columns = 1
	if len(b.children) > 0 {
		w.columns = max(1, len(b.children[0].children))
	}
	w.startTable(w.columns)
}

func (w *docxWriter) startTable(columns int) {
	const width = 9070 // of the text, in twentieths of a point
	mirrored := ""
	if evidence.Direction(w.Language) == "rtl" {
		mirrored = "<w:bidiVisual/>"
	}
	w.xml(`<w:tbl><w:tblPr><w:tblStyle w:val="Report"/>`, mirrored, `<w:tblW w:w="5000" w:type="pct"/><w:tblLook w:val="0420"/></w:tblPr><w:tblGrid>`)
	for range columns {
		w.xml(`<w:gridCol w:w="`, strconv.Itoa(width/columns), `"/>`)
	}
	w.xml("</w:tblGrid>\n")
}

// closeTable ends a table with a paragraph: two tables would be one without.
func (w *docxWriter) closeTable() {
	w.xml("</w:tbl>\n")
	w.paragraph(`<w:pStyle w:val="After"/>`, "")
}

// chart writes a picture: as a metafile that every program shows, and as an SVG for
// those that know better.
func (w *docxWriter) chart(d *drawnTable) {
	if d.Chart == nil {
		w.styled("Aside", d.why)
		return
	}
	w.media = append(w.media, File{d.id + ".emf", d.EMF(d.words)}, File{d.id + ".svg", d.svg()})
	emf, svg := w.relate("image", "media/"+d.id+".emf", false), w.relate("image", "media/"+d.id+".svg", false)
	width, height := d.Size(d.words)
	const perUnit = 8000 // so that 720 units are as wide as the text
	size := fmt.Sprintf(`cx="%d" cy="%d"`, width*perUnit, height*perUnit)
	n := len(w.media) / 2
	w.paragraph(`<w:pStyle w:val="Figure"/>`, fmt.Sprintf(`<w:r><w:drawing><wp:inline distT="0" distB="0" distL="0" distR="0"><wp:extent %[1]s/><wp:docPr id="%[2]d" name="Chart %[2]d" descr="%[3]s"/><a:graphic xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"><a:graphicData uri="http://schemas.openxmlformats.org/drawingml/2006/picture"><pic:pic xmlns:pic="http://schemas.openxmlformats.org/drawingml/2006/picture"><pic:nvPicPr><pic:cNvPr id="%[2]d" name="Chart %[2]d" descr="%[3]s"/><pic:cNvPicPr/></pic:nvPicPr><pic:blipFill><a:blip r:embed="%[4]s"><a:extLst><a:ext uri="{96DAC541-7B7A-43D3-8B79-37D633B846F1}"><asvg:svgBlip xmlns:asvg="http://schemas.microsoft.com/office/drawing/2016/SVG/main" r:embed="%[5]s"/></a:ext></a:extLst></a:blip><a:stretch><a:fillRect/></a:stretch></pic:blipFill><pic:spPr><a:xfrm><a:off x="0" y="0"/><a:ext %[1]s/></a:xfrm><a:prstGeom prst="rect"><a:avLst/></a:prstGeom></pic:spPr></pic:pic></a:graphicData></a:graphic></wp:inline></w:drawing></w:r>`,
		size, n, docxText(d.words.Title), emf, svg))
}

// leafParagraph writes the text of a block as a paragraph.
func (w *docxWriter) leafParagraph(b *block, properties string) {
	run := &docxLeaf{w: w}
	if rightToLeft(string(runes(b.glyphs))) {
		properties, run.rtl = properties+"<w:bidi/>", true
	}
	passage := w.part.of[b]
	c := w.part.claims[passage]
	w.text(b, c, w.part.on[b], run)
	if c != nil && lastLeaf(passage) == b && c.Verdict == claim.Unchecked {
		run.label(" (" + w.say("not checked") + ")")
	}
	run.flush()
	w.paragraph(properties, run.out.String())
}

// docxLeaf writes the text of a leaf as runs.
type docxLeaf struct {
	w                       *docxWriter
	out                     strings.Builder
	text                    strings.Builder // that is under way in one format
	strong, em, code, tag   int
	missing, rtl, inLinkRun bool
}

func (l *docxLeaf) properties() string {
	p := ""
	for _, format := range []struct {
		is bool
		as string
	}{
		{l.code > 0 || l.tag > 0, `<w:rStyle w:val="CodeText"/>`}, {l.strong > 0, "<w:b/>"}, {l.em > 0, "<w:i/>"},
		{l.missing, `<w:color w:val="9B1C1C"/><w:u w:val="wave"/>`}, {l.inLinkRun && !l.missing, `<w:color w:val="0A5A74"/>`}, {l.rtl, "<w:rtl/>"},
	} {
		if format.is {
			p += format.as
		}
	}
	return p
}

func (l *docxLeaf) flush() {
	l.out.WriteString(docxRun(l.properties(), l.text.String()))
	l.text.Reset()
}

// label writes words of the report's own.
func (l *docxLeaf) label(text string) {
	l.flush()
	l.out.WriteString(docxRun(`<w:rStyle w:val="Flag"/>`, text))
}

func (l *docxLeaf) endMissing() {
	l.flush()
	l.missing = false
	l.label(" (" + l.w.say("not on the page") + ")")
}

func (l *docxLeaf) keep(bool) {}

func (l *docxLeaf) endSentence(s *ShownSentence) {
	if label := l.w.layout.label(s); label != "" {
		l.label(" (" + label + ")")
	}
}

func (l *docxLeaf) glyph(g glyph, _ rune, is glyphIs) {
	if is.beforeRef {
		return
	}
	tag := 0
	if g.in&inTag != 0 {
		tag = 1
	}
	if is.missing != l.missing || tag != l.tag {
		l.flush()
		l.missing, l.tag = is.missing, tag
	}
	if g.in&hardBreak != 0 {
		l.flush()
		l.out.WriteString("<w:r><w:br/></w:r>")
		return
	}
	l.text.WriteRune(g.r)
}

func (l *docxLeaf) mark(m mark) {
	l.flush()
	step := -1
	if m.open {
		step = 1
	}
	switch m.kind {
	case markdown.StrongSpan:
		l.strong += step
	case markdown.EmphasisSpan:
		l.em += step
	case markdown.CodeSpan:
		l.code += step
	case markdown.ImageSpan:
		if m.open {
			l.out.WriteString(docxRun("<w:i/>", "Image: "))
		}
	case markdown.LinkSpan:
		switch {
		case isWeb(m.dest) && m.open:
			l.inLinkRun = true
			l.out.WriteString(`<w:hyperlink r:id="` + l.w.relate("hyperlink", m.dest, true) + `">`)
		case isWeb(m.dest):
			l.inLinkRun = false
			l.out.WriteString("</w:hyperlink>")
			if to, err := url.Parse(m.dest); err == nil {
				l.out.WriteString(docxRun("", " ("+shownText(to.Hostname())+")"))
			}
		case !m.open && m.dest != "" && m.dest[0] != '#':
			l.out.WriteString(docxRun(`<w:rStyle w:val="CodeText"/>`, " "+shownText(m.dest)))
		}
	}
}

// cite writes the numbers of sources as links to their references.
func (l *docxLeaf) cite(place citationPlace, _ *ShownSentence, inLink bool) {
	l.flush()
	switch {
	case place.calculated != "":
		l.out.WriteString(docxRun(`<w:rStyle w:val="Cite"/>`, "\u00a0["+place.words(l.w.Report)+"]"))
		return
	case place.inferred != nil:
		before, behind, _ := strings.Cut(l.w.say("inferred from %s"), "%s")
		if len(place.refs) < len(place.inferred) {
			before += l.w.say("this run")
		}
		l.out.WriteString(docxRun(`<w:rStyle w:val="Cite"/>`, "\u00a0"+strings.TrimSpace(before)))
		defer func() { l.out.WriteString(docxRun(`<w:rStyle w:val="Cite"/>`, behind)) }()
	}
	for _, ref := range place.refs {
		run := docxRun(`<w:rStyle w:val="Cite"/>`, "\u00a0["+strconv.Itoa(ref.number)+"]")
		if !inLink {
			run = fmt.Sprintf(`<w:hyperlink w:anchor="source-%d" w:history="1">%s</w:hyperlink>`, ref.number, run)
		}
		l.out.WriteString(run)
	}
}

// references lists the cited sources under their numbers, and the others.
func (w *docxWriter) references() {
	w.styled("Heading1", w.say("References"))
	if len(w.cited) == 0 {
		w.styled("Normal", w.say("The report cites no source."))
	}
	for _, ref := range w.cited {
		w.paragraph(`<w:pStyle w:val="Reference"/>`, fmt.Sprintf(`<w:bookmarkStart w:id="%[1]d" w:name="source-%[1]d"/>`, ref.number)+
			docxRun("", fmt.Sprintf("[%d]\u00a0", ref.number))+w.reference(ref, ref.places)+fmt.Sprintf(`<w:bookmarkEnd w:id="%d"/>`, ref.number))
	}
	if len(w.others) > 0 {
		w.styled("Heading2", w.say("Sources that the report does not cite"))
		for _, s := range w.others {
			w.paragraph(`<w:pStyle w:val="Reference"/>`, w.reference(&reference{Source: s}, nil))
		}
	}
}

func (w *docxWriter) reference(ref *reference, matches []claim.Match) string {
	v := w.sourceView(ref, matches)
	title := docxRun("<w:i/>", v.Name)
	if v.Link != "" {
		title = `<w:hyperlink r:id="` + w.relate("hyperlink", v.Link, true) + `">` + docxRun(`<w:rStyle w:val="Link"/>`, v.Name) + "</w:hyperlink>"
	}
	return docxRun("", v.before()) + title + docxRun("", v.behind()) + docxRun(`<w:rStyle w:val="Quiet"/>`, w.standing(v))
}

// making says at the end how the report was made.
func (w *docxWriter) making() {
	if w.Since != nil {
		w.styled("Heading1", w.say(sinceTitle))
		w.styled("Normal", w.sinceKept())
		for _, list := range w.sinceLists() {
			w.styled("Heading2", list.Title)
			for _, line := range list.Lines {
				w.styled("Normal", line)
			}
		}
	}
	if len(w.Decisions) > 0 {
		w.styled("Heading1", w.say("Decisions by people"))
		for _, d := range w.Decisions {
			w.styled("Normal", d)
		}
	}
	w.styled("Heading1", w.say("How this report was made"))
	if len(w.LeftOut) > 0 {
		w.styled("Heading2", w.say("Questions that were left open"))
		for _, g := range w.LeftOut {
			w.styled("Normal", strings.TrimSpace(g.Priority+" "+g.Text))
		}
	}
	rows := [][]string{w.words("Gate", "Judges", "Result")}
	for _, g := range w.Gates {
		word, _ := w.gateWord(g)
		for _, text := range []string{g.Accepted, g.Notes} {
			if text != "" {
				word += ": " + text
			}
		}
		rows = append(rows, []string{g.ID, g.Name, word})
	}
	w.rows(rows)
	rows = [][]string{w.words("Perspective", "Wave", "Words", "Sources")}
	for _, c := range w.Contracts {
		rows = append(rows, []string{c.Title, strconv.Itoa(c.Wave), w.amount(c.Words, c.MaxWords), w.amount(c.Sources, c.MaxSources)})
	}
	w.rows(rows)
	rows = [][]string{w.words("Role", "Agent", "Model", "Accepted answers")}
	for _, a := range w.Agents {
		model := a.Model
		if model == "" {
			model = w.say("not reported")
		}
		rows = append(rows, []string{a.Role, strings.TrimSpace(a.Driver + " " + a.Version), model, strconv.Itoa(a.Answers)})
	}
	w.rows(rows)
	for _, text := range append(append([]string{}, w.Confined...), w.Allowed...) {
		w.styled("Normal", text)
	}
	if w.Cost.Known() {
		w.styled("Normal", w.say("Cost of the accepted answers")+": "+w.spent()+".")
	}
	w.styled("Aside", w.Program+", "+w.say("run %s", w.RunID))
}

func (w *docxWriter) words(list ...string) []string {
	for i := range list {
		list[i] = w.say(list[i])
	}
	return list
}

// rows writes a table of texts, none where there is only a header.
func (w *docxWriter) rows(rows [][]string) {
	if len(rows) < 2 {
		return
	}
	w.startTable(len(rows[0]))
	for i, row := range rows {
		w.xml("<w:tr>")
		if i == 0 {
			w.xml("<w:trPr><w:cantSplit/><w:tblHeader/></w:trPr>")
		}
		for _, cell := range row {
			w.xml("<w:tc><w:tcPr/>")
			properties, run := `<w:pStyle w:val="Cell"/>`, ""
			if i == 0 {
				run = "<w:b/>"
			}
			if evidence.Direction(w.Language) == "rtl" {
				properties += "<w:bidi/>"
			}
			if rightToLeft(cell) {
				run += "<w:rtl/>"
			}
			w.paragraph(properties, docxRun(run, cell))
			w.xml("</w:tc>")
		}
		w.xml("</w:tr>\n")
	}
	w.closeTable()
}

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
