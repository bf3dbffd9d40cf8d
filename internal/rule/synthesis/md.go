package synthesis

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/rule/claim"
)

// Markdown is the report as a Markdown file: the documents with numbered
// citations, the references with links that lead to the quoted words, and how the
// report was made.
func (r Report) Markdown() []byte {
	r = r.shown()
	w := &mdWriter{layout: r.layout()}
	w.banners()
	w.paragraph("# " + mdText(r.Question))
	if day := day(r.CreatedAt); day != "" {
		w.paragraph("Research report of " + mdText(day) + ".")
	}
	for i := range w.parts {
		w.part = &w.parts[i]
		shift := 0
		if w.part.title != "" {
			shift = 1
			w.paragraph("## " + mdText(w.part.title))
		}
		w.lines = append(w.lines, w.blocks(w.part.doc.blocks, shift, true)...)
		w.lines = append(w.lines, "")
	}
	w.references()
	w.ungrounded()
	w.making()
	return []byte(strings.TrimRight(strings.Join(w.lines, "\n"), "\n") + "\n")
}

// banners begin the file: whatever a reader must know stands in the first line.
func (w *mdWriter) banners() {
	var titles, texts []string
	for _, b := range w.Report.banners() {
		titles, texts = append(titles, b.Title+"."), append(texts, mdText(b.Text))
	}
	if len(titles) > 0 {
		w.paragraph("> **" + strings.Join(titles, " ") + "** " + strings.Join(texts, " "))
	}
}

type mdWriter struct {
	*layout
	part  *layoutPart
	lines []string
	mark  int // which of two marks the items of the next list have
}

// paragraph adds a block of its own.
func (w *mdWriter) paragraph(text string) { w.lines = append(w.lines, text, "") }

// mdText is a text of one line in which nothing is a mark.
func mdText(text string) string {
	l := mdLeaf{single: true}
	runes := []rune(text)
	for i, r := range runes {
		var next rune
		if i+1 < len(runes) {
			next = runes[i+1]
		}
		l.glyph(glyph{r: r}, next)
	}
	return l.out.String()
}

// blocks are the lines of some blocks. Apart, a blank line stands between them.
func (w *mdWriter) blocks(blocks []*block, shift int, apart bool) []string {
	var out []string
	for i, b := range blocks {
		if i > 0 && apart {
			out = append(out, "")
		}
		// Two lists side by side have different marks, or they would be one.
		other := i > 0 && blocks[i-1].kind == list && b.kind == list && blocks[i-1].ordered == b.ordered && w.mark == 0
		if w.mark = 0; other {
			w.mark = 1
		}
		out = append(out, w.block(b, shift)...)
	}
	return out
}

func (w *mdWriter) block(b *block, shift int) []string {
	switch b.kind {
	case heading:
		level := min(max(b.level+shift, 2), 6)
		return []string{strings.TrimSpace(strings.Repeat("#", level) + " " + w.leaf(b))}
	case list:
		return w.list(b, shift)
	case quote:
		return prefixed(w.blocks(b.children, shift, true), "> ", "> ")
	case code:
		return fenced(b.text, b.info)
	case html:
		return fenced(b.text, "html")
	case rule:
		return []string{"***"}
	case table:
		return w.table(b)
	}
	return strings.Split(w.leaf(b), "\n")
}

// fenced is a text in a fence that nothing in the text closes.
func fenced(text, info string) []string {
	var lines []string
	for _, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		var b strings.Builder
		for _, r := range strings.TrimSuffix(line, "\r") {
			b.WriteString(shown(r))
		}
		lines = append(lines, b.String())
	}
	fence := strings.Repeat("`", max(3, longestRun(text, '`')+1))
	if strings.ContainsFunc(info, func(r rune) bool { return !unicode.IsUpper(r) && !unicode.IsLower(r) && r != '-' }) {
		info = ""
	}
	return append(append([]string{fence + info}, lines...), fence)
}

// prefixed puts a mark before the first line and room for it before the others.
func prefixed(lines []string, first, rest string) []string {
	if len(lines) == 0 {
		lines = []string{""}
	}
	out := make([]string, len(lines))
	for i, line := range lines {
		prefix := rest
		if i == 0 {
			prefix = first
		}
		out[i] = strings.TrimRight(prefix+line, " ")
	}
	return out
}

func (w *mdWriter) list(b *block, shift int) []string {
	var out []string
	bullet := [2]string{"-", "*"}[w.mark]
	delimiter := [2]string{".", ")"}[w.mark]
	for i, item := range b.children {
		if i > 0 && b.loose {
			out = append(out, "")
		}
		mark := bullet + " "
		if b.ordered {
			mark = strconv.Itoa(b.start+i) + delimiter + " "
		}
		w.mark = 0
		out = append(out, prefixed(w.blocks(item.children, shift, b.loose), mark, strings.Repeat(" ", len(mark)))...)
	}
	return out
}

func (w *mdWriter) table(b *block) []string {
	var out []string
	for i, row := range b.children {
		line, delimiters := "|", "|"
		for _, cell := range row.children {
			line += " " + w.leaf(cell) + " |"
			delimiters += map[string]string{"": " --- |", "left": " :-- |", "right": " --: |", "center": " :-: |"}[cell.align]
		}
		out = append(out, line)
		if i == 0 {
			out = append(out, delimiters)
		}
	}
	return out
}

// references lists the cited sources under their numbers, and the others.
func (w *mdWriter) references() {
	w.paragraph("## References")
	if len(w.cited) == 0 {
		w.paragraph("The report cites no source.")
	}
	for _, ref := range w.cited {
		w.lines = append(w.lines, strconv.Itoa(ref.number)+". "+w.reference(ref, w.matchesOf(ref)))
	}
	w.lines = append(w.lines, "")
	if len(w.others) > 0 {
		w.paragraph("### Sources that the report does not cite")
		for _, s := range w.others {
			w.lines = append(w.lines, "- "+w.reference(&reference{Source: s}, nil))
		}
		w.lines = append(w.lines, "")
	}
}

func (w *mdWriter) reference(ref *reference, matches []claim.Match) string {
	v := w.sourceView(ref, matches)
	text := mdText(v.Name)
	if v.Link != "" {
		text = "[" + text + "](<" + v.Link + ">)"
	}
	text += "."
	if v.By != "" {
		text += " " + mdText(v.By) + "."
	}
	text += " *" + mdText(v.Status) + "*"
	if v.Reason != "" {
		text += " (" + mdText(v.Reason) + ")"
	}
	switch {
	case v.Attached:
		text += ", attached by a person"
	case v.Fetched != "":
		text += ", fetched " + mdText(v.Fetched)
	}
	if v.File != "" {
		text += ", file " + mdText(v.File)
	}
	if v.Replaced != "" {
		text += ", cited as " + mdText(v.Address)
	}
	if v.Digest != "" {
		text += ", " + mdText(v.Digest)
	}
	return text + "."
}

// ungrounded lists what the cited pages do not have.
func (w *mdWriter) ungrounded() {
	var list []string
	for _, part := range w.parts {
		for _, p := range part.doc.passages {
			claim := part.claims[p]
			if claim == nil {
				continue
			}
			for _, text := range notFound(claim) {
				list = append(list, fmt.Sprintf("- “%s” in “%s”", mdText(tidegate.Cut(shownText(text))), mdText(p.beginning())))
			}
		}
	}
	if len(list) > 0 {
		w.paragraph("## Not found on the cited pages")
		w.lines = append(append(w.lines, list...), "")
	}
}

// beginning is how a passage begins, by which a reader finds it.
func (p *passage) beginning() string {
	const most = 80
	var text []rune
	for _, b := range p.leaves {
		b.eachLeaf(func(b *block) {
			if len(text) <= most {
				text = append(append(text, runes(b.glyphs[:min(len(b.glyphs), 4*most)])...), ' ')
			}
		})
	}
	words := []rune(shownText(string(text)))
	if len(words) <= most {
		return string(words)
	}
	return strings.TrimSpace(string(words[:most])) + "…"
}

func (w *mdWriter) making() {
	w.paragraph("## How this report was made")
	if len(w.Gates) > 0 {
		w.lines = append(w.lines, "| gate | judges | result |", "|---|---|---|")
		for _, g := range w.Gates {
			word, _ := gateWord(g)
			for _, text := range []string{g.Accepted, g.Notes} {
				if text != "" {
					word += ": " + mdText(text)
				}
			}
			w.lines = append(w.lines, "| "+mdText(g.ID)+" | "+mdText(g.Name)+" | "+word+" |")
		}
		w.lines = append(w.lines, "")
	}
	if len(w.Contracts) > 0 {
		w.lines = append(w.lines, "| perspective | wave | words | sources | sections |", "|---|--:|--:|--:|---|")
		for _, c := range w.Contracts {
			w.lines = append(w.lines, fmt.Sprintf("| %s | %d | %s | %s | %s |", mdText(c.Title), c.Wave,
				amount(c.Words, c.MaxWords), amount(c.Sources, c.MaxSources), mdText(strings.Join(c.Sections, ", "))))
		}
		w.lines = append(w.lines, "")
	}
	if len(w.Agents) > 0 {
		w.lines = append(w.lines, "| role | agent | model | accepted answers |", "|---|---|---|--:|")
		for _, a := range w.Agents {
			model := a.Model
			if model == "" {
				model = "not reported"
			}
			w.lines = append(w.lines, fmt.Sprintf("| %s | %s | %s | %d |", mdText(a.Role), mdText(strings.TrimSpace(a.Driver+" "+a.Version)), mdText(model), a.Answers))
		}
		w.lines = append(w.lines, "")
	}
	if w.Cost.Known() {
		w.paragraph("The accepted answers cost " + mdText(w.costs()) + ".")
	}
	if len(w.LeftOut) > 0 {
		w.paragraph("Questions that were left open:")
		for _, g := range w.LeftOut {
			w.lines = append(w.lines, "- "+mdText(strings.TrimSpace(g.Priority+" "+g.Text)))
		}
		w.lines = append(w.lines, "")
	}
	w.paragraph(mdText(w.Program + ", run " + w.RunID))
}

func (l *layout) costs() string {
	tokens := thousands(l.Cost.InputTokens) + " tokens read and " + thousands(l.Cost.OutputTokens) + " written"
	if l.Cost.Priced {
		return dollars(l.Cost.USD) + ", " + tokens
	}
	return "an unknown amount, " + tokens
}
