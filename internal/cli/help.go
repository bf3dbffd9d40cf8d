package cli

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/tidegate/tidegate/tool"
)

// helpWidth is how wide the help is where the terminal does not say less.
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
	text := folded(about, p.helpWidth()) + "\n\n" + cmd.UsageString()
	if !cmd.HasParent() {
		text += "`tidegate help exit-status` lists the exit statuses.\n"
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

// usageTemplate is cobra's, but for the usage line of groups, and for flags that
// are wrapped.
func usageTemplate(width int) string {
	return strings.ReplaceAll(`Usage:{{if not (index .Annotations "`+group+`")}}
  {{.UseLine}}{{end}}{{if .HasAvailableSubCommands}}
  {{.CommandPath}} COMMAND{{end}}{{if .HasExample}}

Examples:
{{.Example}}{{end}}{{if .HasAvailableSubCommands}}

Commands:{{range .Commands}}{{if (or .IsAvailableCommand (eq .Name "help"))}}
  {{rpad .Name .NamePadding }} {{.Short}}{{end}}{{end}}{{end}}{{if .HasAvailableLocalFlags}}

Flags:
{{.LocalFlags.FlagUsagesWrapped WIDTH | trimTrailingWhitespaces}}{{end}}{{if .HasAvailableInheritedFlags}}

Global flags:
{{.InheritedFlags.FlagUsagesWrapped WIDTH | trimTrailingWhitespaces}}{{end}}{{if .HasAvailableSubCommands}}

`+"`{{.CommandPath}} COMMAND --help` says more about a command."+`{{end}}
`, "WIDTH", strconv.Itoa(width))
}

// operandList describes the operands, one below the other.
func operandList(operands []tool.Operand) string {
	width := 0
	for _, o := range operands {
		width = max(width, len(o.Name))
	}
	var b strings.Builder
	for _, o := range operands {
		fmt.Fprintf(&b, "\n  %-*s  %s", width, o.Name, o.About)
	}
	return b.String()
}

// folded fills paragraphs up to width, breaking lines at blanks. Lines that are
// indented are kept apart; what is broken off of them is indented further.
func folded(text string, width int) string {
	var out strings.Builder
	column := 0
	for i, line := range strings.Split(text, "\n") {
		words := strings.Fields(line)
		margin := ""
		if len(words) > 0 {
			margin = line[:strings.Index(line, words[0])]
		}
		if i > 0 && (len(words) == 0 || margin != "" || column == 0) {
			out.WriteByte('\n')
			column = 0
		}
		if margin != "" && len(line) <= width {
			out.WriteString(line)
			continue
		}
		for _, w := range words {
			switch {
			case column == 0:
				out.WriteString(margin)
				column = len(margin)
			case column+1+len(w) > width:
				further := ""
				if margin != "" {
					further = margin + "  "
				}
				out.WriteString("\n" + further)
				column = len(further)
			default:
				out.WriteByte(' ')
				column++
			}
			out.WriteString(w)
			column += len(w)
		}
		if margin != "" {
			column = 0
		}
	}
	return out.String()
}

func indent(example string) string {
	if example == "" {
		return ""
	}
	return "  " + strings.ReplaceAll(strings.TrimSpace(example), "\n", "\n  ")
}
