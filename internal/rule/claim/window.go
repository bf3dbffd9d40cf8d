package claim

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/text/page"
)

// Window is a passage of a page that a reader is shown.
type Window struct {
	CID    string `json:"cid"`
	Start  int    `json:"start"` // bytes of the page's readable text
	End    int    `json:"end"`
	Text   string `json:"text"`
	Digest string `json:"digest"`
	// What helps to understand it, and grounds nothing.
	Title string `json:"title,omitzero"` // of the page
	// Heading is the nearest one before its matching sentence, and the head of the table that
	// it stands in, unless the window has it.
	Heading string `json:"heading,omitzero"`
}

// The number of windows: those that are shown at once, or where only words that languages
// share can choose, or where no words can, and those that a second look adds.
const (
	firstWindows = 3
	kinWindows   = 5
	looseWindows = 8
	MaxFurther   = 5
)

// little is the share of what the best window of a page holds, by words, below which another
// one waits for a second look, unless it holds a fact.
const little = 0.3

// candidate is a window of a page.
type candidate struct {
	page        int     // which of the sentence's pages, where those of several are compared
	first, last int     // its passages
	around      int     // the one that holds most
	facts       int     // numbers, dates and quotations of the sentence that it holds
	named       bool    // it holds a name
	quoted      bool    // it holds a passage that an output quotes
	weight      float64 // of the content words that it holds
	waits       bool    // for a second look
}

// byWords orders windows: those that hold facts first, then by the words that they hold,
// then by place.
func byWords(a, b candidate) int {
	return cmp.Or(b.facts-a.facts, -cmp.Compare(a.weight, b.weight), a.page-b.page, a.first-b.first)
}

// byPlace orders the windows of pages whose words say little: those that hold most numbers and
// dates first, then those with a name, which each row of a table can have, then those that hold
// a passage that was quoted, then by place.
func byPlace(a, b candidate) int {
	return cmp.Or(b.facts-a.facts, -compareBool(a.named, b.named), -compareBool(a.quoted, b.quoted), a.page-b.page, a.first-b.first)
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

// weightOf is what a word weighs that so many of the sentences of a page have: one
// half more where none has it than where all have.
func weightOf(having, sentences int) float64 {
	return 1 + math.Log(float64(sentences+1)/float64(having+1))/math.Log(float64(sentences)+1.5)/2
}

// windowsOf chooses the windows of a sentence among those of its pages: the best one of
// each page first, then the best of the others. More are those that a second look adds.
func windowsOf(looks []look, loose bool) (windows, more []Window) {
	order, most := byWords, firstWindows
	if loose {
		most = looseWindows
		if !anyOf(looks, func(l *look) bool { return l.foreign }) {
			order = byPlace
		} else if anyOf(looks, func(l *look) bool { return l.foreign && len(l.loose) > 0 && l.loose[0].weight > 0 }) {
			most = kinWindows
		}
	}
	var rest []candidate
	for i := range looks {
		list := looks[i].windows
		if loose || looks[i].foreign {
			list = looks[i].loose
		}
		for k, c := range list {
			if c.page = i; k == 0 {
				windows = append(windows, looks[i].window(c))
			} else {
				c.waits = !loose && c.facts == 0 && c.weight < little*list[0].weight
				rest = append(rest, c)
			}
		}
	}
	slices.SortStableFunc(rest, order)
	for _, c := range rest {
		switch {
		case len(windows) < max(most, len(looks)) && !c.waits:
			windows = append(windows, looks[c.page].window(c))
		case len(more) < MaxFurther:
			more = append(more, looks[c.page].window(c))
		}
	}
	return windows, more
}

// Beside are windows that stand beside others: of which others have less than half. They
// are at most n.
func Beside(others, windows []Window, n int) (beside []Window) {
	for _, w := range windows {
		if len(beside) < n && !slices.ContainsFunc(others, func(o Window) bool {
			return o.CID == w.CID && 2*(min(o.End, w.End)-max(o.Start, w.Start)) >= w.End-w.Start
		}) {
			beside = append(beside, w)
		}
	}
	return beside
}

// Further are the windows that a second look adds to those that a sentence was read with.
func (j Judgement) Further(shown []Window) []Window {
	return Beside(shown, slices.Concat(j.Windows, j.More), MaxFurther)
}

// Nearest is the window that has most of the words of a sentence, the first of several;
// -1 for none.
func (s Question) Nearest(windows []Window) int {
	a := askedBy(&s)
	nearest, most := -1, -1
	for i, w := range windows {
		has := map[string]bool{}
		page.EachFolded(w.Text, func(word []byte, _ int) { has[string(a.endings.stem(word))] = true })
		n := 0
		for _, word := range a.words {
			if has[word] {
				n++
			}
		}
		if n > most {
			nearest, most = i, n
		}
	}
	return nearest
}

// window is a window as a reader is shown it: where it has room, with the neighbours of
// what it holds on both sides.
func (l *look) window(c candidate) Window {
	start, end := l.passages[c.first].start, l.passages[c.last].end
	text := l.page.Text[start:end]
	around := l.passages[c.around].start
	heading := l.page.headingBefore(around)
	if head := l.page.headRow(l.tables, start, around); head != "" {
		heading = strings.TrimPrefix(heading+" / "+head, " / ")
	}
	return Window{l.page.CID, start, end, text, codec.DigestBytes([]byte(text)), l.page.Title, heading}
}
