package tool

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"runtime/debug"
	"time"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/report"
)

// Caller is what a face gives along with a call.
type Caller struct {
	// Reach is which files the call may touch by their paths; by its zero value all
	// that the user may.
	Reach artifact.Reach
	// Progress hears how far a long call has come; nil when nobody listens. It
	// may be called from several goroutines.
	Progress func(done, total int)
	// Waiting hears what a call has been waiting for longest, and for how long; ""
	// when nothing is worth saying. Nil when nobody listens.
	Waiting func(what string, since time.Duration)
	// Say hears a line about what a long call does, such as whom it asks; nil when nobody
	// listens.
	Say func(line string)
	// Ask asks the person who called a question of yes and no; nil where nobody can be asked.
	Ask func(ctx context.Context, question string) (yes bool, err error)
	// Panicked hears the value and the stack of a panic that became INTERNAL.
	Panicked func(value any, stack []byte)
}

// Result is the outcome of a call.
type Result struct {
	Envelope []byte          // JSON without final newline: the result, or {"ok":false,"error":…}
	Err      *tidegate.Error // nil when the tool produced a result
	Passed   bool            // false for an error and for a judgement that went against what was judged
	out      any
}

// Export is the result in a format of other programs; ok is false when there was
// an error or the tool does not have that format.
func (r Result) Export(format string) (document []byte, ok bool, err error) {
	if exporter, is := r.out.(Exporter); is && r.Err == nil {
		return exporter.Export(format)
	}
	return nil, false, nil
}

// Value is what the tool returned, nil when there was an error.
func (r Result) Value() any { return r.out }

// Report is how the result is shown to a person; ok is false when there was an
// error or the tool has no report.
func (r Result) Report() (report.Report, bool) {
	if reporter, ok := r.out.(Reporter); ok && r.Err == nil {
		return reporter.Report(), true
	}
	return report.Report{}, false
}

// Call runs the tool on raw JSON arguments; blank input means no arguments. It
// never panics and never returns an error beside the result.
//
// Every path among the arguments must lie in the caller's reach, else the answer is
// PATH_NOT_ALLOWED: after the arguments are checked, and before anything is read.
func (t *Tool) Call(ctx context.Context, args []byte, caller Caller) Result {
	out, err := t.call(ctx, args, caller)
	if err != nil {
		return Failure(err)
	}
	envelope, err := codec.Marshal(out)
	if err != nil {
		return Failure(tidegate.Errorf(tidegate.Internal, nil, "the result of %s cannot be written as JSON: %w", t.Name, err))
	}
	passed := true
	if judgement, ok := out.(Judgement); ok {
		passed = judgement.Passed()
	}
	return Result{Envelope: envelope, Passed: passed, out: out}
}

// Failure is the result of a call that failed with err.
func Failure(err error) Result {
	e := tidegate.AsError(err)
	envelope, marshalErr := codec.Marshal(tidegate.Pairs("ok", false,
		"error", tidegate.Pairs("code", e.Code, "message", e.Message, "details", e.Details)))
	if marshalErr != nil {
		return Failure(tidegate.Errorf(tidegate.Internal, nil, "the error %s cannot be written as JSON", e.Code))
	}
	return Result{Envelope: envelope, Err: e}
}

func (t *Tool) call(ctx context.Context, raw []byte, caller Caller) (out any, err error) {
	defer func() {
		if value := recover(); value != nil {
			if caller.Panicked != nil {
				caller.Panicked(value, debug.Stack())
			}
			err = tidegate.Errorf(tidegate.Internal, tidegate.Pairs("tool", t.Name), "%s met a state that it did not expect: %s", t.Name, fmt.Sprint(value))
		}
	}()
	args, err := parseArgs(raw)
	if err != nil {
		return nil, err
	}
	in, err := t.decode(ctx, caller, args)
	if err != nil {
		return nil, err
	}
	if err := eachPath("", field{}, in, caller.Reach.Allowed); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return t.run(ctx, caller, in.Interface())
}

func parseArgs(raw []byte) (*codec.Value, error) {
	if len(bytes.TrimSpace(raw)) == 0 {
		return codec.NewObject(), nil
	}
	args, err := codec.ParseGiven(raw)
	var syntax *codec.SyntaxError
	switch {
	case errors.As(err, &syntax) && syntax.Key != "":
		key := tidegate.Cut(syntax.Key)
		return nil, tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs(key, "given twice"),
			"%s is given twice (line %d, column %d)", key, syntax.Line, syntax.Column)
	case err != nil:
		return nil, tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("arguments", err.Error()), "the arguments are not JSON: %w", err)
	}
	if args.Kind() == codec.Null {
		return codec.NewObject(), nil
	}
	return args, nil
}

// eachPath calls visit for every absolute path in v, the value of a field, in the
// order of declaration. A path relative to a run is left out.
func eachPath(name string, f field, v reflect.Value, visit func(arg, path string) error) error {
	switch v.Kind() {
	case reflect.String:
		if f.path != "" && filepath.IsAbs(v.String()) {
			return visit(name, v.String())
		}
	case reflect.Pointer:
		if !v.IsNil() && v.Type() != reflect.PointerTo(valueType) {
			return eachPath(name, f, v.Elem(), visit)
		}
	case reflect.Slice:
		for i := range v.Len() {
			if err := eachPath(fmt.Sprintf("%s[%d]", name, i), f, v.Index(i), visit); err != nil {
				return err
			}
		}
	case reflect.Struct:
		if v.Type() == valueType {
			return nil
		}
		for _, inner := range fieldsOf(v.Type()) {
			path := inner.name
			if name != "" {
				path = name + "." + inner.name
			}
			if err := eachPath(path, inner, v.FieldByIndex(inner.index), visit); err != nil {
				return err
			}
		}
	}
	return nil
}
