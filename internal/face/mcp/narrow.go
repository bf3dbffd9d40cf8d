package mcp

import (
	"slices"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/tool"
)

// Narrowing says which tools an operator offers. Each field narrows further;
// nothing that a caller sends widens it again.
type Narrowing struct {
	ReadOnly bool     // only what writes nothing
	Names    []string // only these
	Sets     []string // only the tools of these sets; allSets is every set
	// Without names and sets, only the tools that are offered by default.
}

// allSets stands for every set of tools.
const allSets = "all"

// Narrow returns the tools that are left, in their order. It returns
// INVALID_ARGS for a name or set that no tool has, and when nothing is left.
func Narrow(tools []*tool.Tool, by Narrowing) ([]*tool.Tool, error) {
	if err := known("tools", by.Names, tools, func(t *tool.Tool) string { return t.Name }); err != nil {
		return nil, err
	}
	all := slices.Contains(by.Sets, allSets)
	if !all {
		if err := known("toolsets", by.Sets, tools, func(t *tool.Tool) string { return t.Set }, allSets); err != nil {
			return nil, err
		}
	}
	var left []*tool.Tool
	for _, t := range tools {
		switch {
		case len(by.Names) == 0 && len(by.Sets) == 0 && !t.Core,
			len(by.Names) > 0 && !slices.Contains(by.Names, t.Name),
			len(by.Sets) > 0 && !all && !slices.Contains(by.Sets, t.Set):
			continue
		}
		if by.ReadOnly {
			view, ok := t.ReadOnly()
			if !ok {
				continue
			}
			t = view
		}
		left = append(left, t)
	}
	if len(left) == 0 {
		return nil, tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("tools", by.Names, "toolsets", by.Sets, "read_only", by.ReadOnly),
			"--tools, --toolsets and --read-only together leave no tool to offer")
	}
	return left, nil
}

func known(flag string, wanted []string, tools []*tool.Tool, value func(*tool.Tool) string, values ...string) error {
	for _, t := range tools {
		if !slices.Contains(values, value(t)) {
			values = append(values, value(t))
		}
	}
	for _, each := range wanted {
		if slices.Contains(values, each) {
			continue
		}
		hint := codec.DidYouMean(each, values, "known are "+strings.Join(values, ", "))
		return tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs(flag, tidegate.Cut(each)), "--%s names %q, which does not exist; %s", flag, tidegate.Cut(each), hint)
	}
	return nil
}
