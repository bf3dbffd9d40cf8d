package evidence

import (
	_ "embed"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"
)

//go:embed lists/words.txt
var wordList string

// rows are the lines of the table, with their numbers: that of the languages first.
func rows(yield func(number int, cells []string) bool) {
	number := 0
	for line := range strings.Lines(wordList) {
		number++
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' && !yield(number, strings.Split(line, " | ")) {
			return
		}
	}
}

// Languages are those in which a report can be written with all words of its own.
func Languages() []string { return languages() }

// The help of commands names the languages, so nothing but their line is read.
var languages = sync.OnceValue(func() []string {
	for _, cells := range rows {
		return cells
	}
	return nil
})

// phrases are the words of a report by language: each in the order of [Languages], under
// the English one.
var phrases = sync.OnceValue(func() map[string][]string {
	of := map[string][]string{}
	for number, cells := range rows {
		if len(cells) != len(languages()) || of[cells[0]] != nil {
			panic("lists/words.txt: line " + strconv.Itoa(number) + " has another number of languages, or stands there twice")
		}
		of[cells[0]] = cells
	}
	return of
})

// Say is an English phrase of a report in a language, filled with args; English where the
// table has no other.
func Say(language, phrase string, args ...any) string {
	for i, known := range languages() {
		if said := phrases()[phrase]; known == language && said != nil {
			phrase = said[i]
			break
		}
	}
	if len(args) == 0 {
		return phrase
	}
	return fmt.Sprintf(phrase, args...)
}

// Direction is in which direction a language is written: ltr or rtl.
func Direction(language string) string {
	switch language {
	case "ar", "he", "fa", "ur":
		return "rtl"
	}
	return "ltr"
}

// Day is a date in a language.
func Day(language string, t time.Time) string {
	return Say(language, "%d %s %d", t.Day(), Say(language, t.Month().String()), t.Year())
}

// Thousands is a number with its digits grouped as a language does.
func Thousands(language string, n int64) string {
	separator := ","
	switch language {
	case "de", "es", "it", "pt", "nl":
		separator = "."
	case "fr", "fi", "sv", "pl":
		separator = "\u00a0"
	}
	digits := strconv.FormatInt(n, 10)
	for at := len(digits) - 3; at > 0 && digits[at-1] != '-'; at -= 3 {
		digits = digits[:at] + separator + digits[at:]
	}
	return digits
}

// USD is an amount of US dollars in a language.
func USD(language string, usd float64) string {
	text := strconv.FormatFloat(usd, 'f', 2, 64)
	switch language {
	case "", "en":
		return "$" + text
	case "zh", "ja", "ar":
		return text + " USD"
	}
	return strings.Replace(text, ".", ",", 1) + " USD"
}
