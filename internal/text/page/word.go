package page

import (
	"embed"
	"fmt"
	"io/fs"
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

// EachFolded visits the words of a text as they are compared: in lower case, without
// accents, cut at apostrophes and hyphens. In a script that puts no blanks between
// words a word is a pair of characters. The bytes are those of a buffer that is used
// again; from is where the word begins in the text.
func EachFolded(text string, visit func(word []byte, from int)) {
	var buffer [64]byte
	plain := buffer[:0]
	from, last, lastAt := 0, rune(0), 0 // last: of a script without blanks
	flush := func() {
		if len(plain) > 0 {
			visit(plain, from)
			plain = plain[:0]
		}
	}
	for at := 0; at < len(text); {
		c := text[at]
		if c < utf8.RuneSelf {
			if 'a' <= c|0x20 && c|0x20 <= 'z' {
				c |= 0x20
			} else if c < '0' || c > '9' {
				flush()
				last = 0
				at++
				continue
			}
			if len(plain) == 0 {
				from = at
			}
			plain = append(plain, c)
			last = 0
			at++
			continue
		}
		r, size := utf8.DecodeRuneInString(text[at:])
		switch {
		case IsDense(r):
			flush()
			if last != 0 {
				plain = utf8.AppendRune(utf8.AppendRune(plain, last), r)
				visit(plain, lastAt)
				plain = plain[:0]
			}
			last, lastAt = r, at
		case unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsDigit(r):
			if len(plain) == 0 {
				from = at
			}
			plain = appendFolded(plain, r)
			last = 0
		case r == '\u00ad' || unicode.Is(unicode.Cf, r):
		default:
			flush()
			last = 0
		}
		at += size
	}
	flush()
}

// appendFolded appends a letter in lower case without its accents, one of several
// letters as these.
func appendFolded(b []byte, r rune) []byte {
	if r == 'ß' || r == 'ẞ' {
		return append(b, "ss"...)
	}
	var properties [utf8.UTFMax]byte
	n := utf8.EncodeRune(properties[:], unicode.ToLower(r))
	decomposed := norm.NFKD.Properties(properties[:n]).Decomposition()
	if decomposed == nil {
		if unicode.Is(unicode.Mn, r) {
			return b
		}
		return append(b, properties[:n]...)
	}
	for _, part := range string(decomposed) {
		if !unicode.Is(unicode.Mn, part) {
			b = utf8.AppendRune(b, part)
		}
	}
	return b
}

// Language is the language of a text in two letters, "" where it cannot be told: the
// one that its script stands for, or for Latin letters the one of which it has more
// function words than of any other, each counted once, and three at least.
func Language(text string) string {
	if language := scriptLanguage(text); language != "" {
		return language
	}
	counts := make([]int, len(functionWords().languages))
	countWords(text, functionWords(), counts, 1)
	return unmatched(counts, 2)
}

// QuestionLanguage is the language of a question or order, which has few function words: it
// is known by the words and letters with which people ask, too.
func QuestionLanguage(text string) string {
	if language := scriptLanguage(text); language != "" {
		return language
	}
	counts := make([]int, len(questionWords().languages))
	countWords(text, functionWords(), counts, 1)
	countWords(text, questionWords(), counts, 2)
	letters := edged(text)
	for _, e := range List(lists, "lists/question-letters.txt") {
		language := slices.Index(questionWords().languages, e.Language)
		for some := range strings.FieldsSeq(e.Text) {
			if strings.Contains(letters, some) {
				counts[language]++
			}
		}
	}
	return unmatched(counts, 1)
}

// edged is a text in lower case with an underscore for what stands between its words.
func edged(text string) string {
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && r != '¿' })
	return "_" + strings.Join(words, "_") + "_"
}

// unmatched is the language with the highest count, "" where another has as many, or none
// has more than least.
func unmatched(counts []int, least int) string {
	best, most, second := "", least, 0
	for i, n := range counts {
		switch {
		case n > most:
			best, most, second = questionWords().languages[i], n, most
		case n > second:
			second = n
		}
	}
	if second == most {
		return ""
	}
	return best
}

// countWords adds to the counts of languages what each of their words in a text weighs,
// once for each word.
func countWords(text string, words wordsOf, counts []int, weight int) {
	seen := make([]bool, len(words.of))
	EachFolded(text, func(word []byte, _ int) {
		if id, found := words.ids[string(word)]; found && !seen[id] {
			seen[id] = true
			for _, language := range words.of[id] {
				counts[language] += weight
			}
		}
	})
}

// wordsOf are words of languages, numbered, with the languages that have them.
type wordsOf struct {
	languages []string
	ids       map[string]int
	of        [][]int
}

var (
	functionWords = sync.OnceValue(func() wordsOf { return readWords("lists/function-words.txt", nil) })
	questionWords = sync.OnceValue(func() wordsOf { return readWords("lists/question-words.txt", functionWords().languages) })
)

// readWords reads a list of words. Languages are those that have numbers already.
func readWords(name string, languages []string) wordsOf {
	words := wordsOf{languages: slices.Clone(languages), ids: map[string]int{}}
	for _, e := range List(lists, name) {
		language := slices.Index(words.languages, e.Language)
		if language < 0 {
			language = len(words.languages)
			words.languages = append(words.languages, e.Language)
		}
		for w := range strings.FieldsSeq(e.Text) {
			id, known := words.ids[w]
			if !known {
				id = len(words.of)
				words.ids[w], words.of = id, append(words.of, nil)
			}
			words.of[id] = append(words.of[id], language)
		}
	}
	return words
}

// scriptLanguage is the language for which the script of most letters stands, "" for
// Latin letters.
func scriptLanguage(text string) string {
	if isASCII(text) {
		return ""
	}
	var counts [devanagari + 1]int
	kana := false
	for _, r := range text {
		if r < utf8.RuneSelf {
			if isLetter(byte(r)) {
				counts[Latin]++
			}
		} else if unicode.IsLetter(r) {
			counts[scriptOf(r)]++
			kana = kana || unicode.In(r, unicode.Hiragana, unicode.Katakana)
		}
	}
	counts[Han] *= 3 // a character says as much as some letters
	counts[hangul] *= 2
	best := Latin
	for script, n := range counts {
		if n > counts[best] {
			best = Script(script)
		}
	}
	if best == Han && kana {
		return "ja"
	}
	return scriptLanguages[best]
}

func isASCII(text string) bool {
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// scriptLanguages are the languages for which scripts stand here. Others are written
// in some of them, too: they count as the same.
var scriptLanguages = [devanagari + 1]string{cyrillic: "ru", greek: "el", arabic: "ar", hebrew: "he", Han: "zh", hangul: "ko", Thai: "th", devanagari: "hi"}

// Entry is a line of a list of words or phrases.
type Entry struct {
	Language string // in two letters; "*" for what belongs to none
	Text     string
}

// List reads a list that people edit, which is part of the program: one entry to a
// line, under a line that names the language, as [de] or [*]. A line that begins with
// # is a comment. Each language stands once, and has each entry once. A list with
// another line panics with the name and the number of the line.
func List(files fs.FS, name string) []Entry {
	list, err := readList(files, name)
	if err != nil {
		panic(err)
	}
	return list
}

func readList(files fs.FS, name string) ([]Entry, error) {
	data, err := fs.ReadFile(files, name)
	if err != nil {
		return nil, err
	}
	var list []Entry
	seen := map[Entry]bool{}
	language, number := "", 0
	for line := range strings.Lines(string(data)) {
		number++
		line = strings.TrimSpace(line)
		heading := strings.TrimSuffix(strings.TrimPrefix(line, "["), "]")
		e := Entry{language, line}
		switch {
		case line == "" || line[0] == '#':
			continue
		case line == "["+heading+"]":
			e = Entry{heading, ""}
			if heading != "*" && !slices.Contains([]int{2, 3}, len(heading)) {
				return nil, fmt.Errorf("%s:%d: %q is no language", name, number, heading)
			}
			language = heading
		case language == "":
			return nil, fmt.Errorf("%s:%d: %q stands under no language", name, number, line)
		default:
			list = append(list, e)
		}
		if seen[e] {
			return nil, fmt.Errorf("%s:%d: %q stands there twice", name, number, line)
		}
		seen[e] = true
	}
	return list, nil
}
