package driver

import (
	"bytes"
	"strings"

	"github.com/tidegate/tidegate/internal/base/codec"
)

// What is taken off an answer before it is judged, because it is certain that
// the agent did not mean it as part of the answer.
const (
	tookBOM      = "byte-order mark"
	tookCRLF     = "CRLF"
	tookFence    = "outer fence"
	tookPreamble = "line before the first heading"
	tookProse    = "text around the JSON"
)

// Unwrap takes off what is certain, and says what it was: a byte-order mark,
// carriage returns before line feeds, one fence around everything, of a Markdown
// answer one line of text before the first heading, and of a JSON answer the text
// around the only object in it.
func Unwrap(data []byte, format string) (text string, took []string) {
	if rest, ok := bytes.CutPrefix(data, []byte("\uFEFF")); ok {
		data, took = rest, append(took, tookBOM)
	}
	text = string(data)
	if strings.Contains(text, "\r\n") {
		text, took = strings.ReplaceAll(text, "\r\n", "\n"), append(took, tookCRLF)
	}
	if format == "markdown" {
		if rest, ok := cutPreamble(text); ok {
			text, took = rest, append(took, tookPreamble)
		}
	}
	if rest, ok := cutFence(text); ok {
		text, took = rest, append(took, tookFence)
	}
	if format == "markdown" {
		if rest, ok := cutPreamble(text); ok {
			text, took = rest, append(took, tookPreamble)
		}
	}
	if format == "json" {
		if objects := codec.Embedded(text); len(objects) == 1 {
			text, took = objects[0], append(took, tookProse)
		}
	}
	return text, took
}

// cutFence takes off one fence that opens on the first line and closes on the
// last, and on no line between.
func cutFence(text string) (string, bool) {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	if len(lines) < 2 {
		return text, false
	}
	first, last := lines[0], strings.TrimRight(lines[len(lines)-1], " \t")
	mark := first[:len(first)-len(strings.TrimLeft(first, "`"))]
	if mark == "" {
		mark = first[:len(first)-len(strings.TrimLeft(first, "~"))]
	}
	if len(mark) < 3 || last != mark || strings.ContainsAny(first[len(mark):], "`~") {
		return text, false
	}
	inside := lines[1 : len(lines)-1]
	// A fence that something inside closes is not the outer one.
	open := false
	for _, line := range inside {
		trimmed := strings.TrimSpace(line)
		run := trimmed[:len(trimmed)-len(strings.TrimLeft(trimmed, mark[:1]))]
		switch {
		case len(run) < len(mark):
		case open:
			open = len(run) != len(trimmed)
		case len(run) == len(trimmed):
			return text, false
		default:
			open = true
		}
	}
	if open {
		return text, false
	}
	return strings.Join(inside, "\n") + "\n", true
}

// cutPreamble takes off one line of text that stands alone before what begins
// with a heading or a fence: "Here is the report:". A line that could be part of
// the document, such as a list item or a quotation, stays.
func cutPreamble(text string) (string, bool) {
	trimmed := strings.TrimLeft(text, "\n")
	line, rest, more := strings.Cut(trimmed, "\n")
	line = strings.TrimSpace(line)
	rest = strings.TrimLeft(rest, "\n")
	if !more || line == "" || strings.ContainsAny(line[:1], "#`~>-*+|<[=0123456789 ") || strings.Contains(line, "](") {
		return text, false
	}
	if !strings.HasPrefix(rest, "#") && !strings.HasPrefix(rest, "```") {
		return text, false
	}
	return rest, true
}
