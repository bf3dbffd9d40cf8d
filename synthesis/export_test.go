package synthesis

import (
	"strings"
	"testing"
)

// shownTexts are the texts of the leaves and code blocks of a draft, as a report
// shows them.
func shownTexts(doc *document) []string {
	var out []string
	var visit func(*block)
	visit = func(b *block) {
		text := string(runes(b.glyphs))
		if b.kind == code {
			text = b.text
		}
		var all strings.Builder
		for _, r := range text {
			all.WriteString(shown(r))
		}
		if text = strings.Join(strings.Fields(all.String()), " "); text != "" {
			out = append(out, text)
		}
		for _, child := range b.children {
			visit(child)
		}
	}
	for _, b := range doc.blocks {
		visit(b)
	}
	return out
}

// MarkdownShows returns what a draft shows, and what the Markdown of a report of
// it shows, which must be the same where nothing is cited, linked or missing.
func MarkdownShows(t testing.TB, draft []byte) (want, got []string) {
	t.Helper()
	w := &mdWriter{layout: (&Report{Parts: []Part{{Text: draft}}}).layout()}
	w.part = &w.parts[0]
	text := strings.Join(w.blocks(w.part.doc.blocks, 0, true), "\n")
	return shownTexts(w.part.doc), shownTexts(read([]byte(text)))
}

// LiveMarkup names what of a Markdown text is more than text: HTML, and links to
// something else than the web.
func LiveMarkup(text []byte) []string {
	var out []string
	doc := read(text)
	doc.eachLeaf(func(b *block) {
		if b.kind == html {
			out = append(out, "an HTML block: "+string(runes(b.glyphs)))
		}
		for _, g := range b.glyphs {
			if g.in&inTag != 0 {
				out = append(out, "a tag: "+string(runes(b.glyphs)))
				break
			}
		}
		for _, m := range b.marks {
			if m.kind == image || m.kind == link && !isWeb(m.dest) {
				out = append(out, "a link or image: "+m.dest)
			}
		}
	})
	return out
}
