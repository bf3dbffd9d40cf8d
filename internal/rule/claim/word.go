package claim

import (
	"embed"
	"slices"
	"strings"
	"sync"

	"github.com/tidegate/tidegate/internal/text/page"
)

//go:embed lists
var lists embed.FS

// endings are those that the words of a language change, the longest first, by their
// last byte.
type endings map[byte][]string

// stem takes off the ending of a word. What is left has at least four letters.
func (e endings) stem(word []byte) []byte {
	const least = 4
	if len(word) <= least {
		return word
	}
	for _, ending := range e[word[len(word)-1]] {
		if n := len(word) - len(ending); n >= least && string(word[n:]) == ending {
			return word[:n]
		}
	}
	return word
}

// endingsOf are the endings of a language; none where it is not known.
func endingsOf(language string) endings { return allEndings()[language] }

var allEndings = sync.OnceValue(func() map[string]endings {
	table := map[string]endings{}
	for _, e := range page.List(lists, "lists/endings.txt") {
		if table[e.Language] == nil {
			table[e.Language] = endings{}
		}
		for ending := range strings.FieldsSeq(e.Text) {
			last := ending[len(ending)-1]
			table[e.Language][last] = append(table[e.Language][last], ending)
		}
	}
	for _, byLast := range table {
		for _, list := range byLast {
			slices.SortStableFunc(list, func(a, b string) int { return len(b) - len(a) })
		}
	}
	return table
})

// isContent holds for the words that say what a sentence is about: not function
// words, numbers and single letters.
func isContent(word string) bool {
	return len(word) > 1 && (word[0] < '0' || word[0] > '9') && !functionWords()[word]
}

var functionWords = sync.OnceValue(func() map[string]bool { return wordsOf("function-words") })

// wordsOf are the words of a list, of all languages.
func wordsOf(list string) map[string]bool {
	set := map[string]bool{}
	for _, e := range page.List(lists, "lists/"+list+".txt") {
		for word := range strings.FieldsSeq(e.Text) {
			set[word] = true
		}
	}
	return set
}
