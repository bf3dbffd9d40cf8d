package web

import (
	"cmp"
	"strconv"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/pivot"
)

// outputsView is what the rounds of research wrote: words and sources against their caps,
// the gaps that they left open, and what the reviews of the report found.
type outputsView struct {
	Outputs []outputRow
	Gaps    []gapRow
	Decided string // whether a second round was needed, in words
	Rule    string // the same as the engine says it
	Judged  bool   // somebody looked for gaps
	Rounds  []roundRow
}

type outputRow struct {
	ID, Title, Job string
	Wave           int
	Words, Sources meter
}

// gapRow is a question that the research left open.
type gapRow struct {
	Text, From string
	State      state
	Priority   string // in words
	Code       string // the same as the engine says it
}

// roundRow is one review of the report.
type roundRow struct {
	Name  string
	State state
	Found string // how many findings it has, in words
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

// gaps reads what the first round left open, and what became of it in the second, which may
// leave gaps of its own.
func (l *visit) gaps(view *outputsView) error {
	doc, err := l.document(l.run.Layout().Pivot)
	if err != nil || doc == nil {
		return err
	}
	view.Judged, view.Rule = true, doc.Get("decision").Get("explanation").Str()
	gapOf := func(priority, text, from string) gapRow {
		return gapRow{Text: text, From: from, Code: priority, Priority: cmp.Or(priorities[priority], priority), State: waiting("open")}
	}
	at := map[string]int{}
	for _, g := range doc.Get("gaps").Elems() {
		at[g.Get("gap_id").Str()] = len(view.Gaps)
		view.Gaps = append(view.Gaps, gapOf(g.Get("priority").Str(), g.Get("text").Str(), g.Get("from_perspective_id").Str()))
	}
	plan, err := l.document(l.run.Layout().Wave2Plan())
	if err != nil {
		return err
	}
	view.Decided = "No second round of research was needed."
	for _, e := range plan.Get("entries").Elems() {
		view.Decided = "A second round of research was needed, to close " + report.Counted(len(plan.Get("entries").Elems()), "gap") + "."
		id := e.Get("perspective_id").Str()
		file, err := l.run.Folder().Open(l.run.Output(run.Wave2, id))
		if err != nil {
			continue // it is not written yet
		}
		left, err := pivot.Extract(id, file)
		file.Close()
		if err != nil {
			continue // its gate says what is wrong with it
		}
		if i, ok := at[e.Get("gap_id").Str()]; ok {
			view.Gaps[i].State = good("closed by the second round")
		}
		for _, g := range left {
			view.Gaps = append(view.Gaps, gapOf(g.Priority, g.Text, id))
		}
	}
	return nil
}

// priorities of gaps, in words.
var priorities = map[string]string{"P0": "must be closed", "P1": "important", "P2": "worth knowing", "P3": "minor"}

// rounds reads what each review of the report found.
func (l *visit) rounds(view *outputsView) error {
	var names, titles []string
	for n := int64(1); n <= l.run.Manifest().ReviewRounds(); n++ {
		_, bundle := l.run.Layout().Round(n)
		names, titles = append(names, bundle), append(titles, "Round "+strconv.FormatInt(n, 10))
	}
	names, titles = append(names, l.run.Layout().ReviewBundle), append(titles, "Last round")
	for i, name := range names {
		doc, err := l.document(name)
		if err != nil {
			return err
		}
		if doc == nil {
			continue
		}
		counts := map[string]int{}
		for _, e := range doc.Get("findings").Elems() {
			counts[e.Get("severity").Str()]++
		}
		view.Rounds = append(view.Rounds, roundRow{Name: titles[i], State: reviewState(doc.Get("decision").Str()),
			Found: counted(part{counts["high"], "high"}, part{counts["medium"], "medium"}, part{counts["low"], "low"}, part{doc.Get("directives").Len(), "to be changed"})})
	}
	return nil
}

// part is a number of things of one kind.
type part struct {
	n    int
	what string
}

// counted says how many there are of each kind that there is.
func counted(parts ...part) string {
	var out []string
	for _, p := range parts {
		if p.n > 0 {
			out = append(out, strconv.Itoa(p.n)+" "+p.what)
		}
	}
	return cmp.Or(joined(out), "nothing found")
}

func reviewState(decision string) state {
	if decision == "PASS" {
		return good("pass")
	}
	return bad("changes asked for")
}

// document reads a JSON document of the run; nil where it is missing.
func (l *snapshot) document(name string) (*codec.Value, error) {
	data, err := l.run.Folder().Read(name)
	if tidegate.CodeOf(err) == tidegate.FileNotFound {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return codec.ParseFile("path", l.run.Path(name), data)
}
