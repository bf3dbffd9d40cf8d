// Package catalog lists the tools that tidegate has, each declared once, one
// file per noun. An entry adapts arguments to a function of a domain package
// and says how a person calls it; it decides nothing itself.
package catalog

import (
	"context"
	_ "embed"
	"fmt"
	"slices"
	"sync"

	"github.com/tidegate/tidegate/internal/agent/dispatch"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/tool"
)

// Env is what the tools take from their surroundings.
type Env = dispatch.Env

// tools are the tools of an environment, as they are declared.
type tools struct{ *Env }

// Tools lists all tools in a stable order.
func Tools(of *Env) []*tool.Tool {
	env := tools{of}
	return slices.Concat(
		runTools(env),
		jobTools(env),
		searchTools(env),
		waveTools(env),
		waveRunTools(env),
		gateTools(env),
		citationTools(env),
		claimTools(env),
		auditTools(env),
		libraryTools(env),
		pivotTools(env),
		summaryTools(env),
		synthesisTools(env),
		reviewTools(env),
	)
}

// onRun is a command that changes the run that a person names; readsRun is one that changes
// nothing, in formats beside text and JSON.
func (e tools) onRun(path string, operands ...tool.Operand) *tool.Command {
	return &tool.Command{Path: path, Operands: append(slices.Clone(runOperand), operands...), Hide: []string{"manifest_path"}, Fill: e.fillRun}
}

func (e tools) readsRun(path string, formats ...string) *tool.Command {
	return &tool.Command{Path: path, Operands: readOperand, Hide: []string{"manifest_path"}, Fill: e.fillReadRun, Formats: formats}
}

// ofRun is a tool's function that takes a run and nothing else.
func ofRun[Out any](env tools, do func(context.Context, run.Desk, string) (Out, error)) func(context.Context, tool.Caller, manifestIn) (Out, error) {
	return func(ctx context.Context, call tool.Caller, in manifestIn) (Out, error) {
		return do(ctx, env.Desk(call.Reach), in.ManifestPath)
	}
}

// at is a tool's function that does what do does at the desk of its caller.
func at[In, Out any](env tools, do func(context.Context, run.Desk, In) (Out, error)) func(context.Context, tool.Caller, In) (Out, error) {
	return func(ctx context.Context, call tool.Caller, in In) (Out, error) {
		return do(ctx, env.Desk(call.Reach), in)
	}
}

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
