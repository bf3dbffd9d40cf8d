package claim

import (
	"math"
	"slices"
	"strings"

	"github.com/tidegate/tidegate/internal/text/page"
)

// Chooser chooses, for questions, the windows of pages that fit them best. It is shown
// one page after the other and keeps none of their texts but the windows.
type Chooser struct {
	most    int // bytes of windows for each question
	asked   []*asked
	words   int        // of all pages
	counts  [][]int    // by question and word: how often the pages have it
	windows [][]chosen // by question
}

// chosen is a window that fits a question.
type chosen struct {
	Window
	has   []int // the words of the question in it
	below []int // further ones in what it stands below
}

// fewestBytes is what a window has at least, on average.
const fewestBytes = 256

// NewChooser chooses windows of at most so many bytes for each question. A question may
// have several sentences.
func NewChooser(questions []string, most int) *Chooser {
	c := &Chooser{most: most, windows: make([][]chosen, len(questions)), counts: make([][]int, len(questions))}
	for i, q := range questions {
		a := askedBy(&Question{Text: q})
		a.most = max(1, most/fewestBytes)
		c.asked, c.counts[i] = append(c.asked, a), make([]int, len(a.words))
	}
	return c
}

// Look takes the windows of a page that hold a word, number or name of a question.
func (c *Chooser) Look(p *Page) {
	if strings.TrimSpace(p.Text) == "" {
		return
	}
	c.words += page.CountWords(p.Text)
	for i, l := range lookAt(p, c.asked) {
		a := c.asked[i]
		a.eachWord(p.Text, func(k int) { c.counts[i][k]++ })
		for _, w := range l.windows {
			if w.weight == 0 && w.facts == 0 {
				continue
			}
			window := l.window(w)
			window.Text = strings.Clone(window.Text) // which would keep the whole page
			one := chosen{Window: window, has: a.held(window.Text, nil)}
			one.below = a.held(window.Heading+" "+window.Title+" "+p.Address, one.has)
			c.windows[i] = append(c.windows[i], one)
		}
		if size(c.windows[i]) > spare*c.most {
			c.windows[i] = slices.Clone(c.best(i, spare*c.most/2))
		}
	}
}

// spare is how many times the bytes of windows are kept that are chosen in the end: what a
// word weighs is known when all pages are.
const spare = 8

func size(list []chosen) (bytes int) {
	for i := range list {
		bytes += len(list[i].Text)
	}
	return bytes
}

// eachWord visits the words of a question in a text.
func (a *asked) eachWord(text string, visit func(k int)) {
	page.EachFolded(text, func(word []byte, _ int) {
		if k := slices.Index(a.words, string(a.endings.stem(word))); k >= 0 {
			visit(k)
		}
	})
}

// held are the words of a question that a text has beside some.
func (a *asked) held(text string, beside []int) (has []int) {
	a.eachWord(text, func(k int) {
		if !slices.Contains(has, k) && !slices.Contains(beside, k) {
			has = append(has, k)
		}
	})
	return has
}

// above is what a word counts that only the heading or title above a window has.
const above = 0.5

// best are the windows that fit a question best, the best first, as many as there is room
// for. A word weighs the more the fewer there are of it, and the less the more windows
// before have it.
func (c *Chooser) best(question, room int) (best []chosen) {
	rarest := math.Log(float64(c.words + 2))
	weights := make([]float64, len(c.counts[question]))
	for k, n := range c.counts[question] {
		weights[k] = math.Pow(math.Log(float64(c.words+2)/float64(n+1))/rarest, 3)
	}
	left := slices.Clone(c.windows[question])
	for len(left) > 0 {
		at, most := 0, -1.0
		for i := range left {
			if worth := left[i].worth(weights); worth > most {
				at, most = i, worth
			}
		}
		one := left[at]
		left = slices.Delete(left, at, at+1)
		if room -= len(one.Text); room < 0 {
			break
		}
		for _, k := range one.has {
			weights[k] *= again
		}
		best = append(best, one)
	}
	return best
}

func (c *chosen) worth(weights []float64) (worth float64) {
	for _, k := range c.has {
		worth += weights[k]
	}
	for _, k := range c.below {
		worth += above * weights[k]
	}
	return worth
}

// Chosen are the windows for a question, the best first.
func (c *Chooser) Chosen(question int) []Window {
	best := c.best(question, c.most)
	out := make([]Window, len(best))
	for i, w := range best {
		out[i] = w.Window
	}
	return out
}
