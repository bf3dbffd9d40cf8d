package web

import (
	"cmp"
	"context"
	"net/url"
	"path/filepath"
	"slices"

	"github.com/tidegate/tidegate"
	tgchange "github.com/tidegate/tidegate/internal/work/change"
	"github.com/tidegate/tidegate/internal/work/reviews"
)

// reviewsView lists the reviews of the project that belong to no change.
type reviewsView struct {
	cut
	Project string
	Reviews []reviewRow
}

type reviewRow struct {
	tgchange.ReviewEntry
	State state
}

// reviewsPage lists the reviews that belong to no change, the newest first.
func (s *Site) reviewsPage(_ context.Context, query url.Values, link func(string, ...string) string) (*page, error) {
	list, err := reviews.List(s.Desk, s.Home, s.Project)
	if err != nil {
		return nil, err
	}
	found := slices.DeleteFunc(list.Reviews, func(r tgchange.ReviewEntry) bool { return !matches(query.Get("q"), r.ID, r.Verdict) })
	slices.Reverse(found)
	view := reviewsView{cut: cutAt(query, len(found), perPage, link("reviews")), Project: s.Project}
	for _, r := range piece(view.cut, found) {
		view.Reviews = append(view.Reviews, reviewRow{r, reviewVerdict(r.Verdict)})
	}
	return (&page{View: "reviews", Title: "Reviews", Data: view, Now: s.Desk.Now(), link: link}).sealed()
}

// reviewPage shows one of them.
func (s *Site) reviewPage(_ context.Context, id string, link func(string, ...string) string) (*page, error) {
	path, ok := reviews.Path(s.Desk, s.Home, id)
	if !ok {
		return nil, tidegate.Errorf(tidegate.FileNotFound, nil, "there is no review of that name")
	}
	shown, err := tgchange.ShowReview(s.Desk, path)
	if err != nil {
		return nil, err
	}
	shown.ChangeID = cmp.Or(shown.ChangeID, id) // of one that cannot be read only the verdict is known
	view := reviewView{Shown: shown, State: reviewVerdict(shown.Verdict)}
	return (&page{View: "review", Title: "Review " + filepath.Base(id), Data: view, Now: s.Desk.Now(), link: link}).sealed()
}
