package tool

import (
	"strings"

	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/report"
)

// Listing is what `tidegate tools --json` prints.
type Listing struct {
	Tools []Entry `json:"tools"`
}

// Entry is one tool of a [Listing].
type Entry struct {
	Name         string       `json:"name"`
	Summary      string       `json:"summary"`
	Effect       string       `json:"effect"`
	InputSchema  *codec.Value `json:"input_schema"`
	OutputSchema *codec.Value `json:"output_schema"`
}

// List describes tools for a program.
func List(tools []*Tool) Listing {
	var l Listing
	for _, t := range tools {
		l.Tools = append(l.Tools, Entry{t.Name, t.Summary, t.Effect.String(), t.InputSchema(), t.OutputSchema()})
	}
	return l
}

// Overview describes tools for a person.
func Overview(tools []*Tool) report.Report {
	table := report.NewTable("Tool", "Command", "Effect", "What it does")
	for _, t := range tools {
		first, _, _ := strings.Cut(t.Summary, ". ")
		command, about := "", first
		if t.Command != nil {
			command, about = t.Command.Path, t.Command.Short
		}
		table.Row(report.None, t.Name, command, t.Effect.String(), about)
	}
	r := report.Report{Name: "tools", Title: "Tools"}
	r.Add(table)
	return r
}
