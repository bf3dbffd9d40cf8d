package synthesis

import (
	"strings"

	"github.com/tidegate/tidegate/internal/rule/claim"
	"github.com/tidegate/tidegate/internal/rule/source"
	"github.com/tidegate/tidegate/internal/text/markdown"
)

// CarryPassage is the text that a generated summary carries of a passage.
func CarryPassage(pool *source.Pool, passage string) string {
	text, _ := (&carrier{pool: pool}).carry([]byte(passage))
	return string(text)
}

// CleanItem reports whether a summary may have text as a list item.
func CleanItem(pool *source.Pool, text string) bool {
	return (&carrier{pool: pool}).clean([]byte(text))
}

// SummaryFault is the first rule that a summary breaks.
func SummaryFault(pool *source.Pool, text string) error {
	return summaryFault("p", claim.Inspect([]byte(text)), pool)
}

// GenerateSummary is the summary of an output, of at most limit bytes, made from a
// draft for one of at most held bytes, and what it leaves out.
func GenerateSummary(pool *source.Pool, output []byte, limit, held int) (string, LeftOut) {
	d, err := (&SummaryWriter{Pool: pool}).Read(strings.NewReader(string(output)), held)
	if err != nil {
		panic(err)
	}
	text, left := d.compose(limit)
	return string(text), left
}

// NamedURLs says which URLs an output names.
func NamedURLs(output string) func(key string) bool {
	keys := map[string]bool{}
	if err := AddNamedURLs(keys, new(markdown.Scanner), strings.NewReader(output)); err != nil {
		panic(err)
	}
	return func(key string) bool { return keys[key] }
}

// CheckEntry checks an entry of a pack.
func CheckEntry(s Summary, path string) error { return s.check(path) }
