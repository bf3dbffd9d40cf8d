package web

import (
	"strconv"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/pivot"
)

// outputsView is what the waves wrote: words and sources against their caps, the
// gaps that they left open, and what the reviews of the report found.
type outputsView struct {
	Outputs []outputRow
	Gaps    []gapRow
	Texts   []pivot.Gap
	Decided string
	Rounds  []roundRow
}

type outputRow struct {
	ID, Title, Job string
	Wave           int
	Words, Sources meter
}

// gapRow counts the gaps of one priority before and after the second wave.
type gapRow struct {
	Priority      string
	Before, After meter
	HasAfter      bool
}

// roundRow is one review of the report.
type roundRow struct {
	Name              string
	State             state
	High, Medium, Low meter
	Directives        int
}

func (l *visit) outputsPage() (*page, error) {
	reported, err := l.readReport(l.ctx, l.site.Version)
	if err != nil {
		return nil, err
	}
	var view outputsView
	for _, c := range reported.Report.Contracts {
		wave := run.Wave1
		if c.Wave == 2 {
			wave = run.Wave2
		}
		view.Outputs = append(view.Outputs, outputRow{ID: c.ID, Title: report.Visible(c.Title), Job: run.WaveJob(wave, c.ID), Wave: c.Wave,
			Words:   capped("words", c.Words, c.MaxWords),
			Sources: capped("sources", c.Sources, c.MaxSources)})
	}
	if err := l.gaps(&view); err != nil {
		return nil, err
	}
	if err := l.rounds(&view); err != nil {
		return nil, err
	}
	return l.page("outputs", "Outputs", view), nil
}

// capped is an amount and its cap, which it may reach but not exceed.
func capped(name string, has, most int) meter {
	m := against(name, float64(has), float64(most), func(f float64) string { return number(f) })
	if has <= most {
		m.State = state{}
	}
	return m
}

// gaps reads what the first wave left open, as the pivot has it, and what the second
// wave left open.
func (l *visit) gaps(view *outputsView) error {
	before, after := map[string]int{}, map[string]int{}
	doc, err := l.document(l.run.Layout().Pivot)
	if err != nil || doc == nil {
		return err
	}
	view.Decided = doc.Get("decision").Get("explanation").Str()
	for _, g := range doc.Get("gaps").Elems() {
		gap := pivot.Gap{ID: g.Get("gap_id").Str(), Priority: g.Get("priority").Str(), Text: g.Get("text").Str(), From: g.Get("from_perspective_id").Str()}
		before[gap.Priority]++
		view.Texts = append(view.Texts, gap)
	}
	closed, second := map[string]bool{}, false
	plan, err := l.document(l.run.Layout().Wave2Plan())
	if err != nil {
		return err
	}
	for _, e := range plan.Get("entries").Elems() {
		id := e.Get("perspective_id").Str()
		file, err := l.run.Folder().Open(l.run.Output(run.Wave2, id))
		if err != nil {
			continue // it is not written yet
		}
		gaps, err := pivot.Extract(id, file)
		file.Close()
		if err != nil {
			continue // its gate says what is wrong with it
		}
		second, closed[e.Get("gap_id").Str()] = true, true
		for _, g := range gaps {
			after[g.Priority]++
		}
	}
	for _, g := range view.Texts {
		if !closed[g.ID] {
			after[g.Priority]++
		}
	}
	most := 1
	for _, p := range priorities {
		most = max(most, before[p], after[p])
	}
	for _, p := range priorities {
		view.Gaps = append(view.Gaps, gapRow{Priority: p, Before: counted(before[p], most, p+" gaps before the second wave"),
			After: counted(after[p], most, p+" gaps after the second wave"), HasAfter: second})
	}
	return nil
}

var priorities = []string{"P0", "P1", "P2", "P3"}

// counted is a number as a bar in a picture whose longest bar is most.
func counted(n, most int, about string) meter {
	return meter{Amount: strconv.Itoa(n), Share: round(float64(n) / float64(max(1, most)) * 100), About: about + ": " + strconv.Itoa(n)}
}

// rounds reads what each review of the report found.
func (l *visit) rounds(view *outputsView) error {
	var names, titles []string
	for n := int64(1); n <= l.run.Manifest().ReviewRounds(); n++ {
		_, bundle := l.run.Layout().Round(n)
		names, titles = append(names, bundle), append(titles, "Round "+strconv.FormatInt(n, 10))
	}
	names, titles = append(names, l.run.Layout().ReviewBundle), append(titles, "Last")
	type found struct{ high, medium, low int }
	var all []found
	most := 1
	for i, name := range names {
		doc, err := l.document(name)
		if err != nil {
			return err
		}
		if doc == nil {
			continue
		}
		var f found
		for _, e := range doc.Get("findings").Elems() {
			switch e.Get("severity").Str() {
			case "high":
				f.high++
			case "medium":
				f.medium++
			default:
				f.low++
			}
		}
		most = max(most, f.high, f.medium, f.low)
		all = append(all, f)
		view.Rounds = append(view.Rounds, roundRow{Name: titles[i], State: reviewState(doc.Get("decision").Str()), Directives: doc.Get("directives").Len()})
	}
	for i, f := range all {
		r := &view.Rounds[i]
		r.High, r.Medium, r.Low = counted(f.high, most, "high"), counted(f.medium, most, "medium"), counted(f.low, most, "low")
	}
	return nil
}

func reviewState(decision string) state {
	if decision == "PASS" {
		return good("pass")
	}
	return bad("changes asked for")
}

// document reads a JSON document of the run; nil where it is missing.
func (l *visit) document(name string) (*codec.Value, error) {
	data, err := l.run.Folder().Read(name)
	if tidegate.CodeOf(err) == tidegate.FileNotFound {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return codec.ParseFile("path", l.run.Path(name), data)
}
