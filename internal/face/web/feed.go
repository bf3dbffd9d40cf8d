package web

import (
	"cmp"
	"slices"
	"strings"

	"github.com/tidegate/tidegate/internal/agent/dispatch"
	"github.com/tidegate/tidegate/internal/agent/job"
	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/internal/work/reporting"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/sourcing"
)

// feedRow is something that came in, in words.
type feedRow struct {
	At         string
	Job, Title string // "" where it is about the whole run
	Text       string
	Link       string // of a source
	State      state
	JobLink    string
	When       when
	Refused    []dispatch.Wrong
	More       int // refusals that are not shown
	verdict    int // the line of the log that refused an answer, 0 for none
}

// How many lines of the log, and how many pages, the overview has of what came in, and how many
// refusals in one of them.
const (
	mostFeed    = 16
	mostRefused = 3
)

// feed is what came in last, at most so many lines of the log, the newest first: sources with
// what they are worth, answers with the sentences that were refused, moves.
func (l *visit) feed(most int) []feedRow {
	jobs := map[string]job.Job{}
	for _, j := range l.board.Jobs() {
		jobs[j.ID] = j
	}
	rows := slices.Clone(l.incoming)
	slices.Reverse(rows)
	told := 0
	for i := len(l.entries) - 1; i >= 0 && told < most; i-- {
		e := l.entries[i]
		t, ok := reporting.InWords(e)
		if !ok || e.Event == run.EventAnswered || e.Event == run.EventEnded && e.Entry.Get("outcome").Str() == job.OutcomeRefused || e.Event == run.EventFetched && len(l.incoming) > 0 {
			continue // the verdict says it, or the pages themselves do
		}
		told++
		row := feedRow{At: e.Entry.Get("ts").Str(), Job: t.Job, Text: feedWords(e, t.Text), State: state{Sign: "·"}}
		if t.Job != "" {
			row.Title, row.JobLink = cmp.Or(jobs[t.Job].Title, t.Job), l.link("job", l.id, t.Job)
		} else {
			row.Text = dispatch.AsSentence(row.Text)
		}
		switch t.Mark {
		case report.Pass:
			row.State = good("")
		case report.Fail:
			row.State = bad("")
		}
		if e.Event == run.EventVerdict && t.Mark == report.Fail {
			row.verdict = e.Number
		}
		rows = append(rows, row)
	}
	slices.SortStableFunc(rows, func(a, b feedRow) int { return strings.Compare(b.At, a.At) })
	for i := range rows {
		rows[i].When = (&page{Now: l.site.Desk.Now()}).When(rows[i].At)
	}
	return rows
}

// explain says of rows that refused an answer what was wrong with it.
func (l *visit) explain(rows []feedRow) {
	verdicts := l.verdictNumbers()
	for i := range rows {
		if at := slices.IndexFunc(l.entries, func(e run.Entry) bool { return e.Number == rows[i].verdict }); at >= 0 && rows[i].verdict > 0 {
			rows[i].Refused, rows[i].More = l.refusals(l.entries[at], verdicts[rows[i].verdict])
		}
	}
}

// feedWords says what a line of the log means in the words of people.
func feedWords(e run.Entry, otherwise string) string {
	text := func(name string) string { return e.Entry.Get(name).Str() }
	switch e.Event {
	case run.EventMoved:
		if run.Status(text("status")) == run.Completed {
			return "The run is completed."
		}
		return stageWords(run.Stage(text("to"))) + " begins."
	case run.EventJudged:
		words := map[string]string{"pass": "passed", "fail": "did not pass"}
		return cmp.Or(gateWords[text("gate")], text("gate")) + ": " + cmp.Or(words[text("status")], text("status")) + "."
	case run.EventLeased:
		if n, _ := e.Entry.Get("attempt").Int(); n > 1 {
			return "an agent tries again"
		}
		return "an agent begins"
	case run.EventVerdict:
		switch {
		case e.Entry.Get("accepted").Bool():
			return "accepted"
		case e.Entry.Get("held").Bool():
			return "it waits for other parts of the report"
		case text("outcome") == "void":
			return "it does not count, and is asked again"
		}
		return "refused"
	case run.EventSynthesisReviewed:
		if text("decision") == "PASS" {
			return "The report passed its review."
		}
		return "The review asks for changes."
	case run.EventDecided:
		if e.Entry.Get("wave2_required").Bool() {
			return "A second round of research is needed."
		}
		return "No second round of research is needed."
	}
	return otherwise
}

// verdictNumbers says, for the line of each verdict, which answer of its attempt it is about.
func (l *visit) verdictNumbers() map[int]int {
	out, counts := map[int]int{}, map[string]int{}
	for _, e := range l.entries {
		if e.Event == run.EventVerdict {
			n, _ := e.Entry.Get("attempt").Int()
			key := e.Entry.Get("job_id").Str() + "/" + number(n)
			out[e.Number] = counts[key]
			if !e.Entry.Get("held").Bool() { // whose answer is judged once more
				counts[key]++
			}
		}
	}
	return out
}

// refusals are what was wrong with an answer, with the lines that are wrong.
func (l *visit) refusals(e run.Entry, nth int) (out []dispatch.Wrong, more int) {
	shown, err := l.board.Show(e.Entry.Get("job_id").Str())
	if err != nil {
		return nil, 0
	}
	n, _ := e.Entry.Get("attempt").Int()
	for _, a := range shown.Attempts {
		if int64(a.Number) != n || nth >= len(a.Submissions) {
			continue
		}
		text, _ := l.readText(a, a.Submissions[nth].Answer)
		out = dispatch.WrongWith(a.Kind, []byte(text), a.Submissions[nth].Faults)
		shown := min(len(out), mostRefused)
		return out[:shown], len(out) - shown
	}
	return nil, 0
}

// arrived are pages that came in, as the feed shows them.
func arrived(pages []sourcing.Arrival) (rows []feedRow) {
	for _, p := range pages {
		row := feedRow{At: p.At.UTC().Format(timeForm), Link: webAddress(p.URL), Text: p.URL, State: state{Sign: "·"}}
		if r := p.Record; r != nil {
			row.Text, row.State = cmp.Or(r.Title, r.NormalizedURL), sourceState(string(r.Status))
			if r.Notes != "ok" {
				row.Refused = []dispatch.Wrong{{Whys: []dispatch.Why{{Words: r.Notes}}}}
			}
		}
		rows = append(rows, row)
	}
	return rows
}
