package claim

import (
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/tidegate/tidegate/internal/text/page"
)

// Titles are the titles of works that pages bear.
type Titles struct{ known map[string]bool }

// NewTitles takes what pages bear as titles, headings, link texts and in italics. A
// title counts with and without the name of the site beside it.
func NewTitles(texts []string) Titles {
	t := Titles{map[string]bool{}}
	for _, text := range texts {
		t.known[titleKey(text)] = true
		for part := range strings.SplitSeq(siteMarks.Replace(text), "\x00") {
			t.known[titleKey(part)] = true
		}
	}
	return t
}

// siteMarks stand between a title and the name of the site.
var siteMarks = strings.NewReplacer(" | ", "\x00", " - ", "\x00", " – ", "\x00", " — ", "\x00", " · ", "\x00", " :: ", "\x00", " » ", "\x00")

// titleKey is a title as it is compared.
func titleKey(text string) string {
	var b strings.Builder
	page.EachFolded(text, func(word []byte, _ int) {
		b.Write(word)
		b.WriteByte(' ')
	})
	return b.String()
}

// titleWords is how many words a title of a work has at most.
const titleWords = 10

// isTitle reports whether a quotation of a sentence is the title of a work: a page bears
// it, the sentence sets it in italics, or, but in German, its words have the capitals of
// a title.
// What stands after a verb of saying or a colon is said by somebody.
func (a *asked) isTitle(quoted string, titles Titles) bool {
	if page.CountWords(quoted) > titleWords {
		return false
	}
	key := titleKey(quoted)
	if !titles.known[key] && !a.italics[key] && (a.language == "de" || !hasTitleCase(quoted)) {
		return false
	}
	before, _, _ := strings.Cut(a.text, quoted)
	before = strings.TrimRightFunc(before, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsPunct(r) && r != ':' })
	if strings.HasSuffix(before, ":") {
		return false
	}
	last := ""
	page.EachFolded(before, func(word []byte, _ int) {
		if w := string(word); w != "that" {
			last = w
		}
	})
	return !sayingVerbs()[last]
}

// hasTitleCase holds for a text whose words begin with capitals, function words in it
// excepted; the first word alone says nothing.
func hasTitleCase(text string) bool {
	capitals := 0
	for i, word := range strings.Fields(text) {
		word = strings.TrimFunc(word, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) })
		first, _ := utf8.DecodeRuneInString(word)
		switch {
		case unicode.IsUpper(first):
			capitals += min(i, 1)
		case unicode.IsLetter(first) && (i == 0 || !functionWords()[strings.ToLower(word)]):
			return false
		}
	}
	return capitals >= 2
}

var sayingVerbs = sync.OnceValue(func() map[string]bool { return wordsOf("saying") })
