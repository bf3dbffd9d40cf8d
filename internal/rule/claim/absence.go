package claim

import (
	"cmp"
	"slices"
	"strings"

	"github.com/tidegate/tidegate/internal/text/page"
)

// absentWindows is how many windows show that words are on no page.
const absentWindows = 8

// Words are the content words of a question, without their endings.
func (s Question) Words() []string { return askedBy(&s).words }

// Absent says whether words stand on no page: it finds the passages that have most of
// them, and makes it a fault where a page has them beside each other.
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

// together is where a sentence of a page has all words, in any order and with nothing but
// function words between them, and what stands around them; "" for nowhere.
func (a *asked) together(p *Page) (where string) {
	type place struct {
		word string
		from int
	}
	var last []place // the last words of a sentence, as many as are asked for
	page.EachFolded(p.Text, func(word []byte, from int) {
		if where != "" || len(a.words) == 0 || !isContent(string(word)) {
			return
		}
		if n := len(last); n > 0 && strings.ContainsAny(p.Text[last[n-1].from:from], ".!?\t") {
			last = last[:0]
		}
		if len(last) == len(a.words) {
			last = slices.Delete(last, 0, 1)
		}
		last = append(last, place{string(a.endings.stem(word)), from})
		for _, w := range a.words {
			if !slices.ContainsFunc(last, func(l place) bool { return l.word == w }) {
				return
			}
		}
		where = around(p.Text, last[0].from, from+len(word))
	})
	return where
}

// around is a part of a text with some of what stands on both sides of it.
func around(text string, start, end int) string {
	const beside = 60
	before, after := text[max(0, start-beside):start], text[min(end, len(text)):min(len(text), end+beside)]
	if _, rest, cut := strings.Cut(before, " "); cut && len(before) == beside {
		before = "… " + rest
	}
	if at := strings.LastIndex(after, " "); at >= 0 && len(after) == beside {
		after = after[:at] + " …"
	}
	return strings.ToValidUTF8(before+text[start:min(end, len(text))]+after, "")
}
