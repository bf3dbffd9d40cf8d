package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/tool"
)

func (p *Program) callCommand() *cobra.Command {
	var source string
	tools := tool.ForAgents(p.Tools)
	names := make([]string, len(tools))
	for i, t := range tools {
		names[i] = t.Name
	}
	cmd := &cobra.Command{
		Use:   "call NAME",
		Short: "Call a tool with JSON arguments and print its JSON envelope",
		Long: `Call a tool with JSON arguments and print exactly its JSON envelope.

Arguments come from --args (JSON, or @FILE), else from stdin. Paths in them must
be absolute. The exit status is 0 whenever "ok" is true, also when a judgement
did not pass: read "pass" in the result. ` + "`tidegate tools`" + ` lists the tools; with --json
it says what each takes and answers.`,
		Example: "  tidegate call deep_research_run_list --args '{}'\n" +
			"  tidegate call deep_research_wave_output_validate --args @args.json",
		Args:      operandsRule([]tool.Operand{{Name: "NAME", About: "the tool to call, as `tidegate tools` lists it"}}),
		ValidArgs: names,
		RunE: func(cmd *cobra.Command, words []string) error {
			call := func() tool.Result {
				i := slices.Index(names, words[0])
				if i < 0 {
					return tool.Failure(unknownTool(words[0], names))
				}
				if source == "" && p.Terminal.Input {
					p.askForArguments(tools[i])
				}
				raw, err := p.callArguments(cmd.Context(), source)
				if err != nil {
					return tool.Failure(err)
				}
				return tools[i].Call(cmd.Context(), raw, tool.Caller{Reach: p.Reach, Panicked: p.logPanic})
			}
			result := call()
			if err := p.writeJSON(append(result.Envelope, '\n')); err != nil {
				return err
			}
			if result.Err != nil {
				return exitStatus(Status(tidegate.ClassOf(result.Err.Code)))
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&source, "args", "", "the arguments as JSON, or @FILE to read them from a file")
	return cmd
}

func unknownTool(name string, names []string) error {
	hint := "`tidegate tools` lists them"
	near := codec.Nearest(name, names)
	if ends := func(n string) bool { return strings.HasSuffix(n, "_"+name) }; near == "" && slices.ContainsFunc(names, ends) {
		near = names[slices.IndexFunc(names, ends)]
	}
	if near != "" {
		hint = "did you mean " + near + "?"
	}
	return tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("name", tidegate.Cut(name)), "there is no tool %q; %s", tidegate.Cut(name), hint)
}

// askForArguments says to a person at the terminal what the program waits for.
func (p *Program) askForArguments(t *tool.Tool) {
	var out strings.Builder
	fmt.Fprintf(&out, "Type the arguments of %s as a JSON object, then Ctrl-D (on Windows Ctrl-Z and Enter).\n", t.Name)
	schema := t.InputSchema()
	required := schema.Get("required").Elems()
	properties := schema.Get("properties").Members()
	if len(properties) == 0 {
		out.WriteString("It takes none: {}\n")
	}
	for _, m := range properties {
		kind := m.Value.Get("type").Str()
		if slices.ContainsFunc(required, func(r *codec.Value) bool { return r.Str() == m.Key }) {
			kind += ", required"
		}
		fmt.Fprintf(&out, "  %s (%s): %s\n", m.Key, kind, m.Value.Get("description").Str())
	}
	// Nothing can be done about a stderr that cannot be written to.
	_, _ = io.WriteString(p.Stderr, report.Filled(out.String(), p.helpWidth()))
}

func (p *Program) callArguments(ctx context.Context, source string) ([]byte, error) {
	file, isFile := strings.CutPrefix(source, "@")
	switch {
	case isFile:
		data, err := os.ReadFile(absolute(p.Dir, file))
		if err != nil {
			return nil, tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("args", source), "--args names a file that cannot be read: %w", err)
		}
		return data, nil
	case source != "":
		return []byte(source), nil
	}
	return tool.ReadInput(ctx, p.Stdin, "the object of arguments")
}
