package main

import (
	_ "embed"
	"strings"
	"sync"

	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/tool"
)

//go:embed words.md
var wordTexts string

// words are those that tidegate uses in a sense of its own, each with its meaning and a command
// that shows it.
var words = sync.OnceValue(func() map[string]tool.Text { return tool.Texts(wordTexts) })

// explainWord shows a word to a person, in any letter case, in the plural too. It is false for a
// word that has no sense of its own here.
func explainWord(named string) (report.Report, bool) {
	for name, said := range words() {
		if strings.EqualFold(name, named) || strings.EqualFold(name+"s", named) {
			out := report.Report{Name: "explain", Title: name}
			out.Add(report.Paragraph(said.Short), report.Heading("To see it"), report.Preformatted(said.Example))
			return out, true
		}
	}
	return report.Report{}, false
}
