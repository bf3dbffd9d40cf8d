package web

import (
	"cmp"
	"context"
	"net/url"
	"strings"

	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/internal/work/library"
	"github.com/tidegate/tidegate/internal/work/run"
)

// found is what a search over everything that the home keeps gives.
type found struct {
	All  int
	Left int // runs, audits, reviews and answers that were not looked at
	Hits []hitRow
}

// hitRow is a text that has the words, with the passage that has most of them.
type hitRow struct {
	library.Hit
	Where string // what it is, in words
	State state
	Page  string // "" where it has none
}

const (
	mostHits = 50 // texts that a search shows
	mostRead = 8  // folders that a search reads before it answers
)

// hitWords say what the part of something is in which words were found.
var hitWords = map[string]string{"question": "question", "report": "report", "source": "source", "page": "archived page"}

// kindWords say what has that part.
var kindWords = map[string]string{"run": "a run", "audit": "an audit", "review": "a review", "answer": "an answer"}

// passageWords is a passage that was cut somewhere, up to its last whole word, without the marks
// of a list.
func passageWords(text string) string {
	text = strings.TrimPrefix(report.OneLine(text), "- ")
	if strings.HasSuffix(text, ".") || strings.HasSuffix(text, "?") || len(text) < 200 {
		return text
	}
	if i := strings.LastIndexByte(text, ' '); i > 0 {
		text = text[:i] + " …"
	}
	return text
}

// foundPage shows what has the words: questions, reports and sources of runs, audits, reviews
// and answers, the best first. A filter keeps the runs that stand so. It is not followed:
// what is found does not change under the eyes of a reader.
func (s *Site) foundPage(ctx context.Context, view *runsView, query url.Values, link func(string, ...string) string) (*page, error) {
	words := query.Get("q")
	view.Query = words
	view.Found = &found{}
	recent, err := run.Recent(s.Desk, s.Home)
	if err != nil {
		return nil, err
	}
	by := map[string]run.Stamped{}
	for _, w := range recent {
		by[w.ID] = w
		if len(view.Runs) < mostHits && matches(words, w.ID) {
			view.Runs = append(view.Runs, s.row(ctx, w))
		}
	}
	result, err := library.Find(ctx, s.Desk, library.FindInput{Words: words, Most: mostHits, Runs: s.Home, Folders: mostRead})
	if err != nil && len(result.Words) > 0 {
		return nil, err
	}
	if view.Found.All, view.Found.Left = result.Found, result.Left; result.Left > 0 {
		select {
		case s.unread <- struct{}{}:
		default: // somebody has asked for that
		}
	}
	class := ""
	for _, f := range runFilters {
		if f.key == query.Get("state") {
			class = f.class
		}
	}
	for _, h := range result.Hits {
		row := hitRow{Hit: h, Where: hitWords[h.Part] + " of " + kindWords[h.Kind]}
		row.Passage = passageWords(h.Passage)
		switch h.Kind {
		case "run":
			w, ok := by[h.ID]
			if !ok {
				continue
			}
			listed := s.row(ctx, w)
			row.State, row.Page = listed.State, link(listed.View, h.ID)
			if h.Part == "source" || h.Part == "page" {
				row.Page = link("sources", h.ID)
			}
			if row.Title == "" {
				row.Title = listed.Query
			}
		case "answer":
			row.Where, row.Page, row.Title = "answer", link("answer", h.ID), cmp.Or(row.Title, row.Passage)
		case "audit", "review":
			row.Page = link(h.Kind, h.ID)
		}
		if row.Page != "" && (class == "" || row.State.Class == class) {
			view.Found.Hits = append(view.Found.Hits, row)
		}
	}
	return (&page{View: "runs", Title: "Runs", Data: view, Now: s.Desk.Now(), link: link}).sealed()
}
