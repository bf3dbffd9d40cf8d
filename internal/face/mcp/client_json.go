package mcp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tidegate/tidegate"
)

// Merge adds the server to an existing configuration. Every byte that was there
// stays, in its order. A server that is already there in the same words is left
// alone (changed is false). An error says why it cannot be done safely; nothing is
// guessed.
func (c Client) Merge(existing []byte, s Entry) (merged []byte, changed bool, err error) {
	switch {
	case !utf8.Valid(existing):
		return nil, false, fmt.Errorf("the file is not UTF-8 text")
	case len(bytes.TrimSpace(existing)) == 0:
		return []byte(c.Block(s)), true, nil
	case c.toml:
		return mergeTOML(existing, c.section, s)
	}
	return mergeJSON(existing, c.section, s.Name, c.entry(s))
}

func mergeJSON(existing []byte, section, name string, entry any) ([]byte, bool, error) {
	text := bytes.TrimPrefix(existing, []byte("\xEF\xBB\xBF"))
	mark := len(existing) - len(text)
	top, err := outline(text)
	if err != nil {
		return nil, false, err
	}
	servers, there := top.members[section]
	if !there {
		return splice(existing, mark, top, section, tidegate.Pairs(name, entry)), true, nil
	}
	if text[servers.start] != '{' {
		return nil, false, fmt.Errorf("%q is there and is not an object", section)
	}
	inner, err := outline(text[servers.start:servers.end])
	if err != nil {
		return nil, false, fmt.Errorf("in %q: %w", section, err)
	}
	if old, there := inner.members[name]; there {
		if same(text[servers.start+old.start:servers.start+old.end], entry) {
			return existing, false, nil
		}
		return nil, false, fmt.Errorf("%q has another entry %q already", section, name)
	}
	return splice(existing, mark+servers.start, inner, name, entry), true, nil
}

// span is a part of a text.
type span struct{ start, end int }

// shape is where the parts of a JSON object are in its text.
type shape struct {
	members map[string]span // the values
	first   int             // start of the first key; 0 in an empty object
	last    int             // end of the last value, or of the opening brace when there is none
	close   int             // of the closing brace
}

// outline finds the members of the object that makes up text. It is an error when
// text is not plain JSON or gives a key twice.
func outline(text []byte) (shape, error) {
	notPlain := func(err error) (shape, error) {
		return shape{}, fmt.Errorf("the file is not plain JSON (comments cannot be kept): %w", err)
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	token, err := decoder.Token()
	if err != nil {
		return notPlain(err)
	}
	if token != json.Delim('{') {
		return shape{}, fmt.Errorf("the file is not a JSON object")
	}
	found := shape{members: map[string]span{}, last: int(decoder.InputOffset())}
	for decoder.More() {
		token, err := decoder.Token()
		if err != nil {
			return notPlain(err)
		}
		key := token.(string) // nothing else is a token in this place
		if _, twice := found.members[key]; twice {
			return shape{}, fmt.Errorf("the key %q is given twice", key)
		}
		if found.first == 0 {
			found.first = found.last + bytes.IndexByte(text[found.last:], '"')
		}
		var value json.RawMessage
		if err := decoder.Decode(&value); err != nil {
			return notPlain(err)
		}
		found.last = int(decoder.InputOffset())
		found.members[key] = span{found.last - len(value), found.last}
	}
	if _, err := decoder.Token(); err != nil {
		return notPlain(err)
	}
	found.close = int(decoder.InputOffset()) - 1
	if _, err := decoder.Token(); err != io.EOF {
		return shape{}, fmt.Errorf("the file continues after its JSON object")
	}
	return found, nil
}

// splice inserts a member at the end of the object that begins at from, in the
// layout of that object.
func splice(text []byte, from int, at shape, key string, value any) []byte {
	body := string(text[from : from+at.close])
	newline := "\n"
	if strings.Contains(string(text), "\r\n") {
		newline = "\r\n"
	}
	cut, comma := from+at.last, ","
	if len(at.members) == 0 {
		comma = ""
	}
	if comma != "" && !strings.Contains(body, "\n") {
		return slices.Concat(text[:cut], []byte(", "), compact(key), []byte(": "), compact(value), text[cut:])
	}
	outer := indentOf(string(text[:from]))
	inner, unit := outer+"  ", "  "
	if at.first > 0 {
		inner = indentOf(body[:at.first])
		if longer, ok := strings.CutPrefix(inner, outer); ok && longer != "" {
			unit = longer
		}
	}
	added := comma + "\n" + inner + string(compact(key)) + ": " + string(indented(value, inner, unit))
	if !strings.Contains(body, "\n") {
		added += "\n" + outer
	}
	return slices.Concat(text[:cut], []byte(strings.ReplaceAll(added, "\n", newline)), text[cut:])
}

// indentOf is the white space at the start of the last line.
func indentOf(text string) string {
	line := text[strings.LastIndexByte(text, '\n')+1:]
	return line[:len(line)-len(strings.TrimLeft(line, " \t"))]
}

func same(text []byte, entry any) bool {
	var one, two any
	return json.Unmarshal(text, &one) == nil && json.Unmarshal(compact(entry), &two) == nil && reflect.DeepEqual(one, two)
}
