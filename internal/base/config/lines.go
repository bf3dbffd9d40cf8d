package config

import (
	"bytes"
	"strings"

	"github.com/pelletier/go-toml/v2/unstable"
)

// deepest is how many parts a key of a file can have: agents.ROLE.price.input.
// Deeper keys are faults; they get the line of the part that is known.
const deepest = 4

// finder finds the lines of keys in a text that is TOML, in one pass.
type finder struct {
	parser unstable.Parser
	lines  map[string]int
	offset uint32 // up to which lines were counted
	line   int    // of that offset
}

// linesOf finds the line of every key and table in a text that is TOML.
func linesOf(text []byte) map[string]int {
	f := &finder{lines: map[string]int{}, line: 1}
	f.parser.Reset(text)
	table := ""
	for f.parser.NextExpression() {
		switch e := f.parser.Expression(); e.Kind {
		case unstable.Table, unstable.ArrayTable:
			table = f.note("", e)
		case unstable.KeyValue:
			f.noteValue(table, e, 0)
		}
	}
	return f.lines
}

// note notes the line of the key of a node in a table, and of the tables that the
// key names on the way, and returns its whole name.
func (f *finder) note(table string, node *unstable.Node) string {
	name, depth := table, strings.Count(table, ".")
	for keys := node.Key(); keys.Next() && depth < deepest; depth++ {
		part := keys.Node()
		name = strings.TrimPrefix(name+"."+string(part.Data), ".")
		if _, known := f.lines[name]; !known {
			f.lines[name] = f.lineAt(part.Raw.Offset)
		}
	}
	return name
}

func (f *finder) noteValue(table string, node *unstable.Node, depth int) {
	name := f.note(table, node)
	if node.Value().Kind != unstable.InlineTable || depth == deepest {
		return
	}
	for inner := node.Value().Children(); inner.Next(); {
		if inner.Node().Kind == unstable.KeyValue {
			f.noteValue(name, inner.Node(), depth+1)
		}
	}
}

// lineAt is the line of an offset. Keys come in the order of the text.
func (f *finder) lineAt(offset uint32) int {
	if offset > f.offset {
		f.line += bytes.Count(f.parser.Data()[f.offset:offset], []byte("\n"))
		f.offset = offset
	}
	return f.line
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
