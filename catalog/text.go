package catalog

import (
	"context"
	_ "embed"
	"fmt"
	"strings"
	"sync"

	"github.com/tidegate/tidegate/tool"
)

// What is said about a tool stands beside its declaration, in the file of its
// noun: wave.md beside wave.go. A chapter is one tool:
//
//	# deep_research_wave_review
//
//	The summary, for models. The first sentence says when to use it.
//
//	## What the command does, one line for lists of commands
//
//	What the command is for, for people.
//
//	    tidegate wave review an example
//
// A tool without a command ends with its summary.
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

type text struct{ summary, short, long, example string }

// texts are the chapters of all files, by the names of their tools.
var texts = sync.OnceValue(func() map[string]text {
	found := map[string]text{}
	for _, file := range []string{auditText, citationText, claimText, jobText, libraryText, pivotText, reviewText, runText, searchText, summaryText, synthesisText, waveText, waveRunText} {
		for chapter := range strings.SplitSeq(strings.TrimPrefix(file, "# "), "\n# ") {
			if name, body, ok := strings.Cut(chapter, "\n"); ok {
				found[name] = readText(body)
			}
		}
	}
	return found
})

func readText(body string) text {
	summary, command, _ := strings.Cut(body, "\n## ")
	short, command, _ := strings.Cut(command, "\n")
	long, example, _ := strings.Cut(command, "\n    ")
	return text{
		summary: strings.ReplaceAll(strings.TrimSpace(summary), "\n", " "),
		short:   short,
		long:    strings.TrimSpace(long),
		example: strings.ReplaceAll(strings.TrimSpace(example), "\n    ", "\n"),
	}
}

// declare is [tool.New] with the text of the tool. It panics for a tool without
// one.
func declare[In, Out any](spec tool.Spec, run func(context.Context, tool.Caller, In) (Out, error)) *tool.Tool {
	said, ok := texts()[spec.Name]
	if !ok || spec.Command != nil && said.example == "" {
		panic(fmt.Sprintf("catalog: no text, or none for the command, of %s", spec.Name))
	}
	spec.Summary = said.summary
	if spec.Command != nil {
		spec.Command.Short, spec.Command.Long, spec.Command.Example = said.short, said.long, said.example
	}
	return tool.New(spec, run)
}
