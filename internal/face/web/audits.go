package web

import (
	"context"
	"net/http"
	"net/url"
	"path/filepath"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/face/research"
	"github.com/tidegate/tidegate/internal/rule/foreign"
	"github.com/tidegate/tidegate/internal/work/audit"
	"github.com/tidegate/tidegate/internal/work/run"
)

type auditsView struct {
	cut
	Tasks  []taskRow // that a page asked for
	Audits []auditRow
}

type auditRow struct {
	audit.Item
	State state
}

// auditsPage lists the audits of reports, the newest first.
func (s *Site) auditsPage(ctx context.Context, query url.Values, link func(string, ...string) string) (*page, error) {
	list, err := audit.List(ctx, s.Desk, audit.Home(s.Home))
	if err != nil {
		return nil, err
	}
	var found []audit.Item
	for _, a := range list.Audits {
		if matches(query.Get("q"), a.AuditID, a.Report) {
			found = append(found, a)
		}
	}
	view := auditsView{cut: cutAt(query, len(found), perPage, link("audits"))}
	for _, a := range piece(view.cut, found) {
		stands := bad("fails")
		switch {
		case !a.Finished:
			stands = waiting("not finished")
		case a.Pass:
			stands = good("passes")
		}
		view.Audits = append(view.Audits, auditRow{a, stands})
	}
	if s.Works != nil {
		view.Tasks = taskRows(s.Works.Tasks(research.TaskAudit, ""))
	}
	return (&page{View: "audits", Title: "Audits", Live: following(link("liveAudits"), query), Data: view, Now: s.Desk.Now(), link: link}).sealed()
}

// audit answers with the page of an audit as package foreign makes it.
func (s *server) audit(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Security-Policy", foreign.Policy()+"; frame-ancestors 'none'")
	s.answer(w, r, func() ([]byte, error) {
		id := r.PathValue("audit")
		if run.CheckID(id) != nil {
			return nil, tidegate.Errorf(tidegate.FileNotFound, nil, "there is no audit of that name")
		}
		result, err := audit.Show(r.Context(), s.site.Desk, filepath.Join(audit.Home(s.site.Home), id, audit.File))
		if err != nil {
			return nil, err
		}
		data, _, err := result.Export("html")
		return data, err
	})
}
