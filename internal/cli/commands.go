package cli

import (
	"cmp"
	"context"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/codec"
	"github.com/tidegate/tidegate/tool"
)

func (p *Program) toolCommand(t *tool.Tool) *cobra.Command {
	words := strings.Fields(t.Command.Path)
	use := words[len(words)-1]
	var about strings.Builder
	for _, o := range t.Command.Operands {
		name := o.Name
		if o.Repeats {
			name += "..."
		}
		if o.Optional {
			name = "[" + name + "]"
		}
		use += " " + name
		about.WriteString("\n  " + o.Name + ": " + o.About)
	}
	long := folded(cmp.Or(t.Command.Long, t.Summary))
	if about.Len() > 0 {
		long += "\n" + about.String()
	}
	if !t.Person {
		long += "\n\nThe same operation is the tool " + t.Name + " of `tidegate call` and MCP."
	}
	var format string
	var watch bool
	cmd := &cobra.Command{
		Use:     use,
		Short:   t.Command.Short,
		Long:    long,
		Example: indent(t.Command.Example),
		Args:    operandsRule(t.Command.Operands),
	}
	defineFlags(cmd, t)
	formats := append([]string{"text", "json"}, t.Command.Formats...)
	cmd.Flags().StringVar(&format, "format", "text", "how to print the result ("+strings.Join(formats, ", ")+")")
	complete(cmd, "format", formats)
	if t.Command.Watch != nil {
		cmd.Flags().BoolVar(&watch, "watch", false, "judge again whenever a file changes, until interrupted")
	}
	cmd.RunE = func(cmd *cobra.Command, operands []string) error {
		if !slices.Contains(formats, format) {
			return tidegate.Errorf(tidegate.InvalidArgs, tidegate.D("format", format), "--format must be one of %s, got %q", strings.Join(formats, ", "), format)
		}
		args, err := p.arguments(cmd.Context(), cmd, t, operands)
		if err != nil {
			if format == "json" {
				return p.show(tool.Failure(err), format)
			}
			return err
		}
		if watch {
			return p.watch(cmd.Context(), t, args, format)
		}
		return p.callAndShow(cmd.Context(), t, args, format)
	}
	return cmd
}

func (p *Program) callAndShow(ctx context.Context, t *tool.Tool, args *codec.Value, format string) error {
	raw, err := codec.MarshalLine(args)
	if err != nil {
		return err
	}
	bar := p.startProgress(t.Command.Path)
	result := t.Call(ctx, raw, tool.Caller{Progress: bar.update, Panicked: p.logPanic})
	bar.stop()
	return inTypedWords(t, p.show(result, format))
}

func (p *Program) extraCommand(c Command) *cobra.Command {
	words := strings.Fields(c.Path)
	cmd := &cobra.Command{
		Use:       strings.TrimSpace(words[len(words)-1] + " " + c.Operands),
		Short:     c.Short,
		Long:      c.Long,
		Example:   indent(c.Example),
		Args:      atMost(c.MaxArgs),
		ValidArgs: c.Complete,
	}
	for _, f := range c.Flags {
		switch {
		case f.Kind == tool.Switch:
			cmd.Flags().Bool(f.Name, false, f.About)
		case f.List && f.Kind == tool.PathFlag: // a path may have a comma in it
			cmd.Flags().StringArray(f.Name, nil, f.About)
		case f.List:
			cmd.Flags().StringSlice(f.Name, nil, f.About)
		default:
			cmd.Flags().String(f.Name, f.Default, f.About)
		}
		if f.Enum != nil {
			complete(cmd, f.Name, f.Enum)
		}
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		call := Invocation{Args: args, Flags: map[string][]string{}, Program: *p}
		for _, f := range c.Flags {
			flag := cmd.Flags().Lookup(f.Name)
			values := []string{flag.Value.String()}
			if f.List {
				values = flag.Value.(pflag.SliceValue).GetSlice()
			}
			if f.Enum != nil && flag.Changed && !slices.Contains(f.Enum, values[0]) {
				return tidegate.Errorf(tidegate.InvalidArgs, tidegate.D(f.Name, values[0]), "--%s must be one of %s, got %q", f.Name, strings.Join(f.Enum, ", "), values[0])
			}
			if f.Kind == tool.PathFlag {
				for i := range values {
					values[i] = absolute(p.Dir, values[i])
				}
			}
			if flag.Changed || f.Default != "" {
				call.Flags[f.Name] = values
			}
		}
		return c.Run(cmd.Context(), call)
	}
	return cmd
}

func (p *Program) toolsCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "tools",
		Short:   "List the tools with their schemas",
		Long:    "List the tools: what agents call over MCP and scripts with `tidegate call`.",
		Example: "  tidegate tools\n  tidegate tools --json",
		Args:    atMost(0),
		RunE: func(*cobra.Command, []string) error {
			if asJSON {
				return p.print(tool.List(tool.ForAgents(p.Tools)))
			}
			return p.render(tool.Overview(tool.ForAgents(p.Tools)), "text")
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print names, summaries, effects and schemas as JSON")
	return cmd
}

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
did not pass: read "pass" in the result.`,
		Example:   `  tidegate call deep_research_wave_output_validate --args @args.json`,
		Args:      operandsRule([]tool.Operand{{Name: "NAME", About: "the tool to call, as `tidegate tools` lists it"}}),
		ValidArgs: names,
		RunE: func(cmd *cobra.Command, words []string) error {
			call := func() tool.Result {
				i := slices.Index(names, words[0])
				if i < 0 {
					return tool.Failure(unknownTool(words[0], names))
				}
				raw, err := p.callArguments(source)
				if err != nil {
					return tool.Failure(err)
				}
				return tools[i].Call(cmd.Context(), raw, tool.Caller{Panicked: p.logPanic})
			}
			result := call()
			if err := p.write(append(result.Envelope, '\n')); err != nil {
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
	if near := tool.Nearest(name, names); near != "" {
		hint = "did you mean " + near + "?"
	}
	return tidegate.Errorf(tidegate.InvalidArgs, tidegate.D("name", tidegate.Cut(name)), "there is no tool %q; %s", tidegate.Cut(name), hint)
}

func (p *Program) callArguments(source string) ([]byte, error) {
	file, isFile := strings.CutPrefix(source, "@")
	switch {
	case isFile:
		data, err := os.ReadFile(absolute(p.Dir, file))
		if err != nil {
			return nil, tidegate.Errorf(tidegate.InvalidArgs, tidegate.D("args", source), "--args names a file that cannot be read: %w", err)
		}
		return data, nil
	case source != "":
		return []byte(source), nil
	}
	data, err := io.ReadAll(p.Stdin)
	if err != nil {
		return nil, tidegate.Errorf(tidegate.ReadFailed, nil, "the arguments on stdin cannot be read: %w", err)
	}
	return data, nil
}

func (p *Program) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print the version",
		Example: "  tidegate version",
		Args:    atMost(0),
		RunE: func(*cobra.Command, []string) error {
			return p.write([]byte("tidegate " + p.Version + "\n"))
		},
	}
}

// helpWidth is how wide the help may be.
const helpWidth = 80

// folded breaks the lines of text that are too wide, at blanks.
func folded(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if len(line) <= helpWidth {
			continue
		}
		var out strings.Builder
		column := 0
		for _, word := range strings.Fields(line) {
			if column > 0 && column+1+len(word) > helpWidth {
				out.WriteByte('\n')
				column = 0
			} else if column > 0 {
				out.WriteByte(' ')
				column++
			}
			out.WriteString(word)
			column += len(word)
		}
		lines[i] = out.String()
	}
	return strings.Join(lines, "\n")
}

func indent(example string) string {
	if example == "" {
		return ""
	}
	return "  " + strings.ReplaceAll(strings.TrimSpace(example), "\n", "\n  ")
}
