// Package asking is a further question about a finished report: which passages of its
// archived pages may answer it, how an agent is asked, and how its answer is judged. An
// answer is held to the rules of a report, sentence by sentence, or it is one fixed
// sentence: the pages do not answer the question.
//
// The package is pure: the same values in, the same values out.
package asking

import (
	"cmp"
	"context"
	"embed"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/tidegate/tidegate/internal/rule/claim"
	"github.com/tidegate/tidegate/internal/text/page"
)

//go:embed lists
var lists embed.FS

// Case is a question with the pages that may answer it.
type Case struct {
	Question string
	Language string        // of the answer, in two letters
	Pages    []*claim.Page // each with an id, such as s1, in the place of its cid

	byID map[string]*claim.Page
}

// NewCase is a question over pages. It is answered in its own language or, where that
// cannot be told, in the other one.
func NewCase(question, otherwise string, pages []*claim.Page) *Case {
	c := &Case{Question: question, Pages: pages, byID: map[string]*claim.Page{}}
	c.Language = cmp.Or(page.QuestionLanguage(question), otherwise)
	for _, p := range pages {
		c.byID[p.CID] = p
	}
	return c
}

// Refusal is the sentence that answers a question that the pages do not answer.
func (c *Case) Refusal() string {
	if text, known := refusals()[c.Language]; known {
		return text
	}
	return refusals()["en"]
}

var refusals = sync.OnceValue(func() map[string]string {
	all := map[string]string{}
	for _, e := range page.List(lists, "lists/refusals.txt") {
		all[e.Language] = e.Text
	}
	return all
})

func (c *Case) page(id string) (*claim.Page, error) { return c.byID[id], nil }

const (
	mostPassages = 30
	leastWords   = 0.5 // of the words of a question, by weight
)

// Passages are the passages of the pages that may answer the question, the best first. There
// are none where the pages have less than half of the words that say what the question is
// about or, where they are in another language, not one, such as a name or number: nobody
// needs to be asked then. The error is that of ctx.
func (c *Case) Passages(ctx context.Context) ([]claim.Window, error) {
	asked := contentOf(c.Question)
	type found struct {
		window claim.Window
		shares int
	}
	var all []found
	has, foreign := map[string]bool{}, false
	for _, p := range c.Pages {
		words := contentOf(p.Text)
		for word := range asked {
			if begins(words, word) {
				has[word] = true
			}
		}
		foreign = foreign || c.foreign(p)
		held, err := claim.Judge(ctx, []claim.Question{{Text: c.Question, Language: c.Language, CIDs: []string{p.CID}}}, c.page, claim.Titles{})
		if err != nil {
			return nil, err
		}
		for _, w := range held[0].Windows {
			shares, words := 0, contentOf(w.Text)
			for word := range asked {
				if begins(words, word) {
					shares++
				}
			}
			if shares > 0 || foreign {
				all = append(all, found{w, shares})
			}
		}
	}
	if !enough(asked, func(word string) bool { return has[word] }, foreign) {
		return nil, nil
	}
	slices.SortStableFunc(all, func(a, b found) int { return b.shares - a.shares })
	var out []claim.Window
	for _, f := range all[:min(len(all), mostPassages)] {
		out = append(out, f.window)
	}
	return out, nil
}

// foreign reports whether a page is in another language than the answer, so that their words
// cannot be compared.
func (c *Case) foreign(p *claim.Page) bool {
	language := page.Language(p.Text)
	return language != "" && language != c.Language
}

// enough reports whether what is there of the words of a question is enough, by weight.
func enough(asked map[string]int, has func(word string) bool, foreign bool) bool {
	there, all := 0, 0
	for word, weight := range asked {
		if all += weight; has(word) {
			there += weight
		}
	}
	if foreign {
		return there > 0
	}
	return float64(there) >= leastWords*float64(all)
}

// about reports whether a text is about what is asked.
func (c *Case) about(foreign bool, text string) bool {
	words := contentOf(text)
	return enough(contentOf(c.Question), func(word string) bool { return begins(words, word) }, foreign)
}

// contentOf are the words that say what a text is about, with what each weighs: names and
// numbers more than others.
func contentOf(text string) map[string]int {
	words := map[string]int{}
	page.EachFolded(text, func(word []byte, from int) {
		w := string(word)
		first, _ := utf8.DecodeRuneInString(text[from:])
		switch {
		case asks()[w]:
		case unicode.IsDigit(first), unicode.IsUpper(first) && from > 0:
			words[w] = nameWeight
		case !page.IsCommon(w) && utf8.RuneCountInString(w) > 2, w[0] >= utf8.RuneSelf:
			words[w] = max(words[w], 1)
		}
	})
	return words
}

// asks are words that ask, in any language.
var asks = sync.OnceValue(func() map[string]bool {
	all := map[string]bool{}
	for _, e := range page.List(lists, "lists/questions.txt") {
		for word := range strings.FieldsSeq(e.Text) {
			all[word] = true
		}
	}
	return all
})

// nameWeight is what a name or number weighs.
const nameWeight = 3

const (
	stem   = 5 // letters by which two forms of a long word are the same
	ending = 2 // letters that a form of a short word may have more
)

// begins reports whether words have one, or another form of it.
func begins(words map[string]int, word string) bool {
	if words[word] > 0 {
		return true
	}
	if len(word) < 3 || word[0] >= '0' && word[0] <= '9' {
		return false
	}
	for other := range words {
		short, long := min(len(word), len(other)), max(len(word), len(other))
		same := 0
		for same < short && word[same] == other[same] {
			same++
		}
		if same >= stem && long-same <= stem || same == short && short >= 3 && long-short <= ending {
			return true
		}
	}
	return false
}

// Text is the readable text of a page.
func (c *Case) Text(id string) string {
	if p := c.byID[id]; p != nil {
		return p.Text
	}
	return ""
}
