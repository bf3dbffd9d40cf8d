package claim

import (
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/tidegate/tidegate/internal/text/figure"
	"github.com/tidegate/tidegate/internal/text/page"
	"github.com/tidegate/tidegate/internal/text/quotation"
	"github.com/tidegate/tidegate/internal/text/sentence"
)

// asked is what is looked for on the pages of a sentence.
type asked struct {
	cids       []string // each once
	text       string   // as a reader sees it
	language   string
	detected   string // the language that its words show, which may be less exact
	endings    endings
	words      []string // its content words, each once, without their endings
	parts      []int    // by word: the sentence that has it first, where there are several
	plain      string   // the text in which numbers and dates stand
	numbers    []number
	dates      []figure.Date
	quotations []quotation.Quotation
	titles     []name // by quotation: its words, as those of the title of a work
	names      []name
	italics    map[string]bool // as titles are compared
	most       int             // windows that are chosen on one page
	question   string          // of the run
	inferred   bool
}

// number is one that a sentence states, or that its calculation takes from a page.
type number struct {
	figure.Figure
	text    string // as it is written
	phrase  string // with the unit or word that goes with it, as a page has it byte for byte
	noun    string // of a small number without a unit: what it counts, without its ending
	operand bool
}

// askedBy reads what a sentence states.
func askedBy(s *Question) *asked {
	text := quotation.WithoutHidden(s.Text)
	language, _, _ := strings.Cut(s.Language, "-")
	a := &asked{text: text, language: language, inferred: s.Inferred, question: s.Run, most: firstWindows + MaxFurther, detected: page.Language(text), italics: NewTitles(s.Italics).known}
	cited := map[string]bool{}
	for _, cid := range s.CIDs {
		if !cited[cid] {
			cited[cid] = true
			a.cids = append(a.cids, cid)
		}
	}
	if a.language == "" {
		a.language = a.detected
	}
	a.endings = endingsOf(a.language)
	var languages []string
	if a.language != "" {
		languages = []string{a.language}
	}
	var figures []figure.Figure
	a.plain, figures = figure.Stated(text, languages)
	seen := map[string]bool{} // and what spells a number, which a page may write in digits
	for _, f := range figures {
		if spelled := a.plain[f.Start:f.End]; !strings.ContainsFunc(spelled, unicode.IsDigit) {
			page.EachFolded(spelled, func(word []byte, _ int) { seen[string(a.endings.stem(word))] = true })
		}
	}
	for part, s := range sentence.Split(text, a.language) {
		page.EachFolded(text[s.Start:s.End], func(word []byte, _ int) {
			if w := string(a.endings.stem(word)); isContent(string(word)) && !seen[w] {
				seen[w] = true
				a.words, a.parts = append(a.words, w), append(a.parts, part)
			}
		})
	}
	a.dates = figure.Dates(a.plain, languages)
	for _, f := range figures {
		if !within(f, a.dates) {
			n := number{Figure: f, text: strings.TrimSpace(a.plain[f.Start:f.End]), phrase: phraseOf(a.plain, f, languages)}
			if f.Small && f.Unit() == "" {
				n.noun = a.nounAfter(f.End)
			}
			a.numbers = append(a.numbers, n)
		}
	}
	for _, operand := range s.Operands {
		plain, figures := figure.Stated(operand, languages)
		for _, f := range figures {
			a.numbers = append(a.numbers, number{Figure: f, text: plain[f.Start:f.End], phrase: phraseOf(plain, f, languages), operand: true})
		}
	}
	if a.quotations = s.Quotations; a.quotations == nil {
		a.quotations = quotation.Of([]string{text})[0]
	}
	for _, q := range a.quotations {
		a.titles = append(a.titles, a.nameOf(q.Text))
	}
	a.names = a.namesIn(text)
	return a
}

// nameOf is a text as a name.
func (a *asked) nameOf(text string) name {
	n := name{text: text}
	page.EachFolded(page.CutBytes(text, titleBytes), func(word []byte, _ int) {
		if isContent(string(word)) {
			n.words = append(n.words, string(a.endings.stem(word)))
		}
	})
	return n
}

// titleBytes is how many bytes of a title are read.
const titleBytes = 400

// nounAfter is the word after a number, without its ending; "" where it says how many
// times.
func (a *asked) nounAfter(at int) string {
	first, noun := "", ""
	page.EachFolded(page.CutBytes(a.plain[at:], nounBytes), func(word []byte, _ int) {
		if first == "" {
			first, noun = string(word), string(a.endings.stem(word))
		}
	})
	if timesWords()[first] {
		return ""
	}
	return noun
}

var timesWords = sync.OnceValue(func() map[string]bool { return wordsOf("times") })

// nounBytes is how many bytes after a number are read for what it counts.
const nounBytes = 40

// within reports whether a number is part of a date.
func within(f figure.Figure, dates []figure.Date) bool {
	for _, d := range dates {
		if f.Start < d.End && d.Start < f.End {
			return true
		}
	}
	return false
}

// phraseOf is a number with the unit or the word after it, "" where that by itself is
// another number: what its unit or sign stands apart from.
func phraseOf(text string, f figure.Figure, languages []string) string {
	end := f.End
	if f.Unit() == "" {
		rest := text[end:]
		word := strings.TrimLeft(rest, " \u00a0-")
		n := 0
		for n < len(word) && !strings.ContainsRune(" .,;:!?)\u00a0", rune(word[n])) {
			n++
		}
		end += len(rest) - len(word) + n
	}
	phrase := text[f.Start:end]
	if _, alone := figure.Stated(phrase, languages); len(alone) > 0 && !slices.Equal(alone[0].Readings, f.Readings) {
		return ""
	}
	return phrase
}
