package paper

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/tidegate/tidegate/internal/text/draft"
	"github.com/tidegate/tidegate/internal/text/markdown"
)

// shownTexts are the texts of the leaves and code blocks of a draft, as a report
// shows them.
func shownTexts(doc *draft.Document) []string {
	var out []string
	var visit func(*draft.Block)
	visit = func(b *draft.Block) {
		text := string(draft.Runes(b.Glyphs))
		if b.Kind == markdown.CodeBlock || b.Kind == markdown.HTMLBlock {
			text = b.Text
		}
		var all strings.Builder
		for _, r := range text {
			all.WriteString(shown(r))
		}
		if text = strings.Join(strings.Fields(all.String()), " "); text != "" {
			out = append(out, text)
		}
		for _, child := range b.Children {
			visit(child)
		}
	}
	for _, b := range doc.Blocks {
		visit(b)
	}
	return out
}

// MarkdownShows returns what a draft shows, and what the Markdown of a report of
// it shows, which must be the same where nothing is cited, linked or missing.
func MarkdownShows(t testing.TB, data []byte) (want, got []string) {
	t.Helper()
	w := (&Report{Parts: []Part{{Text: data}}}).mdWriter(nil)
	w.part = &w.parts[0]
	w.part.walk(w.part.doc.Blocks, w)
	return shownTexts(w.part.doc), shownTexts(draft.Read(markdown.Read(w.written())))
}

var (
	ownAnchor = regexp.MustCompile(`^<a id="source-\d+"></a>$`)
	ownLink   = regexp.MustCompile(`^#source-\d+$`)
)

// LiveMarkup names what is more than text in a Markdown text: HTML, and links to
// something other than the web; not the report's own links to its references.
func LiveMarkup(text []byte) []string {
	return liveMarkupOf(draft.Read(markdown.Read(text)).Blocks, ownAnchor.MatchString, func(m draft.Mark) bool {
		return m.Kind == markdown.ImageSpan || m.Kind == markdown.LinkSpan && !isWeb(m.Dest) && !ownLink.MatchString(m.Dest)
	})
}

// Markup names what the report would show as HTML or as a link in a draft.
func Markup(text []byte) []string {
	return liveMarkupOf(draft.Read(markdown.Read(text)).Blocks, func(string) bool { return false }, func(m draft.Mark) bool { return m.Kind == markdown.ImageSpan || m.Kind == markdown.LinkSpan })
}

// tagsOf are the tags of a leaf.
func tagsOf(b *draft.Block) string {
	var tags []rune
	for _, g := range b.Glyphs {
		if g.In&draft.InTag != 0 {
			tags = append(tags, g.Rune)
		}
	}
	return string(tags)
}

func liveMarkupOf(blocks []*draft.Block, allowed func(tags string) bool, leads func(draft.Mark) bool) []string {
	var out []string
	for _, b := range blocks {
		if b.Kind == markdown.HTMLBlock {
			out = append(out, "an HTML block: "+b.Text)
		}
		if tags := tagsOf(b); tags != "" && !allowed(tags) {
			out = append(out, "a tag: "+string(draft.Runes(b.Glyphs)))
		}
		if i := slices.IndexFunc(b.Marks, leads); i >= 0 {
			out = append(out, "a link or image: "+b.Marks[i].Dest)
		}
		out = append(out, liveMarkupOf(b.Children, allowed, leads)...)
	}
	return out
}
