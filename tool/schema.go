package tool

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
)

// SchemaSource is an input type that brings its own schema and decodes itself,
// for a tool whose specification gives a data model with rules of its own.
type SchemaSource interface {
	// JSONSchema is the schema of the arguments.
	JSONSchema() *codec.Value
	// Decode takes the arguments; it returns INVALID_ARGS.
	Decode(*codec.Value) error
}

var (
	valueType   = reflect.TypeFor[codec.Value]()
	detailsType = reflect.TypeFor[tidegate.Details]()
	trueType    = reflect.TypeFor[codec.True]()
)

func (t *Tool) derive() (input, output *codec.Value) {
	if source, ok := reflect.New(t.in).Interface().(SchemaSource); ok {
		input = source.JSONSchema()
	} else {
		fields := slices.DeleteFunc(slices.Clone(fieldsOf(t.in)), func(f field) bool { return slices.Contains(t.hidden, f.name) })
		if t.Shorthand != nil {
			fields = t.Shorthand.among(fields)
		}
		input = object(fields, field{}, false)
		if t.Refine != nil {
			t.Refine(input.Get("properties"))
		}
	}
	return input, schemaOf(t.out, field{}, true)
}

// SchemaFor is the schema of T with further keys allowed. A Refine uses it to say
// what an argument of type *codec.Value holds whose faults have codes of their own,
// so that the decoder hands it over unchecked.
func SchemaFor[T any]() *codec.Value { return schemaOf(reflect.TypeFor[T](), field{}, true) }

// SchemaOf is the schema of a struct type that declares arguments.
func SchemaOf(t reflect.Type) *codec.Value { return schemaOf(t, field{}, false) }

// schemaOf is the JSON Schema of a type that a field has, in the spelling that every client
// takes: some refuse the whole list of tools for a property whose schema is true, and some for a
// type that is a list. Open allows further keys, as results do, so that a field added later does
// not break a client that validates. Null is only what a result has for a pointer: an argument
// is left out instead.
func schemaOf(t reflect.Type, f field, open bool) *codec.Value {
	given := t == reflect.PointerTo(valueType) || t == valueType || t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Uint8 // JSON as it is
	if t.Kind() == reflect.Pointer && !f.optional && !given {
		of := f
		of.about, of.optional = "", true
		return either(f.about, typed("null"), schemaOf(t, of, open))
	}
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case t == trueType:
		s := typed("boolean")
		s.Set("description", codec.Of("always true in a result; a failure is an error envelope"))
		s.Set("const", codec.Of(true))
		return s
	case t == detailsType:
		return typed("object")
	case t.Kind() == reflect.Struct && !given:
		return object(fieldsOf(t), f, open)
	case !given:
		return scalar(t, f, open)
	case len(f.holds) > 1:
		branches := make([]*codec.Value, len(f.holds))
		for i, name := range f.holds {
			branches[i] = typed(name)
		}
		return either(f.about, branches...)
	}
	s := typed(f.holds...)
	describe(s, f)
	return s
}

// typed is the schema of a type of JSON, of any value for none.
func typed(name ...string) *codec.Value {
	s := codec.NewObject()
	for _, one := range name {
		s.Set("type", codec.Of(one))
	}
	return s
}

// either is the schema of what follows one of several.
func either(about string, branches ...*codec.Value) *codec.Value {
	s := codec.NewObject()
	describe(s, field{about: about})
	list := codec.Of([]any{})
	for _, branch := range branches {
		list.Append(branch)
	}
	s.Set("anyOf", list)
	return s
}

func describe(s *codec.Value, f field) {
	if f.about != "" {
		s.Set("description", codec.Of(f.about))
	}
}

// jsonTypes are what JSON calls the kinds of Go. Anything may stand for others.
var jsonTypes = map[reflect.Kind]string{
	reflect.String: "string", reflect.Bool: "boolean", reflect.Int: "integer", reflect.Int64: "integer", reflect.Float64: "number", reflect.Slice: "array", reflect.Map: "object",
}

// scalar is the schema of what is no object with fields.
func scalar(t reflect.Type, f field, open bool) *codec.Value {
	s := codec.NewObject()
	if name := jsonTypes[t.Kind()]; name != "" {
		s = typed(name)
	}
	if t.Kind() == reflect.Slice {
		s.Set("items", schemaOf(t.Elem(), field{}, open || f.openItems))
	}
	describe(s, f)
	if f.fallback != "" {
		s.Set("default", codec.Of(f.fallback))
		if t.Kind() != reflect.String {
			s.Set("default", f.defaultValue())
		}
	}
	if f.enum != nil {
		s.Set("enum", codec.Of(f.enum))
	}
	for _, bound := range []struct {
		name string
		at   *float64
	}{{"minimum", f.min}, {"maximum", f.max}} {
		if bound.at != nil {
			s.Set(bound.name, codec.Of(*bound.at))
		}
	}
	if f.minItems > 0 {
		s.Set("minItems", codec.Of(f.minItems))
	}
	return s
}

// object is the schema of an object with fields.
func object(fields []field, of field, open bool) *codec.Value {
	s, properties, required := typed("object"), codec.NewObject(), []string{}
	for _, f := range fields {
		properties.Set(f.name, schemaOf(f.typ, f, open))
		if !f.optional && !f.omitted {
			required = append(required, f.name)
		}
	}
	if len(fields) > 0 {
		s.Set("properties", properties)
	}
	describe(s, of)
	if len(required) > 0 {
		s.Set("required", codec.Of(required))
	}
	if !open {
		s.Set("additionalProperties", codec.Of(false))
	}
	return s
}

// field is one argument, as its Go field and tags declare it.
type field struct {
	index     []int
	name      string
	about     string
	typ       reflect.Type
	optional  bool
	omitted   bool   // from results where it is empty
	path      string // pathAbsolute, pathInRun, or "" for what is not a path
	writes    bool
	openItems bool
	enum      []string
	holds     []string
	min, max  *float64
	minItems  int
	fallback  string

	requiredIf string // "mode=fixture"
}

// The values of the tag path.
const (
	pathAbsolute = "absolute"
	pathInRun    = "run"
)

// known holds the fields of the types that were asked about: a list of a
// thousand objects asks a thousand times.
var known sync.Map // reflect.Type → []field

// fieldsOf lists the arguments that a struct declares. The list is shared.
func fieldsOf(t reflect.Type) []field {
	fields, ok := known.Load(t)
	if !ok {
		fields, _ = known.LoadOrStore(t, readFields(t))
	}
	return fields.([]field)
}

func readFields(t reflect.Type) []field {
	var fields []field
	for _, sf := range reflect.VisibleFields(t) {
		name, options, _ := strings.Cut(sf.Tag.Get("json"), ",")
		if name == "" || name == "-" || !sf.IsExported() || sf.Tag.Get("person") == "true" {
			continue
		}
		f := field{
			index:     sf.Index,
			name:      name,
			about:     sf.Tag.Get("jsonschema"),
			typ:       sf.Type,
			optional:  strings.Contains(options, "omitzero"),
			omitted:   strings.Contains(options, "omitempty"),
			path:      sf.Tag.Get("path"),
			writes:    sf.Tag.Get("writes") == "true",
			openItems: sf.Tag.Get("extra") == "ignore",
			min:       number(sf.Tag.Get("min")),
			max:       number(sf.Tag.Get("max")),
			fallback:  sf.Tag.Get("default"),

			requiredIf: sf.Tag.Get("requiredif"),
		}
		if f.path != "" && f.path != pathAbsolute && f.path != pathInRun {
			panic(fmt.Sprintf("tool: %s has the tag path:%q", name, f.path))
		}
		if enum := sf.Tag.Get("enum"); enum != "" {
			f.enum = strings.Split(enum, ",")
		}
		if holds := sf.Tag.Get("holds"); holds != "" {
			f.holds = strings.Split(holds, ",")
		}
		if n := number(sf.Tag.Get("minitems")); n != nil {
			f.minItems = int(*n)
		}
		fields = append(fields, f)
	}
	return fields
}

func number(tag string) *float64 {
	if tag == "" {
		return nil
	}
	f, err := strconv.ParseFloat(tag, 64)
	if err != nil {
		panic(fmt.Sprintf("tool: %q in a tag is not a number", tag))
	}
	return &f
}

// Shorthand is one argument that stands for others: the id of a run for the paths
// of its files. A caller gives either it or them. The command line has no
// shorthands: a person's operand is just as short.
type Shorthand struct {
	Name  string
	About string
	For   []string // the arguments that it stands for
	// Fill sets them for a value of the shorthand.
	Fill func(ctx context.Context, call Caller, value string, args *codec.Value) error
}

// expand puts the arguments that a shorthand stands for in its place. It returns
// INVALID_ARGS for a shorthand beside one of them, and the errors of Fill.
func (s *Shorthand) expand(ctx context.Context, caller Caller, args *codec.Value) error {
	given := args.Get(s.Name)
	if given == nil {
		return nil
	}
	args.Delete(s.Name)
	if given.Kind() == codec.Null {
		return nil
	}
	if given.Kind() != codec.String || strings.TrimSpace(given.Str()) == "" {
		return tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs(s.Name, brief(given)), "%s must be a string that is not blank, got %s", s.Name, codec.Describe(given))
	}
	for _, name := range s.For {
		if v := args.Get(name); v != nil && v.Kind() != codec.Null {
			return tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs(s.Name, brief(given)), "%s and %s cannot both be given", name, s.Name)
		}
		args.Delete(name)
	}
	return s.Fill(ctx, caller, given.Str(), args)
}

// among are the fields with the shorthand behind the first one that it stands for. None of
// those stays required.
func (s *Shorthand) among(fields []field) []field {
	for i := range fields {
		fields[i].optional = fields[i].optional || slices.Contains(s.For, fields[i].name)
	}
	at := slices.IndexFunc(fields, func(f field) bool { return f.name == s.For[0] })
	return slices.Insert(fields, at+1, field{name: s.Name, about: s.About, typ: reflect.TypeFor[string](), optional: true})
}
