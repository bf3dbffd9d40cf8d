package web

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/tidegate/tidegate/internal/agent/job"
	"github.com/tidegate/tidegate/internal/base/archive"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/internal/rule/policy"
	"github.com/tidegate/tidegate/internal/rule/source"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/step"
)

// feedRow is something that came in, in words.
type feedRow struct {
	At         string
	Job, Title string // "" where it is about the whole run
	Text       string
	Link       string // of a source
	State      state
	Refused    []refusal
	More       int // refusals that are not shown
}

// refusal is a sentence, or a line, that was refused, and why.
type refusal struct{ Code, Text, Why string }

// How many rows the overview shows of what came in, and how many refusals in one of them.
const (
	mostFeed    = 16
	mostRefused = 3
)

// feed is what came in last, the newest first: sources with what they are worth, answers
// with the sentences that were refused, moves.
func (l *visit) feed() []feedRow {
	jobs := map[string]job.Job{}
	for _, j := range l.board.Jobs() {
		jobs[j.ID] = j
	}
	rows := slices.Clone(l.incoming)
	slices.Reverse(rows)
	verdicts := l.verdictNumbers()
	told := 0
	for i := len(l.entries) - 1; i >= 0 && told < mostFeed; i-- {
		e := l.entries[i]
		t, ok := e.Tell()
		if !ok || e.Event == run.EventAnswered || e.Event == run.EventEnded && e.Entry.Get("outcome").Str() == job.OutcomeRefused || e.Event == run.EventFetched && len(l.incoming) > 0 {
			continue // the verdict says it, or the pages themselves do
		}
		told++
		row := feedRow{At: e.Entry.Get("ts").Str(), Job: t.Job, Text: feedWords(e, t.Text), State: waiting("")}
		if t.Job != "" {
			row.Title = cmp.Or(l.titleOf(jobs[t.Job]), t.Job)
		} else {
			row.Text = asSentence(row.Text)
		}
		switch t.Mark {
		case report.Pass:
			row.State = good("")
		case report.Fail:
			row.State = bad("")
		}
		if e.Event == run.EventVerdict && t.Mark == report.Fail {
			row.Refused, row.More = l.refusals(e, verdicts[e.Number])
		}
		rows = append(rows, row)
	}
	slices.SortStableFunc(rows, func(a, b feedRow) int { return strings.Compare(b.At, a.At) })
	return rows[:min(len(rows), mostFeed)]
}

// asSentence begins with a capital and ends with a full stop.
func asSentence(text string) string {
	if text != "" && 'a' <= text[0] && text[0] <= 'z' {
		text = strings.ToUpper(text[:1]) + text[1:]
	}
	return strings.TrimSuffix(text, ".") + "."
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
		if e.Entry.Get("accepted").Bool() {
			return "accepted"
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
			counts[key]++
		}
	}
	return out
}

// refusals are what was wrong with an answer, with the lines that are wrong.
func (l *visit) refusals(e run.Entry, nth int) (out []refusal, more int) {
	shown, err := l.board.Show(e.Entry.Get("job_id").Str())
	if err != nil {
		return nil, 0
	}
	n, _ := e.Entry.Get("attempt").Int()
	for _, a := range shown.Attempts {
		if int64(a.Number) != n || nth >= len(a.Submissions) {
			continue
		}
		s := a.Submissions[nth]
		text, _ := l.readText(a, s.Answer)
		lines := strings.Split(job.AsJudged(a.Kind, []byte(text)), "\n")
		for _, f := range s.Faults[:min(len(s.Faults), mostRefused)] {
			r := refusal{Code: f.Code, Why: f.Message}
			if f.Line != nil && *f.Line >= 1 && *f.Line <= len(lines) {
				r.Text = lines[*f.Line-1]
			}
			out = append(out, r)
		}
		return out, len(s.Faults) - len(out)
	}
	return nil, 0
}

// arrivals follow the archive of a run that goes on: each page is read and judged once.
type arrivals struct {
	folder  *artifact.Folder
	archive *archive.Archive
	counts  map[string]bool // the digests of records that were fetched as sources
	seen    int             // entries of the archive
	rows    []feedRow       // the last of them
}

// read brings the rows up to date with the log. What cannot be read does not
// arrive: the pages of the run say what is wrong.
func (a *arrivals) read(ctx context.Context, root string, l *snapshot) []feedRow {
	if a.counts == nil {
		a.counts = map[string]bool{}
	}
	for _, e := range l.entries {
		if e.Event == run.EventFetched {
			for _, ref := range e.Entry.Get("records").Elems() {
				a.counts[ref.Get("digest").Str()] = true
			}
		}
	}
	if len(a.counts) == 0 {
		return nil
	}
	var err error
	if a.archive == nil {
		if a.folder, err = artifact.Everywhere.Open("run", root); err != nil {
			return nil
		}
		if a.archive, err = archive.Open(ctx, a.folder, run.ArchiveFile, func(digest string) bool { return a.counts[digest] }); err != nil {
			a.close()
			return nil
		}
	} else if err = a.archive.Refresh(ctx); err != nil {
		a.close()
		return nil
	}
	all := a.archive.Entries()
	for i := max(a.seen, len(all)-mostFeed); i < len(all); i++ {
		if a.archive.Counts(all[i]) {
			a.rows = append(a.rows, a.judged(ctx, all[i], l.board.Policy().Sources))
		}
	}
	a.seen = len(all)
	a.rows = a.rows[max(0, len(a.rows)-mostFeed):]
	return a.rows
}

// judged is a page that came in: its title, and what it is worth by rule.
func (a *arrivals) judged(ctx context.Context, entry archive.Entry, allowed policy.Policy) feedRow {
	row := feedRow{At: entry.Time.UTC().Format(timeForm), Link: webAddress(entry.URL), Text: entry.URL, State: waiting("")}
	records, err := source.Judge(ctx, source.Sources([]source.Found{{Cited: source.Cited{URL: entry.URL}}}), source.Evidence{Policy: allowed,
		Page: func(ctx context.Context, _ string) (*source.Page, error) {
			capture, err := a.archive.Read(ctx, entry)
			if err != nil {
				return nil, err
			}
			return step.PageOf(capture), nil
		}})
	if err != nil || len(records) != 1 {
		return row
	}
	r := records[0]
	row.Text, row.State = cmp.Or(r.Title, r.NormalizedURL), sourceState(string(r.Status))
	if r.Notes != "ok" {
		row.Refused = []refusal{{Code: r.Rule, Why: r.Notes}}
	}
	return row
}

func (a *arrivals) close() {
	if a.folder != nil {
		a.folder.Close()
	}
	a.folder, a.archive, a.seen, a.rows = nil, nil, 0, nil
}
