// Package docs writes the parts of documents that derive from declarations or
// measurements.
package docs

import (
	"fmt"
	"strings"

	"github.com/tidegate/tidegate/internal/base/config"
)

// Fill puts a text into its place in a document, between the comments
// <!-- name --> and <!-- /name -->. It returns an error for a document without
// that place.
func Fill(document, name, text string) (string, error) {
	begin, end := "<!-- "+name+" -->\n", "<!-- /"+name+" -->"
	before, rest, opened := strings.Cut(document, begin)
	_, after, closed := strings.Cut(rest, end)
	if !opened || !closed {
		return "", fmt.Errorf("the document has no place between %q and %q", strings.TrimSpace(begin), end)
	}
	return before + begin + text + end + after, nil
}

// Keys is the table of docs/setup.md.
func Keys() string {
	var b strings.Builder
	b.WriteString("| key | type | what it decides | default | goes before it | waits because |\n|---|---|---|---|---|---|\n")
	for _, k := range config.Keys() {
		fmt.Fprintf(&b, "| `%s` | %s | %s; for example `%s` | %s | %s | %s |\n", k.Name, k.Type, k.About, k.Example, k.Default, k.Over, k.Waits)
	}
	return b.String()
}
