// Package catalog lists the tools that tidegate has, each declared once, one
// file per noun. An entry adapts arguments to a function of a domain package
// and says how a person calls it; it decides nothing itself.
package catalog

import (
	"context"
	"slices"

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
