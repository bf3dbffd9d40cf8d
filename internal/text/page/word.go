package page

import (
	"embed"
	"maps"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Word is a word as titles are compared: in lower case, without accents. In a
// script that puts no blanks between words it is two characters.
type Word struct {
	Text   string
	Script Script
}

// Script is the writing system of a word.
type Script uint8

// The scripts.
const (
	otherScript Script = iota
	Latin
	cyrillic
	greek
	arabic
	hebrew
	Han // with kana
	hangul
	Thai
	devanagari
)

func scriptOf(r rune) Script {
	switch {
	case r < 0x250 || r >= 0x1e00 && r < 0x1f00:
		return Latin
	case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana):
		return Han
	case unicode.Is(unicode.Latin, r):
		return Latin
	case unicode.Is(unicode.Cyrillic, r):
		return cyrillic
	case unicode.Is(unicode.Greek, r):
		return greek
	case unicode.Is(unicode.Arabic, r):
		return arabic
	case unicode.Is(unicode.Hebrew, r):
		return hebrew
	case unicode.Is(unicode.Hangul, r):
		return hangul
	case unicode.Is(unicode.Thai, r):
		return Thai
	case unicode.Is(unicode.Devanagari, r):
		return devanagari
	}
	return otherScript
}

// EachWord calls visit for the words of a text until it returns false. Numbers
// do not count.
func EachWord(text string, visit func(Word) bool) {
	var plain []byte
	var last rune // of a dense script
	flush := func() bool {
		if len(plain) == 0 {
			return true
		}
		w := Word{Text: string(plain)}
		for _, r := range w.Text {
			w.Script = scriptOf(r)
			break
		}
		plain = plain[:0]
		return visit(w)
	}
	for _, r := range text {
		if r < 0x80 {
			if isLetter(byte(r)) {
				plain = append(plain, byte(r)|0x20)
				last = 0
				continue
			}
			if r >= '0' && r <= '9' && len(plain) > 0 {
				plain = append(plain, byte(r))
				continue
			}
			if r == '\'' && len(plain) > 0 {
				continue
			}
		} else if unicode.IsLetter(r) || unicode.IsMark(r) {
			if !IsDense(r) {
				plain = appendPlain(plain, r)
				last = 0
				continue
			}
			if !flush() || last != 0 && !visit(Word{string([]rune{last, r}), scriptOf(r)}) {
				return
			}
			last = r
			continue
		} else if r == '’' && len(plain) > 0 || r == 0xad {
			continue
		}
		last = 0
		if !flush() {
			return
		}
	}
	flush()
}

// appendPlain appends a letter in lower case without its accents.
func appendPlain(b []byte, r rune) []byte {
	for _, part := range norm.NFKD.String(string(unicode.ToLower(r))) {
		if !unicode.Is(unicode.Mn, part) {
			b = utf8.AppendRune(b, part)
		}
	}
	return b
}

// IsCommon holds for the words that say nothing of what a title is about: function
// words, and those that go with any source. The word is in lower case, without
// accents.
func IsCommon(word string) bool { return commonWords()[word] }

var commonWords = sync.OnceValue(func() map[string]bool {
	common := map[string]bool{}
	for _, list := range []string{"function-words", "common-words"} {
		for _, e := range List(lists, "lists/"+list+".txt") {
			for w := range strings.FieldsSeq(e.Text) {
				common[w] = true
			}
		}
	}
	return common
})

//go:embed lists
var lists embed.FS

// LanguageSample is how many bytes of a long text show its languages.
const LanguageSample = 64 << 10

// Languages lists the languages of which a text in Latin script has the most
// function words: one where it is plain, none where it has no such word.
func Languages(text string) []string {
	counts := map[string]int{}
	sets := languageSets()
	EachWord(text, func(w Word) bool {
		for _, language := range sets[w.Text] {
			counts[language]++
		}
		return true
	})
	var best []string
	most := 0
	for _, language := range slices.Sorted(maps.Keys(counts)) {
		if n := counts[language]; n > most {
			best, most = []string{language}, n
		} else if n == most {
			best = append(best, language)
		}
	}
	return best
}

// languageSets lists for each function word the languages that have it.
var languageSets = sync.OnceValue(func() map[string][]string {
	sets := map[string][]string{}
	for _, e := range List(lists, "lists/function-words.txt") {
		for w := range strings.FieldsSeq(e.Text) {
			sets[w] = append(sets[w], e.Language)
		}
	}
	return sets
})
