package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
)

// noSuchCommand refuses a word where a group expects one of its commands. A word that a
// group below has is probably meant with its group.
func noSuchCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var names, below []string
	for _, c := range cmd.Commands() {
		if !c.IsAvailableCommand() {
			continue
		}
		names = append(names, c.Name())
		if slices.ContainsFunc(c.Commands(), func(sub *cobra.Command) bool { return sub.Name() == args[0] }) {
			below = append(below, c.Name()+" "+args[0])
		}
	}
	hint := "did you mean " + strings.Join(below, " or ") + "?"
	if len(below) == 0 {
		hint = meant(args[0], "", names, cmd)
	}
	return tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("command", tidegate.Cut(args[0])),
		"unknown command %q for %q; %s", tidegate.Cut(args[0]), cmd.CommandPath(), hint)
}

// wrongFlag says which flag was probably meant by one that does not exist.
func wrongFlag(cmd *cobra.Command, err error) error {
	name, unknown := strings.CutPrefix(err.Error(), "unknown flag: --")
	if !unknown {
		return tidegate.Errorf(tidegate.InvalidArgs, nil, "%s", lowerFirst(err.Error()))
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	return tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("flag", tidegate.Cut(name)),
		"unknown flag: --%s; %s", tidegate.Cut(name), meant(name, "--", names, cmd))
}

// meant says which of the names a word probably stands for, or where they are
// listed. Two swapped letters are one slip, however short the word.
func meant(word, mark string, names []string, cmd *cobra.Command) string {
	near := codec.Nearest(word, names)
	for i := 0; i+1 < len(word) && near == ""; i++ {
		swapped := word[:i] + word[i+1:i+2] + word[i:i+1] + word[i+2:]
		if slices.Contains(names, swapped) {
			near = swapped
		}
	}
	if near != "" {
		return "did you mean " + mark + near + "?"
	}
	return "`" + cmd.CommandPath() + " --help` lists them"
}
