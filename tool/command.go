package tool

import (
	"context"
	"io"
	"reflect"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/report"
)

// Command is how a person calls a tool. Flags derive from the input: every
// argument that is not an operand becomes --its-name, described by its schema.
type Command struct {
	Path     string            // "wave review"
	Operands []Operand         // in order
	Short    string            // what it does, one line without full stop, for lists of commands
	Long     string            // what the command is for, beyond the summary
	Example  string            // one or more lines that work
	Rename   map[string]string // argument → flag name, where --its-name would be clumsy
	Hide     []string          // arguments that Fill provides or that people do not need
	Flags    []Flag            // beyond those of the input: Fill or After makes something of them
	Formats  []string          // report formats beyond text and json
	Piped    string            // the format where stdout is not a terminal, text when empty
	Defaults map[string]any    // arguments that a person gets when none is typed
	// Fill turns what was typed into the tool's arguments, where that is more
	// than copying: a run folder becomes a manifest path. It sees the arguments
	// typed so far and changes them.
	Fill func(ctx context.Context, typed Typed, args *codec.Value) error
	// Confirm is what a person at a terminal is asked before the command does what
	// cannot be undone; "" asks nothing. The flag --yes answers it. Nil for a
	// command that does not ask.
	Confirm func(ctx context.Context, args *codec.Value) (question string, err error)
	// NeedsYes holds for a command that needs --yes where nobody can be asked.
	NeedsYes bool
	// After does what a flag asks for beside the tool, once it has returned value.
	After func(ctx context.Context, typed Typed, value any) error
	// Instead is what a person is shown in the place of an error of the tool, with
	// more than its first fault; ok is false where there is no more to say. The exit
	// status stays that of the error. In is the tool's input.
	Instead func(ctx context.Context, in any, err *tidegate.Error) (r report.Report, ok bool)
	// Stream answers a flag in the place of the tool; nil for a command without one.
	Stream *Stream
	// Watch lists the files and folders whose change makes --watch call again;
	// nil for a command without --watch.
	Watch func(args *codec.Value) []string
	// Follow, for --follow, hands every entry of what the command shows to each,
	// as text and as JSON: those that are there, then each that is added, until
	// the context ends or each returns an error. Nil for a command that follows
	// nothing.
	Follow func(ctx context.Context, args *codec.Value, each func(text string, entry *codec.Value) error) error
}

// Stream is a flag that names a file, or [Stdin]. With it the command takes no operand:
// it reads the file and prints as it reads.
type Stream struct {
	Flag   string
	About  string
	Choice Choice
	Run    func(ctx context.Context, file, choice string, input io.Reader, out io.Writer) error
}

// Choice is a flag that goes with a stream.
type Choice struct {
	Flag   string
	About  string
	Values []string // the first where it is not given
}

// FlagName is the flag of an argument, without its dashes.
func (c *Command) FlagName(argument string) string {
	if name := c.Rename[argument]; name != "" {
		return name
	}
	return strings.ReplaceAll(argument, "_", "-")
}

// Operand is a positional argument. Field names the argument it fills; when
// empty, it is only handed to Fill.
type Operand struct {
	Name     string // as shown in the help: PERSPECTIVES
	Field    string
	About    string
	Optional bool
	Repeats  bool // takes all that follow; for a Field that is a text, with blanks between them
	Path     bool // made absolute; implied by a Field that is a path
}

// Flag is an option of a command that is not an argument of a tool.
type Flag struct {
	Name     string
	About    string
	Kind     FlagKind
	Default  string
	List     bool     // may be given several times
	Enum     []string // all that it may be; nil for other texts
	Complete []string // what a shell offers of those
}

// FlagKind is the type of a [Flag].
type FlagKind int

// The kinds of flags.
const (
	Word FlagKind = iota
	Switch
	PathFlag // made absolute against the working folder
)

// Typed is what a person typed, beyond the tool's own arguments.
type Typed struct {
	Operands map[string]string
	Flags    map[string]string // switches are "true" or absent
	Input    io.Reader         // standard input
	Say      func(text string) // tells the person something beside the result
}

// Argument describes one argument for a face that builds flags.
type Argument struct {
	Name     string
	About    string
	Kind     reflect.Kind // String, Bool, Int, Float64, Slice (of strings), or Invalid for what has no flag
	Path     bool
	Writes   bool // giving it makes the tool write
	Required bool
	Default  string
	Enum     []string
}

// Arguments lists the arguments in the order of declaration.
func (t *Tool) Arguments() []Argument {
	var list []Argument
	if _, ok := reflect.New(t.in).Interface().(SchemaSource); ok {
		return nil
	}
	for _, f := range fieldsOf(t.in) {
		typ := f.typ
		if typ.Kind() == reflect.Pointer {
			typ = typ.Elem()
		}
		a := Argument{
			Name: f.name, About: f.about, Required: !f.optional && f.fallback == "", Default: f.fallback,
			Enum: f.enum, Path: f.path == pathAbsolute, Writes: f.writes,
		}
		switch typ.Kind() {
		case reflect.String, reflect.Bool, reflect.Float64:
			a.Kind = typ.Kind()
		case reflect.Int, reflect.Int64:
			a.Kind = reflect.Int
		case reflect.Slice:
			if typ.Elem().Kind() == reflect.String {
				a.Kind = reflect.Slice
			}
		}
		list = append(list, a)
	}
	return list
}
