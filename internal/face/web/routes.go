package web

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"path/filepath"
	"time"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/rule/synthesis"
	"github.com/tidegate/tidegate/internal/work/run"
)

// server answers requests for the pages of a site.
type server struct {
	site *Site
	base string // the prefix of all paths, without the last slash

	decisions []decision // none: the pages can only be read
	forms     forms
	uploads   chan struct{} // files that are being handed over
	watches   watches
}

func (s *server) routes(mux *http.ServeMux) {
	for path, build := range map[string]func(context.Context, *http.Request) (*page, error){
		"": func(ctx context.Context, r *http.Request) (*page, error) {
			return s.site.runsPage(ctx, r.URL.Query(), s.link)
		},
		"changes": func(ctx context.Context, r *http.Request) (*page, error) {
			return s.site.changesPage(ctx, r.URL.Query(), s.link)
		},
		"audits": func(ctx context.Context, r *http.Request) (*page, error) {
			return s.site.auditsPage(ctx, r.URL.Query(), s.link)
		},
		"reviews": func(ctx context.Context, r *http.Request) (*page, error) {
			return s.site.reviewsPage(ctx, r.URL.Query(), s.link)
		},
		"reviews/{review}": func(ctx context.Context, r *http.Request) (*page, error) {
			return s.site.reviewPage(ctx, r.PathValue("review"), s.link)
		},
		"runs/{run}/answers": s.answersPage,
		"answers/{answer}":   s.answerPage,
		"updates/{update}":   s.updatePage,
		"changes/{change}": func(ctx context.Context, r *http.Request) (*page, error) {
			return s.site.changePage(ctx, r.PathValue("change"), s.link)
		},
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
		"/jobs":       func(l *visit, r *http.Request) (*page, error) { return l.jobsPage(r.URL.Query()) },
		"/jobs/{job}": func(l *visit, r *http.Request) (*page, error) { return l.jobPage(r.PathValue("job")) },
		"/outputs":    func(l *visit, _ *http.Request) (*page, error) { return l.outputsPage() },
		"/gates":      func(l *visit, _ *http.Request) (*page, error) { return l.gatesPage() },
		"/sources":    func(l *visit, r *http.Request) (*page, error) { return l.sourcesPage(r.URL.Query()) },
		"/report":     func(l *visit, r *http.Request) (*page, error) { return l.reportPage(r.URL.Query()) },
		"/log":        func(l *visit, r *http.Request) (*page, error) { return l.logPage(r.URL.Query()) },
	} {
		mux.HandleFunc("GET /runs/{run}"+path, s.ofRun(build))
	}
	if len(s.decisions) > 0 {
		s.decideRoutes(mux)
	}
	if s.site.Works != nil {
		s.workRoutes(mux)
	}
	mux.HandleFunc("GET /runs/{run}/report.html", s.document)
	mux.HandleFunc("GET /runs/{run}/download/{format}", s.download)
	mux.HandleFunc("GET /runs/{run}/archived/{cid}", s.archived)
	mux.HandleFunc("GET /audits/{audit}", s.audit)
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

// link is the address of a page on this server.
func (s *server) link(view string, args ...string) string {
	for i := range args {
		args[i] = url.PathEscape(args[i])
	}
	switch view {
	case "runs":
		return s.base + "/"
	case "liveRuns":
		return s.base + "/live/runs"
	case "liveChanges":
		return s.base + "/live/changes"
	case "liveAudits":
		return s.base + "/live/audits"
	case "liveAnswers":
		return s.base + "/live/runs/" + args[0] + "/answers"
	case "answer":
		return s.base + "/answers/" + args[0]
	case "update":
		return s.base + "/updates/" + args[0]
	case "liveChange":
		return s.base + "/live/changes/" + args[0]
	case "new", "newAudit", "ask":
		if s.site.Works == nil {
			return "" // nothing is offered
		}
		if view == "ask" {
			return s.base + "/runs/" + args[0] + "/ask"
		}
		return s.base + map[string]string{"new": "/new", "newAudit": "/new/audit"}[view]
	case "retry":
		return s.base + "/runs/" + args[0] + "/retry/" + args[1]
	case "style":
		return s.base + "/style.css"
	case "script":
		return s.base + "/live.js"
	case "audits":
		return s.base + "/audits"
	case "audit":
		return s.base + "/audits/" + args[0]
	case "reviews":
		return s.base + "/reviews"
	case "review":
		return s.base + "/reviews/" + args[0]
	case "changes":
		return s.base + "/changes"
	case "change":
		return s.base + "/changes/" + args[0]
	case "run":
		return s.base + "/runs/" + args[0]
	case "job":
		return s.base + "/runs/" + args[0] + "/jobs/" + args[1]
	case "decisions":
		return s.base + "/runs/" + args[0] + "/decide"
	case "decide":
		return s.base + "/runs/" + args[0] + "/decide/" + args[1]
	case "decideChange":
		return s.base + "/changes/" + args[0] + "/decide/" + args[1]
	case "document":
		return s.base + "/runs/" + args[0] + "/report.html"
	case "download":
		return s.base + "/runs/" + args[0] + "/download/" + args[1]
	case "archived":
		return s.base + "/runs/" + args[0] + "/archived/" + args[1]
	case "text":
		return s.base + "/runs/" + args[0] + "/text/" + args[1] + "/" + args[2] + "/" + args[3]
	}
	return s.base + "/runs/" + args[0] + "/" + view
}

// visit is the run that a request looks at, with what its pages are made from.
type visit struct {
	*snapshot
	ctx  context.Context
	site *Site
	link func(view string, args ...string) string

	size  int  // how many rows a page of a list has
	files bool // the pages are files, without a server
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
	return &visit{snapshot: found, ctx: r.Context(), site: s.site, link: s.link, size: perPage}, done, nil
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
	key := fmt.Sprint(r.URL.RequestURI(), run.LastTools(l.run.Folder()))
	l.mu.Lock()
	defer l.mu.Unlock()
	if kept, ok := l.pages[key]; ok && time.Since(kept.at) < keepPage {
		return kept.data, true, nil
	}
	p, err := build(l, r)
	if err == nil {
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
	if data, err = p.render(); err != nil {
		return status, []byte(e.Message)
	}
	return status, data
}

// document answers with the report of a run as package synthesis makes it.
func (s *server) document(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Security-Policy", synthesis.Policy()+"; frame-ancestors 'none'")
	s.answer(w, r, func() ([]byte, error) {
		l, done, err := s.open(r)
		if err != nil {
			return nil, err
		}
		defer done()
		return l.readDocument(r.Context(), s.site.Version)
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
	w.Header().Set("Content-Security-Policy", textPolicy)
	_, _ = w.Write(data)
}
