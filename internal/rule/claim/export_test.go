package claim

import "github.com/tidegate/tidegate/internal/text/markdown"

// InspectWithoutShortcuts is [Inspect] with every block rendered, also those that
// certainly have no markup.
func InspectWithoutShortcuts(text []byte) Inspection {
	in := inspector{text: text, doc: markdown.Parse(text), careful: true}
	return in.inspect()
}
