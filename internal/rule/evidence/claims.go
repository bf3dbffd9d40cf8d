package evidence

import (
	"embed"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/tidegate/tidegate/internal/text/figure"
	"github.com/tidegate/tidegate/internal/text/page"
	"github.com/tidegate/tidegate/internal/text/quotation"
)

//go:embed lists
var lists embed.FS

// PointsBack reports whether a sentence begins with a word that points back at the sentence
// before it, in its language. In a language without a list any may.
func PointsBack(text, language string) bool {
	if !backWords()[page.Entry{Language: language}] {
		return true
	}
	text = strings.ToLower(strings.TrimLeftFunc(text, func(r rune) bool { return !unicode.IsLetter(r) }))
	if r, _ := utf8.DecodeRuneInString(text); page.IsDense(r) {
		for word := range backWords() {
			if word.Language == language && word.Text != "" && strings.HasPrefix(text, word.Text) {
				return true
			}
		}
		return false
	}
	words := strings.FieldsFunc(text, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(",;:.!?", r) })
	for n := 1; n <= min(2, len(words)); n++ {
		if backWords()[page.Entry{Language: language, Text: strings.Join(words[:n], "_")}] {
			return true
		}
	}
	return false
}

var backWords = sync.OnceValue(func() map[page.Entry]bool {
	set := map[page.Entry]bool{}
	for _, e := range page.List(lists, "lists/back.txt") {
		set[page.Entry{Language: e.Language}] = true
		for word := range strings.FieldsSeq(e.Text) {
			set[page.Entry{Language: e.Language, Text: word}] = true
		}
	}
	return set
})

// claims finds numbers, dates and quotations in texts that may have none but those of
// the question and the template.
type claims struct{ allowed map[string]bool }

func claimsOf(facts Facts) claims {
	c := claims{map[string]bool{}}
	texts := []string{facts.Question}
	for _, section := range facts.Template.Sections {
		texts = append(texts, section.Title)
	}
	for _, text := range texts {
		for _, n := range numbersIn(text) {
			c.allowed[n.text] = true
		}
		for _, quoted := range quotation.In([]string{text})[0] {
			c.allowed[quoted] = true
		}
	}
	return c
}

// in is the first number or quotation of a text that is not allowed, "" for none.
func (c claims) in(text string) string {
	return c.find(text, func(number) bool { return false })
}

// inHeading is in for a heading, in which a number may count off.
func (c claims) inHeading(text string) string { return c.find(text, countsOff) }

func (c claims) find(text string, excused func(number) bool) string {
	for _, n := range numbersIn(text) {
		if !c.allowed[n.text] && !excused(n) {
			return n.text
		}
	}
	for _, quoted := range quotation.In([]string{text})[0] {
		if !c.allowed[quoted] {
			return quoted
		}
	}
	return ""
}

// number is a number in a text, with what stands around it.
type number struct{ before, text, after string }

func numbersIn(text string) []number {
	runes := []rune(text)
	var found []number
	for _, n := range figure.Numerals(runes) {
		found = append(found, number{string(runes[:n.From]), string(runes[n.From:n.To]), string(runes[n.To:])})
	}
	return found
}

// countsOff reports whether a number in a heading is an ordinal: it begins the heading
// as that of a list does, or stands behind a word such as option. A year, or more than
// anybody counts off, is none.
func countsOff(n number) bool {
	switch {
	case utf8.RuneCountInString(n.text) > 2:
		return false
	case strings.Trim(n.before, "( ") == "":
		return strings.HasPrefix(n.after, ".") || strings.HasPrefix(n.after, ")") || strings.HasPrefix(n.after, ":")
	}
	words := strings.FieldsFunc(n.before, func(r rune) bool { return unicode.IsSpace(r) })
	return len(words) > 0 && numbered()[strings.ToLower(words[len(words)-1])]
}

// numbered are the words that a number behind them only counts off.
var numbered = sync.OnceValue(func() map[string]bool {
	words := map[string]bool{}
	for _, e := range page.List(lists, "lists/numbered.txt") {
		for word := range strings.FieldsSeq(e.Text) {
			words[word] = true
		}
	}
	return words
})
