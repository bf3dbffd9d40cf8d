package cli

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/tool"
)

// helpWidth is the width of the help, unless the terminal is narrower.
const helpWidth = 80

func (p *Program) helpWidth() int {
	if w := p.Terminal.Width; w > 0 && w < helpWidth {
		return w
	}
	return helpWidth
}

// showHelp is what a group of commands does.
func showHelp(cmd *cobra.Command, _ []string) error { return cmd.Help() }

// help prints what a command is for and how it is called.
func (p *Program) help(cmd *cobra.Command, _ []string) {
	about := cmd.Long
	if about == "" {
		about = cmd.Short + "."
	}
	text := report.Filled(about, p.helpWidth()) + "\n\n" + cmd.UsageString()
	if !cmd.HasParent() {
		text += report.Wrapped("`tidegate help exit-status` lists the exit statuses.\n", p.helpWidth())
	}
	if err := p.write([]byte(text)); err != nil {
		p.printError(cmd.CommandPath(), err)
	}
}

// group marks a command that only holds others.
const group = "group"

func groupCommand(name, short, example string) *cobra.Command {
	return &cobra.Command{
		Use: name, Short: short, Example: example, Args: noSuchCommand, RunE: showHelp, Annotations: map[string]string{group: "yes"},
	}
}

// usage prints how a command is called. Its lines are as wide as the help, except
// for what a person types.
func (p *Program) usage(cmd *cobra.Command) error {
	width := p.helpWidth()
	var b strings.Builder
	b.WriteString("Usage:\n")
	if cmd.Annotations[group] == "" {
		fmt.Fprintf(&b, "  %s\n", cmd.UseLine())
	}
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintf(&b, "  %s COMMAND\n", cmd.CommandPath())
	}
	if cmd.HasExample() {
		fmt.Fprintf(&b, "\nExamples:\n%s\n", cmd.Example)
	}
	if cmd.HasAvailableSubCommands() {
		b.WriteString("\nCommands:\n")
		for _, c := range cmd.Commands() {
			if c.IsAvailableCommand() || c.Name() == "help" {
				b.WriteString(hanging(fmt.Sprintf("  %-*s ", c.NamePadding(), c.Name()), c.Short, width) + "\n")
			}
		}
	}
	if cmd.HasAvailableLocalFlags() {
		b.WriteString("\nFlags:\n" + cmd.LocalFlags().FlagUsagesWrapped(width))
	}
	if cmd.HasAvailableInheritedFlags() {
		b.WriteString("\nGlobal flags:\n" + cmd.InheritedFlags().FlagUsagesWrapped(width))
	}
	if cmd.HasAvailableSubCommands() {
		b.WriteString(report.Wrapped(fmt.Sprintf("\n`%s COMMAND --help` says more about a command.\n", cmd.CommandPath()), width))
	}
	_, err := cmd.OutOrStdout().Write([]byte(b.String()))
	return err
}

// hanging is head with a text beside it; the lines of the text stand below each
// other.
func hanging(head, text string, width int) string {
	lines := strings.Split(report.Filled(text, max(width-len(head), 1)), "\n")
	return head + strings.Join(lines, "\n"+strings.Repeat(" ", len(head)))
}

// usage is how a command is typed, from the last word of its path.
func usage(path string, operands []tool.Operand) string {
	use := path[strings.LastIndex(path, " ")+1:]
	for _, o := range operands {
		name := o.Name
		if o.Repeats {
			name += "..."
		}
		if o.Optional {
			name = "[" + name + "]"
		}
		use += " " + name
	}
	return use
}

// long is what the help says of a command, with its operands.
func (p *Program) long(long, short string, operands []tool.Operand) string {
	long = cmp.Or(long, short+".")
	if len(operands) > 0 {
		long += "\n" + operandList(operands, p.helpWidth())
	}
	return long
}

// operandList describes the operands, one below the other.
func operandList(operands []tool.Operand, helpWidth int) string {
	width := 0
	for _, o := range operands {
		width = max(width, len(o.Name))
	}
	var b strings.Builder
	for _, o := range operands {
		b.WriteString("\n" + hanging(fmt.Sprintf("  %-*s  ", width, o.Name), o.About, helpWidth))
	}
	return b.String()
}

func indent(example string) string {
	if example == "" {
		return ""
	}
	return "  " + strings.ReplaceAll(strings.TrimSpace(example), "\n", "\n  ")
}
