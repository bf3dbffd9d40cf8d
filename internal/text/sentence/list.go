package sentence

import (
	"embed"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"unicode"

	"github.com/tidegate/tidegate/internal/text/page"
)

//go:embed lists
var lists embed.FS

// words are what the lists say for a language.
type words struct{ language string }

func wordsOf(language string) words {
	if language == "" {
		language = "en"
	}
	return words{language}
}

// ends holds for the marks that can end a sentence.
func (w words) ends(r rune) bool {
	if r < 0x80 {
		return r == '.' || r == '!' || r == '?' || r == ';' && w.language == "el"
	}
	return isFullStop(r) || marks()[r]
}

func (w words) abbreviated(token string) bool {
	return abbreviations().has(w.language, strings.ToLower(token))
}

// beforeNumber holds for an abbreviation before a number.
func (w words) beforeNumber(token string) bool {
	return numbers().has(w.language, strings.ToLower(token))
}

// afterOrdinal holds for a text that begins with a word that stands behind ordinals.
func (w words) afterOrdinal(text string) bool {
	const longest = 96
	text = text[:min(len(text), longest)]
	if i := strings.IndexFunc(text, func(r rune) bool { return !unicode.IsLetter(r) }); i >= 0 {
		text = text[:i]
	}
	text = strings.ToLower(text)
	for i := range text {
		if ordinals()[page.Entry{Language: w.language, Text: text[:i]}] {
			return true
		}
	}
	return ordinals()[page.Entry{Language: w.language, Text: text}]
}

// wordSet has the words of a list, each with its language.
type wordSet map[page.Entry]bool

func (s wordSet) has(language, word string) bool {
	return s[page.Entry{Language: language, Text: word}] || s[page.Entry{Language: "*", Text: word}]
}

func read(name string) func() wordSet {
	return sync.OnceValue(func() wordSet {
		set := wordSet{}
		for _, e := range page.List(lists, "lists/"+name+".txt") {
			for word := range strings.FieldsSeq(e.Text) {
				set[page.Entry{Language: e.Language, Text: word}] = true
			}
		}
		return set
	})
}

var (
	abbreviations = read("abbreviations")
	numbers       = read("before-numbers")
	ordinals      = read("ordinals")

	marks = sync.OnceValue(func() map[rune]bool {
		set := map[rune]bool{}
		for e := range read("marks")() {
			r, err := strconv.ParseUint(e.Text, 16, 32)
			if err != nil {
				panic(fmt.Sprintf("lists/marks.txt: %q is no character", e.Text))
			}
			set[rune(r)] = true
		}
		return set
	})
)
