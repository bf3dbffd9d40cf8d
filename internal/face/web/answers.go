package web

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/tidegate/tidegate/internal/face/research"
	"github.com/tidegate/tidegate/internal/rule/drift"
	"github.com/tidegate/tidegate/internal/rule/evidence"
	"github.com/tidegate/tidegate/internal/rule/synthesis"
	"github.com/tidegate/tidegate/internal/work/library"
	"github.com/tidegate/tidegate/internal/work/run"
)

// kept are the answers and updates of a home, by id. Each is read once.
type kept struct{ answers, updates map[string]library.Held }

// keptAbout are the answers and updates that are about a run, the newest first. What cannot
// be listed is not there.
func (s *Site) keptAbout(id string) (answers, updates []library.Held) {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := func(home string, known *map[string]library.Held) (out []library.Held) {
		if there, err := library.ListKept(s.Desk, home, *known); err == nil {
			*known = there
		}
		for _, held := range *known {
			if slices.ContainsFunc(held.Of, func(of library.Subject) bool { return of.Kind == library.Run && of.ID == id }) {
				out = append(out, held)
			}
		}
		slices.SortFunc(out, func(a, b library.Held) int { return strings.Compare(b.CreatedAt+b.ID, a.CreatedAt+a.ID) })
		return out
	}
	return list(library.Answers(s.Home), &s.kept.answers), list(library.Updates(s.Home), &s.kept.updates)
}

// answersView lists what came after the report of a run.
type answersView struct {
	Ask     string // where a question is asked, "" where none can be
	Tasks   []taskRow
	Answers []answerRow
	Updates []updateRow
	More    int // that are not listed
}

type taskRow struct {
	research.Task
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

// answersPage lists the answers about a run and its updates, beside its report.
func (s *server) answersPage(_ context.Context, r *http.Request) (*page, error) {
	l, done, err := s.open(r)
	if err != nil {
		return nil, err
	}
	defer done()
	id := l.run.ID()
	view := answersView{}
	if l.run.Manifest().Status() == run.Completed {
		view.Ask = s.link("ask", id)
	}
	answers, updates := s.site.keptAbout(id)
	view.More = max(0, len(answers)-mostKept) + max(0, len(updates)-mostKept)
	for _, held := range answers[:min(len(answers), mostKept)] {
		a, err := library.ReadAnswer(s.site.Desk, s.site.Home, held.ID)
		row := answerRow{a, held.CreatedAt, good("answered")}
		switch {
		case err != nil:
			row.Answered, row.State = library.Answered{AnswerID: held.ID, Question: "it cannot be read"}, bad("unreadable")
		case !a.Pass:
			row.State = waiting("not answered")
		}
		view.Answers = append(view.Answers, row)
	}
	for _, held := range updates[:min(len(updates), mostKept)] {
		u, err := library.ReadUpdate(s.site.Desk, s.site.Home, held.ID)
		row := updateRow{u, held.CreatedAt, updateState(u), u.Report().Summary}
		if err != nil {
			row = updateRow{library.Updated{UpdateID: held.ID}, held.CreatedAt, bad("unreadable"), "it cannot be read"}
		}
		view.Updates = append(view.Updates, row)
	}
	if s.site.Works != nil {
		view.Tasks = taskRows(s.site.Works.Tasks(research.TaskAsk, id))
	}
	p := l.page("answers", "Answers", view)
	p.Live = s.link("liveAnswers", id)
	return p.sealed()
}

// taskRows are the tasks that have no result to list: those under way, and those that went
// wrong.
func taskRows(tasks []research.Task) []taskRow {
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
		return bad("no longer stands")
	}
	return waiting("not all could be reached")
}

// shownAnswer is an answer with its sentences and the passages that each was held against.
type shownAnswer struct {
	library.Answered
	State  state
	Of     []library.Subject
	Claims []claimRow
}

func (s *server) answerPage(_ context.Context, r *http.Request) (*page, error) {
	a, err := library.ReadAnswer(s.site.Desk, s.site.Home, r.PathValue("answer"))
	if err != nil {
		return nil, err
	}
	view := shownAnswer{Answered: a, Of: a.Of, State: good("answered from archived pages")}
	if !a.Pass {
		view.State = waiting("not answered")
	}
	sources := map[string]synthesis.Source{}
	for _, source := range a.Sources {
		sources[source.ID] = synthesis.Source{URL: source.URL, Title: source.Title}
	}
	stands := (&evidence.Claims{Sentences: a.Sentences}).Stands(true)
	shown := make([]synthesis.ShownSentence, len(a.Sentences))
	for i := range shown {
		shown[i] = synthesis.ShownSentence{Claim: a.Sentences[i], Stand: stands[i]}
	}
	var rows reportView
	rows.sentences(url.Values{}, shown, sources)
	view.Claims = rows.Claims
	return &page{View: "answer", Title: "Answer " + a.AnswerID, Data: view, Now: s.site.Desk.Now(), link: s.link}, nil
}

// updateView is an update, sentence by sentence.
type updateView struct {
	library.Updated
	State     state
	Words     string
	Sentences []updatedRow
	Sources   []updatedSource
}

type updatedRow struct {
	ID, Text string
	Line     int
	State    state
	Pages    []updatedPage
}

// updatedPage is how a sentence stands on one page: what the page said, what it says, with
// what differs marked.
type updatedPage struct {
	Source, Link, Why string
	State             state
	Passages          []updatedPassage
}

type updatedPassage struct {
	Then, Now []passagePart // marked: removed, and added
}

type updatedSource struct {
	library.UpdatedSource
	State state
	Link  string
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

func (s *server) updatePage(_ context.Context, r *http.Request) (*page, error) {
	u, err := library.ReadUpdate(s.site.Desk, s.site.Home, r.PathValue("update"))
	if err != nil {
		return nil, err
	}
	view := updateView{Updated: u, State: updateState(u), Words: u.Report().Summary}
	urls := map[string]string{}
	for _, source := range u.Sources {
		urls[source.CID] = source.URL
		view.Sources = append(view.Sources, updatedSource{source, driftState(source.State), webAddress(source.URL)})
	}
	for i := range u.Sentences {
		sentence := &u.Sentences[i]
		view.Sentences = append(view.Sentences, updatedSentence(sentence, urls))
	}
	// What no longer stands is looked at first.
	slices.SortStableFunc(view.Sentences, func(a, b updatedRow) int { return worst(a.State.Class) - worst(b.State.Class) })
	return &page{View: "update", Title: "Update " + u.UpdateID, Data: view, Now: s.site.Desk.Now(), link: s.link}, nil
}

func worst(class string) int { return slices.Index([]string{"bad", "waiting", "good"}, class) }

func updatedSentence(s *library.UpdatedSentence, urls map[string]string) updatedRow {
	row := updatedRow{ID: s.ID, Line: s.Line, Text: short(maxLine, s.Text), State: driftState(s.State)}
	if row.ID == "" {
		row.ID = "line " + strconv.Itoa(s.Line)
	}
	for _, on := range s.Pages {
		p := updatedPage{Source: urls[on.CID], Link: webAddress(urls[on.CID]), Why: on.Why, State: driftState(on.State)}
		for _, passage := range on.Passages {
			var both updatedPassage
			for _, piece := range passage.Difference {
				part := passagePart{spaced(piece.Text), piece.Op != drift.Same}
				if piece.Op != drift.Added {
					both.Then = append(both.Then, part)
				}
				if piece.Op != drift.Removed && passage.Now != "" {
					both.Now = append(both.Now, part)
				}
			}
			p.Passages = append(p.Passages, both)
		}
		row.Pages = append(row.Pages, p)
	}
	return row
}
