package claim

import (
	"github.com/tidegate/tidegate/internal/text/page"
	"github.com/tidegate/tidegate/internal/text/sentence"
)

// unseenSentences is how many sentences in a row a passage has in which [Page.Unseen] looks.
const unseenSentences = 3

// Unseen reports whether a page has a passage with half of the content words of a question
// of which a sentence has not been seen. A question without content words is always one.
func (p *Page) Unseen(question string, seen func(sentence string) bool) bool {
	a := askedBy(&Question{Text: question})
	asked := map[string]bool{}
	for _, word := range a.words {
		asked[word] = true
	}
	var recent []map[string]bool // the asked words of the sentences of a passage
	hidden := 0                  // how many sentences ago one stood that was not seen; 0 for none
	for _, s := range sentence.Split(p.Text, p.Language) {
		words := map[string]bool{}
		page.EachFolded(p.Text[s.Start:s.End], func(word []byte, _ int) {
			if w := string(a.endings.stem(word)); asked[w] {
				words[w] = true
			}
		})
		if recent = append(recent, words); len(recent) > unseenSentences {
			recent = recent[1:]
		}
		if hidden++; hidden > unseenSentences {
			hidden = 0
		}
		if len(words) > 0 && !seen(p.Text[s.Start:s.End]) {
			hidden = 1
		}
		all := map[string]bool{}
		for _, of := range recent {
			for word := range of {
				all[word] = true
			}
		}
		if hidden > 0 && 2*len(all) >= len(asked) && len(all) > 0 {
			return true
		}
	}
	return len(asked) == 0
}
