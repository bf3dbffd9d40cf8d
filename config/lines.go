package config

import (
	"strings"

	"github.com/pelletier/go-toml/v2/unstable"
)

// linesOf finds the line of every key and table in a text that is TOML.
func linesOf(text []byte) map[string]int {
	lines := map[string]int{}
	var p unstable.Parser
	p.Reset(text)
	table := ""
	for p.NextExpression() {
		switch e := p.Expression(); e.Kind {
		case unstable.Table, unstable.ArrayTable:
			table = note(&p, lines, "", e) + "."
		case unstable.KeyValue:
			noteValue(&p, lines, table, e)
		}
	}
	return lines
}

// note notes the line of the key of a node, and of the tables that it names on
// the way, and returns its whole name.
func note(p *unstable.Parser, lines map[string]int, prefix string, node *unstable.Node) string {
	name := strings.TrimSuffix(prefix, ".")
	for keys := node.Key(); keys.Next(); {
		part := keys.Node()
		name = strings.TrimPrefix(name+"."+string(part.Data), ".")
		if _, known := lines[name]; !known {
			lines[name] = p.Shape(part.Raw).Start.Line
		}
	}
	return name
}

func noteValue(p *unstable.Parser, lines map[string]int, prefix string, node *unstable.Node) {
	name := note(p, lines, prefix, node)
	if node.Value().Kind != unstable.InlineTable {
		return
	}
	for inner := node.Value().Children(); inner.Next(); {
		if inner.Node().Kind == unstable.KeyValue {
			noteValue(p, lines, name+".", inner.Node())
		}
	}
}

// lineOf is the line of a key, or of the nearest table above it that has one.
func lineOf(lines map[string]int, key string) int {
	for {
		if line, ok := lines[key]; ok {
			return line
		}
		cut := strings.LastIndexByte(key, '.')
		if cut < 0 {
			return 0
		}
		key = key[:cut]
	}
}
