package codec

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
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
// which stands for an absent one. A Value is not safe for concurrent use.
type Value struct {
	kind    Kind
	truth   bool
	text    string // of a string; of a number, its literal
	elems   []*Value
	members []Member
	large   *large // what only a large object or array has
}

// large is kept apart, so that the many small values stay small.
type large struct {
	index map[string]int // of an object: the members by key, made when they are looked for
	text  []byte         // of an array: elements before elems of which only the text is kept, and the brackets
	count int            // of those elements
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
	v.spread()
	return v.elems
}

// Members are the members of an object, in document order.
func (v *Value) Members() []Member {
	if v.Kind() != Object {
		return nil
	}
	return v.members
}

// Len is the number of elements or members.
func (v *Value) Len() int {
	if v.hasText() {
		return v.large.count + len(v.elems)
	}
	return len(v.Elems()) + len(v.Members())
}

// Get is the member with that key, nil when v is no object or has none. A chain
// of calls reaches into a document: v.Get("stage").Get("current").
func (v *Value) Get(key string) *Value {
	if i := v.find(key); i >= 0 {
		return v.members[i].Value
	}
	return nil
}

const indexFrom = 32

func (v *Value) find(key string) int {
	if v.Kind() != Object {
		return -1
	}
	if len(v.members) < indexFrom {
		for i := range v.members {
			if v.members[i].Key == key {
				return i
			}
		}
		return -1
	}
	if v.large == nil {
		v.large = &large{index: make(map[string]int, len(v.members))}
		for i, m := range v.members {
			v.large.index[m.Key] = i
		}
	}
	if i, ok := v.large.index[key]; ok {
		return i
	}
	return -1
}

// Set replaces the member with that key in its place, or appends it. v must be
// an object.
func (v *Value) Set(key string, value *Value) {
	if i := v.find(key); i >= 0 {
		v.members[i].Value = value
		return
	}
	v.members = append(v.members, Member{key, value})
	if v.large != nil {
		v.large.index[key] = len(v.members) - 1
	}
}

// Delete removes the member with that key, if there is one.
func (v *Value) Delete(key string) {
	if i := v.find(key); i >= 0 {
		v.members = append(v.members[:i:i], v.members[i+1:]...)
		v.large = nil
	}
}

// Append adds an element. v must be an array.
func (v *Value) Append(elem *Value) { v.elems = append(v.elems, elem) }

// Clone is a deep copy.
func (v *Value) Clone() *Value {
	if v == nil {
		return nil
	}
	c := &Value{kind: v.kind, truth: v.truth, text: v.text}
	if v.hasText() {
		c.large = v.large
	}
	for _, e := range v.elems {
		c.elems = append(c.elems, e.Clone())
	}
	for _, m := range v.members {
		c.members = append(c.members, Member{m.Key, m.Value.Clone()})
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

// NewObject is an object without members.
func NewObject() *Value { return &Value{kind: Object} }

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
		if v.hasText() {
			if err := v.large.marshalTo(enc); err != nil {
				return err
			}
		}
		for _, e := range v.elems {
			if err := e.MarshalJSONTo(enc); err != nil {
				return err
			}
		}
		return enc.WriteToken(jsontext.EndArray)
	}
	if err := enc.WriteToken(jsontext.BeginObject); err != nil {
		return err
	}
	for _, m := range v.members {
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
func Parse(data []byte) (*Value, error) { return ParseEach(data, "", nil) }

// ParseEach reads a document like [Parse], but hands the elements of the
// top-level member of that name, when it is an array, to each, one by one, and
// keeps an empty array in their place: a long list costs the memory of one
// element, which is valid during the call only. The document is read to its end, and syntax errors win, before the
// first error of each is returned; each is not called again after one.
func ParseEach(data []byte, member string, each func(i int, elem *Value) error) (*Value, error) {
	return parse(bytes.TrimPrefix(data, bom), &parser{member: member, each: each})
}

func parse(data []byte, p *parser) (*Value, error) {
	p.dec = jsontext.NewDecoder(bytes.NewBuffer(data))
	value, err := p.value(0)
	if err == nil {
		rest := bytes.TrimLeft(data[p.dec.InputOffset():], " \t\r\n")
		if len(rest) == 0 {
			return value, p.failed
		}
		return nil, syntaxErrorAt(data, len(data)-len(rest), "text after the end of the document")
	}
	return nil, syntaxError(data, p.dec.InputOffset(), err)
}

type parser struct {
	dec    *jsontext.Decoder
	member string
	each   func(int, *Value) error
	failed error
	keep   []byte // the document, when long lists are kept as text

	inEach bool
	spare  []*Value // the values of one element, used again for the next
	used   int
}

func (p *parser) newValue(kind Kind) *Value {
	if !p.inEach {
		return &Value{kind: kind}
	}
	if p.used == len(p.spare) {
		p.spare = append(p.spare, new(Value))
	}
	v := p.spare[p.used]
	p.used++
	*v = Value{kind: kind, elems: v.elems[:0], members: v.members[:0]}
	return v
}

func (p *parser) text(kind Kind, tok jsontext.Token) *Value {
	v := p.newValue(kind)
	v.text = tok.String()
	return v
}

func (p *parser) value(depth int) (*Value, error) {
	tok, err := p.dec.ReadToken()
	if err != nil {
		return nil, err
	}
	switch tok.Kind() {
	case jsontext.KindNull:
		return p.newValue(Null), nil
	case jsontext.KindTrue, jsontext.KindFalse:
		v := p.newValue(Bool)
		v.truth = tok.Bool()
		return v, nil
	case jsontext.KindString:
		return p.text(String, tok), nil
	case jsontext.KindNumber:
		return p.text(Number, tok), nil
	case jsontext.KindBeginArray:
		v := p.newValue(Array)
		start := p.dec.InputOffset() - 1
		for p.dec.PeekKind() != jsontext.KindEndArray {
			if p.keep != nil && len(v.elems) == longFrom {
				return p.keepList(v, start)
			}
			elem, err := p.value(depth + 1)
			if err != nil {
				return nil, err
			}
			v.elems = append(v.elems, elem)
		}
		_, err := p.dec.ReadToken()
		return v, err
	}
	v := p.newValue(Object)
	for p.dec.PeekKind() != jsontext.KindEndObject {
		key, err := p.dec.ReadToken()
		if err != nil {
			return nil, err
		}
		name := key.String()
		var member *Value
		if depth == 0 && p.each != nil && name == p.member && p.dec.PeekKind() == jsontext.KindBeginArray {
			member, err = p.elements()
		} else {
			member, err = p.value(depth + 1)
		}
		if err != nil {
			return nil, err
		}
		v.members = append(v.members, Member{name, member})
	}
	_, err = p.dec.ReadToken()
	return v, err
}

func (p *parser) elements() (*Value, error) {
	if _, err := p.dec.ReadToken(); err != nil {
		return nil, err
	}
	p.inEach = true
	defer func() { p.inEach = false }()
	for i := 0; p.dec.PeekKind() != jsontext.KindEndArray; i++ {
		p.used = 0
		elem, err := p.value(2)
		if err != nil {
			return nil, err
		}
		if p.failed == nil {
			p.failed = p.each(i, elem)
		}
	}
	_, err := p.dec.ReadToken()
	return &Value{kind: Array}, err
}

// syntaxError says where in data a decoder failed with err; offset is where it
// had come to.
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
