package web

import (
	"cmp"
	"context"
	"math"
	"net/http"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/agent/dispatch"
	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/internal/document/paper"
	"github.com/tidegate/tidegate/internal/work/audit"
	tgchange "github.com/tidegate/tidegate/internal/work/change"
	"github.com/tidegate/tidegate/internal/work/reviews"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/sentences"
	"github.com/tidegate/tidegate/internal/work/store"
)

// railView stands beside every page: what needs the person, what is at work, what is
// finished, and code.
type railView struct {
	Groups []railGroup
	Who    string // is signed in
	Left   string // of what may be spent today
	Query  string
}

type railGroup struct {
	Name, Class, Link string
	Items             []railItem
	More              bool // there are others, which are not shown
}

// railItem is a run, an audit, an answer, a change or a review.
type railItem struct {
	State             state
	Title, Note, Link string
	Act, ActLink      string // what can be done about it at once, "" for nothing
	Here              bool
	at                string
}

// How many runs are looked at for the rail, and how many things each of its groups shows.
const (
	railLooks = 60
	railShows = 8
)

// dress gives a page what stands around it.
func (s *server) dress(r *http.Request, p *page) {
	if p.Files || p.link == nil {
		return
	}
	rail := &railView{Who: who(r.Context())}
	if p.View == "runs" {
		rail.Query = r.URL.Query().Get("q")
	}
	if works := s.site.Background; works != nil {
		if left, _ := works.Left(); !math.IsInf(left, 1) {
			rail.Left = inDollars(left) + " left today"
		}
	}
	rail.Groups = s.site.rail(r.Context(), p.link)
	here := strings.TrimPrefix(r.URL.Path, s.base)
	for g := range rail.Groups {
		for i := range rail.Groups[g].Items {
			item := &rail.Groups[g].Items[i]
			of := strings.TrimPrefix(item.Link, s.base)
			item.Here = here == of || strings.HasPrefix(here, strings.TrimSuffix(of, "/report")+"/")
		}
	}
	p.Rail = rail
	switch view := p.Data.(type) {
	case *runsView:
		if view.Audits != "" {
			view.Token = s.forms.Issue(s.site.Desk.Now(), "audit")
		}
		s.offer(&view.Asks, "new", usualMost)
	case documentView:
		if p.Run != nil {
			s.offer(&view.Ask, "ask "+p.Run.ID, usualAnswer)
			p.Data = view
		}
	}
}

// offer makes a box in which a question is asked ready for one.
func (s *server) offer(box *asking, purpose string, most float64) {
	if box.Action != "" {
		left, _ := s.site.Background.Left()
		box.Token, box.Most = s.forms.Issue(s.site.Desk.Now(), purpose), usd(min(left, most))
	}
}

// who is signed in, by the name that a list of users or a proxy gives.
func who(ctx context.Context) string { return report.Visible(tidegate.ActorOf(ctx).Name) }

// rail lists what a person may go to. What cannot be read is said by its own page.
func (s *Site) rail(ctx context.Context, link linker) []railGroup {
	needs, works := railGroup{Name: "Needs you", Class: "person"}, railGroup{Name: "Working", Class: "working"}
	finished, code := railGroup{Name: "Finished", Link: link("audits")}, railGroup{Name: "Code", Link: link("changes")}
	recent, _ := run.Recent(s.Desk, s.Home)
	for _, w := range recent[:min(len(recent), railLooks)] {
		row := s.row(ctx, w)
		item := railItem{State: row.State, Title: cmp.Or(report.Visible(row.Query), w.ID), Link: link("run", w.ID), at: row.UpdatedAt}
		switch {
		case row.Status.Final():
			item.Note = row.State.Word
			finished.Items = append(finished.Items, item)
		case row.State.Class == "working":
			item.Note = row.Stage
			works.Items = append(works.Items, item)
		default:
			item.Note = short(90, cmp.Or(row.Stands.Sentence, row.State.Word))
			item.Act, item.ActLink = s.railAct(row, link)
			needs.Items = append(needs.Items, item)
		}
	}
	if list, err := audit.List(ctx, s.Desk, store.Audits.Home(s.Home)); err == nil {
		for _, a := range list.Audits[:min(len(list.Audits), railShows+1)] {
			item := railItem{State: s.auditState(a), Title: cmp.Or(report.Visible(a.Report), a.AuditID), Link: link("audit", a.AuditID), at: a.CreatedAt}
			if item.Note = "checked file · " + item.State.Word; a.Missing > 0 && a.Finished {
				item.Note = "checked file · " + strconv.Itoa(a.Missing) + " of " + strconv.Itoa(a.Sentences) + " are not on their page"
			}
			if finished.Items = append(finished.Items, item); !a.Finished {
				finished.Items = finished.Items[:len(finished.Items)-1]
			}
		}
	}
	answers, _ := s.keptAbout("")
	for _, a := range s.answerRows(answers[:min(len(answers), railShows+1)]) {
		finished.Items = append(finished.Items, railItem{State: a.State, Title: cmp.Or(report.Visible(a.Question), a.AnswerID), Note: "a question, " + a.State.Word, Link: link("answer", a.AnswerID), at: a.At})
	}
	slices.SortStableFunc(finished.Items, func(a, b railItem) int { return strings.Compare(b.at, a.at) })
	if list, err := tgchange.All(s.Desk, s.Project); err == nil {
		for _, c := range list.Changes {
			state := phaseState(c.Phase, c.NeedsPerson, c.Problem)
			item := railItem{State: state, Title: c.ChangeID, Note: state.Word, Link: link("change", c.ChangeID)}
			if state.Class == "person" {
				needs.Items = append(needs.Items, item)
			} else {
				code.Items = append(code.Items, item)
			}
		}
	}
	if list, err := reviews.List(s.Desk, s.Home, s.Project); err == nil {
		for _, r := range slices.Backward(list.Reviews) {
			code.Items = append(code.Items, railItem{State: reviewVerdict(r.Verdict), Title: r.ID, Note: "a review", Link: link("review", r.ID)})
		}
	}
	var out []railGroup
	for _, g := range []railGroup{needs, works, finished, code} {
		if len(g.Items) > 0 {
			g.More = len(g.Items) > railShows
			g.Items = g.Items[:min(len(g.Items), railShows)]
			out = append(out, g)
		}
	}
	return out
}

// railAct is what helps a run first, where this server may do it.
func (s *Site) railAct(row runRow, link linker) (words, address string) {
	switch {
	case s.Background == nil:
		return "", ""
	case row.Stands.Plan:
		return "Look at the plan", link("plan", row.RunID)
	case row.Stands.Kind == dispatch.StandsAlone, row.Stands.Kind == dispatch.StandsRests:
		return "Continue", link("continue", row.RunID)
	}
	return "", ""
}

// finishedState is how a completed run stands at a glance: with nothing held against its
// report, with sentences that are doubtful, or changed since.
func (s *Site) finishedState(id string, doubts paper.Status) state {
	if u, ok := s.lastUpdate(id); ok && !u.Pass {
		return updateState(u)
	}
	if doubts.State != "" && !doubts.State.Firm() {
		return state{"doubts", doubts.Sign, doubts.Words}
	}
	return good("completed")
}

// doubtsOf is how a finished report stands, without what updates found.
func (s *Site) doubtsOf(ctx context.Context, id string) (stands paper.Status) {
	r, err := run.Open(ctx, s.Desk, filepath.Join(s.Home, id, run.ManifestFile))
	if err != nil {
		return stands
	}
	defer r.Close()
	trust, err := sentences.ReadTrust(r)
	if err != nil || trust.Claims == nil {
		return stands
	}
	var part paper.Part
	for i, stand := range trust.Claims.Stands(trust.Reader) {
		part.Sentences = append(part.Sentences, paper.ShownSentence{Claim: trust.Claims.Sentences[i], Stand: stand})
	}
	return (&paper.Report{Parts: []paper.Part{part}}).Status()
}
