package claim

import (
	"slices"
	"strings"

	"github.com/tidegate/tidegate/internal/text/figure"
	"github.com/tidegate/tidegate/internal/text/quotation"
)

// Fact is a number, date, name or quotation that a sentence states, or a number of its
// calculation, and the words of a page that carry it.
type Fact struct {
	Text       string
	Operand    bool
	Window     int // which of the windows has it first
	Start, End int // where that has it, in bytes of its text
}

// Facts are what a sentence states that its windows have, as the rules of [Judge] compare it,
// each once, in the order in which the sentence states it: numbers, dates, quotations and
// names each.
func Facts(q Question, windows []Window) []Fact {
	a := askedBy(&q)
	var facts []Fact
	add := func(f Fact) {
		if !slices.ContainsFunc(facts, func(known Fact) bool { return known.Text == f.Text }) {
			facts = append(facts, f)
		}
	}
	looks := make([]glance, len(windows))
	for w := range windows {
		looks[w] = a.glanceAt(windows[w].Text)
	}
	first := func(text string, operand bool, find func(*glance) (start, end int)) {
		for w := range looks {
			if start, end := find(&looks[w]); end > start {
				add(Fact{text, operand, w, start, end})
				return
			}
		}
	}
	for i, n := range a.numbers {
		first(n.text, n.operand, func(g *glance) (int, int) { return g.numbers[i].start, g.numbers[i].end })
	}
	for _, d := range a.dates {
		first(a.plain[d.Start:d.End], false, func(g *glance) (int, int) {
			for _, on := range g.dates {
				if d.Is(on) {
					return on.Start, on.End
				}
			}
			return 0, 0
		})
	}
	for i, q := range a.quotations {
		first(q.Text, false, func(g *glance) (int, int) {
			if s := g.quotations[i]; s.Found {
				return s.Start, s.End
			}
			return 0, 0
		})
	}
	for _, n := range a.names {
		first(n.text, false, func(g *glance) (int, int) {
			if at := literal(g.text, n.text); at >= 0 {
				return at, at + len(n.text)
			}
			return 0, 0
		})
	}
	return facts
}

// glance is what the text of a window has of what a sentence states.
type glance struct {
	text       string
	numbers    []place
	dates      []figure.Date
	quotations []*quotation.Search
}

type place struct{ start, end int }

func (a *asked) glanceAt(text string) glance {
	g := glance{text: text, numbers: make([]place, len(a.numbers))}
	languages := languagesOf(text)
	if len(languages) == 0 && a.language != "" {
		languages = []string{a.language}
	}
	index, finder := figure.NewIndex(), quotation.NewFinder()
	written := map[int]*quotation.Search{}
	for i, n := range a.numbers {
		if n.Written {
			written[i] = finder.Add(quotation.AsWritten(n.text))
		} else {
			index.Want(n.Readings)
		}
	}
	for _, q := range a.quotations {
		g.quotations = append(g.quotations, finder.Add(q))
	}
	if len(a.numbers) > len(written) {
		index.ReadIn(text, languages)
	}
	finder.Run(text)
	if len(a.dates) > 0 {
		g.dates = figure.Dates(text, languages)
	}
	for i, n := range a.numbers {
		if s := written[i]; s != nil {
			if s.Found {
				g.numbers[i] = place{s.Start, s.End}
			}
			continue
		}
		index.Places(n.Readings, func(start, end int) { // the first, or the first that is written alike
			if g.numbers[i].end == 0 || strings.EqualFold(text[start:end], n.text) && !strings.EqualFold(text[g.numbers[i].start:g.numbers[i].end], n.text) {
				g.numbers[i] = place{start, end}
			}
		})
		if at := literal(text, n.phrase); at >= 0 && g.numbers[i].end == 0 {
			g.numbers[i] = place{at, at + len(strings.TrimSpace(n.phrase))}
		}
	}
	return g
}
