package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/catalog"
	"github.com/tidegate/tidegate/internal/agent/cell"
	"github.com/tidegate/tidegate/internal/agent/sandbox"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/face/cli"
)

// harmless are the commands that everybody may call: they read and change nothing of
// a person's.
var harmless = []string{"", "help", "version", "explain", "completion"}

// relays reports whether a client wants to reach the home of its agent, and nothing else.
func relays(args []string) bool { return len(args) == 3 && args[0] == "mcp" && args[1] == "--relay" }

// keepFromAgents lets a program that runs below an agent do only what an agent may: a
// person's decisions are taken by a person. On a home inside the agent's own folder
// it may do everything, so that the tests of a project can use tidegate.
func keepFromAgents(env *catalog.Env, program *cli.Program, args []string) {
	below, owns := cell.Below(sandbox.SupervisorName)
	if !below {
		return
	}
	check := program.Check
	program.Check = func(command string) error {
		if slices.Contains(harmless, command) || relays(args) {
			return nil
		}
		if outside := leadsOut(env, command, args, owns); outside != "" {
			return tidegate.Errorf(tidegate.NotAPerson, tidegate.Pairs("command", command, "outside", tidegate.Cut(outside)),
				"an agent called `tidegate %s`, which is for people: %s is not in the agent's own folder", command, tidegate.Cut(outside))
		}
		if check != nil {
			return check(command)
		}
		return nil
	}
	program.Reach = artifact.Within(highest(env.Home, owns))
}

// leadsOut is the first thing that a command would touch and that is not the agent's
// own: the home, or what an argument names. Tools are held to the agent's folder
// besides, whatever their arguments say.
func leadsOut(env *catalog.Env, command string, args []string, owns func(string) bool) string {
	if !owns(env.Home) {
		return "the folder of runs"
	}
	for _, arg := range args {
		if name, value, ok := strings.Cut(arg, "="); ok && strings.HasPrefix(name, "-") {
			arg = value
		}
		path := arg
		if !filepath.IsAbs(path) {
			path = filepath.Join(env.Dir, path)
		}
		if _, err := os.Lstat(path); (err == nil || filepath.IsAbs(arg)) && !owns(path) {
			return arg
		}
	}
	return ""
}

// highest is the folder of the agent's own that holds a path.
func highest(path string, owns func(string) bool) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	for above := filepath.Dir(path); above != path && owns(above); above = filepath.Dir(above) {
		path = above
	}
	return path
}
