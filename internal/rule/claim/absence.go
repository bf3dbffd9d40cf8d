package claim

import (
	"cmp"
	"slices"
	"strings"

	"github.com/tidegate/tidegate/internal/text/page"
	"github.com/tidegate/tidegate/internal/text/sentence"
)

// absentWindows is how many windows show that words are on no page.
const absentWindows = 8

// Words are the content words of a question, without their endings.
func (s Question) Words() []string { return askedBy(&s).words }

// Absent says whether words stand on no page: it finds the passages that have most of
// them, and makes it a fault where two neighbouring sentences of a page have all.
func Absent(words, language string, pages []*Page) Judgement {
	a := askedBy(&Question{Text: words, Language: language})
	a.most = absentWindows
	j := Judgement{Standing: Found, Findings: []Finding{}}
	type found struct {
		Window
		candidate
	}
	var best []found
	for n, p := range pages {
		if strings.TrimSpace(p.Text) == "" {
			continue
		}
		for _, l := range lookAt(p, []*asked{a}) {
			for _, c := range l.windows {
				if c.page = n; c.weight > 0 {
					best = append(best, found{l.window(c), c})
				}
			}
		}
		if at := a.together(p); at != "" {
			j.add("absent", Fault, "", p.CID+": "+at)
		}
	}
	slices.SortStableFunc(best, func(a, b found) int { return cmp.Or(-cmp.Compare(a.weight, b.weight), a.page-b.page) })
	for _, w := range best[:min(len(best), absentWindows)] {
		j.Windows = append(j.Windows, w.Window)
	}
	return j
}

// together is the first sentence of a page that has, with the one before it, all words;
// "" for none.
func (a *asked) together(p *Page) string {
	sentences := sentence.Split(p.Text, append(languagesOf(p.Text), "")[0])
	seen := map[string]int{} // the last sentence that has a word, counted from 1
	at, where := 0, ""
	page.EachFolded(p.Text, func(word []byte, from int) {
		for at < len(sentences) && from >= sentences[at].Start {
			at++
		}
		stem := string(a.endings.stem(word))
		if where != "" || !slices.Contains(a.words, stem) {
			return
		}
		seen[stem] = at
		if len(a.words) == len(seen) && !slices.ContainsFunc(a.words, func(w string) bool { return seen[w] < at-1 }) {
			where = p.Text[sentences[at-1].Start:sentences[at-1].End]
		}
	})
	return where
}
