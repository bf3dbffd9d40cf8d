package figure

import (
	"embed"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"

	"github.com/tidegate/tidegate/internal/text/page"
)

// The lists of this package are read when they are first asked for: most calls of the
// program read no text. A line gives the words for something, as "km: km, kilometre",
// or words alone.
//
//go:embed lists
var lists embed.FS

func entriesOf(list string) []page.Entry { return page.List(lists, "lists/"+list+".txt") }

// eachWordOf visits the words of a list that says what they are for.
func eachWordOf(list string, visit func(language, meaning, word string)) {
	for _, e := range entriesOf(list) {
		meaning, words, found := strings.Cut(e.Text, ": ")
		if !found {
			panic(fmt.Sprintf("lists/%s.txt: %q does not say what its words are for", list, e.Text))
		}
		for word := range strings.SplitSeq(words, ", ") {
			visit(e.Language, meaning, word)
		}
	}
}

// wordSet is the set of the words of a list.
func wordSet(list string) func() map[string]bool {
	return sync.OnceValue(func() map[string]bool {
		set := map[string]bool{}
		for _, e := range entriesOf(list) {
			for word := range strings.FieldsSeq(e.Text) {
				set[word] = true
			}
		}
		return set
	})
}

// numbersOf are the numbers that the words of a list stand for.
func numbersOf(list string) func() map[string]int64 {
	return sync.OnceValue(func() map[string]int64 {
		numbers := map[string]int64{}
		eachWordOf(list, func(_, meaning, word string) { numbers[word] = int64(mustNumber(list, meaning)) })
		return numbers
	})
}

func mustNumber(list, meaning string) int {
	n, err := strconv.Atoi(meaning)
	if err != nil {
		panic(fmt.Sprintf("lists/%s.txt: %q is no number", list, meaning))
	}
	return n
}

// lexicon has the words that mean something beside a number.
type lexicon[V comparable] map[string]meaning[V]

type meaning[V comparable] struct {
	value V
	in    []string // the languages that have the word; nil: any text may
}

// lexiconOf reads a lexicon, whose words have one meaning each. A word in Latin
// letters of a language other than English counts only in texts in that language,
// because it may be another word in English.
func lexiconOf[V comparable](list string, value func(string) V) func() lexicon[V] {
	return sync.OnceValue(func() lexicon[V] {
		table := lexicon[V]{}
		eachWordOf(list, func(language, name, word string) {
			m := meaning[V]{value: value(name)}
			if language != "*" && language != "en" && strings.ContainsFunc(word, func(r rune) bool { return unicode.Is(unicode.Latin, r) }) {
				m.in = []string{language}
			}
			if other, known := table[word]; known {
				if other.value != m.value || other.in == nil || m.in == nil {
					panic(fmt.Sprintf("lists/%s.txt: %q has two meanings", list, word))
				}
				m.in = append(m.in, other.in...)
			}
			table[word] = m
		})
		return table
	})
}

// of is what a word means in a text in some languages, nil where they are not
// known.
func (t lexicon[V]) of(word string, languages []string) (value V, found bool) {
	m, found := t[word]
	if !found || m.in != nil && languages != nil && !slices.ContainsFunc(m.in, func(l string) bool { return slices.Contains(languages, l) }) {
		return value, false
	}
	return m.value, true
}
