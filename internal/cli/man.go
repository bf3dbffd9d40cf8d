package cli

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/tool"
)

// The pages are written here and not by cobra's generator, because that one
// compiles its patterns whenever the program starts, at a sixth of the time of a
// cold call.

func (p *Program) manCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "man FOLDER",
		Short:   "Write the manual pages into a folder",
		Long:    "Write the manual pages of all commands into a folder, which is made where there is none. `man ./man1/tidegate.1` shows the first.",
		Example: "  tidegate man ./man1",
		Args:    operandsRule([]tool.Operand{{Name: "FOLDER", About: "where the pages go; it is made when it is not there"}}),
		RunE: func(_ *cobra.Command, args []string) error {
			dir := absolute(p.Dir, args[0])
			if err := os.MkdirAll(dir, 0o755); err != nil {
				return tidegate.Errorf(tidegate.WriteFailed, tidegate.D("folder", dir), "the folder %s cannot be made: %w", dir, err)
			}
			return p.writePages(p.Root(), dir)
		},
	}
}

func (p *Program) writePages(cmd *cobra.Command, dir string) error {
	path := filepath.Join(dir, strings.ReplaceAll(cmd.CommandPath(), " ", "-")+".1")
	if err := os.WriteFile(path, p.page(cmd), 0o644); err != nil {
		return tidegate.Errorf(tidegate.WriteFailed, tidegate.D("page", path), "the manual page %s cannot be written: %w", path, err)
	}
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			if err := p.writePages(c, dir); err != nil {
				return err
			}
		}
	}
	return nil
}

func (p *Program) page(cmd *cobra.Command) []byte {
	var b bytes.Buffer
	name := strings.ReplaceAll(cmd.CommandPath(), " ", "-")
	fmt.Fprintf(&b, ".TH %q 1 \"\" %q \"tidegate\"\n", strings.ToUpper(name), "tidegate "+p.Version)
	fmt.Fprintf(&b, ".SH NAME\n%s \\- %s\n", roff(name), roff(cmd.Short))
	fmt.Fprintf(&b, ".SH SYNOPSIS\n.B %s\n", roff(cmd.UseLine()))
	fmt.Fprintf(&b, ".SH DESCRIPTION\n%s\n", roff(cmp.Or(cmd.Long, cmd.Short)))
	for _, group := range []struct {
		title string
		flags *pflag.FlagSet
	}{{"OPTIONS", cmd.NonInheritedFlags()}, {"GLOBAL OPTIONS", cmd.InheritedFlags()}} {
		if !group.flags.HasAvailableFlags() {
			continue
		}
		fmt.Fprintf(&b, ".SH %s\n", group.title)
		group.flags.VisitAll(func(f *pflag.Flag) {
			if f.Hidden {
				return
			}
			kind, usage := pflag.UnquoteUsage(f)
			fmt.Fprintf(&b, ".TP\n.B %s\n%s", roff(strings.TrimSpace("--"+f.Name+" "+kind)), roff(usage))
			if f.DefValue != "" && f.DefValue != "false" && f.DefValue != "[]" {
				fmt.Fprintf(&b, " (default %s)", roff(f.DefValue))
			}
			b.WriteByte('\n')
		})
	}
	if cmd.Example != "" {
		fmt.Fprintf(&b, ".SH EXAMPLES\n.nf\n%s\n.fi\n", roff(cmd.Example))
	}
	fmt.Fprintf(&b, ".SH EXIT STATUS\n.nf\n%s.fi\n", roff(strings.TrimPrefix(statusTable(), "Exit status:\n"))+"\n")
	if see := neighbours(cmd); len(see) > 0 {
		fmt.Fprintf(&b, ".SH SEE ALSO\n%s\n", roff(strings.Join(see, ", ")))
	}
	return b.Bytes()
}

func neighbours(cmd *cobra.Command) []string {
	var pages []string
	add := func(c *cobra.Command) {
		pages = append(pages, strings.ReplaceAll(c.CommandPath(), " ", "-")+"(1)")
	}
	if cmd.HasParent() {
		add(cmd.Parent())
	}
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			add(c)
		}
	}
	return pages
}

// roff quotes text: backslashes, dashes, and a control character at the start
// of a line; an empty line starts a paragraph.
func roff(s string) string {
	s = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(s)
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		switch {
		case line == "":
			lines[i] = ".PP"
		case line[0] == '.' || line[0] == '\'':
			lines[i] = `\&` + line
		}
	}
	return strings.TrimSuffix(strings.Join(lines, "\n"), "\n.PP")
}
