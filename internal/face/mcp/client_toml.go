package mcp

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2/unstable"
)

// table is the TOML table of a server.
func table(section string, s Entry) string {
	args := make([]string, len(s.Args))
	for i, arg := range s.Args {
		args[i] = tomlString(arg)
	}
	return fmt.Sprintf("[%s.%s]\ncommand = %s\nargs = [%s]\n", section, s.Name, tomlString(s.Command), strings.Join(args, ", "))
}

// tomlString is a basic string: the escapes of JSON are among those of TOML.
func tomlString(s string) string {
	return strings.ReplaceAll(string(compact(s)), "\x7f", `\u007f`)
}

// mergeTOML appends the table of the server when nothing in the text defines it.
func mergeTOML(existing []byte, section string, s Entry) ([]byte, bool, error) {
	text := string(existing)
	all, err := statements(text)
	if err != nil {
		return nil, false, err
	}
	var current []string
	for i, each := range all {
		path := append(slices.Clone(current), each.key...)
		if each.header {
			path, current = each.key, each.key
		}
		if path[0] != section {
			continue
		}
		switch {
		case each.array, !each.header && len(current) == 0:
			return nil, false, fmt.Errorf("%s is not written as tables, so none can be added", section)
		case len(path) < 2 || path[1] != s.Name:
		case each.header && len(path) == 2 && sameTable(text, all[i:], table(section, s)):
			return existing, false, nil
		default:
			return nil, false, fmt.Errorf("%s has another entry %q already", section, s.Name)
		}
	}
	block := "\n" + table(section, s)
	if !strings.HasSuffix(text, "\n") {
		block = "\n" + block
	}
	if strings.Contains(text, "\r\n") {
		block = strings.ReplaceAll(block, "\n", "\r\n")
	}
	return append(slices.Clone(existing), block...), true, nil
}

// sameTable reports whether the table that begins with the first statement is want,
// up to the statement that begins another table.
func sameTable(text string, from []statement, want string) bool {
	end := len(text)
	if next := slices.IndexFunc(from[1:], func(s statement) bool { return s.header }); next >= 0 {
		end = from[1+next].offset
	}
	got := strings.ReplaceAll(text[from[0].offset:end], "\r\n", "\n")
	return strings.TrimSpace(got) == strings.TrimSpace(want)
}

// statement is a table header, or a key with its value.
type statement struct {
	offset int // of its line
	header bool
	array  bool // [[…]]
	key    []string
}

// statements lists what a TOML text consists of.
func statements(text string) (list []statement, err error) {
	var p unstable.Parser
	p.Reset([]byte(text))
	for p.NextExpression() {
		e := p.Expression()
		s := statement{header: e.Kind != unstable.KeyValue, array: e.Kind == unstable.ArrayTable, offset: -1}
		for key := e.Key(); key.Next(); {
			if s.key = append(s.key, string(key.Node().Data)); s.offset < 0 {
				s.offset = strings.LastIndexByte(text[:key.Node().Raw.Offset], '\n') + 1
			}
		}
		list = append(list, s)
	}
	if err := p.Error(); err != nil {
		return nil, fmt.Errorf("the file is not TOML that can be understood: %w", err)
	}
	return list, nil
}
