package model

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/tidegate/tidegate/internal/test/docs"
	"github.com/tidegate/tidegate/internal/test/must"
)

var update = flag.Bool("update", false, "rewrite the table of prices in docs/setup.md")

// TestPricesDocument: the table of docs/setup.md has each model that the program knows, with
// its price.
func TestPricesDocument(t *testing.T) {
	var b strings.Builder
	fmt.Fprintf(&b, "USD per million tokens on %s. One with * is taken where nobody names a model.\n\n| model | input | output |\n|---|--:|--:|\n", modelsKnown().day)
	service := ""
	for line := range strings.Lines(modelsText) {
		line, _, _ = strings.Cut(line, "#")
		words := strings.Fields(line)
		switch {
		case len(words) == 1 && strings.HasPrefix(words[0], "["):
			service = strings.Trim(words[0], "[]")
		case len(words) == 1:
			fmt.Fprintf(&b, "| `api:%s` `%s` | as it reports | |\n", service, words[0])
		case len(words) == 5:
			fmt.Fprintf(&b, "| `api:%s` `%s` | %s | %s |\n", service, words[0], words[1], words[4])
		}
	}
	const file = "../../../docs/setup.md"
	text := must.Read(t, file)
	filled := must.Get(docs.Fill(text, "prices", b.String()))(t)
	if *update {
		must.Do(t, os.WriteFile(file, []byte(filled), 0o644))
	} else if text != filled {
		t.Errorf("the prices in docs/setup.md are not those of models.txt; run: go test ./internal/agent/model -run PricesDocument -update")
	}
}
