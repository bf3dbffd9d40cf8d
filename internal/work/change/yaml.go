package change

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// document is a YAML mapping that is changed in its text: yaml finds where a
// value stands, and only its characters are replaced. Every change is checked
// by reading the result again.
type document struct {
	text    []byte
	mapping *yaml.Node
}

var errNotMapping = errors.New("the document must be a mapping of names to values")

func parseDocument(text []byte) (*document, error) {
	if !utf8.Valid(text) {
		return nil, errors.New("the document is not valid UTF-8")
	}
	var root, more yaml.Node
	documents := yaml.NewDecoder(bytes.NewReader(text))
	if err := documents.Decode(&root); err != nil && err != io.EOF {
		return nil, err
	}
	if err := documents.Decode(&more); err != io.EOF {
		return nil, errors.New("there must be one document in the file")
	}
	if root.Kind != yaml.DocumentNode || len(root.Content) != 1 || root.Content[0].Kind != yaml.MappingNode {
		return nil, errNotMapping
	}
	d := &document{text: text, mapping: root.Content[0]}
	seen := map[string]bool{}
	for i := 0; i < len(d.mapping.Content); i += 2 {
		key := d.mapping.Content[i]
		if key.Kind == yaml.ScalarNode && seen[key.Value] {
			return nil, fmt.Errorf("the key %q occurs twice", key.Value)
		}
		seen[key.Value] = true
	}
	return d, nil
}

// find is the position of a key in the mapping, -1 when it is not there.
func (d *document) find(key string) int {
	for i := 0; i < len(d.mapping.Content); i += 2 {
		if k := d.mapping.Content[i]; k.Kind == yaml.ScalarNode && k.Value == key {
			return i
		}
	}
	return -1
}

// get is the value of a key, or what it is an alias of; nil when it is not there
// or null.
func (d *document) get(key string) *yaml.Node {
	i := d.find(key)
	if i < 0 {
		return nil
	}
	value := d.mapping.Content[i+1]
	if value.Kind == yaml.AliasNode {
		value = value.Alias
	}
	if value.Tag == "!!null" {
		return nil
	}
	return value
}

// edit is one change of a document.
type edit struct {
	key    string
	value  string // as a reader sees it
	bare   bool   // a number or a time, which needs no quotes
	remove bool
}

// apply makes the edits and returns the new text. A key that is not there is
// put on a line of its own below the key after. When the text cannot be changed
// in place without touching anything else, it fails and nothing is changed.
func (d *document) apply(after string, edits []edit) ([]byte, error) {
	changed := d
	for _, e := range edits {
		text, err := changed.splice(after, e)
		if err != nil {
			return nil, err
		}
		next, err := parseDocument(text)
		if err != nil || !changed.differsOnlyBy(next, e) {
			return nil, fmt.Errorf("%s cannot be changed without touching other values", e.key)
		}
		changed = next
	}
	return changed.text, nil
}

func (d *document) splice(after string, e edit) ([]byte, error) {
	i := d.find(e.key)
	switch {
	case i >= 0 && e.remove:
		return d.cutEntry(i), nil
	case e.remove:
		return d.text, nil
	case i < 0:
		return d.insertEntry(d.find(after), e), nil
	}
	key, value := d.mapping.Content[i], d.mapping.Content[i+1]
	start := d.offset(value.Line, value.Column)
	length, ok := writtenLength(d.text[start:], value)
	if !ok {
		return nil, fmt.Errorf("the value of %s must be a word or a quoted text on the line of its key", e.key)
	}
	written := e.written()
	if length == 0 {
		// An empty value has no place of its own: it goes after the colon.
		start = d.offset(key.Line, key.Column)
		colon := bytes.IndexByte(d.text[start:], ':')
		if colon < 0 {
			return nil, fmt.Errorf("the key %s must be followed by a colon on its line", e.key)
		}
		start, written = start+colon+1, " "+written
	}
	return join(d.text[:start], written, d.text[start+length:]), nil
}

// writtenLength is how many bytes of text, which begins where the value stands,
// are the value.
func writtenLength(text []byte, value *yaml.Node) (int, bool) {
	if value.Kind != yaml.ScalarNode || value.Anchor != "" || value.Style&yaml.TaggedStyle != 0 {
		return 0, false
	}
	line, _, _ := bytes.Cut(text, []byte("\n"))
	switch {
	case value.Style&yaml.SingleQuotedStyle != 0:
		written := "'" + strings.ReplaceAll(value.Value, "'", "''") + "'"
		return len(written), bytes.HasPrefix(line, []byte(written))
	case value.Style&yaml.DoubleQuotedStyle != 0:
		for i := 1; i < len(line); i++ {
			switch line[i] {
			case '\\':
				i++
			case '"':
				return i + 1, line[0] == '"'
			}
		}
		return 0, false
	case value.Style != 0:
		return 0, false
	}
	return len(value.Value), bytes.HasPrefix(line, []byte(value.Value))
}

// insertEntry puts a line below the entry at i.
func (d *document) insertEntry(i int, e edit) []byte {
	key := d.mapping.Content[i]
	end := d.lineEnd(d.mapping.Content[i+1].Line)
	newline := "\n"
	if bytes.HasSuffix(d.text[:end], []byte("\r\n")) {
		newline = "\r\n"
	}
	line := strings.Repeat(" ", key.Column-1) + e.key + ": " + e.written()
	if bytes.HasSuffix(d.text[:end], []byte("\n")) {
		return join(d.text[:end], line+newline, d.text[end:])
	}
	return join(d.text[:end], newline+line, d.text[end:])
}

// cutEntry removes the lines of the entry at i: that of its key and those below
// it that are indented further.
func (d *document) cutEntry(i int) []byte {
	key := d.mapping.Content[i]
	start := d.offset(key.Line, 1)
	line := key.Line
	for end := d.lineEnd(line); end < len(d.text); end = d.lineEnd(line) {
		rest := d.text[end:]
		indent := len(rest) - len(bytes.TrimLeft(rest, " "))
		if indent < key.Column {
			break
		}
		line++
	}
	return join(d.text[:start], "", d.text[d.lineEnd(line):])
}

// offset is where a line and column, both counted from 1 and the column in
// characters, stand in the text.
func (d *document) offset(line, column int) int {
	at := 0
	for ; line > 1; line-- {
		next := bytes.IndexByte(d.text[at:], '\n')
		if next < 0 {
			return len(d.text)
		}
		at += next + 1
	}
	if at == 0 {
		at = len(d.text) - len(bytes.TrimPrefix(d.text, []byte("\ufeff")))
	}
	for ; column > 1 && at < len(d.text); column-- {
		_, width := utf8.DecodeRune(d.text[at:])
		at += width
	}
	return at
}

// lineEnd is where the next line begins.
func (d *document) lineEnd(line int) int {
	at := d.offset(line, 1)
	if next := bytes.IndexByte(d.text[at:], '\n'); next >= 0 {
		return at + next + 1
	}
	return len(d.text)
}

// differsOnlyBy reports whether next is d with exactly that edit made.
func (d *document) differsOnlyBy(next *document, e edit) bool {
	i := next.find(e.key)
	if e.remove != (i < 0) {
		return false
	}
	if i >= 0 && next.mapping.Content[i+1].Value != e.value {
		return false
	}
	return d.without(e.key) == next.without(e.key)
}

// without is the document as data, without one key and without comments, in a
// form that shows every other difference.
func (d *document) without(key string) string {
	rest := &yaml.Node{Kind: yaml.MappingNode}
	for i := 0; i < len(d.mapping.Content); i += 2 {
		if i != d.find(key) {
			rest.Content = append(rest.Content, uncommented(d.mapping.Content[i]), uncommented(d.mapping.Content[i+1]))
		}
	}
	out, err := yaml.Marshal(rest)
	if err != nil {
		return "unprintable: " + err.Error()
	}
	return string(out)
}

func uncommented(n *yaml.Node) *yaml.Node {
	bare := &yaml.Node{Kind: n.Kind, Style: n.Style, Tag: n.Tag, Value: n.Value, Anchor: n.Anchor, Alias: n.Alias}
	for _, child := range n.Content {
		bare.Content = append(bare.Content, uncommented(child))
	}
	return bare
}

func (e edit) written() string {
	if e.bare || bareWord(e.value) {
		return e.value
	}
	return "'" + strings.ReplaceAll(e.value, "'", "''") + "'"
}

// bareWord holds for texts that YAML takes as they are, without quotes.
func bareWord(s string) bool {
	var node yaml.Node
	err := yaml.Unmarshal([]byte("k: "+s+"\n"), &node)
	if err != nil || s == "" || strings.ContainsAny(s, "\n#:'\"") {
		return false
	}
	value := node.Content[0].Content[1]
	return value.Kind == yaml.ScalarNode && value.Tag == "!!str" && value.Value == s && value.Style == 0
}

func join(before []byte, middle string, after []byte) []byte {
	out := make([]byte, 0, len(before)+len(middle)+len(after))
	out = append(out, before...)
	out = append(out, middle...)
	return append(out, after...)
}
