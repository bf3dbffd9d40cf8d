package paper

import (
	"fmt"
	"html"
	"net/url"
	"strconv"
	"strings"
	"unicode"

	"github.com/tidegate/tidegate/internal/rule/evidence"
	"github.com/tidegate/tidegate/internal/text/draft"
	"github.com/tidegate/tidegate/internal/text/markdown"
)

// Docx is the report as a file of Word: headings, tables and lists in styles that a
// person can change, citations that lead to their references, and charts as pictures.
// It names nothing outside itself but the addresses that a reader follows, and the same
// report gives the same bytes.
func (r Report) Docx() []byte {
	r = r.shown()
	w := &docxWriter{layout: r.layout()}
	w.draw(w)
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

func (w *docxWriter) begin(part *layoutPart) { w.part = part }

func (w *docxWriter) own(kind own, text string) {
	switch kind {
	case ownBanner:
		title, rest, _ := strings.Cut(text, "\n")
		properties, run := `<w:pStyle w:val="Banner"/>`, ""
		if rightToLeft(title) {
			properties, run = properties+"<w:bidi/>", "<w:rtl/>"
		}
		w.paragraph(properties, docxRun("<w:b/>"+run, title+" ")+docxRun(run, rest))
		return
	case ownAnswer:
		w.heading(2, w.AnswerTitle)
	}
	w.styled(map[own]string{ownTitle: "Title", ownLine: "Subtitle", ownTrust: "Trust", ownAnswer: "Normal", ownText: "Normal", ownFoot: "Aside"}[kind], text)
}

func (w *docxWriter) heading(level int, text string) {
	w.styled("Heading"+strconv.Itoa(level-1), text)
}

func (w *docxWriter) open(b *draft.Block, first bool) {
	switch b.Kind {
	case markdown.HeadingBlock:
		w.leafParagraph(b, `<w:pStyle w:val="Heading`+strconv.Itoa(min(6, w.part.headingLevel(b)-1))+`"/>`)
	case markdown.ParagraphBlock:
		w.leafParagraph(b, w.place("")) // in its list or quotation
	case markdown.CodeBlock, markdown.HTMLBlock:
		for line := range strings.SplitSeq(strings.TrimSuffix(b.Text, "\n"), "\n") {
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

func (w *docxWriter) close(b *draft.Block) {
	switch b.Kind {
	case markdown.QuoteBlock:
		w.quotes--
	case markdown.ListBlock:
		w.lists = w.lists[:len(w.lists)-1]
	case markdown.RowBlock:
		w.xml("</w:tr>\n")
	case markdown.TableBlock:
		w.closeTable()
		if d := w.part.charts[b]; d != nil {
			w.chart(d)
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

func (w *docxWriter) openTable(b *draft.Block) {
	const width = 9070 // of the text, in twentieths of a point
	columns := 1
	if len(b.Children) > 0 {
		columns = max(1, len(b.Children[0].Children))
	}
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
func (w *docxWriter) leafParagraph(b *draft.Block, properties string) {
	run := &docxLeaf{w: w}
	if rightToLeft(string(draft.Runes(b.Glyphs))) {
		properties, run.rtl = properties+"<w:bidi/>", true
	}
	run.notes = notes{w.Report, run.behind}
	w.text(w.part, b, run)
	run.flush()
	w.paragraph(properties, run.out.String())
}

// docxLeaf writes the text of a leaf as runs.
type docxLeaf struct {
	notes
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

// behind writes words of the report's own.
func (l *docxLeaf) behind(text string) {
	l.flush()
	l.out.WriteString(docxRun(`<w:rStyle w:val="Flag"/>`, " ("+text+")"))
}

func (l *docxLeaf) endMissing() {
	l.flush()
	l.missing = false
	l.notes.endMissing()
}

func (l *docxLeaf) glyph(g draft.Glyph, _ rune, is glyphIs) {
	if is.beforeRef {
		return
	}
	tag := 0
	if g.In&draft.InTag != 0 {
		tag = 1
	}
	if is.missing != l.missing || tag != l.tag {
		l.flush()
		l.missing, l.tag = is.missing, tag
	}
	if g.In&draft.HardBreak != 0 {
		l.flush()
		l.out.WriteString("<w:r><w:br/></w:r>")
		return
	}
	l.text.WriteRune(g.Rune)
}

func (l *docxLeaf) mark(m draft.Mark) {
	l.flush()
	step := -1
	if m.Open {
		step = 1
	}
	switch m.Kind {
	case markdown.StrongSpan:
		l.strong += step
	case markdown.EmphasisSpan:
		l.em += step
	case markdown.CodeSpan:
		l.code += step
	case markdown.ImageSpan:
		if m.Open {
			l.out.WriteString(docxRun("<w:i/>", "Image: "))
		}
	case markdown.LinkSpan:
		switch {
		case isWeb(m.Dest) && m.Open:
			l.inLinkRun = true
			l.out.WriteString(`<w:hyperlink r:id="` + l.w.relate("hyperlink", m.Dest, true) + `">`)
		case isWeb(m.Dest):
			l.inLinkRun = false
			l.out.WriteString("</w:hyperlink>")
			if to, err := url.Parse(m.Dest); err == nil {
				l.out.WriteString(docxRun("", " ("+shownText(to.Hostname())+")"))
			}
		case !m.Open && m.Dest != "" && m.Dest[0] != '#':
			l.out.WriteString(docxRun(`<w:rStyle w:val="CodeText"/>`, " "+shownText(m.Dest)))
		}
	}
}

// cite writes the numbers of sources as links to their references.
func (l *docxLeaf) cite(place citationPlace, s *ShownSentence, inLink bool) {
	l.flush()
	switch {
	case place.Absent != "":
		l.out.WriteString(docxRun("", place.absence(s)))
		return
	case place.Calculated != "":
		l.out.WriteString(docxRun(`<w:rStyle w:val="Cite"/>`, "\u00a0["+place.words(l.Report)+"]"))
		return
	case place.Inferred != nil:
		before, behind, _ := strings.Cut(l.say("inferred from %s"), "%s")
		if len(place.refs) < len(place.Inferred) {
			before += l.say("this run")
		}
		l.out.WriteString(docxRun(`<w:rStyle w:val="Cite"/>`, "\u00a0"+strings.TrimSpace(before)))
		defer func() { l.out.WriteString(docxRun(`<w:rStyle w:val="Cite"/>`, behind)) }()
	}
	for _, ref := range place.refs {
		run := docxRun(`<w:rStyle w:val="Cite"/>`, "\u00a0["+ref.mark()+"]")
		if !inLink {
			run = fmt.Sprintf(`<w:hyperlink w:anchor="source-%d" w:history="1">%s</w:hyperlink>`, ref.number, run)
		}
		l.out.WriteString(run)
	}
}

func (w *docxWriter) reference(ref *reference) {
	v := w.sourceView(ref)
	title := docxRun("<w:i/>", v.Name)
	if v.Link != "" {
		title = `<w:hyperlink r:id="` + w.relate("hyperlink", v.Link, true) + `">` + docxRun(`<w:rStyle w:val="Link"/>`, v.Name) + "</w:hyperlink>"
	}
	text := docxRun("", v.before()) + title + docxRun("", v.behind()) + docxRun(`<w:rStyle w:val="Quiet"/>`, w.standing(v))
	if ref.number > 0 {
		text = fmt.Sprintf(`<w:bookmarkStart w:id="%[1]d" w:name="source-%[1]d"/>%[2]s%[3]s<w:bookmarkEnd w:id="%[1]d"/>`, ref.number, docxRun("", "["+ref.mark()+"]\u00a0"), text)
	}
	w.paragraph(`<w:pStyle w:val="Reference"/>`, text)
}
