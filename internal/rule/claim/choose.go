package claim

import (
	"cmp"
	"slices"
	"strings"
)

// Chooser chooses, for questions, the windows of pages that fit them best. It is shown
// one page after the other and keeps none of their texts but the windows.
type Chooser struct {
	most    int // bytes of windows for each question
	asked   []*asked
	pages   int
	windows [][]chosen // by question
}

// chosen is a window that fits a question.
type chosen struct {
	Window
	page    int
	matched bool
	weight  float64
}

// fewestBytes is what a window has at least, on average.
const fewestBytes = 256

// NewChooser chooses windows of at most so many bytes for each question. A question may
// have several sentences.
func NewChooser(questions []string, most int) *Chooser {
	c := &Chooser{most: most, windows: make([][]chosen, len(questions))}
	for _, q := range questions {
		a := askedBy(&Question{Text: q})
		a.most = max(1, most/fewestBytes)
		c.asked = append(c.asked, a)
	}
	return c
}

// Look takes the windows of a page that hold a word, number or name of a question.
func (c *Chooser) Look(p *Page) {
	c.pages++
	if strings.TrimSpace(p.Text) == "" {
		return
	}
	for i, l := range lookAt(p, c.asked) {
		for _, w := range l.windows {
			if w.weight > 0 || w.facts > 0 {
				window := l.window(w)
				window.Text = strings.Clone(window.Text) // which would keep the whole page
				c.windows[i] = append(c.windows[i], chosen{window, c.pages, w.facts > 0, w.weight})
			}
		}
		c.windows[i] = c.best(c.windows[i])
	}
}

// best are the windows that fit best, as many as there is room for.
func (c *Chooser) best(list []chosen) []chosen {
	slices.SortStableFunc(list, func(a, b chosen) int {
		return cmp.Or(-compareBool(a.matched, b.matched), -cmp.Compare(a.weight, b.weight), a.page-b.page, a.Start-b.Start)
	})
	room := c.most
	for i := range list {
		if room -= len(list[i].Text); room < 0 {
			return slices.Clone(list[:i])
		}
	}
	return list
}

// Chosen are the windows for a question, the best first.
func (c *Chooser) Chosen(question int) []Window {
	out := make([]Window, len(c.windows[question]))
	for i, w := range c.windows[question] {
		out[i] = w.Window
	}
	return out
}
