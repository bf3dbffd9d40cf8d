package catalog

import (
	"context"
	_ "embed"
	"fmt"
	"sync"

	"github.com/tidegate/tidegate/tool"
)

// What is said about a tool stands beside its declaration, in the file of its
// noun: wave.md beside wave.go, as [tool.Texts] reads it.
//
// The files are strings and no file system, which would copy them at every start.
var (
	//go:embed audit.md
	auditText string
	//go:embed citation.md
	citationText string
	//go:embed claim.md
	claimText string
	//go:embed job.md
	jobText string
	//go:embed library.md
	libraryText string
	//go:embed pivot.md
	pivotText string
	//go:embed review.md
	reviewText string
	//go:embed run.md
	runText string
	//go:embed search.md
	searchText string
	//go:embed summary.md
	summaryText string
	//go:embed synthesis.md
	synthesisText string
	//go:embed wave.md
	waveText string
	//go:embed wave_run.md
	waveRunText string
)

// texts are the chapters of all files, by the names of their tools.
var texts = sync.OnceValue(func() map[string]tool.Text {
	return tool.Texts(auditText, citationText, claimText, jobText, libraryText, pivotText, reviewText, runText, searchText, summaryText, synthesisText, waveText, waveRunText)
})

// declare is [tool.New] with the text of the tool. It panics for a tool without
// one.
func declare[In, Out any](spec tool.Spec, run func(context.Context, tool.Caller, In) (Out, error)) *tool.Tool {
	said, ok := texts()[spec.Name]
	if !ok || spec.Command != nil && said.Example == "" {
		panic(fmt.Sprintf("catalog: no text, or none for the command, of %s", spec.Name))
	}
	spec.Summary = said.Summary
	if spec.Command != nil {
		spec.Command.Short, spec.Command.Long, spec.Command.Example = said.Short, said.Long, said.Example
	}
	return tool.New(spec, run)
}
