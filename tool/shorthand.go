package tool

import (
	"context"
	"reflect"
	"slices"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
)

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
