package codec

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/tidegate/tidegate"
)

// Kind is the type of a JSON value.
type Kind uint8

// The kinds. Absent is the kind of a nil *Value.
const (
	Absent Kind = iota
	Null
	Bool
	Number
	String
	Array
	Object
)

func (k Kind) String() string {
	return [...]string{"absent", "null", "boolean", "number", "string", "array", "object"}[k]
}

// Value is one JSON value. Objects keep the order of their keys and numbers
// their spelling, so that a document that is read, changed in one place and
// written differs in that place only. All reading methods accept a nil *Value,
// which stands for an absent one. They change nothing, so that goroutines can
// share a Value as long as none calls Set, Delete or Append.
type Value struct {
	kind  Kind
	truth bool
	text  string // of a string; of a number, its literal
	inner *inner // of an array or an object, and nil for every other kind
}

// inner is what an array or an object holds. It stands apart because most values
// are neither, and a document is many values.
type inner struct {
	elems   []*Value
	members []Member
	index   map[string]int // the members by key, as soon as there are indexFrom
}

func newValue(kind Kind) *Value {
	v := &Value{kind: kind}
	if kind == Array || kind == Object {
		v.inner = new(inner)
	}
	return v
}

// Member is one key of an object.
type Member struct {
	Key   string
	Value *Value
}

// Kind is the kind of v, Absent for nil.
func (v *Value) Kind() Kind {
	if v == nil {
		return Absent
	}
	return v.kind
}

// Str is the text of a string, and "" for every other kind.
func (v *Value) Str() string {
	if v.Kind() != String {
		return ""
	}
	return v.text
}

// Bool is the truth of a boolean, and false for every other kind.
func (v *Value) Bool() bool { return v.Kind() == Bool && v.truth }

// Float is the value of a number; ok is false for other kinds and for a number
// that a float64 cannot hold.
func (v *Value) Float() (f float64, ok bool) {
	if v.Kind() != Number {
		return 0, false
	}
	f, err := strconv.ParseFloat(v.text, 64)
	return f, err == nil
}

// Int is the value of a number without a fraction: 800 and 800.0 alike.
func (v *Value) Int() (n int64, ok bool) {
	if v.Kind() != Number {
		return 0, false
	}
	if n, err := strconv.ParseInt(v.text, 10, 64); err == nil {
		return n, true
	}
	f, ok := v.Float()
	if !ok || f != math.Trunc(f) || math.Abs(f) > 1<<53 {
		return 0, false
	}
	return int64(f), true
}

// Elems are the elements of an array.
func (v *Value) Elems() []*Value {
	if v.Kind() != Array {
		return nil
	}
	return v.inner.elems
}

// Strs are the texts of the elements of an array, nil where it has none.
func (v *Value) Strs() []string {
	var texts []string
	for _, elem := range v.Elems() {
		texts = append(texts, elem.Str())
	}
	return texts
}

// Members are the members of an object, in document order.
func (v *Value) Members() []Member {
	if v.Kind() != Object {
		return nil
	}
	return v.inner.members
}

// Len is the number of elements or members.
func (v *Value) Len() int { return len(v.Elems()) + len(v.Members()) }

// Get is the member with that key, nil when v is not an object or has no such member. A chain
// of calls reaches into a document: v.Get("stage").Get("current").
func (v *Value) Get(key string) *Value {
	if i := v.find(key); i >= 0 {
		return v.inner.members[i].Value
	}
	return nil
}

// indexFrom is how many members an object has before an index is worth its
// memory.
const indexFrom = 32

func (v *Value) find(key string) int {
	if v.Kind() != Object {
		return -1
	}
	if v.inner.index != nil {
		if i, ok := v.inner.index[key]; ok {
			return i
		}
		return -1
	}
	return slices.IndexFunc(v.inner.members, func(m Member) bool { return m.Key == key })
}

// add appends a member whose key is not there yet.
func (in *inner) add(key string, value *Value) {
	if in.members == nil {
		in.members = make([]Member, 0, 4) // most objects have as many
	}
	in.members = append(in.members, Member{key, value})
	switch {
	case in.index != nil:
		in.index[key] = len(in.members) - 1
	case len(in.members) == indexFrom:
		in.makeIndex()
	}
}

func (in *inner) makeIndex() {
	in.index = nil
	if len(in.members) < indexFrom {
		return
	}
	in.index = make(map[string]int, len(in.members))
	for i, m := range in.members {
		in.index[m.Key] = i
	}
}

// Set replaces the member with that key in its place, or appends it. v must be
// an object.
func (v *Value) Set(key string, value *Value) {
	if i := v.find(key); i >= 0 {
		v.inner.members[i].Value = value
		return
	}
	v.inner.add(key, value)
}

// Delete removes the member with that key, if there is one. What Members
// returned before keeps it.
func (v *Value) Delete(key string) {
	if i := v.find(key); i >= 0 {
		v.inner.members = append(v.inner.members[:i:i], v.inner.members[i+1:]...)
		v.inner.makeIndex()
	}
}

// Append adds an element. v must be an array.
func (v *Value) Append(elem *Value) { v.inner.elems = append(v.inner.elems, elem) }

// Clone is a deep copy.
func (v *Value) Clone() *Value {
	if v == nil {
		return nil
	}
	c := newValue(v.kind)
	c.truth, c.text = v.truth, v.text
	for _, e := range v.Elems() {
		c.Append(e.Clone())
	}
	for _, m := range v.Members() {
		c.inner.add(m.Key, m.Value.Clone())
	}
	return c
}

// Of turns a Go value into a Value, by the rules of [Marshal]. It panics for a
// value that JSON cannot hold.
func Of(v any) *Value {
	switch v := v.(type) {
	case *Value:
		return v
	case string:
		return &Value{kind: String, text: v}
	case nil:
		return &Value{kind: Null}
	}
	data, err := MarshalLine(v)
	if err != nil {
		panic(fmt.Sprintf("codec: value of %T: %v", v, err))
	}
	value, err := Parse(data)
	if err != nil {
		panic(fmt.Sprintf("codec: value of %T: %v", v, err))
	}
	return value
}

// OrNull is a text as a Value, and null for "".
func OrNull(text string) *Value {
	if text == "" {
		return Of(nil)
	}
	return Of(text)
}

// Decode reads v into what into points to, as JSON is read into a value of its type.
func (v *Value) Decode(into any) error {
	data, err := MarshalLine(v)
	if err == nil {
		err = json.Unmarshal(data, into)
	}
	return err
}

// NewObject is an object without members.
func NewObject() *Value { return newValue(Object) }

// MarshalJSONTo writes v with its keys in order and its numbers as spelt.
func (v *Value) MarshalJSONTo(enc *jsontext.Encoder) error {
	switch v.Kind() {
	case Absent, Null:
		return enc.WriteToken(jsontext.Null)
	case Bool:
		return enc.WriteToken(jsontext.Bool(v.truth))
	case String:
		return enc.WriteToken(jsontext.String(v.text))
	case Number:
		return enc.WriteValue(jsontext.Value(v.text))
	case Array:
		if err := enc.WriteToken(jsontext.BeginArray); err != nil {
			return err
		}
		for _, e := range v.inner.elems {
			if err := e.MarshalJSONTo(enc); err != nil {
				return err
			}
		}
		return enc.WriteToken(jsontext.EndArray)
	}
	if err := enc.WriteToken(jsontext.BeginObject); err != nil {
		return err
	}
	for _, m := range v.inner.members {
		if err := enc.WriteToken(jsontext.String(m.Key)); err != nil {
			return err
		}
		if err := m.Value.MarshalJSONTo(enc); err != nil {
			return err
		}
	}
	return enc.WriteToken(jsontext.EndObject)
}

// SyntaxError says where and why a document is not strict JSON.
type SyntaxError struct {
	Line, Column int // 1-based; the column counts bytes
	Reason       string
	Key          string // of a duplicate key: where it is, the steps joined by full stops
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("line %d, column %d: %s", e.Line, e.Column, e.Reason)
}

var bom = []byte("\ufeff")

// Parse reads one JSON document. A byte-order mark before it is skipped. Every
// error is a *[SyntaxError].
func Parse(data []byte) (*Value, error) {
	data = bytes.TrimPrefix(data, bom)
	dec := jsontext.NewDecoder(bytes.NewBuffer(data), jsontext.AllowDuplicateNames(true))
	value, err := parse(dec)
	if errors.Is(err, errDuplicate) {
		dec = jsontext.NewDecoder(bytes.NewBuffer(data)) // which says where
		_, err = parse(dec)
	}
	if err != nil {
		return nil, syntaxError(data, dec.InputOffset(), err)
	}
	if rest := bytes.TrimLeft(data[dec.InputOffset():], " \t\r\n"); len(rest) > 0 {
		return nil, syntaxErrorAt(data, len(data)-len(rest), "text after the end of the document")
	}
	return value, nil
}

// What a document that is handed in may have at most. Documents are written
// indented, so that a few bytes at a great depth become many.
const (
	MaxDepth  = 64      // objects and lists inside each other
	MaxIndent = 4 << 20 // bytes that the indentation of the document takes
)

// ParseGiven is [Parse] for what an agent hands in: it also refuses a document
// that goes deeper than [MaxDepth] or takes more than [MaxIndent]. What is read
// from files keeps to neither.
func ParseGiven(data []byte) (*Value, error) {
	data = bytes.TrimPrefix(data, bom)
	dec := jsontext.NewDecoder(bytes.NewBuffer(data))
	for indent := 0; ; {
		if _, err := dec.ReadToken(); err != nil {
			return Parse(data) // which says what is wrong, or that nothing is
		}
		depth := dec.StackDepth()
		indent += 2*depth + 1
		switch {
		case depth > MaxDepth:
			return nil, syntaxErrorAt(data, int(dec.InputOffset())-1, fmt.Sprintf("objects and lists lie inside each other deeper than %d levels", MaxDepth))
		case indent > MaxIndent:
			return nil, syntaxErrorAt(data, int(dec.InputOffset())-1, fmt.Sprintf("indented, the document grows by more than %d bytes", MaxIndent))
		}
	}
}

var errDuplicate = errors.New("an object has a key twice")

// parse reads a value. It finds a key that an object has twice by what it has built of the
// object, for half of what a decoder takes to find it.
func parse(dec *jsontext.Decoder) (*Value, error) {
	tok, err := dec.ReadToken()
	if err != nil {
		return nil, err
	}
	v := newValue(kindOfToken(tok.Kind()))
	switch v.kind {
	case Bool:
		v.truth = tok.Bool()
	case String, Number:
		v.text = tok.String()
	case Array:
		for dec.PeekKind() != jsontext.KindEndArray {
			elem, err := parse(dec)
			if err != nil {
				return nil, err
			}
			v.Append(elem)
		}
		_, err = dec.ReadToken()
	case Object:
		for dec.PeekKind() != jsontext.KindEndObject {
			key, err := dec.ReadToken()
			if err != nil {
				return nil, err
			}
			name := key.String()
			if v.find(name) >= 0 {
				return nil, errDuplicate
			}
			member, err := parse(dec)
			if err != nil {
				return nil, err
			}
			v.inner.add(name, member)
		}
		_, err = dec.ReadToken()
	}
	return v, err
}

func kindOfToken(kind jsontext.Kind) Kind {
	switch kind {
	case jsontext.KindNull:
		return Null
	case jsontext.KindTrue, jsontext.KindFalse:
		return Bool
	case jsontext.KindNumber:
		return Number
	case jsontext.KindString:
		return String
	case jsontext.KindBeginArray:
		return Array
	case jsontext.KindBeginObject:
		return Object
	}
	return Absent
}

// syntaxError says where in data a decoder failed with err; offset is how far it
// had come.
func syntaxError(data []byte, offset int64, err error) *SyntaxError {
	reason, key := "", ""
	var syntactic *jsontext.SyntacticError
	switch {
	case errors.As(err, &syntactic):
		offset = syntactic.ByteOffset
		if syntactic.Err != nil {
			reason = syntactic.Err.Error()
		}
		if errors.Is(err, jsontext.ErrDuplicateName) {
			key = strings.Join(slices.Collect(syntactic.JSONPointer.Tokens()), ".")
			reason = fmt.Sprintf("duplicate key %q", syntactic.JSONPointer.LastToken())
		}
		if errors.Is(err, io.ErrUnexpectedEOF) {
			reason = "the document ends too early"
		}
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		reason = "the document ends too early"
	default:
		reason = err.Error()
	}
	e := syntaxErrorAt(data, int(min(max(offset, 0), int64(len(data)))), reason)
	e.Key = key
	return e
}

func syntaxErrorAt(data []byte, offset int, reason string) *SyntaxError {
	before := data[:offset]
	return &SyntaxError{
		Line:   bytes.Count(before, []byte("\n")) + 1,
		Column: len(before) - bytes.LastIndexByte(before, '\n'),
		Reason: reason,
	}
}

var _ json.MarshalerTo = (*Value)(nil)

// MergePatch is RFC 7396: objects merge, null removes, everything else
// replaces. Neither argument is changed; what the patch does not name keeps its
// place and its spelling.
func MergePatch(target, patch *Value) *Value {
	if patch.Kind() != Object {
		return patch.Clone()
	}
	out := NewObject()
	for _, m := range target.Members() {
		if change := patch.Get(m.Key); change == nil {
			out.inner.add(m.Key, m.Value.Clone())
		} else if change.Kind() != Null {
			out.inner.add(m.Key, MergePatch(m.Value, change))
		}
	}
	for _, m := range patch.Members() {
		if m.Value.Kind() != Null && target.Get(m.Key) == nil {
			out.inner.add(m.Key, MergePatch(nil, m.Value))
		}
	}
	return out
}

// ParseFile is [Parse] for the document of the file at path. It returns
// INVALID_JSON, whose details hold the path under arg.
func ParseFile(arg, path string, data []byte) (*Value, error) {
	doc, err := Parse(data)
	if err != nil {
		return nil, NotJSON(tidegate.Pairs(arg, path), path, err)
	}
	return doc, nil
}

// NotJSON is INVALID_JSON for the file at path; syntax says where and why it is
// not JSON. The message names the file without its folders: a long path before the
// position would push it out of the message.
func NotJSON(details tidegate.Details, path string, syntax error) error {
	return tidegate.Errorf(tidegate.InvalidJSON, details, "%s is not JSON: %w", filepath.Base(path), syntax)
}

// MaxLine is the length in bytes of the longest line that [EachLine] takes.
const MaxLine = 16 << 20

// LineMember is one member of the object on a line.
type LineMember struct {
	Kind Kind
	Text []byte // of a string; valid during the call only
}

// EachLine reads JSON lines: every line that is not blank holds one document,
// as strict as [Parse] demands. It calls each with the number of the line,
// counted from 1, and the top-level members with the given names, in the order of
// names. A member that is not there is Absent; so are all on a line without an
// object. Only the current line is in memory, and a line costs no allocation, so
// that a file of any length can be read.
//
// A line that is not JSON ends the reading with a *[SyntaxError] whose Line is the
// number of the line. Errors of r and of each are returned as they are.
func EachLine(r io.Reader, names []string, each func(number int, members []LineMember) error) error {
	l := lines{in: bufio.NewReaderSize(r, 64<<10), members: make([]LineMember, len(names))}
	l.dec = jsontext.NewDecoder(&l.buf)
	for _, name := range names {
		l.names = append(l.names, []byte(name))
	}
	return l.each(func(number int, text []byte) error {
		if err := l.parse(text); err != nil {
			return at(number, err)
		}
		return each(number, l.members)
	})
}

// EachDocument is [EachLine] for lines of which more is wanted than some strings: it
// hands over each document as a whole.
func EachDocument(r io.Reader, each func(number int, document *Value) error) error {
	l := lines{in: bufio.NewReaderSize(r, 64<<10)}
	return l.each(func(number int, text []byte) error {
		document, err := Parse(text)
		if err != nil {
			return at(number, err)
		}
		return each(number, document)
	})
}

// each visits the lines that are not blank.
func (l *lines) each(visit func(number int, text []byte) error) error {
	for number := 1; ; number++ {
		text, err := l.next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return at(number, err)
		}
		if number == 1 {
			text = bytes.TrimPrefix(text, bom)
		}
		if len(bytes.TrimSpace(text)) == 0 {
			continue
		}
		if err := visit(number, text); err != nil {
			return err
		}
	}
}

// at gives a syntax error the number of its line.
func at(number int, err error) error {
	var syntax *SyntaxError
	if errors.As(err, &syntax) {
		syntax.Line = number
	}
	return err
}

type lines struct {
	in      *bufio.Reader
	long    []byte // a line that does not fit into the reader's buffer
	buf     bytes.Buffer
	dec     *jsontext.Decoder
	names   [][]byte
	key     []byte
	text    []byte // the strings of the current line, one after the other
	members []LineMember
}

// next is the next line without its line end, valid until the next call.
func (l *lines) next() ([]byte, error) {
	text, err := l.nextRaw()
	return bytes.TrimSuffix(text, []byte("\n")), err
}

func (l *lines) nextRaw() ([]byte, error) {
	piece, err := l.in.ReadSlice('\n')
	if err != bufio.ErrBufferFull {
		if len(piece) > 0 && err == io.EOF {
			err = nil
		}
		return piece, err
	}
	l.long = l.long[:0]
	for {
		if len(l.long)+len(piece) > MaxLine {
			return nil, &SyntaxError{Column: MaxLine + 1, Reason: "the line is longer than 16 MiB"}
		}
		l.long = append(l.long, piece...)
		if err != bufio.ErrBufferFull {
			break
		}
		piece, err = l.in.ReadSlice('\n')
	}
	if err == io.EOF {
		err = nil
	}
	return l.long, err
}

func (l *lines) parse(text []byte) error {
	if err := l.document(text); err != nil {
		return syntaxError(text, l.dec.InputOffset(), err)
	}
	if rest := bytes.TrimLeft(text[l.dec.InputOffset():], " \t\r\n"); len(rest) > 0 {
		return syntaxErrorAt(text, len(text)-len(rest), "text after the end of the document")
	}
	return nil
}

// document reads the one document that begins text.
func (l *lines) document(text []byte) error {
	l.buf = *bytes.NewBuffer(text)
	l.dec.Reset(&l.buf)
	l.text = l.text[:0]
	clear(l.members)
	if l.dec.PeekKind() != jsontext.KindBeginObject {
		return l.dec.SkipValue()
	}
	if _, err := l.dec.ReadToken(); err != nil {
		return err
	}
	for l.dec.PeekKind() != jsontext.KindEndObject {
		name, err := l.dec.ReadValue()
		if err != nil {
			return err
		}
		if l.key, err = jsontext.AppendUnquote(l.key[:0], name); err != nil {
			return err
		}
		value, err := l.dec.ReadValue()
		if err != nil {
			return err
		}
		if err := l.keep(value); err != nil {
			return err
		}
	}
	_, err := l.dec.ReadToken()
	return err
}

// keep notes the value of the member l.key when it is asked for.
func (l *lines) keep(value jsontext.Value) error {
	for i, name := range l.names {
		if !bytes.Equal(l.key, name) {
			continue
		}
		l.members[i] = LineMember{Kind: kindOfToken(value.Kind())}
		if l.members[i].Kind == String {
			start := len(l.text)
			var err error
			if l.text, err = jsontext.AppendUnquote(l.text, value); err != nil {
				return err
			}
			l.members[i].Text = l.text[start:]
		}
		return nil
	}
	return nil
}
