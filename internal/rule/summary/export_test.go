package summary

import (
	"strings"

	"github.com/tidegate/tidegate/internal/rule/claim"
	"github.com/tidegate/tidegate/internal/rule/source"
	"github.com/tidegate/tidegate/internal/text/markdown"
)

// LeftOut is what a generated summary leaves out of its output.
type LeftOut = leftOut

// Carry is the text that a generated summary carries of a passage.
func Carry(pool *source.Pool, passage string) string {
	text, _ := (&carrier{pool: pool}).carry([]byte(passage))
	return string(text)
}

// CleanItem reports whether a summary may have text as a list item.
func CleanItem(pool *source.Pool, text string) bool {
	return (&carrier{pool: pool}).clean([]byte(text))
}

// Fault is the first rule that a summary breaks.
func Fault(pool *source.Pool, text string) error {
	return fault("p", claim.Inspect([]byte(text)), pool)
}

// GenerateText is the summary of an output, of at most limit bytes, made from a
// draft for one of at most held bytes, and what it leaves out.
func GenerateText(pool *source.Pool, output []byte, limit, held int) (string, LeftOut) {
	d, err := (&writer{pool: pool}).read(strings.NewReader(string(output)), held)
	if err != nil {
		panic(err)
	}
	text, left := d.compose(limit)
	return string(text), left
}

// NamedURLs says which URLs an output names.
func NamedURLs(output string) func(key string) bool {
	keys := map[string]bool{}
	if err := addNamed(keys, new(markdown.Scanner), strings.NewReader(output)); err != nil {
		panic(err)
	}
	return func(key string) bool { return keys[key] }
}

// Check is check.
func (s Summary) Check(path string) error { return s.check(path) }
