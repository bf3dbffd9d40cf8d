package figure

import (
	"testing"

	"github.com/tidegate/tidegate/internal/test/must"
)

// TestLists reads every list. A word in two languages has one meaning, and the meaning
// of a number word is a number, or reading panics.
func TestLists(t *testing.T) {
	files := must.Get(lists.ReadDir("lists"))(t)
	read := map[string]int{
		"units.txt": len(unitWords()), "magnitudes.txt": len(magnitudes()), "signs.txt": len(signs()), "joints.txt": len(joints()),
		"cardinals.txt": len(cardinals()), "ordinals.txt": len(ordinals()), "multipliers.txt": len(multipliers()), "parts.txt": len(partWords()),
		"fillers.txt": len(fillers()), "near-units.txt": len(notLoose()), "after-metres.txt": len(afterMetres()), "modifiers.txt": len(modifiers()), "currencies.txt": len(currencies()),
		"months.txt": len(months()), "multiples.txt": len(multipleWords()), "clock.txt": len(clockWords()), "periods.txt": len(periods()), "proportions.txt": len(proportions().spaced) + len(proportions().dense),
	}
	for _, file := range files {
		if read[file.Name()] == 0 {
			t.Errorf("nothing is read from %s", file.Name())
		}
	}
}

func TestAWordCountsInItsLanguage(t *testing.T) {
	for _, c := range []struct {
		word      string
		languages []string
		want      unit
	}{
		{"ore", []string{"it"}, "h"}, {"ore", []string{"en"}, noUnit}, {"ore", nil, "h"},
		{"procent", []string{"sv"}, percent}, {"procent", []string{"nl"}, percent}, {"procent", []string{"de"}, noUnit},
		{"percent", []string{"de"}, percent}, {"процентов", []string{"en"}, percent}, {"km", []string{"fi"}, "km"},
	} {
		if got, _ := unitWords().of(c.word, c.languages); got != c.want {
			t.Errorf("%s in %v: %q, want %q", c.word, c.languages, got, c.want)
		}
	}
}
