package fakeforge

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"
)

// GitLab is a stand-in for the parts of GitLab's REST API that publishing a review uses,
// written from its documents. It has one project, 42, with one merge request.
type GitLab struct {
	Number            int
	Head, Base, Start string
	Author            string
	Diffs             map[string]string // by file
	Notes             []Comment         // of the merge request
	Threads           []GitLabThread
	Statuses          []Check // with the state as conclusion and the description as title
	Refuse            func(method, path string) int
	Asked             []string

	mu   sync.Mutex
	next int64
}

// GitLabThread is a conversation about a line of the merge request.
type GitLabThread struct {
	ID               string
	Path             string
	OldLine, NewLine int // 0 for none
	Resolved         bool
	Notes            []Comment
}

// ServeHTTP answers one request.
func (g *GitLab) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	g.mu.Lock()
	defer g.mu.Unlock()
	body, _ := io.ReadAll(r.Body)
	g.Asked = append(g.Asked, r.Method+" "+r.URL.RequestURI())
	if r.Header.Get("PRIVATE-TOKEN") != Token {
		refuse(w, 401, "401 Unauthorized")
		return
	}
	if g.Refuse != nil {
		if status := g.Refuse(r.Method, r.URL.Path); status != 0 {
			refuse(w, status, fmt.Sprintf("%d %s", status, http.StatusText(status)))
			return
		}
	}
	var in map[string]any
	if len(body) > 0 && json.Unmarshal(body, &in) != nil {
		refuse(w, 400, "400 Bad request")
		return
	}
	for _, route := range g.routes() {
		if m := regexp.MustCompile("^" + route.path + "$").FindStringSubmatch(r.URL.Path); m != nil && route.method == r.Method {
			route.do(w, r, m[1:], in)
			return
		}
	}
	refuse(w, 404, "404 Not Found")
}

// quickAction is a line that GitLab takes for a command of the owner of the token, outside of
// code.
var quickAction = regexp.MustCompile(`(?m)^\s*/[a-z]`)

func (g *GitLab) note(w http.ResponseWriter, in map[string]any) (Comment, bool) {
	body := text(in["body"])
	if strings.TrimSpace(body) == "" || utf8.RuneCountInString(body) > 1_000_000 {
		refuse(w, 400, "400 Bad request - Note is invalid")
		return Comment{}, false
	}
	outside := regexp.MustCompile("(?ms)^(`{3,}).*?^`{3,}$").ReplaceAllString(body, "")
	if quickAction.MatchString(outside) {
		refuse(w, 202, "a command was run")
		return Comment{}, false
	}
	g.next++
	return Comment{ID: 1000 + g.next, User: Bot, Body: body}, true
}

func shownNote(c Comment, kind any, path string, resolved bool) map[string]any {
	return map[string]any{"id": c.ID, "type": kind, "body": c.Body, "author": map[string]any{"id": 7, "username": c.User}, "system": false,
		"resolvable": kind != nil, "resolved": resolved, "position": map[string]any{"new_path": path}}
}

func (g *GitLab) routes() []route {
	const request = `/api/v4/projects/42/merge_requests/(\d+)`
	thread := func(id string) int {
		return slices.IndexFunc(g.Threads, func(t GitLabThread) bool { return t.ID == id })
	}
	return []route{
		{"GET", "/api/v4/user", func(w http.ResponseWriter, _ *http.Request, _ []string, _ map[string]any) {
			answer(w, 200, map[string]any{"id": 7, "username": Bot})
		}},
		{"GET", request, func(w http.ResponseWriter, _ *http.Request, parts []string, _ map[string]any) {
			if parts[0] != strconv.Itoa(g.Number) {
				refuse(w, 404, "404 Not found")
				return
			}
			answer(w, 200, map[string]any{"iid": g.Number, "sha": g.Head, "target_branch": "main", "author": map[string]any{"id": 8, "username": g.Author},
				"diff_refs": map[string]any{"base_sha": g.Base, "head_sha": g.Head, "start_sha": g.Start}})
		}},
		{"GET", request + "/diffs", func(w http.ResponseWriter, r *http.Request, _ []string, _ map[string]any) {
			list := []any{}
			for name, diff := range g.Diffs {
				list = append(list, map[string]any{"old_path": name, "new_path": name, "diff": diff})
			}
			page(w, r, list)
		}},
		{"GET", request + "/notes", func(w http.ResponseWriter, r *http.Request, _ []string, _ map[string]any) {
			list := []any{map[string]any{"id": 1, "type": nil, "body": "added 1 commit", "author": map[string]any{"id": 7, "username": Bot}, "system": true}}
			for _, t := range g.Threads {
				for _, c := range t.Notes {
					list = append(list, shownNote(c, "DiffNote", t.Path, t.Resolved))
				}
			}
			for _, c := range g.Notes {
				list = append(list, shownNote(c, nil, "", false))
			}
			page(w, r, list)
		}},
		{"POST", request + "/notes", func(w http.ResponseWriter, _ *http.Request, _ []string, in map[string]any) {
			if c, ok := g.note(w, in); ok {
				g.Notes = append(g.Notes, c)
				answer(w, 201, shownNote(c, nil, "", false))
			}
		}},
		{"PUT", request + `/notes/(\d+)`, func(w http.ResponseWriter, _ *http.Request, parts []string, in map[string]any) {
			at := slices.IndexFunc(g.Notes, func(c Comment) bool { return strconv.FormatInt(c.ID, 10) == parts[1] && c.User == Bot })
			if at < 0 {
				refuse(w, 404, "404 Not found")
			} else if c, ok := g.note(w, in); ok {
				g.Notes[at].Body = c.Body
				answer(w, 200, shownNote(g.Notes[at], nil, "", false))
			}
		}},
		{"GET", request + "/discussions", func(w http.ResponseWriter, r *http.Request, _ []string, _ map[string]any) {
			list := []any{}
			for _, c := range g.Notes {
				list = append(list, map[string]any{"id": fmt.Sprintf("n%d", c.ID), "individual_note": true, "notes": []any{shownNote(c, nil, "", false)}})
			}
			for _, t := range g.Threads {
				notes := []any{}
				for _, c := range t.Notes {
					notes = append(notes, shownNote(c, "DiffNote", t.Path, t.Resolved))
				}
				list = append(list, map[string]any{"id": t.ID, "individual_note": false, "notes": notes})
			}
			page(w, r, list)
		}},
		{"POST", request + "/discussions", func(w http.ResponseWriter, _ *http.Request, _ []string, in map[string]any) {
			at, _ := in["position"].(map[string]any)
			newLine, _ := at["new_line"].(float64)
			oldLine, _ := at["old_line"].(float64)
			t := GitLabThread{Path: text(at["new_path"]), NewLine: int(newLine), OldLine: int(oldLine)}
			refs := at["base_sha"] == g.Base && at["head_sha"] == g.Head && at["start_sha"] == g.Start && at["position_type"] == "text"
			if !refs || at["old_path"] != at["new_path"] || !g.shows(t) {
				answer(w, 400, map[string]any{"message": "400 Bad request - Note {:line_code=>[\"can't be blank\", \"must be a valid line code\"]}"})
				return
			}
			if c, ok := g.note(w, in); ok {
				t.ID, t.Notes = fmt.Sprintf("%040x", c.ID), []Comment{c}
				g.Threads = append(g.Threads, t)
				answer(w, 201, map[string]any{"id": t.ID})
			}
		}},
		{"POST", request + "/discussions/([0-9a-f]{40})/notes", func(w http.ResponseWriter, _ *http.Request, parts []string, in map[string]any) {
			if at := thread(parts[1]); at < 0 {
				refuse(w, 404, "404 Discussion Not Found")
			} else if c, ok := g.note(w, in); ok {
				g.Threads[at].Notes = append(g.Threads[at].Notes, c)
				answer(w, 201, shownNote(c, "DiffNote", g.Threads[at].Path, false))
			}
		}},
		{"PUT", request + "/discussions/([0-9a-f]{40})", func(w http.ResponseWriter, _ *http.Request, parts []string, in map[string]any) {
			at := thread(parts[1])
			if resolved, is := in["resolved"].(bool); at >= 0 && is {
				g.Threads[at].Resolved = resolved
				answer(w, 200, map[string]any{"id": parts[1]})
				return
			}
			refuse(w, 404, "404 Discussion Not Found")
		}},
		{"POST", "/api/v4/projects/42/statuses/([0-9a-f]{40})", func(w http.ResponseWriter, _ *http.Request, parts []string, in map[string]any) {
			c := Check{Name: text(in["name"]), Head: parts[0], Conclusion: text(in["state"]), Title: text(in["description"])}
			if !slices.Contains([]string{"pending", "running", "success", "failed", "canceled", "skipped"}, c.Conclusion) || utf8.RuneCountInString(c.Title) > 255 {
				refuse(w, 400, "400 Bad request")
				return
			}
			g.Statuses = append(g.Statuses, c)
			answer(w, 201, map[string]any{"id": len(g.Statuses)})
		}},
	}
}

// shows reports whether the diff has the line of a thread: an added one by its number alone,
// one that did not change by both.
func (g *GitLab) shows(t GitLabThread) bool {
	from, at := 0, 0
	for line := range strings.SplitSeq(g.Diffs[t.Path], "\n") {
		if m := regexp.MustCompile(`^@@ -(\d+)(?:,\d+)? \+(\d+)`).FindStringSubmatch(line); m != nil {
			from, _ = strconv.Atoi(m[1])
			at, _ = strconv.Atoi(m[2])
			continue
		}
		switch {
		case strings.HasPrefix(line, " "):
			if at == t.NewLine {
				return from == t.OldLine
			}
			from, at = from+1, at+1
		case strings.HasPrefix(line, "+"):
			if at == t.NewLine {
				return t.OldLine == 0
			}
			at++
		case strings.HasPrefix(line, "-"):
			from++
		}
	}
	return false
}
