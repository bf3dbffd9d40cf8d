package docs

import (
	"fmt"
	"strings"
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
