package web

import (
	"net/url"
	"strings"

	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/internal/rule/source"
)

type sourcesView struct {
	cut
	Statuses []meter
	Sources  []sourceRow
}

type sourceRow struct {
	source.Record
	State state
	Link  string // "" where the address cannot be followed
	Why   string // "" where nothing is wrong with it
	By    []string
}

// sourcesPage lists what the outputs cite, and how it was judged.
func (l *visit) sourcesPage(query url.Values) (*page, error) {
	var found []source.Record
	for _, r := range l.records {
		if s := query.Get("state"); s != "" && s != string(r.Status) {
			continue
		}
		if matches(query.Get("q"), r.NormalizedURL, r.Title, r.Publisher, r.Notes, r.CID) {
			found = append(found, r)
		}
	}
	view := sourcesView{cut: cutAt(query, len(found), l.size, l.link("sources", l.run.ID())), Statuses: sourceMeters(l.records)}
	for _, r := range piece(view.cut, found) {
		row := sourceRow{Record: r, State: sourceState(string(r.Status)), Link: webAddress(r.URLOriginal)}
		if r.Notes != "ok" {
			row.Why = r.Notes
		}
		for _, by := range r.FoundBy {
			row.By = append(row.By, report.Visible(by.Perspective))
		}
		view.Sources = append(view.Sources, row)
	}
	return l.page("sources", "Sources", view), nil
}

// webAddress is an address that a reader may follow, or "".
func webAddress(raw string) string {
	u, err := url.Parse(raw)
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") || strings.HasSuffix(u.Host, ".invalid") {
		return ""
	}
	return raw
}
