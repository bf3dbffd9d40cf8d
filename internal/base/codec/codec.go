// Package codec is the one way in and out for JSON.
//
// Reading is strict: duplicate keys, trailing data and invalid UTF-8 are
// errors with a position. Writing is stable: struct fields in declaration
// order, two-space indent, no HTML escaping, empty lists as [], so that the same
// value always gives the same bytes. Digests are SHA-256 over RFC 8785.
//
// It knows no schema of any document; [Shape] is the means by which other
// packages write theirs down.
package codec

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"strconv"
	"strings"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/tidegate/tidegate"
)

var marshalers = json.WithMarshalers(json.JoinMarshalers(
	json.MarshalToFunc(func(enc *jsontext.Encoder, details tidegate.Details) error {
		if err := enc.WriteToken(jsontext.BeginObject); err != nil {
			return err
		}
		for _, d := range details {
			if err := enc.WriteToken(jsontext.String(d.Key)); err != nil {
				return err
			}
			if err := json.MarshalEncode(enc, d.Value, enc.Options()); err != nil {
				return err
			}
		}
		return enc.WriteToken(jsontext.EndObject)
	}),
))

var (
	wire = json.JoinOptions(marshalers, json.Deterministic(true), jsontext.AllowInvalidUTF8(true), jsontext.WithIndent("  "))
	line = json.JoinOptions(marshalers, json.Deterministic(true), jsontext.AllowInvalidUTF8(true))
)

// Marshal writes v as it goes over the wire: two-space indent, no final
// newline. Bytes that are not UTF-8 become U+FFFD. It fails only for values
// that JSON cannot hold, such as NaN or a channel.
func Marshal(v any) ([]byte, error) {
	// The encoder writes into the buffer's own memory, so that a large result
	// is in memory once.
	var out bytes.Buffer
	err := json.MarshalWrite(&out, v, wire)
	return out.Bytes(), err
}

// MarshalFile is [Marshal] with the final newline of a file.
func MarshalFile(v any) ([]byte, error) {
	data, err := Marshal(v)
	return append(data, '\n'), err
}

// MarshalFileTo writes what [MarshalFile] returns, piece by piece. It also
// returns the errors of w.
func MarshalFileTo(w io.Writer, v any) error {
	if err := json.MarshalWrite(w, v, wire); err != nil {
		return err
	}
	_, err := w.Write([]byte("\n"))
	return err
}

// MarshalLine writes v on one line without white space and without newline.
func MarshalLine(v any) ([]byte, error) { return json.Marshal(v, line) }

// Canonical writes v in the form of RFC 8785.
func Canonical(v any) ([]byte, error) {
	data, err := json.Marshal(v, line)
	if err != nil {
		return nil, err
	}
	value := jsontext.Value(data)
	if err := value.Canonicalize(); err != nil {
		return nil, err
	}
	return value, nil
}

// True is the type of the field `ok` of a result: it always prints true, so no
// result can forget to set it.
type True struct{}

// MarshalJSON prints true.
func (True) MarshalJSON() ([]byte, error) { return []byte("true"), nil }

// UnmarshalJSON takes anything: whether a result that is read says true is for its reader
// to check.
func (*True) UnmarshalJSON([]byte) error { return nil }

// Digest is "sha256:" and the hexadecimal SHA-256 of the canonical form of v.
// It panics for a value that JSON cannot hold; no document that was read and no
// result type of this module is one.
func Digest(v any) string {
	data, err := Canonical(v)
	if err != nil {
		panic(fmt.Sprintf("codec: digest of %T: %v", v, err))
	}
	return DigestBytes(data)
}

// DigestBytes is "sha256:" and the hexadecimal SHA-256 of data.
func DigestBytes(data []byte) string {
	sum := sha256.Sum256(data)
	return digestText(sum[:])
}

func digestText(sum []byte) string {
	text := append(make([]byte, 0, len("sha256:")+2*sha256.Size), "sha256:"...)
	return string(hex.AppendEncode(text, sum))
}

// DigestReader is [DigestBytes] of all that r gives. It returns the errors of r.
func DigestReader(r io.Reader) (string, error) {
	sum := sha256.New()
	buffer := buffers.Get().(*[32 << 10]byte)
	defer buffers.Put(buffer)
	// Without its other methods a file is read into the buffer given.
	if _, err := io.CopyBuffer(sum, struct{ io.Reader }{r}, buffer[:]); err != nil {
		return "", err
	}
	return DigestOf(sum), nil
}

// buffers are what [DigestReader] reads into: most files are smaller than one.
var buffers = sync.Pool{New: func() any { return new([32 << 10]byte) }}

// DigestOf is [DigestBytes] of all that was written to sum, a SHA-256 hash.
func DigestOf(sum hash.Hash) string { return digestText(sum.Sum(nil)) }

// Flag is 1 where something holds and otherwise 0, as metrics and sums have it.
func Flag(holds bool) int {
	if holds {
		return 1
	}
	return 0
}

// LinesOf finds the lines, counted from 1, on which the values of some paths begin
// in a document, such as $.perspectives[2].title. A path that leads to nothing has
// the line of the last value on its way. The document must be JSON.
func LinesOf(data []byte, paths []string) []int {
	if len(paths) == 0 {
		return nil
	}
	root := &place{}
	ends := make([]*place, len(paths))
	for i, path := range paths {
		ends[i] = root.to(path)
	}
	data = bytes.TrimPrefix(data, bom)
	f := &finder{data: data, dec: jsontext.NewDecoder(bytes.NewReader(data), jsontext.AllowInvalidUTF8(true))}
	f.walk(root)
	lines := make([]int, len(paths))
	for i, end := range ends {
		for end.line == 0 && end.parent != nil {
			end = end.parent
		}
		lines[i] = max(end.line, 1)
	}
	return lines
}

// place is a value that somebody looks for, or that leads to one.
type place struct {
	parent   *place
	children map[string]*place // by key, or by index in brackets
	line     int               // 0 until it is found
}

// to is the place of a path, made where it is not there yet.
func (p *place) to(path string) *place {
	path = strings.TrimPrefix(path, "$")
	for path != "" {
		step := path
		if end := strings.IndexAny(path[1:], ".["); end >= 0 {
			step = path[:end+1]
		}
		path = path[len(step):]
		name := strings.TrimPrefix(step, ".")
		if p.children == nil {
			p.children = map[string]*place{}
		}
		if p.children[name] == nil {
			p.children[name] = &place{parent: p}
		}
		p = p.children[name]
	}
	return p
}

// finder walks a document, and only into what leads somewhere.
type finder struct {
	data []byte
	dec  *jsontext.Decoder
	from int64 // up to where lines are counted
	line int   // how many end before that
}

// walk notes where the next value begins and looks for what is asked for in it. It
// returns false at the end of what can be read.
func (f *finder) walk(p *place) bool {
	if p == nil {
		return f.dec.SkipValue() == nil
	}
	p.line = f.next()
	kind := f.dec.PeekKind()
	if len(p.children) == 0 || kind != '{' && kind != '[' {
		return f.dec.SkipValue() == nil
	}
	if _, err := f.dec.ReadToken(); err != nil {
		return false
	}
	for i := 0; f.dec.PeekKind() != '}' && f.dec.PeekKind() != ']'; i++ {
		name := "[" + strconv.Itoa(i) + "]"
		if kind == '{' {
			key, err := f.dec.ReadToken()
			if err != nil {
				return false
			}
			name = key.String()
		}
		if !f.walk(p.children[name]) {
			return false
		}
	}
	_, err := f.dec.ReadToken()
	return err == nil
}

// next is the line on which the next value begins.
func (f *finder) next() int {
	at := f.dec.InputOffset()
	at += int64(len(f.data[at:]) - len(bytes.TrimLeft(f.data[at:], " \t\r\n,:")))
	f.line += bytes.Count(f.data[f.from:at], []byte("\n"))
	f.from = at
	return f.line + 1
}

// Embedded lists the JSON documents that stand in a text of which they are only a
// part: what is fenced or, where nothing is, the objects that no other object or
// list holds. An object without an end hides all others, which may be its parts.
// A text that is JSON as a whole has none.
func Embedded(text string) []string {
	if _, err := Parse([]byte(text)); err == nil {
		return nil
	}
	if fenced := fencedObjects(text); len(fenced) > 0 {
		return fenced
	}
	var objects []string
	for at := 0; at < len(text); at++ {
		if !beginsDocument(text[at:]) {
			continue
		}
		n := balanced(text[at:])
		if n == 0 {
			return nil
		}
		if text[at] == '{' {
			objects = append(objects, text[at:at+n])
		}
		at += n - 1
	}
	return objects
}

// beginsDocument tells an object, or a list of objects, from a bracket in prose.
func beginsDocument(text string) bool {
	first := text[0]
	if first != '{' && first != '[' {
		return false
	}
	rest := strings.TrimLeft(text[1:], " \t\r\n")
	if rest == "" {
		return false
	}
	return first == '{' && (rest[0] == '"' || rest[0] == '}') || first == '[' && rest[0] == '{'
}

// balanced is the length of the object or list that text begins with, 0 when it has
// no end.
func balanced(text string) int {
	depth, quoted := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return 0
}

// fencedObjects are the contents of the fences that hold an object.
func fencedObjects(text string) []string {
	var found, inside []string
	open := ""
	for line := range strings.Lines(text) {
		trimmed := strings.TrimSpace(line)
		mark := trimmed[:len(trimmed)-len(strings.TrimLeft(trimmed, "`"))]
		switch {
		case open == "" && len(mark) >= 3:
			open, inside = mark, nil
		case open != "" && trimmed == mark && len(mark) >= len(open):
			if content := strings.TrimSpace(strings.Join(inside, "")); strings.HasPrefix(content, "{") {
				found = append(found, content+"\n")
			}
			open = ""
		default:
			inside = append(inside, line)
		}
	}
	return found
}

// longestName is the length of the longest word that is compared at all; no name is
// nearly that long.
const longestName = 100

// separators make no difference: changeId, CHANGE-ID and change_id are one word.
var separators = strings.NewReplacer("_", "", "-", "", " ", "")

// Nearest is the name that a word probably stands for, or "" when none is close:
// at most a third of its characters differ, letter case and separators aside. Among
// equally close names, it is the first.
func Nearest(word string, names []string) string {
	if len(word) > longestName {
		return ""
	}
	folded := foldName(word)
	best, nearest := "", len(folded)/3+1
	for _, name := range names {
		if d := distance(folded, foldName(name)); d < nearest {
			best, nearest = name, d
		}
	}
	return best
}

// DidYouMean asks whether the nearest of the names was meant; otherwise is the hint
// where none is close.
func DidYouMean(word string, names []string, otherwise string) string {
	if near := Nearest(word, names); near != "" {
		return "did you mean " + near + "?"
	}
	return otherwise
}

func foldName(word string) []rune { return []rune(separators.Replace(strings.ToLower(word))) }

// distance is the number of characters to insert, remove or replace on the way
// from one word to the other.
func distance(from, to []rune) int {
	row := make([]int, len(to)+1)
	for j := range row {
		row[j] = j
	}
	for i, r := range from {
		diagonal := row[0]
		row[0] = i + 1
		for j, s := range to {
			change := diagonal
			if r != s {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(to)]
}
