package web

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/tidegate/tidegate/internal/agent/dispatch"
	"github.com/tidegate/tidegate/internal/rule/drift"
	"github.com/tidegate/tidegate/internal/work/library"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/store"
)

// kept are the answers and updates of a home, by id. Each is read once.
type kept struct {
	answers, updates map[string]library.Held
	read             map[string]library.Updated // the updates that were looked at
}

// keptAbout are the answers and updates that are about a run or an audit, or all where none
// is named, the newest first. What cannot be listed is not there.
func (s *Site) keptAbout(id string) (answers, updates []library.Held) {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := func(home string, known *map[string]library.Held) (out []library.Held) {
		if there, err := library.ListKept(s.Desk, home, *known); err == nil {
			*known = there
		}
		for _, held := range *known {
			if id == "" || slices.ContainsFunc(held.Of, func(of library.Subject) bool { return of.ID == id }) {
				out = append(out, held)
			}
		}
		slices.SortFunc(out, func(a, b library.Held) int { return strings.Compare(b.CreatedAt+b.ID, a.CreatedAt+a.ID) })
		return out
	}
	return list(store.Answers.Home(s.Home), &s.kept.answers), list(store.Updates.Home(s.Home), &s.kept.updates)
}

type taskRow struct {
	dispatch.Task
	State state
}

type answerRow struct {
	library.Answered
	At    string
	State state
}

type updateRow struct {
	library.Updated
	At    string
	State state
	Words string
}

// mostKept is how many answers, and how many updates, a list has.
const mostKept = 100

// askedPage is what came after the report of a run, for those who follow it.
func (s *server) askedPage(_ context.Context, r *http.Request) (*page, error) {
	l, done, err := s.open(r)
	if err != nil {
		return nil, err
	}
	defer done()
	p, err := l.asked(documentView{})
	if err != nil {
		return nil, err
	}
	return p.sealed()
}

// asked adds to the report of the run what came after it. While a question is being answered,
// the page is followed.
func (l *visit) asked(view documentView) (*page, error) {
	id, doc := l.id, view.Doc
	if !l.files {
		answers, updates := l.site.keptAbout(id)
		view.Answers, view.Updates = l.site.answerRows(answers), l.site.updateRows(updates)
		if l.run.Manifest().Status() == run.Completed {
			view.Ask.Action = l.link("ask", id)
		}
		if l.site.Background != nil {
			view.Tasks = taskRows(l.site.Background.Tasks(dispatch.TaskAsk, id))
		}
	}
	view.Doc = "" // it never changes
	p := l.page("report", "Report", view)
	if slices.ContainsFunc(view.Tasks, func(t taskRow) bool { return !t.Ended }) {
		if _, err := p.sealed(); err != nil {
			return nil, err
		}
		p.Live = l.link("liveAnswers", id)
	}
	view.Doc = doc
	p.Data = view
	return p, nil
}

func (s *Site) answerRows(all []library.Held) (rows []answerRow) {
	for _, held := range all[:min(len(all), mostKept)] {
		a, err := library.ReadAnswer(s.Desk, s.Home, held.ID)
		row := answerRow{a, held.CreatedAt, good("answered")}
		switch {
		case err != nil:
			row.Answered, row.State = library.Answered{AnswerID: held.ID, Question: "it cannot be read"}, bad("unreadable")
		case !a.Pass:
			row.State = waiting("not answered")
		}
		row.Answer = dispatch.WithoutMarks(row.Answer)
		rows = append(rows, row)
	}
	return rows
}

func (s *Site) updateRows(all []library.Held) (rows []updateRow) {
	for _, held := range all[:min(len(all), mostKept)] {
		u, err := library.ReadUpdate(s.Desk, s.Home, held.ID)
		row := updateRow{u, held.CreatedAt, updateState(u), u.Report().Summary}
		if err != nil {
			row = updateRow{library.Updated{UpdateID: held.ID}, held.CreatedAt, bad("unreadable"), "it cannot be read"}
		}
		rows = append(rows, row)
	}
	return rows
}

// taskRows are the tasks that have no result to list: those under way, and those that went
// wrong.
func taskRows(tasks []dispatch.Task) []taskRow {
	var out []taskRow
	for _, t := range tasks {
		switch {
		case !t.Ended:
			out = append(out, taskRow{t, working("at work")})
		case t.Wrong != "":
			out = append(out, taskRow{t, bad("not done")})
		}
	}
	return out
}

func updateState(u library.Updated) state {
	switch s := u.Summary; {
	case u.Pass:
		return good("still stands")
	case s.Changed+s.Gone+s.Walled > 0:
		return state{"bad", "≠", number(s.Changed+s.Gone+s.Walled) + " changed since"}
	}
	return waiting("not all could be reached")
}

func driftState(s drift.State) state {
	switch s {
	case drift.Stands:
		return good("stands")
	case drift.Changed, drift.Gone:
		return bad(string(s))
	case drift.Walled:
		return bad("behind a wall")
	}
	return waiting(string(s))
}
