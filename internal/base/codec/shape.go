package codec

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/tidegate/tidegate"
)

// Shape is the schema of a document, written as a table: it checks a [Value]
// and names the first violation, depth first with fields in the order of the
// table, and it prints itself as JSON Schema. Unknown fields are allowed in
// every object.
type Shape struct {
	kind     Kind
	integer  bool
	notBlank bool
	nullable bool
	typeOnly bool // check the kind, not the rules
	least    *float64
	enum     []string
	version  string
	rule     func(string) string
	ruleText string
	elem     *Shape // of an array; of an object without fields: of every member
	minItems int
	fields   []Field
}

// Field is one row of an object's table.
type Field struct {
	Name     string
	About    string // what the field holds, for the printed schema
	Optional bool
	Shape    Shape
}

// Text is any string.
func Text() Shape { return Shape{kind: String} }

// NotBlank is a string with at least one character that is not white space.
func NotBlank() Shape { return Shape{kind: String, notBlank: true} }

// OneOf is a string from a list.
func OneOf(values ...string) Shape { return Shape{kind: String, enum: values} }

// Version is the schema_version of a document. A later version of the same
// schema is refused with a message that says so.
func Version(label string) Shape { return Shape{kind: String, version: label} }

// Ruled is a string that passes rule, which returns what is wrong with it, or
// "". About says the rule in words.
func Ruled(about string, rule func(string) string) Shape {
	return Shape{kind: String, rule: rule, ruleText: about}
}

// Matching is a text of which ok holds; about says what that is.
func Matching(about string, ok func(string) bool) Shape {
	return Ruled(about, func(text string) string {
		if ok(text) {
			return ""
		}
		return "must be " + about
	})
}

// NumberFrom is a finite number of at least least.
func NumberFrom(least float64) Shape { return Shape{kind: Number, least: &least} }

// IntegerFrom is a number without a fraction of at least least.
func IntegerFrom(least float64) Shape { return Shape{kind: Number, integer: true, least: &least} }

// AnyNumber is a finite number.
func AnyNumber() Shape { return Shape{kind: Number} }

// Truth is a boolean.
func Truth() Shape { return Shape{kind: Bool} }

// Anything is any value.
func Anything() Shape { return Shape{} }

// List is an array of elem with at least minItems elements.
func List(elem Shape, minItems int) Shape {
	return Shape{kind: Array, elem: &elem, minItems: minItems}
}

// Table is an object with these fields; others are allowed and not looked at.
func Table(fields ...Field) Shape { return Shape{kind: Object, fields: fields} }

// MapOf is an object whose members all have the shape elem.
func MapOf(elem Shape) Shape { return Shape{kind: Object, elem: &elem} }

// OrNull allows null as well.
func (s Shape) OrNull() Shape {
	s.nullable = true
	return s
}

// Using is the shape for a reader that uses only some fields: those, and what
// leads to them, are required and checked by their rules; every other known field
// may be absent, and only its type is checked. A path is written
// "perspectives[].prompt_contract.max_words".
func (s Shape) Using(paths ...string) Shape { return s.using("", paths) }

func (s Shape) using(path string, used []string) Shape {
	below := func(inner, outer string) bool {
		rest, ok := strings.CutPrefix(inner, outer)
		return ok && (rest == "" || rest[0] == '.' || rest[0] == '[')
	}
	leads := func(p string) bool {
		return slices.ContainsFunc(used, func(u string) bool { return below(u, p) })
	}
	part := func(p string) bool {
		return slices.ContainsFunc(used, func(u string) bool { return below(p, u) })
	}
	s.typeOnly = path != "" && !leads(path) && !part(path)
	if s.elem != nil {
		elem := s.elem.using(path+"[]", used)
		s.elem = &elem
	}
	fields := slices.Clone(s.fields)
	for i := range fields {
		p := strings.TrimPrefix(path+"."+fields[i].Name, ".")
		fields[i].Optional = fields[i].Optional || !leads(p) && !part(p)
		fields[i].Shape = fields[i].Shape.using(p, used)
	}
	s.fields = fields
	return s
}

// Elem is the shape of the elements of the list in the field of that name.
func (s Shape) Elem(field string) Shape {
	for _, f := range s.fields {
		if f.Name == field && f.Shape.elem != nil {
			return *f.Shape.elem
		}
	}
	panic("codec: the shape has no list " + field)
}

// Check returns SCHEMA_VALIDATION_FAILED with the path of the first violation
// in details.path, or nil.
func (s Shape) Check(v *Value) error { return s.CheckAt("$", v) }

// CheckAt is [Shape.Check] for a value that stands at path in its document.
func (s Shape) CheckAt(path string, v *Value) error {
	if f := s.check(v); f != nil {
		return f.at(path)
	}
	return nil
}

// UnknownMember is a member of a table that its shape does not know.
type UnknownMember struct {
	Path  string   // with its name
	Key   string   // its name
	Known []string // the names that the table knows
}

// Unknown lists the members that no shape knows, of v, which stands at path, and of
// the tables in it, in the order of the document.
func (s Shape) Unknown(path string, v *Value) []UnknownMember {
	var unknown []UnknownMember
	switch {
	case len(s.fields) > 0:
		for _, m := range v.Members() {
			i := slices.IndexFunc(s.fields, func(f Field) bool { return f.Name == m.Key })
			if i >= 0 {
				unknown = append(unknown, s.fields[i].Shape.Unknown(path+"."+m.Key, m.Value)...)
				continue
			}
			names := make([]string, len(s.fields))
			for i, f := range s.fields {
				names[i] = f.Name
			}
			unknown = append(unknown, UnknownMember{path + "." + m.Key, m.Key, names})
		}
	case s.kind == Array && s.elem != nil:
		for i, elem := range v.Elems() {
			unknown = append(unknown, s.elem.Unknown(path+"["+strconv.Itoa(i)+"]", elem)...)
		}
	}
	return unknown
}

// Tables names the tables in the shape that have a field, such as
// prompt_contract.
func (s Shape) Tables(field string) []string {
	var names []string
	for _, f := range s.fields {
		inner := f.Shape
		if inner.elem != nil {
			inner = *inner.elem
		}
		if slices.ContainsFunc(inner.fields, func(f Field) bool { return f.Name == field }) {
			names = append(names, f.Name)
		}
		names = append(names, inner.Tables(field)...)
	}
	return names
}

// CheckFields is [Shape.CheckAt] for an author who wants to correct everything at
// once: it returns a violation for each field of v, and of the tables in it,
// that has one.
func (s Shape) CheckFields(path string, v *Value) []error {
	if len(s.fields) == 0 || v.Kind() != Object {
		if err := s.CheckAt(path, v); err != nil {
			return []error{err}
		}
		return nil
	}
	var all []error
	for i := range s.fields {
		field := &s.fields[i]
		if member := v.Get(field.Name); member != nil {
			all = append(all, field.Shape.CheckFields(path+"."+field.Name, member)...)
		} else if !field.Optional {
			all = append(all, field.missing().at(path))
		}
	}
	return all
}

// fault is a violation below the value that is checked. Its path is put
// together on the way up, so that a value without one costs no text.
type fault struct{ path, text string }

func (f *fault) at(path string) error {
	path += f.path
	return tidegate.Errorf(tidegate.SchemaValidationFailed, tidegate.Pairs("path", path), "%s %s", path, f.text)
}

func (f *fault) under(step string) *fault {
	f.path = step + f.path
	return f
}

func (s *Shape) check(v *Value) *fault {
	if s.nullable && v.Kind() == Null {
		return nil
	}
	if s.kind != Absent && v.Kind() != s.kind {
		return &fault{text: "must be " + s.phrase() + ", got " + Describe(v)}
	}
	if s.typeOnly && s.kind != Object && s.kind != Array {
		return nil
	}
	if wrong := s.wrong(v); wrong != "" {
		return &fault{text: wrong}
	}
	if s.elem != nil {
		for i, e := range v.Elems() {
			if f := s.elem.check(e); f != nil {
				return f.under("[" + strconv.Itoa(i) + "]")
			}
		}
		for _, m := range v.Members() {
			if f := s.elem.check(m.Value); f != nil {
				return f.under("." + m.Key)
			}
		}
	}
	for i := range s.fields {
		field := &s.fields[i]
		member := v.Get(field.Name)
		if member == nil {
			if field.Optional {
				continue
			}
			return field.missing()
		}
		if f := field.Shape.check(member); f != nil {
			return f.under("." + field.Name)
		}
	}
	return nil
}

func (f *Field) missing() *fault {
	return &fault{"." + f.Name, "is missing; it must be " + f.Shape.phrase()}
}

func (s *Shape) wrong(v *Value) string {
	text := v.Str()
	switch {
	case s.typeOnly:
		return ""
	case s.notBlank && strings.TrimSpace(text) == "":
		return "must not be blank"
	case s.version != "" && text != s.version:
		if later(text, s.version) {
			return fmt.Sprintf("is %q, a later version than this program knows; it knows %q", text, s.version)
		}
		return fmt.Sprintf("must be %q, got %q", s.version, text)
	case s.enum != nil && !slices.Contains(s.enum, text):
		return fmt.Sprintf("must be %s, got %q", s.phrase(), text)
	case s.rule != nil:
		return s.rule(text)
	case s.kind == Number:
		f, ok := v.Float()
		if !ok || math.IsInf(f, 0) {
			return "must be a finite number"
		}
		if _, whole := v.Int(); s.integer && !whole || s.least != nil && f < *s.least {
			return fmt.Sprintf("must be %s, got %s", s.phrase(), v.text)
		}
	case s.kind == Array && v.Len() < s.minItems:
		return fmt.Sprintf("must have %d or more entries", s.minItems)
	}
	return ""
}

// later reports whether text names the same schema as version with a higher
// number: manifest.v2 for manifest.v1.
func later(text, version string) bool {
	cut := strings.LastIndex(version, ".v")
	if cut < 0 || !strings.HasPrefix(text, version[:cut+2]) {
		return false
	}
	has, errHas := strconv.Atoi(text[cut+2:])
	knows, errKnows := strconv.Atoi(version[cut+2:])
	return errHas == nil && errKnows == nil && has > knows
}

// phrase says in words what the shape demands.
func (s *Shape) phrase() string {
	switch {
	case s.version != "":
		return strconv.Quote(s.version)
	case s.enum != nil:
		return "one of " + strings.Join(s.enum, ", ")
	case s.notBlank:
		return "a string that is not blank"
	case s.integer && s.least != nil:
		return "an integer of at least " + strconv.FormatFloat(*s.least, 'g', -1, 64)
	case s.kind == Number && s.least != nil:
		return "a number of at least " + strconv.FormatFloat(*s.least, 'g', -1, 64)
	case s.kind == Absent:
		return "there"
	case s.kind == Array || s.kind == Object:
		return "an " + s.kind.String()
	}
	return "a " + s.kind.String()
}

// Describe says what v is, for a message that expected something else: the
// string "x", the number 5, an array, null.
func Describe(v *Value) string {
	switch v.Kind() {
	case String:
		return "the string " + strconv.Quote(tidegate.Cut(v.text))
	case Number:
		return "the number " + v.text
	case Array, Object:
		return "an " + v.Kind().String()
	case Bool:
		return strconv.FormatBool(v.truth)
	}
	return v.Kind().String()
}

// Schema prints the shape as JSON Schema (draft 2020-12).
func (s Shape) Schema(title string) *Value {
	out := NewObject()
	out.Set("$schema", Of("https://json-schema.org/draft/2020-12/schema"))
	out.Set("title", Of(title))
	for _, m := range s.schema().Members() {
		out.Set(m.Key, m.Value)
	}
	return out
}

func (s Shape) schema() *Value {
	out := NewObject()
	if s.kind == Absent {
		return out
	}
	name := s.kind.String()
	if s.integer {
		name = "integer"
	}
	out.Set("type", Of(name))
	if s.nullable {
		out.Set("type", Of([]string{name, "null"}))
	}
	if s.ruleText != "" {
		out.Set("description", Of(s.ruleText))
	}
	if s.version != "" {
		out.Set("const", Of(s.version))
	}
	if s.enum != nil {
		out.Set("enum", Of(s.enum))
	}
	if s.notBlank {
		out.Set("pattern", Of(`\S`))
	}
	if s.least != nil {
		out.Set("minimum", Of(*s.least))
	}
	if s.minItems > 0 {
		out.Set("minItems", Of(s.minItems))
	}
	if s.elem != nil {
		key := "items"
		if s.kind == Object {
			key = "additionalProperties"
		}
		out.Set(key, s.elem.schema())
	}
	if len(s.fields) > 0 {
		properties, required := NewObject(), []string{}
		for _, f := range s.fields {
			property := f.Shape.schema()
			if f.About != "" {
				property.Set("description", Of(f.About))
			}
			properties.Set(f.Name, property)
			if !f.Optional {
				required = append(required, f.Name)
			}
		}
		out.Set("properties", properties)
		out.Set("required", Of(required))
	}
	return out
}
