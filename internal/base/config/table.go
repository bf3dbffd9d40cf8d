package config

import (
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/tidegate/tidegate"
)

// reader reads the values of one file, and keeps the first fault.
type reader struct {
	path   string
	source []byte
	err    error

	formats func() map[string][]string // what each command can print, nil where any name is taken
}

// table is one table of a file. Its methods read a value, or nothing where it is
// absent, and note a fault where it is of another kind.
type table struct {
	*reader
	name   string // with a dot at its end; "" for the whole file
	values map[string]any
	known  *[]string // keys that were asked for
}

func (t table) fault(key, format string, args ...any) {
	if t.err == nil {
		key = t.name + key
		line := lineOf(linesOf(t.source), key)
		t.err = tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("config", t.path, "line", line, "key", tidegate.Cut(key)),
			"line %d: %s %s: %s", line, tidegate.Cut(key), fmt.Sprintf(format, args...), t.path)
	}
}

func (t table) keys() []string { return slices.Sorted(maps.Keys(t.values)) }

func (t table) has(key string) bool {
	_, ok := t.take(key)
	return ok
}

// take is the value of a key, which counts as known afterwards.
func (t table) take(key string) (any, bool) {
	*t.known = append(*t.known, key)
	value, ok := t.values[key]
	return value, ok
}

// end notes the first key, in byte order, that nobody asked for.
func (t table) end() {
	for _, key := range t.keys() {
		if !contains(*t.known, key) {
			t.fault(key, "is not known here%s", meant(key, *t.known))
			return
		}
	}
}

func (t table) table(key string) table {
	inner := table{reader: t.reader, name: t.name + key + ".", known: &[]string{}}
	value, ok := t.take(key)
	if inner.values, _ = value.(map[string]any); ok && inner.values == nil {
		t.fault(key, "must be a table")
	}
	return inner
}

func (t table) text(key string) string {
	value, ok := t.take(key)
	text, isText := value.(string)
	if ok && (!isText || strings.TrimSpace(text) == "" || strings.ContainsRune(text, 0)) {
		t.fault(key, "must be a text that is not blank")
	}
	return text
}

func (t table) texts(key string) []string {
	value, ok := t.take(key)
	list, isList := value.([]any)
	if ok && !isList {
		t.fault(key, "must be a list of texts")
	}
	var texts []string
	for _, value := range list {
		text, isText := value.(string)
		if !isText || strings.TrimSpace(text) == "" || strings.ContainsRune(text, 0) {
			t.fault(key, "must be a list of texts that are not blank")
		}
		texts = append(texts, text)
	}
	return texts
}

func (t table) truth(key string) bool {
	value, ok := t.take(key)
	truth, isTruth := value.(bool)
	if ok && !isTruth {
		t.fault(key, "must be true or false")
	}
	return truth
}

// count reads an integer of at least 1.
func (t table) count(key string) int {
	value, ok := t.take(key)
	n, isInt := value.(int64)
	if ok && (!isInt || n < 1 || n > math.MaxInt32) {
		t.fault(key, "must be an integer of at least 1")
	}
	return int(n)
}

// amount reads a number of at least 0, which must be there.
func (t table) amount(key string) float64 {
	value, _ := t.take(key)
	amount, isFloat := value.(float64)
	if n, isInt := value.(int64); isInt {
		amount, isFloat = float64(n), true
	}
	if !isFloat || !(amount >= 0) || math.IsInf(amount, 0) {
		t.fault(key, "must be a number of at least 0")
	}
	return amount
}

// matching reads a text of a certain form.
// duration reads a text such as 24h.
func (t table) duration(key string, most time.Duration) string {
	text := t.text(key)
	if d, err := time.ParseDuration(text); text != "" && (err != nil || d < time.Minute || d > most) {
		t.fault(key, "must be a duration of a minute or more and of %g hours at most, such as \"24h\"", most.Hours())
	}
	return text
}

func (t table) matching(key string, form func() *regexp.Regexp, what string) string {
	text := t.text(key)
	if text != "" && !form().MatchString(text) {
		t.fault(key, "must be %s (%s), got %q", what, strings.Trim(form().String(), "^$"), text)
	}
	return text
}

func (t table) oneOf(key string, names ...string) string {
	text := t.text(key)
	if text != "" && !contains(names, text) {
		t.fault(key, "must be one of %s, got %q%s", strings.Join(names, ", "), text, meant(text, names))
	}
	return text
}

func contains(names []string, name string) bool { return slices.Contains(names, name) }
