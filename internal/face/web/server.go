package web

import (
	_ "embed" // the style and the script
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/tidegate/tidegate/internal/base/user"
	"github.com/tidegate/tidegate/internal/document/paper"
	"github.com/tidegate/tidegate/internal/face/guard"
	"github.com/tidegate/tidegate/internal/text/chart"
)

//go:embed pages/style.css
var ownStyle string

// styleText is the style of all pages: that of a report's text and charts, and what stands
// around them.
var styleText = paper.Style + chart.Style + ownStyle

//go:embed pages/live.js
var scriptText string

// Handler answers the requests of browsers that have the token, or that of a user of the
// site. Public is the address
// at which a reverse proxy offers the pages, nil without one; its path is a prefix of
// all paths. Requests pass, in this order: the
// headers that every answer has, the check of Host and Origin, the token. Whoever has a
// smaller role sees the pages of a site that allows no more.
func Handler(site *Site, token string, public *url.URL) http.Handler {
	site.begin()
	g := guard.Guard{Token: token, Public: public, Users: site.Users, Proxy: site.Proxy}
	base := ""
	if public != nil {
		base = strings.TrimSuffix(public.EscapedPath(), "/")
	}
	pages, api := map[user.Role]http.Handler{}, map[user.Role]http.Handler{}
	for _, role := range user.Roles {
		part := site.as(role)
		s := &server{site: part, base: base, decisions: decisionsOf(part.Decisions), uploads: make(chan struct{}, 2)}
		mux := http.NewServeMux()
		s.routes(mux)
		pages[role] = mux
		calls := http.NewServeMux()
		s.apiRoutes(calls)
		api[role] = calls
	}
	assets := http.NewServeMux()
	assets.Handle("GET /style.css", asset("text/css; charset=utf-8", styleText))
	assets.Handle("GET /live.js", asset("text/javascript; charset=utf-8", scriptText))
	assets.Handle(apiPath+"/", g.Bearers(api))
	assets.Handle("/", g.Tokens(base, pages))
	return guard.Secured(g.Origins(guard.UnderBase(base, assets)))
}

// as is the site as a role may use it.
func (s *Site) as(role user.Role) *Site {
	part := &Site{Home: s.Home, Project: s.Project, Desk: s.Desk, Version: s.Version, Standing: s.Standing, PDF: s.PDF, Demo: s.Demo, Agents: s.Agents, spends: s.Background, seen: s.seen, unread: s.unread}
	if role.May(user.Decide) {
		part.Decisions = s.Decisions
	}
	if role.May(user.Work) {
		part.Background, part.Audit = s.Background, s.Audit
	}
	return part
}

func asset(kind, text string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind)
		w.Header().Set("Cache-Control", "no-cache")
		_, _ = io.WriteString(w, text)
	})
}
