package synthesis

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/tidegate/tidegate/internal/text/markdown"
)

// Status is [GatePass] without a fault.
func (g Gate) Status() string {
	if len(g.Faults) == 0 {
		return GatePass
	}
	return GateFail
}

// shownTexts are the texts of the leaves and code blocks of a draft, as a report
// shows them.
func shownTexts(doc *document) []string {
	var out []string
	var visit func(*block)
	visit = func(b *block) {
		text := string(runes(b.glyphs))
		if b.Kind == markdown.CodeBlock || b.Kind == markdown.HTMLBlock {
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
	walk(w.part.doc.blocks, w)
	text := strings.Join(w.lines, "\n")
	return shownTexts(w.part.doc), shownTexts(read([]byte(text)))
}

var (
	ownAnchor = regexp.MustCompile(`^<a id="source-\d+"></a>$`)
	ownLink   = regexp.MustCompile(`^#source-\d+$`)
)

// LiveMarkup names what is more than text in a Markdown text: HTML, and links to
// something other than the web; not the report's own links to its references.
func LiveMarkup(text []byte) []string {
	return markupOf(read(text).blocks, ownAnchor.MatchString, func(m mark) bool {
		return m.kind == markdown.ImageSpan || m.kind == markdown.LinkSpan && !isWeb(m.dest) && !ownLink.MatchString(m.dest)
	})
}

// Markup names what the report would show as HTML or as a link in a draft.
func Markup(draft []byte) []string {
	return markupOf(read(draft).blocks, func(string) bool { return false }, func(m mark) bool { return m.kind == markdown.ImageSpan || m.kind == markdown.LinkSpan })
}

// tagsOf are the tags of a leaf.
func tagsOf(b *block) string {
	var tags []rune
	for _, g := range b.glyphs {
		if g.in&inTag != 0 {
			tags = append(tags, g.r)
		}
	}
	return string(tags)
}

func markupOf(blocks []*block, allowed func(tags string) bool, leads func(mark) bool) []string {
	var out []string
	for _, b := range blocks {
		if b.Kind == markdown.HTMLBlock {
			out = append(out, "an HTML block: "+b.text)
		}
		if tags := tagsOf(b); tags != "" && !allowed(tags) {
			out = append(out, "a tag: "+string(runes(b.glyphs)))
		}
		if i := slices.IndexFunc(b.marks, leads); i >= 0 {
			out = append(out, "a link or image: "+b.marks[i].dest)
		}
		out = append(out, markupOf(b.children, allowed, leads)...)
	}
	return out
}
