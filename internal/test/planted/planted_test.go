package planted_test

import (
	"strings"
	"testing"
	"unicode"

	"github.com/tidegate/tidegate/internal/test/planted"
)

func TestThereIsEnoughOfEverything(t *testing.T) {
	kinds := map[string]int{}
	urls := map[string]bool{}
	faults := 0
	for _, page := range planted.Pages() {
		kinds[page.Kind]++
		if page.Kind != planted.Honest {
			faults++
		}
		if urls[page.URL] {
			t.Errorf("%s is planted twice", page.URL)
		}
		urls[page.URL] = true
		if page.Variant == "" || page.Verdict == "" {
			t.Errorf("%s has no variant or verdict", page.URL)
		}
	}
	if honest := kinds[planted.Honest]; faults < 300 || len(kinds)-1 < 30 || honest < 100 {
		t.Errorf("%d pages with %d kinds of fault, %d honest pages", faults, len(kinds)-1, honest)
	}
	t.Logf("%d pages with %d kinds of fault, %d honest pages: %v", faults, len(kinds)-1, kinds[planted.Honest], kinds)
}

// TestTitlesSayWhatTheyShould keeps the planted titles true: the title of a page with
// the fault title shares no word with any sentence of an honest page in its script;
// the title of an honest page does, unless it is in another script.
func TestTitlesSayWhatTheyShould(t *testing.T) {
	words := map[string]bool{}
	for _, page := range planted.Pages() {
		for _, sentence := range page.Sentences {
			for _, word := range wordsOf(sentence) {
				words[word] = true
			}
		}
	}
	for _, page := range planted.Pages() {
		if page.Kind != "title" {
			continue
		}
		for _, word := range wordsOf(page.Title) {
			if words[word] {
				t.Errorf("%q: %q stands on some page", page.Title, word)
			}
		}
	}
}

func wordsOf(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsMark(r) })
}
