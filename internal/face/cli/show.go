package cli

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/tool"
)

// show prints a result and returns nil, or the exit status it asks for.
func (p *Program) show(result tool.Result, format string) error {
	switch {
	case format == "json":
		if err := p.writeJSON(append(result.Envelope, '\n')); err != nil {
			return err
		}
	case result.Err != nil:
		return result.Err
	default:
		if document, ok, err := result.Export(format); ok || err != nil {
			if err == nil && p.Terminal.Width > 0 {
				err = tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("format", format), "--format %s is not for a terminal: add > FILE.%[1]s", format)
			}
			if err != nil {
				return err
			}
			if err := p.write(document); err != nil {
				return err
			}
			break
		}
		r, ok := result.Report()
		if !ok {
			return p.writeJSON(append(result.Envelope, '\n'))
		}
		if err := p.render(r, format); err != nil {
			return err
		}
	}
	switch {
	case result.Err != nil:
		return exitStatus(Status(tidegate.ClassOf(result.Err.Code)))
	case !result.Passed:
		return exitStatus(statusNotPassed)
	}
	return nil
}

func (p *Program) render(r report.Report, name string) error {
	format, ok := report.Lookup(name)
	if !ok {
		return tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("format", name), "there is no format %q", name)
	}
	var out bytes.Buffer
	options := report.Options{Version: p.Version, Root: p.Dir, Color: p.Terminal.Color, Width: p.Terminal.Width}
	if err := format.Write(&out, r, options); err != nil {
		return err
	}
	return p.write(out.Bytes())
}

func (p *Program) print(v any) error {
	data, err := codec.MarshalFile(v)
	if err != nil {
		return err
	}
	return p.writeJSON(data)
}

// writeJSON writes JSON as it is to a file or a pipe. On a terminal, characters that
// act on it or hide what is there are escaped, which gives equivalent JSON.
func (p *Program) writeJSON(data []byte) error {
	if p.Terminal.Width > 0 {
		data = report.VisibleJSON(data)
	}
	return p.write(data)
}

func (p *Program) write(data []byte) error {
	if _, err := p.Stdout.Write(data); err != nil {
		return tidegate.Errorf(tidegate.WriteFailed, nil, "the result cannot be written to stdout: %w", err)
	}
	return nil
}

// say prints something for a person besides the result.
func (p *Program) say(text string) {
	// Nothing can be done about a stderr that cannot be written to.
	_, _ = fmt.Fprintln(p.Stderr, report.Wrapped("tidegate: "+report.Visible(text), p.Terminal.ErrWidth))
}

// printError shows an error of a command to a person: what is wrong, where, and
// what to do.
func (p *Program) printError(command string, err error) {
	e := tidegate.AsError(err)
	out := message{width: p.Terminal.ErrWidth}
	out.line("tidegate: %s: %s", e.Code, e.Message)
	for _, d := range e.Details {
		out.detail(e.Message, d)
	}
	if advice := p.advice(command, e); advice != "" {
		out.line("  to fix it: %s", advice)
	}
	// Nothing can be done about a stderr that cannot be written to.
	_, _ = p.Stderr.Write(out.Bytes())
}

// advice says what to do about an error. An error with a detail "help" already does
// so in its message. For arguments it points to the help of the command that was
// typed, unless the message already says what was meant.
func (p *Program) advice(command string, e *tidegate.Error) string {
	if _, helped := e.Details.Get("help"); helped {
		return ""
	}
	named := strings.Contains(e.Message, "`tidegate ")
	if e.Code == tidegate.FileNotFound {
		if named {
			return ""
		}
		if around := p.lookAround(e); around != "" {
			return around
		}
	}
	if e.Code != tidegate.InvalidArgs {
		x, _ := tidegate.Explain(e.Code)
		return x.Fix
	}
	if strings.Contains(e.Message, "did you mean ") || named {
		return ""
	}
	return "`" + command + " --help` shows what is expected."
}

// message is what a person reads about an error.
type message struct {
	bytes.Buffer
	width int
}

// line adds a line, wrapped to the width.
func (m *message) line(format string, args ...any) {
	m.WriteString(report.Wrapped(report.Visible(fmt.Sprintf(format, args...)), m.width))
	m.WriteByte('\n')
}

// detail adds what the text does not say yet: scalars as they are, lists item by
// item. Deeper nesting and null are for programs, which read them as JSON.
func (m *message) detail(text string, d tidegate.Detail) {
	v := codec.Of(d.Value)
	switch v.Kind() {
	case codec.Object, codec.Null:
	case codec.Array:
		if v.Len() > 0 {
			m.line("  %s:", d.Key)
		}
		for _, item := range v.Elems() {
			m.item("    ", item)
		}
	default:
		if value := tidegate.Cut(plain(v)); strings.TrimSpace(value) != "" && !strings.Contains(text, value) {
			m.line("  %s: %s", d.Key, value)
		}
	}
}

// item adds one item of a list. An object begins with its message or text, then
// says how to meet it: by a command where there is one, on one line so that it can
// be copied, otherwise by a tool.
func (m *message) item(indent string, item *codec.Value) {
	head := tidegate.Cut(plain(item))
	for _, key := range []string{"message", "text"} {
		if text := item.Get(key).Str(); text != "" {
			head = text
		}
	}
	m.line("%s- %s", indent, head)
	if command := item.Get("command").Str(); command != "" {
		fmt.Fprintf(m, "%s  %s\n", indent, report.Visible(command))
	} else if name := item.Get("tool").Str(); name != "" {
		m.line("%s  by the tool %s", indent, name)
	}
	for _, inner := range item.Get("meet").Elems() {
		m.item(indent+"  ", inner)
	}
}

// plain is a value as text: a string bare, anything else as JSON.
func plain(v *codec.Value) string {
	if v.Kind() == codec.String {
		return v.Str()
	}
	line, err := codec.MarshalLine(v)
	if err != nil {
		return ""
	}
	return string(line)
}

func (p *Program) logPanic(value any, stack []byte) {
	slog.Error("a tool panicked", "value", fmt.Sprint(value), "stack", string(stack))
}

// JSON prints a value as a document of JSON.
func (i Invocation) JSON(v any) error { return i.print(v) }

// Line prints a value as one line of JSON.
func (i Invocation) Line(v any) error {
	data, err := codec.MarshalLine(v)
	if err != nil {
		return err
	}
	return i.write(append(data, '\n'))
}

// Render prints a report as text.
func (i Invocation) Render(r report.Report) error { return i.render(r, "text") }

// Print prints a report in the named format.
func (i Invocation) Print(r report.Report, format string) error { return i.render(r, format) }

// Show prints a report in the named format. For a report that failed, it ends the
// command with the status of a judgement that did not pass.
func (i Invocation) Show(r report.Report, format string) error {
	if err := i.Print(r, format); err != nil {
		return err
	}
	if r.Status == report.Fail {
		return exitStatus(statusNotPassed)
	}
	return nil
}
