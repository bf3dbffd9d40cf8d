package source

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/tidegate/tidegate/internal/text/page"
)

// Render writes records for people to read: validated-citations.md. They stand
// in byte order of URL and cid. Whatever a page calls itself, it stays one item
// of the list and starts no markup.
func Render(runID string, records []Record) string {
	sorted := slices.Clone(records)
	slices.SortFunc(sorted, func(a, b Record) int {
		return cmp.Or(strings.Compare(a.NormalizedURL, b.NormalizedURL), strings.Compare(a.CID, b.CID))
	})
	var b strings.Builder
	fmt.Fprintf(&b, "# Validated citations\n\nRun ID: %s\nRendered: %d\n\n", plainMarkdown(runID), len(sorted))
	for _, r := range sorted {
		fmt.Fprintf(&b, "## %s\n", plainMarkdown(r.CID))
		for _, field := range []struct{ name, value string }{
			{"URL", r.URL}, {"Status", string(r.Status)}, {"Title", r.Title}, {"Publisher", r.Publisher}, {"Author", r.Author}, {"Published", r.Published},
			{"Origin", r.Origin.String()}, {"Notes", r.Notes}, {"Same page as", r.SameAs}, {"Replaced by", r.ReplacedBy},
		} {
			if field.value != "" {
				fmt.Fprintf(&b, "- %s: %s\n", field.name, plainMarkdown(field.value))
			}
		}
		b.WriteString("\n")
	}
	return b.String()
}

// plainMarkdown puts a text on one line as nothing but text: marks of Markdown are
// escaped, and what cannot be seen is left out.
func plainMarkdown(s string) string {
	var b strings.Builder
	s = page.TidySpace(s)
	for i, r := range s {
		switch {
		case strings.ContainsRune("\\`*[]<>|~", r),
			r == '_' && !(endsLetter(s[:i]) && beginsLetter(s[i+1:])),
			r == '&' && i+1 < len(s) && (isLetter(s[i+1]) || s[i+1] == '#'):
			b.WriteByte('\\')
			b.WriteRune(r)
		case unicode.IsPrint(r):
			b.WriteRune(r)
		}
	}
	return b.String()
}
