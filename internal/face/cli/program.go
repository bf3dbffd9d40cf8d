// Package cli turns tools into commands: flags and help from their
// declarations, reports on a terminal, and an exit status from the class of an
// error. It is the only user of cobra, and knows no domain.
//
// stdout carries results only. Everything else goes to stderr: errors as
// "tidegate: message", progress, and the log.
package cli

import (
	"cmp"
	"context"
	"errors"
	"io"
	"log/slog"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/tool"
)

// Program is the command line as main assembles it.
type Program struct {
	Tools    []*tool.Tool
	Commands []Command         // what is not a tool: servers, demo, doctor
	Groups   map[string]string // the first words of commands → what they are for
	Settings []Setting
	Formats  map[string]string // commands → how they print without --format
	// Check is called before a command runs, with its name without that of the
	// program, and may refuse it; nil for no check.
	Check func(command string) error
	// Reach is which files tools may touch by their paths; by its zero value all that
	// the user may.
	Reach artifact.Reach
	// Complete lists the possible values of an operand, by its name or by the name
	// of the argument that it fills, given the operands before it. A shell asks for it.
	Complete map[string]func(ctx context.Context, before map[string]string) []string
	Version  string
	// Name, About and Example are for another program with the same face; "" for
	// tidegate.
	Name, About, Example string

	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Terminal       Terminal
	Dir            string // the working folder, against which paths are made absolute
	Log            *slog.LevelVar

	typed map[string]string // the operands and flags that may be paths, absolute, each with its name
}

// Terminal is what is known of stdin, stdout and stderr.
type Terminal struct {
	Input    bool // stdin is a terminal: a person has to type what is read
	Color    bool // stdout shows colours
	Width    int  // columns of stdout, 0 when it is not a terminal
	Progress bool // stderr is a terminal
	ErrWidth int  // columns of stderr, 0 when it is not a terminal

	// Size is the current size of stdout; nil where it is not a terminal that can
	// be drawn on.
	Size func() (columns, rows int)
	// Keys hands over what is typed, byte by byte, until restore is called, which
	// restores the terminal. Ctrl-C still interrupts. Nil where nothing can be
	// typed.
	Keys func() (keys <-chan byte, restore func())
}

// Setting is a flag that configures the program rather than one call, such as
// the project folder of code reviews.
type Setting struct {
	Name  string
	About string
	Under []string // the commands, or groups of commands, that accept it
	Kind  tool.FlagKind
	Set   func(value string)
}

// Command is a command that is not a tool.
type Command struct {
	Path     string // "mcp", or "mcp config"
	Operands []tool.Operand
	Short    string
	Long     string
	Example  string
	Flags    []tool.Flag
	Complete []string // values of the first operand
	Run      func(ctx context.Context, call Invocation) error
}

// Described gives commands their texts: the chapters of a file, as [tool.Texts] reads it, that
// have the names of their paths. It panics for a command without one.
func Described(file string, commands []Command) []Command {
	texts := tool.Texts(file)
	for i := range commands {
		c := &commands[i]
		said, ok := texts[c.Path]
		if !ok || said.Example == "" {
			panic("cli: no text of the command " + c.Path)
		}
		c.Short, c.Long, c.Example = said.Short, said.Long, said.Example
	}
	return commands
}

// Invocation is one call of a [Command].
type Invocation struct {
	Args  []string
	Flags map[string][]string // only those given, and those with a default
	Program
}

// Flag is the value of a flag, "" when it was not given.
func (i Invocation) Flag(name string) string {
	if values := i.Flags[name]; len(values) > 0 {
		return values[len(values)-1]
	}
	return ""
}

// Run executes one command line and returns the exit status. It prints every
// error itself.
func (p *Program) Run(ctx context.Context, args []string) int {
	root := p.tree(p.under(args))
	root.SetArgs(args)
	cmd, err := root.ExecuteContextC(ctx)
	var status exitStatus
	switch {
	case err == nil:
		return 0
	case errors.As(err, &status):
		return int(status)
	}
	p.printError(cmd.CommandPath(), err)
	return Status(tidegate.ClassOf(tidegate.CodeOf(err)))
}

// under is the beginning of a command line that shows which commands can be meant,
// "" where none does. A command that cannot be meant is not made.
func (p *Program) under(args []string) string {
	for n := min(len(args), 2); n > 0; n-- {
		if path := strings.Join(args[:n], " "); p.has(path) {
			return path
		}
	}
	return ""
}

// has reports whether there is a command or a group of this path.
func (p *Program) has(path string) bool {
	_, isGroup := p.Groups[path]
	return isGroup || slices.Contains([]string{"call", "tools", "version"}, path) ||
		slices.ContainsFunc(p.Tools, func(t *tool.Tool) bool { return t.Command != nil && t.Command.Path == path }) ||
		slices.ContainsFunc(p.Commands, func(c Command) bool { return c.Path == path })
}

// Root is the whole command tree; documentation is generated from it.
func (p *Program) Root() *cobra.Command { return p.tree("") }

// tree is the command tree, with the commands whose path begins with some words, or
// with all of them for "".
func (p *Program) tree(under string) *cobra.Command {
	var level string
	root := &cobra.Command{
		Use:   cmp.Or(p.Name, "tidegate"),
		Short: "The gate between what an AI agent wrote and everything that trusts it",
		Long: cmp.Or(p.About, `tidegate gives you a report in which every sentence leads to the words of a page
that say it, or is marked because none does: of a file that you have (audit, which
needs no agent), or of a question that you ask (research). It does the same for
reviews of code (review run).

What counts is judged by rules, offline: no model is asked, and a source is judged
by its archived page. Pages are fetched by audit, research, run update, citations
fetch and the commands that resume a run, and by nothing else; a run created with
--sensitivity no_web fetches nothing.`),
		Example:           cmp.Or(p.Example, "  tidegate audit report.md\n  tidegate demo\n  tidegate research \"Which heat pump fits an old house?\""),
		Version:           p.Version,
		SilenceErrors:     true,
		SilenceUsage:      true,
		CompletionOptions: cobra.CompletionOptions{HiddenDefaultCmd: false},
		Args:              noSuchCommand,
		Annotations:       map[string]string{group: "yes"},
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			if err := p.setLevel(level); err != nil || p.Check == nil {
				return err
			}
			return p.Check(commandName(cmd))
		},
		RunE: showHelp,
	}
	root.PersistentFlags().StringVar(&level, "log-level", "warn", "what to log to stderr: debug, info, warn or error")
	complete(root, "log-level", []string{"debug", "info", "warn", "error"})
	root.SetIn(p.Stdin)
	root.SetOut(p.Stdout)
	root.SetErr(p.Stderr)
	root.SetFlagErrorFunc(wrongFlag)
	root.SetHelpFunc(p.help)
	root.SetUsageFunc(p.usage)
	root.SetVersionTemplate("{{.Name}} {{.Version}}\n")
	root.SetHelpCommand(p.helpCommand(root))
	root.AddCommand(p.toolsCommand(), p.callCommand(), p.versionCommand())
	inTree := func(path string) bool { return under == "" || strings.HasPrefix(path+" ", under+" ") }
	for _, t := range p.Tools {
		if t.Command != nil && inTree(t.Command.Path) {
			p.add(root, t.Command.Path, p.toolCommand(t))
		}
	}
	for _, c := range p.Commands {
		if inTree(c.Path) {
			p.add(root, c.Path, p.extraCommand(c))
		}
	}
	for _, s := range p.Settings {
		p.addSetting(root, s)
	}
	addCompletion(root)
	return root
}

// commandName is the path of a command without the name of the program.
func commandName(cmd *cobra.Command) string {
	_, name, _ := strings.Cut(cmd.CommandPath(), " ")
	return name
}

// exitStatusTopic is what the help describes besides the commands.
const exitStatusTopic = "exit-status"

func (p *Program) helpCommand(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use:     "help [COMMAND]",
		Short:   "Show the help of a command",
		Example: "  tidegate help wave review\n  tidegate help " + exitStatusTopic,
		RunE: func(_ *cobra.Command, args []string) error {
			if slices.Equal(args, []string{exitStatusTopic}) {
				return p.write([]byte(report.Wrapped(statusTable(), p.helpWidth())))
			}
			target, rest, err := root.Find(args)
			if err == nil {
				err = noSuchCommand(target, rest)
			}
			if err != nil {
				return err
			}
			return target.Help()
		},
	}
}

// addCompletion adds the scripts for shells, which cobra writes.
func addCompletion(root *cobra.Command) {
	root.InitDefaultCompletionCmd()
	for _, holder := range root.Commands() {
		if holder.Name() != "completion" {
			continue
		}
		holder.Short, holder.Long = "Print the completion script of a shell", ""
		holder.Args, holder.RunE, holder.Example = noSuchCommand, showHelp, "  source <(tidegate completion bash)"
		holder.Annotations = map[string]string{group: "yes"}
		for _, shell := range holder.Commands() {
			about := completions[shell.Name()]
			shell.Args, shell.DisableFlagsInUseLine = atMost(0), false
			shell.Short = "Print the completion script of " + shell.Name()
			shell.Long, shell.Example = shell.Short+". "+about.long, indent(about.example)
		}
	}
}

// completions say how a shell gets its script: for the current shell, and for every
// later one.
var completions = map[string]struct{ long, example string }{
	"bash": {
		"It needs the package bash-completion. The first example is for this shell, the second for every new one.",
		"source <(tidegate completion bash)\ntidegate completion bash > /etc/bash_completion.d/tidegate",
	},
	"zsh": {
		"It needs `autoload -U compinit; compinit` in ~/.zshrc. The first example is for this shell, the second for every new one.",
		"source <(tidegate completion zsh)\ntidegate completion zsh > \"${fpath[1]}/_tidegate\"",
	},
	"fish": {
		"The first example is for this shell, the second for every new one.",
		"tidegate completion fish | source\ntidegate completion fish > ~/.config/fish/completions/tidegate.fish",
	},
	"powershell": {
		"The example is for this shell; the same line in your profile is for every new one.",
		"tidegate completion powershell | Out-String | Invoke-Expression",
	},
}

func (p *Program) setLevel(name string) error {
	if p.Log == nil {
		return nil
	}
	var level slog.Level
	if err := level.UnmarshalText([]byte(name)); err != nil {
		return tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("log-level", name), "--log-level must be debug, info, warn or error, got %q", name)
	}
	p.Log.Set(level)
	return nil
}

// add puts cmd in its place in the tree, and makes the group it belongs to.
func (p *Program) add(root *cobra.Command, path string, cmd *cobra.Command) {
	words := strings.Fields(path)
	parent := root
	for n, word := range words[:len(words)-1] {
		i := slices.IndexFunc(parent.Commands(), func(c *cobra.Command) bool { return c.Name() == word })
		if i < 0 {
			holder := groupCommand(word, p.Groups[strings.Join(words[:n+1], " ")], cmd.Example)
			parent.AddCommand(holder)
			parent = holder
			continue
		}
		parent = parent.Commands()[i]
	}
	parent.AddCommand(cmd)
}

func (p *Program) addSetting(root *cobra.Command, s Setting) {
	for _, path := range s.Under {
		cmd, rest, err := root.Find(strings.Fields(path))
		if err != nil || cmd == root || len(rest) > 0 { // it is not in this tree
			continue
		}
		value := &settingValue{setting: s, dir: p.Dir}
		flag := cmd.PersistentFlags().VarPF(value, s.Name, "", s.About)
		if s.Kind == tool.Switch {
			flag.NoOptDefVal = "true"
		}
	}
}

type settingValue struct {
	setting Setting
	dir     string
	text    string
}

func (v *settingValue) String() string { return v.text }
func (v *settingValue) Type() string {
	switch v.setting.Kind {
	case tool.Switch:
		return "bool"
	case tool.PathFlag:
		return "path"
	}
	return "string"
}

func (v *settingValue) Set(text string) error {
	if v.setting.Kind == tool.PathFlag {
		text = absolute(v.dir, text)
	}
	v.text = text
	v.setting.Set(text)
	return nil
}

func complete(cmd *cobra.Command, flag string, values []string) {
	if err := cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)); err != nil {
		panic("cli: " + err.Error())
	}
}

func lowerFirst(s string) string {
	if len(s) > 1 && s[0] >= 'A' && s[0] <= 'Z' && (s[1] < 'A' || s[1] > 'Z') {
		return strings.ToLower(s[:1]) + s[1:]
	}
	return s
}
