package drift

import (
	"embed"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/tidegate/tidegate/internal/text/page"
	"github.com/tidegate/tidegate/internal/text/sentence"
)

//go:embed lists
var lists embed.FS

// passage is a sentence of a page.
type passage struct {
	start, end int // in the page's text; 0 for a text of its own
	text       string
	words      []string       // as they are compared
	count      map[string]int // of each word
	read       bool           // back is known
	back       string         // see comparison.back
}

func newPassage(text string) passage {
	p := passage{text: text, count: map[string]int{}}
	page.EachFolded(text, func(word []byte, _ int) {
		p.words = append(p.words, string(word))
		p.count[string(word)]++
	})
	return p
}

// key is the same for passages with the same words.
func (p *passage) key() string { return strings.Join(p.words, " ") }

// passages are the sentences of a text that have words.
func passages(text, language string) []passage {
	var all []passage
	for _, span := range sentence.Split(text, language) {
		p := newPassage(text[span.Start:span.End])
		if p.start, p.end = span.Start, span.End; len(p.words) > 0 {
			all = append(all, p)
		}
	}
	return all
}

// alike is how much two passages have in common: 0 for nothing, 1 for the same words.
func (p *passage) alike(q *passage) float64 {
	both := 0
	for word, n := range p.count {
		both += min(n, q.count[word])
	}
	return 2 * float64(both) / float64(len(p.words)+len(q.words))
}

// without are the words of a passage that another does not have, in any form.
func (p *passage) without(q *passage) []string {
	var out []string
	for _, word := range p.words {
		if q.count[word] == 0 && !q.has(word) {
			out = append(out, word)
		}
	}
	return out
}

// has reports whether a passage has a word, in whatever form.
func (p *passage) has(word string) bool {
	if p.count[word] > 0 {
		return true
	}
	for other := range p.count {
		if sameStem(word, other) {
			return true
		}
	}
	return false
}

const (
	leastStem = 5 // letters that two forms of a word share
	mostEnd   = 3 // letters in which they may differ at the end
)

// sameStem reports whether two words look like forms of one. Numbers have no forms.
func sameStem(a, b string) bool {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	for n > 0 && n < len(a) && !utf8.RuneStart(a[n]) {
		n--
	}
	return n >= leastStem && len(a)-n <= mostEnd && len(b)-n <= mostEnd && !isNumber(a) && !isNumber(b)
}

func isNumber(word string) bool { return word[0] >= '0' && word[0] <= '9' }

// content reports whether a word says what a sentence is about.
func content(word string) bool {
	return isNumber(word) || !page.IsCommon(word) && !functionWord(word) && utf8.RuneCountInString(word) > 1
}

func functionWord(word string) bool { return len(word) < 3 && word[0] < utf8.RuneSelf }

// shared is how much of what a sentence says a passage has: a number counts as much as
// three words. Those in done do not count again.
func (p *passage) shared(of *passage, done map[string]bool) (weight int) {
	for word := range of.count {
		if !done[word] && content(word) && p.has(word) {
			weight++
			if isNumber(word) {
				weight += 2
			}
		}
	}
	return weight
}

// negations counts the words that turn a passage round.
func (p *passage) negations(language string) (n int) {
	for _, word := range p.words {
		if negating()[language][word] {
			n++
		}
	}
	return n
}

// negating are the words that turn a statement round, by language; under "" those of
// English.
var negating = wordsOf("negations.txt")

// wordsOf are the words of a list, by language; under "" those of English.
func wordsOf(name string) func() map[string]map[string]bool {
	return sync.OnceValue(func() map[string]map[string]bool {
		all := map[string]map[string]bool{}
		for _, e := range page.List(lists, "lists/"+name) {
			if all[e.Language] == nil {
				all[e.Language] = map[string]bool{}
			}
			for word := range strings.FieldsSeq(e.Text) {
				all[e.Language][word] = true
			}
		}
		all[""] = all["en"]
		return all
	})
}

// notice is the sentence by which a page says of itself that it no longer counts, and
// which it did not have before; "" for none.
func notice(then map[string]bool, now []passage) string {
	for i := range now {
		key := now[i].key()
		if then[key] {
			continue
		}
		for _, phrase := range notices() {
			if strings.Contains(" "+key+" ", phrase) {
				return now[i].text
			}
		}
	}
	return ""
}

var notices = sync.OnceValue(func() (all []string) {
	for _, e := range page.List(lists, "lists/notices.txt") {
		all = append(all, " "+e.Text+" ")
	}
	return all
})
