package tool

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
)

// Schema is a JSON Schema under construction.
type Schema = *jsonschema.Schema

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
	always      = any(true)
	typeSchemas = map[reflect.Type]*jsonschema.Schema{
		valueType:   {},
		detailsType: {Type: "object"},
		reflect.TypeFor[codec.True](): {
			Type: "boolean", Const: &always, Description: "always true in a result; a failure is an error envelope",
		},
	}
)

func (t *Tool) derive() (input, output *codec.Value) {
	if source, ok := reflect.New(t.in).Interface().(SchemaSource); ok {
		input = source.JSONSchema()
	} else {
		schema := schemaOf(t.in)
		for _, name := range t.hidden {
			drop(schema, name)
		}
		if t.Shorthand != nil {
			t.Shorthand.describe(schema)
		}
		if t.Refine != nil {
			t.Refine(schema)
		}
		input = print(schema)
	}
	out := schemaOf(t.out)
	open(out)
	return input, print(out)
}

// drop removes a property.
func drop(s *jsonschema.Schema, name string) {
	delete(s.Properties, name)
	s.PropertyOrder = slices.DeleteFunc(s.PropertyOrder, func(p string) bool { return p == name })
	s.Required = slices.DeleteFunc(s.Required, func(p string) bool { return p == name })
}

// open allows further keys in results, so that a field added later does not
// break a client that validates.
func open(s *jsonschema.Schema) {
	if s == nil {
		return
	}
	if s.Type == "object" || slices.Contains(s.Types, "object") {
		s.AdditionalProperties = nil
	}
	for _, p := range s.Properties {
		open(p)
	}
	open(s.Items)
}

func print(s *jsonschema.Schema) *codec.Value {
	data, err := json.Marshal(s)
	if err != nil {
		panic(fmt.Sprintf("tool: %v", err))
	}
	v, err := codec.Parse(data)
	if err != nil {
		panic(fmt.Sprintf("tool: %v", err))
	}
	return portable(v)
}

// SchemaFor is the schema of T with further keys allowed. A Refine uses it to say
// what an argument of type *codec.Value holds whose faults have codes of their own,
// so that the decoder hands it over unchecked.
func SchemaFor[T any]() Schema {
	s := schemaOf(reflect.TypeFor[T]())
	open(s)
	return s
}

// SchemaOf is the schema of a struct type that declares arguments.
func SchemaOf(t reflect.Type) *codec.Value { return print(schemaOf(t)) }

func schemaOf(t reflect.Type) *jsonschema.Schema {
	s, err := jsonschema.ForType(t, &jsonschema.ForOptions{TypeSchemas: typeSchemas})
	if err != nil {
		panic(fmt.Sprintf("tool: %v", err))
	}
	refine(t, s)
	return s
}

// refine adds what the tags say, and takes away null where Go merely means a
// nil slice or an optional argument.
func refine(t reflect.Type, s *jsonschema.Schema) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case s == nil:
	case t == valueType || t == detailsType:
		s.Types = nil
	case t.Kind() == reflect.Slice:
		if s.Types != nil {
			s.Type, s.Types = "array", nil
		}
		refine(t.Elem(), s.Items)
	case t.Kind() == reflect.Struct:
		for _, sf := range reflect.VisibleFields(t) {
			if name, _, _ := strings.Cut(sf.Tag.Get("json"), ","); sf.Tag.Get("person") == "true" {
				drop(s, name)
			}
		}
		for _, f := range fieldsOf(t) {
			p := s.Properties[f.name]
			if p == nil {
				continue
			}
			if f.optional && len(p.Types) == 2 {
				p.Type, p.Types = p.Types[1], nil
			}
			refine(f.typ, p)
			f.describe(p)
		}
	}
}

func (f field) describe(s *jsonschema.Schema) {
	if len(f.holds) == 1 {
		s.Type = f.holds[0]
	} else if len(f.holds) > 1 {
		s.Types = f.holds
	}
	for _, v := range f.enum {
		s.Enum = append(s.Enum, v)
	}
	s.Minimum, s.Maximum = f.min, f.max
	if f.minItems > 0 {
		s.MinItems = &f.minItems
	}
	if f.openItems && s.Items != nil {
		s.Items.AdditionalProperties = nil
	}
	if f.fallback != "" {
		text, _ := json.Marshal(f.fallback)
		if f.typ.Kind() != reflect.String && f.typ != reflect.TypeFor[*string]() {
			text = []byte(f.fallback)
		}
		s.Default = text
	}
}

// field is one argument, as its Go field and tags declare it.
type field struct {
	index     []int
	name      string
	about     string
	typ       reflect.Type
	optional  bool
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
