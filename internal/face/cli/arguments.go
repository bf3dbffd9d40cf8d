package cli

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/tool"
)

// inTypedWords rewords a message about an argument: it names the operand or flag that
// a person typed for it.
func inTypedWords(t *tool.Tool, err error) error {
	e := tidegate.AsError(err)
	if e == nil || e.Code != tidegate.InvalidArgs || len(e.Details) != 1 {
		return err
	}
	argument := e.Details[0].Key
	if i := strings.IndexAny(argument, "[."); i >= 0 {
		argument = argument[:i]
	}
	for _, o := range t.Command.Operands {
		if o.Field == argument {
			return tidegate.Errorf(e.Code, e.Details, "%s", typedFor(o.Name, argument, e.Message))
		}
	}
	if slices.ContainsFunc(flagged(t), func(a tool.Argument) bool { return a.Name == argument }) {
		return tidegate.Errorf(e.Code, e.Details, "%s", typedFor("--"+t.Command.FlagName(argument), argument, e.Message))
	}
	return err
}

func typedFor(typed, argument, message string) string {
	if rest, ok := strings.CutPrefix(message, argument+" "); ok {
		return typed + " " + rest
	}
	return typed + ": " + message
}

// flagged lists the arguments that become flags.
func flagged(t *tool.Tool) []tool.Argument {
	return slices.DeleteFunc(t.Arguments(), func(a tool.Argument) bool {
		operand := slices.ContainsFunc(t.Command.Operands, func(o tool.Operand) bool { return o.Field == a.Name })
		return operand || a.Kind == reflect.Invalid || slices.Contains(t.Command.Hide, a.Name)
	})
}

func defineFlags(cmd *cobra.Command, t *tool.Tool) {
	flags := cmd.Flags()
	for _, a := range flagged(t) {
		// What a person types need not be absolute: see absolute.
		name, about := t.Command.FlagName(a.Name), strings.TrimPrefix(a.About, "absolute ")
		if a.Enum != nil {
			about += " (" + strings.Join(a.Enum, ", ") + ")"
		}
		fallback := a.Default
		if value, ok := t.Command.Defaults[a.Name]; ok {
			fallback = fmt.Sprint(value)
		}
		switch {
		case a.Kind == reflect.Bool:
			flags.Bool(name, fallback == "true", about)
		case a.Kind == reflect.Slice:
			flags.StringSlice(name, nil, about)
		case a.Kind == reflect.Int:
			flags.Var(&literal{text: fallback, kind: "int"}, name, about)
		case a.Kind == reflect.Float64:
			flags.Var(&literal{text: fallback, kind: "number"}, name, about)
		case a.Path:
			flags.Var(&literal{text: fallback, kind: "path"}, name, about)
		default:
			flags.String(name, fallback, about)
		}
		if a.Enum != nil {
			complete(cmd, name, a.Enum)
		}
	}
	for _, f := range t.Command.Flags {
		define(cmd, f)
	}
}

// define declares a flag that is not an argument of a tool.
func define(cmd *cobra.Command, f tool.Flag) {
	flags, about := cmd.Flags(), f.About
	if f.Enum != nil {
		about += " (" + strings.Join(f.Enum, ", ") + ")"
	}
	switch {
	case f.Kind == tool.Switch:
		flags.Bool(f.Name, false, about)
	case f.List && f.Kind == tool.PathFlag: // a path may have a comma in it
		flags.StringArray(f.Name, nil, about)
	case f.List:
		flags.StringSlice(f.Name, nil, about)
	case f.Kind == tool.PathFlag:
		flags.Var(&literal{text: f.Default, kind: "path"}, f.Name, about)
	default:
		flags.String(f.Name, f.Default, about)
	}
	if offered := slices.Concat(f.Enum, f.Complete); offered != nil {
		complete(cmd, f.Name, offered)
	}
}

// literal is a flag that takes any text. A number goes into the arguments as
// JSON, so that the tool's own decoder judges it: a flag cannot accept what
// `call` refuses.
type literal struct{ text, kind string }

func (l *literal) String() string        { return l.text }
func (l *literal) Type() string          { return l.kind }
func (l *literal) Set(text string) error { l.text = text; return nil }

// arguments turns what was typed into the tool's JSON arguments.
func (p *Program) arguments(ctx context.Context, cmd *cobra.Command, t *tool.Tool, operands []string) (*codec.Value, tool.Typed, error) {
	args := codec.NewObject()
	typed := tool.Typed{Operands: map[string]string{}, Flags: map[string]string{}, Input: p.Stdin, Say: p.say}
	paths, kinds := map[string]bool{}, map[string]reflect.Kind{}
	for _, a := range t.Arguments() {
		paths[a.Name], kinds[a.Name] = a.Path, a.Kind
	}
	for i, o := range t.Command.Operands {
		if i >= len(operands) {
			break
		}
		rest := slices.Clone(operands[i:])
		for n, text := range rest {
			if (o.Path || paths[o.Field]) && text != tool.Stdin {
				rest[n] = absolute(p.Dir, text)
			}
		}
		if o.Repeats && kinds[o.Field] == reflect.String {
			args.Set(o.Field, codec.Of(strings.Join(rest, " ")))
			break
		}
		if o.Repeats {
			args.Set(o.Field, codec.Of(rest))
			break
		}
		text := rest[0]
		typed.Operands[o.Name] = text
		switch kind := kinds[o.Field]; {
		case kind == reflect.Int || kind == reflect.Float64:
			if v, err := codec.Parse([]byte(text)); err == nil && v.Kind() == codec.Number {
				args.Set(o.Field, v)
				break
			}
			args.Set(o.Field, codec.Of(text))
		case o.Field != "":
			args.Set(o.Field, codec.Of(text))
		}
	}
	for _, a := range flagged(t) {
		flag := cmd.Flags().Lookup(t.Command.FlagName(a.Name))
		if !flag.Changed {
			if value, ok := t.Command.Defaults[a.Name]; ok {
				args.Set(a.Name, codec.Of(value))
			}
			continue
		}
		args.Set(a.Name, p.flagValue(cmd, a, flag.Name, flag.Value.String()))
	}
	for _, f := range t.Command.Flags {
		flag := cmd.Flags().Lookup(f.Name)
		if !flag.Changed || flag.Value.String() == "false" {
			continue
		}
		typed.Flags[f.Name] = flag.Value.String()
		if f.Kind == tool.PathFlag {
			typed.Flags[f.Name] = absolute(p.Dir, flag.Value.String())
		}
	}
	if t.Command.Fill != nil {
		if err := t.Command.Fill(ctx, typed, args); err != nil {
			return nil, typed, p.misplaced(err)
		}
	}
	return args, typed, nil
}

func (p *Program) flagValue(cmd *cobra.Command, a tool.Argument, name, text string) *codec.Value {
	switch a.Kind {
	case reflect.Bool:
		return codec.Of(text == "true")
	case reflect.Slice:
		list, err := cmd.Flags().GetStringSlice(name)
		if err != nil {
			panic("cli: " + err.Error())
		}
		return codec.Of(list)
	case reflect.Int, reflect.Float64:
		if v, err := codec.Parse([]byte(text)); err == nil {
			return v
		}
		return codec.Of(text)
	}
	if a.Path {
		text = absolute(p.Dir, text)
	}
	return codec.Of(text)
}

// streamed is the file that the streaming flag of a command names, and whether it was
// given.
func streamed(cmd *cobra.Command, c *tool.Command) (file string, given bool) {
	if c.Stream == nil {
		return "", false
	}
	flag := cmd.Flags().Lookup(c.Stream.Flag)
	return flag.Value.String(), flag.Changed
}

// chosen is what was chosen with a flag that goes with a stream.
func chosen(cmd *cobra.Command, c tool.Choice) (string, error) {
	value := cmd.Flags().Lookup(c.Flag).Value.String()
	if !slices.Contains(c.Values, value) {
		return "", tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs(c.Flag, value), "--%s must be one of %s, got %q", c.Flag, strings.Join(c.Values, ", "), value)
	}
	return value, nil
}

// operandsOf is the rule for the operands of a command, of which it takes none while it
// streams.
func operandsOf(c *tool.Command) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if _, streams := streamed(cmd, c); streams {
			return atMost(0)(cmd, args)
		}
		return operandsRule(c.Operands)(cmd, args)
	}
}

func operandsRule(operands []tool.Operand) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		for i, o := range operands {
			if i >= len(args) && !o.Optional {
				return tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs(o.Name, nil),
					"%s is missing: %s (usage: %s)", o.Name, o.About, cmd.UseLine())
			}
		}
		if slices.ContainsFunc(operands, func(o tool.Operand) bool { return o.Repeats }) {
			return nil
		}
		return atMost(len(operands))(cmd, args)
	}
}

func atMost(n int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) > n {
			quotes := ""
			if n > 0 {
				quotes = "; words that belong together need quotes"
			}
			return tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("argument", tidegate.Cut(args[n])),
				"%q is one argument too many (usage: %s)%s", tidegate.Cut(args[n]), cmd.UseLine(), quotes)
		}
		return nil
	}
}
