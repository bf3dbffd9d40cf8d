package tool

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
)

// decode turns arguments into the input of the tool. Faults are INVALID_ARGS that
// name the argument; of several the first is reported: unknown keys, then the
// arguments in the order of their declaration.
func (t *Tool) decode(ctx context.Context, caller Caller, args *codec.Value) (reflect.Value, error) {
	in := reflect.New(t.in)
	if source, ok := in.Interface().(SchemaSource); ok {
		return in.Elem(), source.Decode(args)
	}
	if args.Kind() != codec.Object {
		return in, tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("arguments", brief(args)),
			"the arguments must be an object, got %s", codec.Describe(args))
	}
	fields := slices.DeleteFunc(slices.Clone(fieldsOf(t.in)), func(f field) bool { return slices.Contains(t.hidden, f.name) })
	if t.given != nil {
		if err := checkKeys("", args, fields); err != nil {
			return in, err
		}
		for name, value := range t.given {
			args.Set(name, codec.Of(value))
		}
		fields = slices.DeleteFunc(slices.Clone(fieldsOf(t.in)), func(f field) bool {
			_, brought := t.given[f.name]
			return slices.Contains(t.hidden, f.name) && !brought
		})
	}
	if s := t.Shorthand; s != nil {
		if err := checkKeys("", args, fields, s.Name); err != nil {
			return in, err
		}
		if err := s.expand(ctx, caller, args); err != nil {
			return in, err
		}
	}
	return in.Elem(), decodeObject("", fields, args, in.Elem(), false)
}

// Decoded is a value of a struct type that declares arguments, as the arguments give it. It
// returns INVALID_ARGS.
func Decoded(t reflect.Type, args *codec.Value) (reflect.Value, error) {
	in := reflect.New(t).Elem()
	return in, decodeObject("", fieldsOf(t), args, in, false)
}

// checkKeys returns INVALID_ARGS for the first argument that is neither one of
// the fields nor has one of the other names.
func checkKeys(path string, args *codec.Value, fields []field, others ...string) error {
	for _, m := range args.Members() {
		if slices.ContainsFunc(fields, func(f field) bool { return f.name == m.Key }) || slices.Contains(others, m.Key) {
			continue
		}
		names := slices.Clone(others)
		for _, f := range fields {
			names = append(names, f.name)
		}
		hint := codec.DidYouMean(m.Key, names, "known are "+strings.Join(names, ", "))
		name := path + tidegate.Cut(m.Key)
		return tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs(name, brief(m.Value)), "%s is not an argument; %s", name, hint)
	}
	return nil
}

func decodeObject(path string, fields []field, args *codec.Value, into reflect.Value, extra bool) error {
	if !extra {
		if err := checkKeys(path, args, fields); err != nil {
			return err
		}
	}
	for _, f := range fields {
		v := args.Get(f.name)
		if v.Kind() == codec.Null && f.optional {
			v = nil
		}
		name := path + f.name
		if v == nil {
			if f.fallback != "" {
				v = f.defaultValue()
			} else if f.optional && !f.neededIn(fields, into) {
				continue
			} else {
				return tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs(name, nil), "%s is required%s", name, f.remark())
			}
		}
		if err := f.decodeInto(name, v, into.FieldByIndex(f.index)); err != nil {
			return err
		}
	}
	return nil
}

// neededIn reports whether an optional argument is required after all, because
// another argument, decoded before it, has the value that its tag names.
func (f field) neededIn(fields []field, decoded reflect.Value) bool {
	name, value, _ := strings.Cut(f.requiredIf, "=")
	return slices.ContainsFunc(fields, func(other field) bool {
		return other.name == name && decoded.FieldByIndex(other.index).String() == value
	})
}

func (f field) remark() string {
	if f.about == "" {
		return ""
	}
	return ": " + f.about
}

func (f field) defaultValue() *codec.Value {
	if v, err := codec.Parse([]byte(f.fallback)); err == nil {
		return v
	}
	return codec.Of(f.fallback)
}

// decodeInto fills a value of the input by an argument, or says what is wrong with
// the argument.
func (f field) decodeInto(name string, v *codec.Value, into reflect.Value) error {
	if into.Type() == reflect.PointerTo(valueType) {
		into.Set(reflect.ValueOf(v))
		return nil
	}
	if into.Kind() == reflect.Pointer {
		into.Set(reflect.New(into.Type().Elem()))
		into = into.Elem()
	}
	switch into.Kind() {
	case reflect.Slice:
		return f.decodeList(name, v, into)
	case reflect.Struct:
		if v.Kind() != codec.Object {
			return fault(name, v, "must be an object, got %s", codec.Describe(v))
		}
		return decodeObject(name+".", fieldsOf(into.Type()), v, into, f.openItems)
	}
	return f.decodeScalar(name, v, into)
}

func (f field) decodeScalar(name string, v *codec.Value, into reflect.Value) error {
	switch into.Kind() {
	case reflect.String:
		if v.Kind() != codec.String {
			return fault(name, v, "must be a string, got %s", codec.Describe(v))
		}
		into.SetString(v.Str())
		return f.checkText(name, v)
	case reflect.Bool:
		if v.Kind() != codec.Bool {
			return fault(name, v, "must be true or false, got %s", codec.Describe(v))
		}
		into.SetBool(v.Bool())
	case reflect.Int, reflect.Int64:
		n, ok := v.Int()
		if !ok || !f.inRange(float64(n)) {
			return fault(name, v, "must be an integer%s, got %s", f.rangeText(), codec.Describe(v))
		}
		into.SetInt(n)
	case reflect.Float64:
		n, ok := v.Float()
		if !ok || math.IsInf(n, 0) || !f.inRange(n) {
			return fault(name, v, "must be a finite number%s, got %s", f.rangeText(), codec.Describe(v))
		}
		into.SetFloat(n)
	default:
		panic(fmt.Sprintf("tool: an argument cannot be of type %s", into.Type()))
	}
	return nil
}

// checkText returns INVALID_ARGS for a text that its declaration does not allow.
func (f field) checkText(name string, v *codec.Value) error {
	text := v.Str()
	switch {
	case strings.TrimSpace(text) == "":
		return fault(name, v, "must not be blank")
	case f.path == pathAbsolute && !filepath.IsAbs(text):
		return fault(name, v, "must be absolute")
	case f.path != "" && strings.ContainsRune(text, 0):
		return fault(name, v, "must not contain a NUL character")
	case f.enum != nil && !slices.Contains(f.enum, text):
		return fault(name, v, "must be one of %s, got %q", strings.Join(f.enum, ", "), text)
	}
	return nil
}

func (f field) decodeList(name string, v *codec.Value, into reflect.Value) error {
	if v.Kind() != codec.Array {
		return fault(name, v, "must be an array, got %s", codec.Describe(v))
	}
	if v.Len() < f.minItems {
		return fault(name, v, "must have %d or more entries", f.minItems)
	}
	list := reflect.MakeSlice(into.Type(), v.Len(), v.Len())
	item := field{typ: into.Type().Elem(), path: f.path, enum: f.enum, openItems: f.openItems}
	for i, elem := range v.Elems() {
		if err := item.decodeInto(name+"["+strconv.Itoa(i)+"]", elem, list.Index(i)); err != nil {
			return err
		}
	}
	into.Set(list)
	return nil
}

// fault is INVALID_ARGS about an argument, which it names and quotes.
func fault(name string, v *codec.Value, format string, args ...any) error {
	return tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs(name, brief(v)), "%s "+format, append([]any{name}, args...)...)
}

func (f field) inRange(n float64) bool {
	return (f.min == nil || n >= *f.min) && (f.max == nil || n <= *f.max)
}

func (f field) rangeText() string {
	switch {
	case f.min != nil && f.max != nil:
		return fmt.Sprintf(" from %v to %v", *f.min, *f.max)
	case f.min != nil:
		return fmt.Sprintf(" of at least %v", *f.min)
	case f.max != nil:
		return fmt.Sprintf(" of at most %v", *f.max)
	}
	return ""
}

// brief is a faulty argument as details quote it: as it is, or, when it is long,
// the beginning of its text.
func brief(v *codec.Value) any {
	if v.Kind() == codec.String {
		return tidegate.Cut(v.Str())
	}
	line, err := codec.MarshalLine(v)
	if err != nil || utf8.RuneCount(line) > tidegate.MaxText {
		return tidegate.Cut(string(line))
	}
	return v
}

// Input is the tool's input as the arguments give it. It returns INVALID_ARGS.
func (t *Tool) Input(ctx context.Context, args *codec.Value) (any, error) {
	in, err := t.decode(ctx, Caller{}, args)
	if err != nil {
		return nil, err
	}
	return in.Interface(), nil
}
