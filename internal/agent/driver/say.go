package driver

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/text/markdown"
)

// LastLine is the last line of text that is not blank, to follow a message.
func LastLine(text string) string {
	lines := strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' })
	for i := len(lines) - 1; i >= 0; i-- {
		if line := strings.TrimSpace(lines[i]); line != "" {
			return ": " + Shown(line)
		}
	}
	return ""
}

// Shown is what a message quotes of the words of another program: cut, and
// without anything that a terminal would act on.
func Shown(words string) string { return tidegate.Cut(markdown.Show(words)) }

// Marshal is v as JSON. It panics for what has none.
func Marshal(v any) []byte {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err) // it is made of strings, numbers and what was read as JSON
	}
	return data
}

// Variable is the value that a list of variables has for name; the last counts.
func Variable(environ []string, name string) string {
	for _, entry := range slices.Backward(environ) {
		if value, ok := strings.CutPrefix(entry, name+"="); ok {
			return value
		}
	}
	return ""
}
