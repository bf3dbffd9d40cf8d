package web

import (
	"context"
	"net/url"

	"github.com/tidegate/tidegate/internal/agent/dispatch"
	"github.com/tidegate/tidegate/internal/rule/foreign"
	"github.com/tidegate/tidegate/internal/work/audit"
	"github.com/tidegate/tidegate/internal/work/store"
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
	list, err := audit.List(ctx, s.Desk, store.Audits.Home(s.Home))
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
		view.Audits = append(view.Audits, auditRow{a, s.auditState(a)})
	}
	if s.Background != nil {
		view.Tasks = taskRows(s.Background.Tasks(dispatch.TaskAudit, ""))
	}
	return (&page{View: "audits", Title: "Audits", Live: following(link("liveAudits"), query), Data: view, Now: s.Desk.Now(), link: link}).sealed()
}

func (s *Site) auditState(a audit.Item) state {
	switch u, updated := s.lastUpdate(a.AuditID); {
	case !a.Finished:
		return waiting("not finished")
	case updated && !u.Pass:
		return updateState(u)
	case a.Pass:
		return good("passes")
	case a.Outcome == string(foreign.NoErrorByRule):
		return waiting("no error found by rule")
	}
	return bad("fails")
}
