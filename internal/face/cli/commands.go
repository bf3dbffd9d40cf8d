package cli

import (
	"bufio"
	"cmp"
	"context"
	"reflect"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/tool"
)

func (p *Program) toolCommand(t *tool.Tool) *cobra.Command {
	long := p.long(t.Command.Long, t.Command.Short, t.Command.Operands)
	if !t.Person {
		long += "\n\nFor scripts and agents it is the tool " + t.Name + "."
	}
	var format string
	var watch, follow, yes bool
	cmd := &cobra.Command{
		Use:     usage(t.Command.Path, t.Command.Operands),
		Short:   t.Command.Short,
		Long:    long,
		Example: indent(t.Command.Example),
		Args:    operandsOf(t.Command),

		ValidArgsFunction: p.completions(t.Command.Operands),
	}
	defineFlags(cmd, t)
	p.flagCompletions(cmd, t)
	formats := append([]string{"text", "json"}, t.Command.Formats...)
	cmd.Flags().StringVar(&format, "format", "text", "how to print the result ("+strings.Join(formats, ", ")+")")
	complete(cmd, "format", formats)
	if t.Command.Watch != nil {
		cmd.Flags().BoolVar(&watch, "watch", false, "judge again whenever a file changes, and mark what changed, until interrupted")
	}
	if t.Command.Follow != nil {
		cmd.Flags().BoolVar(&follow, "follow", false, "keep printing what is added, one line each, until interrupted")
	}
	if s := t.Command.Stream; s != nil {
		cmd.Flags().String(s.Flag, "", s.About)
		cmd.Flags().String(s.Choice.Flag, s.Choice.Values[0], s.Choice.About+" ("+strings.Join(s.Choice.Values, ", ")+")")
		complete(cmd, s.Choice.Flag, s.Choice.Values)
	}
	if t.Command.Confirm != nil {
		cmd.Flags().BoolVar(&yes, "yes", false, "do not ask")
	}
	cmd.RunE = func(cmd *cobra.Command, operands []string) error {
		if file, streams := streamed(cmd, t.Command); streams {
			if file != tool.Stdin {
				file = absolute(p.Dir, file)
			}
			choice, err := chosen(cmd, t.Command.Stream.Choice)
			if err != nil {
				return err
			}
			return t.Command.Stream.Run(cmd.Context(), file, choice, p.Stdin, p.Stdout)
		} else if s := t.Command.Stream; s != nil && cmd.Flags().Changed(s.Choice.Flag) {
			return tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs(s.Choice.Flag, nil), "--%s goes with --%s", s.Choice.Flag, s.Flag)
		}
		configured := p.Formats[t.Command.Path]
		if configured != "" && !cmd.Flags().Changed("format") {
			format = configured
		}
		if !slices.Contains(formats, format) {
			return tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("format", format), "--format must be one of %s, got %q", strings.Join(formats, ", "), format)
		}
		if t.Command.Piped != "" && p.Terminal.Width == 0 && configured == "" && !cmd.Flags().Changed("format") {
			format = t.Command.Piped
		}
		if err := p.note(cmd, operands); err != nil {
			return err
		}
		args, typed, err := p.arguments(cmd.Context(), cmd, t, operands)
		if err == nil {
			err = p.confirm(cmd.Context(), t.Command, args, yes)
		}
		if err != nil {
			if format == "json" {
				return p.show(tool.Failure(err), format)
			}
			return err
		}
		if watch {
			return p.watch(cmd.Context(), t, args, typed, format)
		}
		if follow {
			return p.follow(cmd.Context(), t, args, format)
		}
		return p.callAndShow(cmd.Context(), t, args, typed, format)
	}
	return cmd
}

// completions offers a shell what the next operand can be: ids where they are known,
// otherwise files.
func (p *Program) completions(operands []tool.Operand) cobra.CompletionFunc {
	return func(cmd *cobra.Command, typed []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
		before := map[string]string{}
		for i, o := range operands {
			if i < len(typed) {
				before[o.Name] = typed[i]
				continue
			}
			list := p.Complete[cmp.Or(o.Field, o.Name)]
			if list == nil {
				break
			}
			if fitting := beginning(begun, list(cmd.Context(), before)); len(fitting) > 0 || !o.Path && !strings.HasSuffix(o.Field, "_path") {
				return fitting, cobra.ShellCompDirectiveNoFileComp
			}
			break
		}
		return nil, cobra.ShellCompDirectiveDefault
	}
}

// flagCompletions offers ids for the flags that take several: --only takes what
// perspective_id takes.
func (p *Program) flagCompletions(cmd *cobra.Command, t *tool.Tool) {
	for _, a := range flagged(t) {
		list := p.Complete[strings.TrimSuffix(a.Name, "s")]
		if a.Kind != reflect.Slice || list == nil {
			continue
		}
		complete := func(cmd *cobra.Command, typed []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
			before := map[string]string{}
			for i, o := range t.Command.Operands {
				if i < len(typed) {
					before[o.Name] = typed[i]
				}
			}
			return beginning(begun, list(cmd.Context(), before)), cobra.ShellCompDirectiveNoFileComp
		}
		if err := cmd.RegisterFlagCompletionFunc(t.Command.FlagName(a.Name), complete); err != nil {
			panic("cli: " + err.Error())
		}
	}
}

// beginning are those that go on from what is typed. What others named is offered only where a
// shell takes it as the one word that it is: the scripts of shells evaluate what they complete.
func beginning(begun string, all []string) []string {
	return slices.DeleteFunc(all, func(each string) bool {
		word, _, _ := strings.Cut(each, "\t") // its description follows
		return !strings.HasPrefix(each, begun) || strings.HasPrefix(word, "-") || report.ShellWord(word) != word
	})
}

// follow prints one line for each entry, as it comes. The end of the context is
// its normal end.
func (p *Program) follow(ctx context.Context, t *tool.Tool, args *codec.Value, format string) error {
	ctx = tidegate.WithActor(ctx, tidegate.Actor{Kind: tidegate.Person, By: tidegate.ByTerminal})
	return t.Command.Follow(ctx, args, func(text string, entry *codec.Value) error {
		line := []byte(report.Visible(text))
		if format == "json" {
			var err error
			if line, err = codec.MarshalLine(entry); err != nil {
				return err
			}
			return p.writeJSON(append(line, '\n'))
		}
		return p.write(append(line, '\n'))
	})
}

func (p *Program) callAndShow(ctx context.Context, t *tool.Tool, args *codec.Value, typed tool.Typed, format string) error {
	raw, err := codec.MarshalLine(args)
	if err != nil {
		return err
	}
	ctx = tidegate.WithActor(ctx, tidegate.Actor{Kind: tidegate.Person, By: tidegate.ByTerminal})
	bar := p.startProgress(t.Command.Path)
	caller := tool.Caller{Reach: p.Reach, Progress: bar.update, Waiting: bar.wait, Say: p.sayAbove(bar), Panicked: p.logPanic}
	if p.Terminal.Input && p.Terminal.Width > 0 {
		caller.Ask = func(ctx context.Context, question string) (bool, error) {
			bar.wipe()
			answer, err := Ask(ctx, bufio.NewReader(p.Stdin), p.Stderr, report.Wrapped(report.Visible(question), p.Terminal.ErrWidth))
			return answer == 'y', err
		}
	}
	result := t.Call(ctx, raw, caller)
	bar.stop()
	if result.Err != nil {
		result = tool.Failure(p.misplaced(result.Err))
	}
	if result.Err != nil && format != "json" && t.Command.Instead != nil {
		in, err := t.Input(ctx, args)
		if err == nil {
			if r, ok := t.Command.Instead(ctx, in, result.Err); ok {
				return cmp.Or(p.render(r, format), error(exitStatus(Status(tidegate.ClassOf(result.Err.Code)))))
			}
		}
	}
	if result.Err == nil && t.Command.After != nil {
		if err := t.Command.After(ctx, typed, result.Value()); err != nil {
			return err
		}
	}
	return inTypedWords(t, p.show(result, format))
}

func (p *Program) extraCommand(c Command) *cobra.Command {
	cmd := &cobra.Command{
		Use:       usage(c.Path, c.Operands),
		Short:     c.Short,
		Long:      p.long(c.Long, c.Short, c.Operands),
		Example:   indent(c.Example),
		Args:      operandsRule(c.Operands),
		ValidArgs: c.Complete,
	}
	if c.Complete == nil {
		cmd.ValidArgsFunction = p.completions(c.Operands)
	}
	for _, f := range c.Flags {
		define(cmd, f)
		name, _ := pflag.UnquoteUsage(cmd.Flags().Lookup(f.Name))
		if list := p.Complete[name]; list != nil { // it takes what an operand of that name takes
			err := cmd.RegisterFlagCompletionFunc(f.Name, func(cmd *cobra.Command, _ []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
				return beginning(begun, list(cmd.Context(), nil)), cobra.ShellCompDirectiveNoFileComp
			})
			if err != nil {
				panic("cli: " + err.Error())
			}
		}
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := p.note(cmd, args); err != nil {
			return err
		}
		call := Invocation{Args: args, Flags: map[string][]string{}, Program: *p}
		for _, f := range c.Flags {
			flag := cmd.Flags().Lookup(f.Name)
			values := []string{flag.Value.String()}
			if configured := p.Formats[c.Path]; f.Name == "format" && configured != "" && !flag.Changed {
				values[0] = configured
			}
			if f.List {
				values = flag.Value.(pflag.SliceValue).GetSlice()
			}
			if f.Enum != nil && flag.Changed && !slices.Contains(f.Enum, values[0]) {
				return tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs(f.Name, values[0]), "--%s must be one of %s, got %q", f.Name, strings.Join(f.Enum, ", "), values[0])
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
		return p.misplaced(c.Run(cmd.Context(), call))
	}
	return cmd
}

func (p *Program) toolsCommand() *cobra.Command {
	var asJSON, asMarkdown bool
	cmd := &cobra.Command{
		Use:     "tools",
		Short:   "List the tools with their schemas",
		Long:    "List the tools: what agents call over MCP and scripts with `tidegate call`.",
		Example: "  tidegate tools\n  tidegate tools --markdown >tools.md\n  tidegate tools --json",
		Args:    atMost(0),
		RunE: func(*cobra.Command, []string) error {
			switch {
			case asJSON:
				return p.print(tool.List(tool.ForAgents(p.Tools)))
			case asMarkdown:
				return p.write([]byte(reference(tool.ForAgents(p.Tools))))
			}
			return p.render(tool.Overview(tool.ForAgents(p.Tools)), "text")
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print names, summaries, effects and schemas as JSON")
	cmd.Flags().BoolVar(&asMarkdown, "markdown", false, "print every argument and result as Markdown")
	return cmd
}

func (p *Program) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print the version",
		Example: "  tidegate version",
		Args:    atMost(0),
		RunE: func(c *cobra.Command, _ []string) error {
			return p.write([]byte(c.Root().Name() + " " + p.Version + "\n"))
		},
	}
}
