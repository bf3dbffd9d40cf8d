package claim

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tidegate/tidegate/internal/text/figure"
	"github.com/tidegate/tidegate/internal/text/page"
)

// name is one of a person, place, organisation or product in a sentence.
type name struct {
	text  string
	words []string // without their endings
}

// namesIn finds the names of a sentence: runs of words with capitals that do not begin
// it, acronyms, and words with capitals inside; not months, which are dates. In German,
// where every noun has a capital, a name is two such words in a row. In scripts without
// case it is a run of Latin letters.
func (a *asked) namesIn(text string) []name {
	r := nameReader{a: a, known: map[string]bool{}}
	if caseless[a.language] {
		for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return !unicode.Is(unicode.Latin, r) && !unicode.IsDigit(r) && r != '-' }) {
			if letters(word) > 1 {
				r.run = append(r.run, word)
				r.end()
			}
		}
		return r.out
	}
	begins := true // the word begins a sentence, or what is like one
	for field := range strings.FieldsSeq(text) {
		word := strings.TrimFunc(field, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) })
		if word == "" { // a dash, or the mark of a list
			r.end()
			begins = true
			continue
		}
		before, after, _ := strings.Cut(field, word)
		word = strings.TrimSuffix(strings.TrimSuffix(word, "'s"), "’s")
		if before != "" {
			r.end()
		}
		if r.isName(word, begins) {
			r.run = append(r.run, word)
		} else {
			r.end()
		}
		if after != "" {
			r.end()
		}
		begins = strings.ContainsAny(after, ".:!?") && utf8.RuneCountInString(word) > 2
	}
	r.end()
	return r.out
}

// nameReader gathers the names of a sentence.
type nameReader struct {
	a     *asked
	run   []string // the words of the name under way
	last  string   // the initials of the name before
	known map[string]bool
	out   []name
}

func (r *nameReader) isName(word string, begins bool) bool {
	first, _ := utf8.DecodeRuneInString(word)
	switch {
	case letters(word) < 2 || functionWords()[strings.ToLower(word)] || figure.IsMonth(word):
		return false
	case isAcronym(word):
		return letters(word) > 2
	}
	return unicode.IsUpper(first) && !begins
}

// end takes the name that ends here. An acronym right after what it stands for is the
// same name.
func (r *nameReader) end() {
	run := r.run
	r.run = nil
	if len(run) == 0 || r.a.language == "de" && len(run) < 2 && !isAcronym(run[0]) {
		return
	}
	if len(run) == 1 && isAcronym(run[0]) && strings.EqualFold(run[0], r.last) {
		return
	}
	n := name{text: strings.Join(run, " ")}
	r.last = ""
	for _, w := range run {
		first, size := utf8.DecodeRuneInString(w)
		if r.last += w[:size]; !unicode.IsLetter(first) {
			continue
		}
		page.EachFolded(w, func(word []byte, _ int) {
			if len(word) > 1 {
				n.words = append(n.words, string(r.a.endings.stem(word)))
			}
		})
	}
	if key := strings.Join(n.words, " "); key != "" && !r.known[key] {
		r.known[key] = true
		r.out = append(r.out, n)
	}
}

// caseless are the languages whose scripts have no capitals, as [page.Language] names
// them.
var caseless = map[string]bool{"zh": true, "ja": true, "ko": true, "th": true, "ar": true, "he": true, "hi": true}

// isAcronym holds for words with capitals inside.
func isAcronym(word string) bool {
	_, size := utf8.DecodeRuneInString(word)
	return strings.ContainsFunc(word[size:], unicode.IsUpper) && !strings.Contains(word, "-")
}

func letters(word string) (n int) {
	for _, r := range word {
		if unicode.IsLetter(r) {
			n++
		}
	}
	return n
}
