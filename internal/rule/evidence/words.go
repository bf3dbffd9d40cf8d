package evidence

import (
	"embed"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"
)

//go:embed lists/words.txt
var wordFile embed.FS

// phrases are the words of a report by language: each in the order of the table's
// languages, under the English one.
type phrases struct {
	languages []string
	of        map[string][]string
}

var table = sync.OnceValue(func() (p phrases) {
	data, err := wordFile.ReadFile("lists/words.txt")
	if err != nil {
		panic(err) // it is part of the program
	}
	p.of = map[string][]string{}
	number := 0
	for line := range strings.Lines(string(data)) {
		number++
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		cells := strings.Split(line, " | ")
		switch {
		case p.languages == nil:
			p.languages = cells
		case len(cells) != len(p.languages) || p.of[cells[0]] != nil:
			panic("lists/words.txt: line " + strconv.Itoa(number) + " has another number of languages, or stands there twice")
		default:
			p.of[cells[0]] = cells
		}
	}
	return p
})

// Languages are those in which a report can be written with all words of its own.
func Languages() []string { return table().languages }

// Say is an English phrase of a report in a language, filled with args; English where the
// table has no other.
func Say(language, phrase string, args ...any) string {
	t := table()
	for i, known := range t.languages {
		if said := t.of[phrase]; known == language && said != nil {
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
