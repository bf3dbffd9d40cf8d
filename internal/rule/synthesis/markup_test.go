package synthesis_test

import (
	"slices"
	"testing"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/rule/synthesis"
	"github.com/tidegate/tidegate/internal/text/markdown"
)

// TestStruckOutTextIsRefused: what stands between tildes is struck out in many programs, and
// part of the sentence in others.
func TestStruckOutTextIsRefused(t *testing.T) {
	for text, struck := range map[string]bool{
		"The port does ~~not~~ pay.":            true,
		"The port does ~not~ pay.":              true,
		"The port ~~does\nnot~~ pay.":           true,
		"| a | b |\n|---|---|\n| ~~x~~ | y |":   true,
		"- The port ~~*does*~~ pay.":            true,
		"The ~~port~ does~~ pay.":               true,
		"It is ~5 km long and ~6 km wide.":      false,
		"It is \\~\\~5 km\\~\\~ long.":          false,
		"It is `~~5~~` long.":                   false,
		"It is ~~ 5 km long ~~ as a rule.":      false,
		"It is ~~5 km long and ~6~ ~ wide.":     true,
		"~~~\ncode\n~~~":                        false,
		"One ~~ two\n\nthree~~ four.":           false,
		"An address a~b and another one, c~ d.": true,
	} {
		judged := synthesis.Judge(markdown.Read([]byte("## Evidence\n\n"+text+"\n")), synthesis.Facts{})
		found := slices.ContainsFunc(judged.Faults, func(f synthesis.Fault) bool { return f.Code == tidegate.InvisibleText })
		if found != struck {
			t.Errorf("%q: refused is %v", text, found)
		}
	}
}
