package web

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/document/paper"
	"github.com/tidegate/tidegate/internal/face/guard"
	"github.com/tidegate/tidegate/internal/work/run"
)

// server answers requests for the pages of a site.
type server struct {
	site *Site
	base string // the prefix of all paths, without the last slash

	decisions []decision // none: the pages can only be read
	forms     guard.Forms
	uploads   chan struct{} // files that are being handed over
	watches   watches
}

func (s *server) routes(mux *http.ServeMux) {
	for path, build := range map[string]builder{
		"":                 s.list(s.site.runsPage),
		"changes":          s.list(s.site.changesPage),
		"audits":           s.list(s.site.auditsPage),
		"reviews":          s.list(s.site.reviewsPage),
		"demo":             s.list(s.site.demoPage),
		"reviews/{review}": s.one("review", s.site.reviewPage),
		"answers/{answer}": s.one("answer", s.site.answerPage),
		"updates/{update}": s.one("update", s.updatePage),
		"audits/{audit}":   s.one("audit", s.site.auditPage),
		"changes/{change}": s.one("change", s.site.changePage),
	} {
		here, live := "GET /"+path, "GET /live/"+path
		if path == "" {
			here, live = "GET /{$}", "GET /live/runs"
		}
		mux.HandleFunc(here, s.plain(build))
		mux.HandleFunc(live, s.follow(build))
	}
	for path, build := range map[string]func(*visit, *http.Request) (*page, error){
		"":            func(l *visit, _ *http.Request) (*page, error) { return l.runPage() },
		"/made":       func(l *visit, r *http.Request) (*page, error) { return l.madePage(r.URL.Query()) },
		"/jobs":       func(l *visit, r *http.Request) (*page, error) { return l.jobsPage(r.URL.Query()) },
		"/jobs/{job}": func(l *visit, r *http.Request) (*page, error) { return l.jobPage(r.PathValue("job")) },
		"/outputs":    func(l *visit, _ *http.Request) (*page, error) { return l.outputsPage() },
		"/gates":      func(l *visit, _ *http.Request) (*page, error) { return l.gatesPage() },
		"/sources":    func(l *visit, r *http.Request) (*page, error) { return l.sourcesPage(r.URL.Query()) },
		"/report":     func(l *visit, _ *http.Request) (*page, error) { return l.reportPage() },
		"/log":        func(l *visit, r *http.Request) (*page, error) { return l.logPage(r.URL.Query()) },
	} {
		answer := s.ofRun(build)
		if path == "" && s.site.Background != nil {
			answer = s.planFirst(answer)
		}
		mux.HandleFunc("GET /runs/{run}"+path, answer)
	}
	if len(s.decisions) > 0 {
		s.decideRoutes(mux)
	}
	if s.site.Background != nil {
		s.workRoutes(mux)
	}
	mux.HandleFunc("GET /live/runs/{run}/answers", s.follow(s.askedPage))
	mux.HandleFunc("GET /runs/{run}/report.html", s.document)
	mux.HandleFunc("GET /runs/{run}/download/{format}", s.download)
	mux.HandleFunc("GET /runs/{run}/archived/{cid}", s.archived)
	mux.HandleFunc("GET /runs/{run}/text/{job}/{attempt}/{name}", s.text)
	mux.HandleFunc("GET /runs/{run}/events", s.events)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET, HEAD")
			http.Error(w, "this page can only be read", http.StatusMethodNotAllowed)
			return
		}
		s.problem(w, r, tidegate.Errorf(tidegate.FileNotFound, nil, "there is no such page"))
	})
}

// builder makes a page of what is asked for, linker the addresses on it.
type (
	builder = func(context.Context, *http.Request) (*page, error)
	linker  = func(view string, args ...string) string
)

// list is a page of a list, which its query filters.
func (s *server) list(build func(context.Context, url.Values, linker) (*page, error)) builder {
	return func(ctx context.Context, r *http.Request) (*page, error) { return build(ctx, r.URL.Query(), s.link) }
}

// one is a page about one thing, which its address names.
func (s *server) one(name string, build func(context.Context, string, linker) (*page, error)) builder {
	return func(ctx context.Context, r *http.Request) (*page, error) {
		return build(ctx, r.PathValue(name), s.link)
	}
}

// addresses are those of pages. A * stands for an argument; the other pages of a run are
// under its own.
var addresses = map[string]string{
	"runs":         "/",
	"liveRuns":     "/live/runs",
	"liveChanges":  "/live/changes",
	"liveAudits":   "/live/audits",
	"liveAnswers":  "/live/runs/*/answers",
	"answer":       "/answers/*",
	"update":       "/updates/*",
	"liveChange":   "/live/changes/*",
	"retry":        "/runs/*/retry/*",
	"style":        "/style.css",
	"script":       "/live.js",
	"audits":       "/audits",
	"audit":        "/audits/*",
	"reviews":      "/reviews",
	"review":       "/reviews/*",
	"changes":      "/changes",
	"change":       "/changes/*",
	"run":          "/runs/*",
	"job":          "/runs/*/jobs/*",
	"decisions":    "/runs/*/decide",
	"decide":       "/runs/*/decide/*",
	"decideChange": "/changes/*/decide/*",
	"document":     "/runs/*/report.html",
	"download":     "/runs/*/download/*",
	"archived":     "/runs/*/archived/*",
	"demo":         "/demo",
	"text":         "/runs/*/text/*/*/*",
	"new":          "/new",
	"newAudit":     "/new/audit",
	"ask":          "/runs/*/ask",
}

// link is the address of a page on this server.
func (s *server) link(view string, args ...string) string {
	for i := range args {
		args[i] = url.PathEscape(args[i])
	}
	address, own := addresses[view]
	switch {
	case s.site.Background == nil && (view == "new" || view == "newAudit" || view == "ask"):
		return "" // nothing is offered
	case !own:
		address = "/runs/*/" + view
	}
	for _, arg := range args {
		before, after, _ := strings.Cut(address, "*")
		address = before + arg + after
	}
	return s.base + address
}

// visit is the run that a request looks at, with what its pages are made from.
type visit struct {
	*snapshot
	ctx  context.Context
	site *Site
	link func(view string, args ...string) string

	id    string // of the run's folder, by which its pages are found
	size  int    // how many rows a page of a list has
	files bool   // the pages are files, without a server
}

// open looks at the run that the address names.
func (s *server) open(r *http.Request) (l *visit, done func(), err error) {
	id := r.PathValue("run")
	if err := run.CheckID(id); err != nil {
		return nil, nil, tidegate.Errorf(tidegate.FileNotFound, nil, "there is no run of that name")
	}
	found, done, err := s.site.snapshot(r.Context(), filepath.Join(s.site.Home, id, run.ManifestFile))
	if err != nil {
		return nil, nil, err
	}
	return &visit{snapshot: found, ctx: r.Context(), site: s.site, link: s.link, id: id, size: perPage}, done, nil
}

// keepPage is how long a page that was made is given to others who ask for it.
const keepPage = 200 * time.Millisecond

// ofRun answers with a page of a run. What the page reads beyond the look at the run
// is of the same moment: if the run was written to meanwhile, the page is made
// again.
func (s *server) ofRun(build func(*visit, *http.Request) (*page, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		s.answer(w, r, func() ([]byte, error) {
			for begun := time.Now(); ; {
				data, stands, err := s.buildOfRun(r, build)
				switch {
				case stands:
					return data, err
				case time.Since(begun) > quietTime:
					return nil, errBusy
				}
			}
		})
	}
}

// planFirst leads to the plan of a run that waits for a yes: it is what the run shows.
func (s *server) planFirst(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		l, done, err := s.open(r)
		if err != nil {
			s.problem(w, r, err)
			return
		}
		waits := s.site.Background.MayConfirm(l.board)
		done()
		if waits {
			_, err = s.site.Background.Plan(r.Context(), l.id)
		}
		if waits && err == nil { // else the run says why nobody can begin it here
			http.Redirect(w, r, s.link("plan", l.id), http.StatusSeeOther)
			return
		}
		next(w, r)
	}
}

// answer answers with a page, or with what is wrong.
func (s *server) answer(w http.ResponseWriter, r *http.Request, build func() ([]byte, error)) {
	e := begin(w, r)
	status, data := http.StatusInternalServerError, []byte(nil)
	defer func() { e.end(status, data) }() // even when it panics
	page, err := build()
	if err != nil {
		status, data = s.problemPage(r, err)
		return
	}
	status, data = http.StatusOK, page
}

// buildOfRun makes a page of a run. The page stands if the run has not changed
// meanwhile.
func (s *server) buildOfRun(r *http.Request, build func(*visit, *http.Request) (*page, error)) (data []byte, stands bool, err error) {
	l, done, err := s.open(r)
	if err != nil {
		return nil, true, err
	}
	defer done()
	key := fmt.Sprint(who(r.Context()), " ", r.URL.RequestURI(), run.LastTools(l.run.Folder()))
	l.mu.Lock()
	defer l.mu.Unlock()
	if kept, ok := l.pages[key]; ok && time.Since(kept.at) < keepPage {
		return kept.data, true, nil
	}
	p, err := build(l, r)
	if err == nil {
		s.dress(r, p)
		data, err = p.render()
	}
	if !l.stands() {
		return nil, false, nil
	}
	if err != nil {
		return nil, true, err
	}
	const mostPages, mostBytes = 64, 32 << 20
	kept := len(data)
	for _, p := range l.pages {
		kept += len(p.data)
	}
	if len(l.pages) >= mostPages || kept > mostBytes {
		clear(l.pages)
	}
	l.pages[key] = rendered{time.Now(), data}
	return data, true, nil
}

// plain answers with a page that is not of a run.
func (s *server) plain(build func(context.Context, *http.Request) (*page, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		s.answer(w, r, func() ([]byte, error) {
			p, err := build(r.Context(), r)
			if err != nil {
				return nil, err
			}
			s.dress(r, p)
			return p.render()
		})
	}
}

func (s *server) send(w http.ResponseWriter, status int, data []byte) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(data)
}

// statusOf is the status of an answer that says what is wrong.
func statusOf(code tidegate.Code) int {
	switch tidegate.ClassOf(code) {
	case tidegate.NotFound:
		return http.StatusNotFound
	case tidegate.Invalid, tidegate.Denied:
		return http.StatusBadRequest
	case tidegate.Conflict:
		if code == tidegate.LockHeld {
			return http.StatusServiceUnavailable // it will be available in a moment
		}
		return http.StatusConflict
	}
	return http.StatusInternalServerError
}

// problem answers with what is wrong.
func (s *server) problem(w http.ResponseWriter, r *http.Request, err error) {
	status, data := s.problemPage(r, err)
	s.send(w, status, data)
}

// problemPage is the page that says what is wrong.
func (s *server) problemPage(r *http.Request, err error) (status int, data []byte) {
	e := tidegate.AsError(err)
	status = statusOf(e.Code)
	if status == http.StatusInternalServerError && r.Context().Err() == nil {
		slog.Warn("a page cannot be shown", "path", tidegate.Cut(r.URL.Path), "error", e.Message)
	}
	p := &page{View: "problem", Title: "This page cannot be shown", Data: e, link: s.link}
	if r.Method == http.MethodPost {
		p.Title = "Nothing was decided"
	}
	s.dress(r, p)
	if data, err = p.render(); err != nil {
		return status, []byte(e.Message)
	}
	return status, data
}

// document answers with the report of a run as package paper makes it.
func (s *server) document(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Security-Policy", new(paper.Report).Policy()+"; frame-ancestors 'none'")
	s.answer(w, r, func() ([]byte, error) {
		l, done, err := s.open(r)
		if err != nil {
			return nil, err
		}
		defer done()
		return l.readDocument()
	})
}

// text answers with one file of an attempt as plain text, whatever is in it.
func (s *server) text(w http.ResponseWriter, r *http.Request) {
	l, done, err := s.open(r)
	if err != nil {
		s.problem(w, r, err)
		return
	}
	defer done()
	data, err := l.attemptFile(r.PathValue("job"), r.PathValue("attempt"), r.PathValue("name"))
	if err != nil {
		s.problem(w, r, err)
		return
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Content-Security-Policy", guard.TextPolicy)
	_, _ = w.Write(data)
}
