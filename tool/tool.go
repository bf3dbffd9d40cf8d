// Package tool says what a tool is: one declaration from which every face
// derives. The declaration carries the name, the summary, the effect, the typed
// input and output, the function, and how a person calls it and sees its result.
//
// [Tool.Call] is the only way in for faces: it decodes strictly, checks the
// arguments, runs the function, recovers a panic, and returns the JSON envelope.
// No face parses, validates or words anything a second time.
package tool

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/report"
)

// Effect says what a tool does to the world. The zero value is not an effect,
// so that no declaration can forget it.
type Effect int

// The effects.
const (
	Reads           Effect = iota + 1 // changes nothing
	WritesOnRequest                   // changes something only when an argument tagged `writes` is given
	Writes                            // writes files
)

func (e Effect) String() string {
	switch e {
	case Reads:
		return "reads"
	case WritesOnRequest:
		return "writes on request"
	case Writes:
		return "writes"
	}
	return "unknown"
}

// Spec is what a tool is declared with, besides its function.
type Spec struct {
	Name       string // on the wire: lower-case words with underscores
	Set        string // the toolset it belongs to: wave, citation, pivot, summary, gate, run, job, review, earlier
	Core       bool   // agents are offered it where nobody names tools or sets
	Summary    string // the first sentence says when to use it
	Effect     Effect
	Idempotent bool     // repeating the call with the same arguments changes nothing more
	Destroys   bool     // may replace or end something that cannot be had back
	OpenWorld  bool     // reaches beyond this machine: it may fetch pages
	Person     bool     // a person's decision: the named command has it, and no list of tools
	PersonArgs []string // arguments that are a person's decision: the named command has them, and no list of tools
	Command    *Command
	Shorthand  *Shorthand
	Refine     func(properties *codec.Value) // adds to those of the input schema what Go types and tags cannot say
}

// Tool is a declared tool. The schemas are derived when first asked for.
type Tool struct {
	Spec
	in, out reflect.Type
	run     func(ctx context.Context, call Caller, in any) (any, error)
	hidden  []string       // arguments that this view of the tool does not accept
	given   map[string]any // arguments that this view brings along, in the place of the caller
	schemas func() (input, output *codec.Value)
}

// isName reports whether a text can name a tool: lower-case letters, digits and
// underscores, 64 at most, with a letter first.
func isName(text string) bool {
	const letters, others = "abcdefghijklmnopqrstuvwxyz", "0123456789_"
	return text != "" && len(text) <= 64 && strings.Contains(letters, text[:1]) && strings.Trim(text, letters+others) == ""
}

// New declares a tool. In is a struct whose fields are the arguments, in the
// order in which they are checked; Out is the result. It panics when the
// declaration is incomplete, which is a mistake in the program.
//
// In belongs to the package that does the work. It declares In once, as
// SomethingInput, beside the function that takes it, and run calls that function. A field that is not an argument, such as one that
// hears of progress, has the tag json:"-".
//
// Fields of In use these tags:
//
//	json                       the name; omitzero marks it optional
//	jsonschema                 what it is, for people and models
//	path:"absolute"            a file or folder: absolute when the tool sees it, and inside the
//	                           roots where there are any; the command line makes it absolute
//	path:"run"                 the same, or relative to the root of the run that another
//	                           argument names; the tool keeps it inside that root
//	enum:"a,b"                 one of these
//	min, max, minitems         bounds of numbers, and of the length of lists
//	default                    what is taken where it is not given
//	requiredif:"mode=fixture"  required when another argument, declared before it, has that value
//	writes:"true"              giving it makes the tool write
//	person:"true"              no argument of a tool: only a person gives it, in other ways
//	extra:"ignore"             objects in this list may carry further keys
//	holds:"object"             the types that a *codec.Value may have, for the schema; the
//	                           decoder hands it over unchecked
func New[In, Out any](spec Spec, run func(context.Context, Caller, In) (Out, error)) *Tool {
	switch {
	case !isName(spec.Name):
		panic(fmt.Sprintf("tool: %q is not a tool name", spec.Name))
	case spec.Summary == "" || spec.Effect == 0 || spec.Set == "":
		panic(fmt.Sprintf("tool: %s lacks a summary, an effect or a set", spec.Name))
	}
	t := &Tool{
		Spec: spec,
		in:   reflect.TypeFor[In](),
		out:  reflect.TypeFor[Out](),
		run: func(ctx context.Context, call Caller, in any) (any, error) {
			return run(ctx, call, in.(In))
		},
	}
	t.schemas = sync.OnceValues(t.derive)
	return t
}

// Reporter is a result that says how it is shown to a person.
type Reporter interface{ Report() report.Report }

// Exporter is a result that other programs can have in formats of their own,
// which its command lists among its formats.
type Exporter interface {
	// Export writes the result in a format; ok is false for one that it does not
	// have.
	Export(format string) (document []byte, ok bool, err error)
}

// Judgement is a result that can go against what was judged.
type Judgement interface{ Passed() bool }

// Pending is a result that may wait for a person's decision, which no caller of tools can
// take. A face that reaches a person shows it; the tool called again goes on where the
// record has the decision.
type Pending interface {
	ForPerson() string // what to do, in words; "" where no person is needed
}

// ReadOnly is the tool as a read-only server offers it: a tool that writes only
// on request loses the arguments that request it. ok is false for a tool that
// always writes.
func (t *Tool) ReadOnly() (view *Tool, ok bool) {
	switch t.Effect {
	case Reads:
		return t, true
	case Writes:
		return nil, false
	}
	var writing []string
	for _, f := range fieldsOf(t.in) {
		if f.writes {
			writing = append(writing, f.name)
		}
	}
	view = t.without(writing)
	view.Effect = Reads
	return view, true
}

// ForAgents leaves out the tools and the arguments that only a person may use.
func ForAgents(tools []*Tool) []*Tool {
	var offered []*Tool
	for _, t := range tools {
		switch {
		case t.Person:
		case len(t.PersonArgs) > 0:
			offered = append(offered, t.without(t.PersonArgs))
		default:
			offered = append(offered, t)
		}
	}
	return offered
}

// Given is the tool with some of its arguments: its callers neither see nor name them,
// nor a shorthand that stands for them.
func (t *Tool) Given(args map[string]any) *Tool {
	view := t.without(slices.Collect(maps.Keys(args)))
	view.given = args
	if s := t.Shorthand; s != nil && slices.ContainsFunc(s.For, func(name string) bool { _, ok := args[name]; return ok }) {
		view.Shorthand = nil
	}
	return view
}

// Checked is the tool with a check of its arguments, as JSON, once they are decoded.
func (t *Tool) Checked(check func(args []byte) error) *Tool {
	view := *t
	view.run = func(ctx context.Context, call Caller, in any) (any, error) {
		args, err := codec.Marshal(in)
		if err == nil {
			err = check(args)
		}
		if err != nil {
			return nil, err
		}
		return t.run(ctx, call, in)
	}
	return &view
}

// without is the tool without the given arguments.
func (t *Tool) without(args []string) *Tool {
	view := &Tool{Spec: t.Spec, in: t.in, out: t.out, run: t.run, hidden: slices.Concat(t.hidden, args), given: t.given}
	view.schemas = sync.OnceValues(view.derive)
	return view
}

// InputSchema is the JSON Schema of the arguments.
func (t *Tool) InputSchema() *codec.Value { in, _ := t.schemas(); return in }

// OutputSchema is the JSON Schema of a successful result.
func (t *Tool) OutputSchema() *codec.Value { _, out := t.schemas(); return out }

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

// Text is what is said about a tool, a command or a word, in a file beside its declaration.
type Text struct{ Summary, Short, Long, Example string }

// Texts are the chapters of files, by their names. A chapter is one thing:
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
// What has no summary begins with its second heading; a tool without a command ends with its
// summary.
func Texts(files ...string) map[string]Text {
	found := map[string]Text{}
	for _, file := range files {
		for chapter := range strings.SplitSeq(strings.TrimPrefix(file, "# "), "\n# ") {
			if name, body, ok := strings.Cut(chapter, "\n"); ok {
				found[name] = readText(body)
			}
		}
	}
	return found
}

func readText(body string) Text {
	summary, command, _ := strings.Cut(body, "\n## ")
	short, command, _ := strings.Cut(command, "\n")
	long, example, _ := strings.Cut(command, "\n    ")
	return Text{
		Summary: strings.ReplaceAll(strings.TrimSpace(summary), "\n", " "),
		Short:   short,
		Long:    strings.TrimSpace(long),
		Example: strings.ReplaceAll(strings.TrimSpace(example), "\n    ", "\n"),
	}
}
