package paper

import (
	"encoding/base64"
	"net/url"
	"path"
	"strings"
	"unicode"

	"github.com/tidegate/tidegate/internal/text/draft"
)

// Markdown is the report as a Markdown file: the documents with numbered
// citations, the references with links that lead to the quoted words, and how the
// report was made.
// Charts stand in it as data.
func (r Report) Markdown() []byte {
	return r.markdown(func(d *drawnTable) string {
		return "data:image/svg+xml;base64," + base64.StdEncoding.EncodeToString(d.svg())
	})
}

// MarkdownFiles is the report as a Markdown file of some name, with its charts as files
// beside it.
func (r Report) MarkdownFiles(name string) (text []byte, charts []File) {
	text = r.markdown(func(d *drawnTable) string {
		file := File{strings.TrimSuffix(name, path.Ext(name)) + "-" + d.id + ".svg", d.svg()}
		charts = append(charts, file)
		return url.PathEscape(file.Name)
	})
	return text, charts
}

func (r Report) markdown(addressOf func(*drawnTable) string) []byte {
	r = r.shown()
	w := r.mdWriter(addressOf)
	w.draw(w)
	return w.written()
}

func (r *Report) mdWriter(addressOf func(*drawnTable) string) *mdWriter {
	w := &mdWriter{addressOf: addressOf}
	w.lineWriter = lineWriter{layout: r.layout(), quote: "> ", rule: "***", put: w.put, leaf: w.leaf, title: w.title, code: w.fenced, table: w.table}
	return w
}

// mdWriter writes the report as Markdown.
type mdWriter struct {
	lineWriter
	addressOf func(*drawnTable) string // where the picture of a chart is
}

func (w *mdWriter) put(first, _, text string) {
	w.out.WriteString(strings.TrimRight(first+text, " ") + "\n")
}

func (w *mdWriter) own(kind own, text string) {
	title, rest, _ := strings.Cut(text, "\n")
	text = mdText(text)
	switch kind {
	case ownAnswer:
		return // the file keeps the order of its template
	case ownBanner:
		text = "> **" + mdText(title) + "** " + mdText(rest)
	case ownTitle:
		text = "# " + text
	case ownTrust:
		text = "*" + text + "*"
	}
	w.gap()
	w.line(text)
}

func (w *mdWriter) heading(level int, text string) {
	w.gap()
	w.title(level, mdText(text))
	w.gap()
}

func (w *mdWriter) title(level int, text string) {
	w.line(strings.TrimSpace(strings.Repeat("#", level) + " " + text))
}

// table writes a table, and its chart below it.
func (w *mdWriter) table(b *draft.Block, rows [][]string) {
	for i, row := range rows {
		w.line("| " + strings.Join(row, " | ") + " |")
		if i == 0 {
			line := "|"
			for _, cell := range b.Children[0].Children {
				line += map[string]string{"": " --- |", "left": " :-- |", "right": " --: |", "center": " :-: |"}[cell.Align]
			}
			w.line(line)
		}
	}
	if d := w.part.charts[b]; d != nil && d.Chart == nil {
		w.gap()
		w.line("*" + mdText(d.why) + "*")
	} else if d != nil {
		w.gap()
		w.line("![" + mdText(d.words.Title) + "](" + w.addressOf(d) + ")")
	}
}

// mdText is a text of one line in which nothing is a mark.
func mdText(text string) string {
	l := mdLeaf{single: true}
	runes := []rune(text)
	for i, r := range runes {
		var next rune
		if i+1 < len(runes) {
			next = runes[i+1]
		}
		l.glyph(draft.Glyph{Rune: r}, next, glyphIs{})
	}
	return l.out.String()
}

// fenced adds a text in a fence that nothing in the text closes.
func (w *mdWriter) fenced(text, info string) {
	fence := strings.Repeat("`", max(3, longestRun(text, '`')+1))
	if strings.ContainsFunc(info, func(r rune) bool { return !unicode.IsUpper(r) && !unicode.IsLower(r) && r != '-' }) {
		info = ""
	}
	w.line(fence + info)
	for line := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
		var b strings.Builder
		for _, r := range line {
			b.WriteString(shown(r))
		}
		w.line(b.String())
	}
	w.line(fence)
}

// reference is an item of the list of sources.
func (w *mdWriter) reference(ref *reference) {
	v := w.sourceView(ref)
	text := mdText(v.Name)
	if v.Link != "" {
		text = "[" + text + "](<" + v.Link + ">)"
	}
	if v.Authors == "" && v.Year != "" {
		text += " "
	}
	mark := "- "
	if ref.number > 0 {
		mark = ref.mark() + `. <a id="source-` + ref.mark() + `"></a>`
	}
	w.line(mark + mdText(v.before()) + text + mdText(v.behind()) + "*" + mdText(w.standing(v)) + "*")
}
