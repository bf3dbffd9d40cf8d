// Package fakeforge is a stand-in for the parts of GitHub's API that a review of a pull
// request uses, written from its REST and GraphQL documents: paths, fields, pages,
// statuses and what is refused.
package fakeforge

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
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

// The users of the forge.
const (
	Token = "ghs_token"
	Bot   = "github-actions[bot]" // whose token it is
)

// Comment is a comment on the pull request or on lines of it.
type Comment struct {
	ID                 int64
	User, Body         string
	Path               string
	StartLine, Line    int
	ReplyTo            int64
	Resolved, Outdated bool
	Edited             bool
}

// Check is a check run.
type Check struct {
	ID                           int64
	Name, Head, Conclusion, Slug string
	ExternalID, Title, Summary   string
}

// Artifact is an archive that a run of a workflow made.
type Artifact struct {
	ID      int64
	Name    string
	Zip     []byte
	Run     int64
	Expired bool
}

// Digest is the one of the archive, as the API has it.
func (a Artifact) Digest() string { return fmt.Sprintf("sha256:%x", sha256.Sum256(a.Zip)) }

// Run is a run of a workflow.
type Run struct {
	ID, Workflow             int64
	Name, Event, Head, Ended string
}

// Forge has one repository, owner/name, with one pull request.
type Forge struct {
	Number                     int
	Head, HeadOwner, HeadRef   string
	Base, BaseRef, StaleBase   string // the last commit of the base branch, its name, and what the pull request says
	Author, Association, Title string
	Patches                    map[string]string // by file, as the diff of the pull request shows it
	Comments, LineComments     []Comment
	Permissions                map[string]string // by login: read, write, admin
	Reviews                    []string          // the bodies of reviews
	Checks                     []Check
	Artifacts                  []Artifact
	Runs                       []Run
	// Refuse says with which status a request is refused, 0 for none.
	Refuse func(method, path string) int
	// Asked are the requests, in order.
	Asked []string

	mu   sync.Mutex
	next int64
	URL  string // where it is reached
}

// Zip is an archive with one file.
func Zip(name string, text []byte) []byte {
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	file, err := w.Create(name)
	if err == nil {
		_, err = file.Write(text)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		panic(err) // writing to memory does not fail
	}
	return out.Bytes()
}

func (f *Forge) id() int64 { f.next++; return 1000 + f.next }

// ServeHTTP answers one request.
func (f *Forge) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	body, _ := io.ReadAll(r.Body)
	if blob, ok := strings.CutPrefix(r.URL.Path, "/blob/"); ok { // of another host: a token here is a leak
		f.blob(w, r, blob)
		return
	}
	f.Asked = append(f.Asked, r.Method+" "+r.URL.RequestURI())
	if r.Header.Get("Authorization") != "Bearer "+Token {
		refuse(w, 401, "Bad credentials")
		return
	}
	if f.Refuse != nil {
		if status := f.Refuse(r.Method, r.URL.Path); status != 0 {
			f.refused(w, status)
			return
		}
	}
	var in map[string]any
	if len(body) > 0 && json.Unmarshal(body, &in) != nil {
		refuse(w, 400, "Problems parsing JSON")
		return
	}
	if r.URL.Path == "/graphql" {
		f.graphql(w, in)
		return
	}
	for _, route := range f.routes() {
		if m := regexp.MustCompile("^" + route.path + "$").FindStringSubmatch(r.URL.Path); m != nil && route.method == r.Method {
			route.do(w, r, m[1:], in)
			return
		}
	}
	refuse(w, 404, "Not Found")
}

func (f *Forge) refused(w http.ResponseWriter, status int) {
	switch status {
	case 429:
		w.Header().Set("Retry-After", "60")
		w.Header().Set("X-RateLimit-Remaining", "0")
		refuse(w, 429, "API rate limit exceeded")
	case 403:
		refuse(w, 403, "Resource not accessible by integration")
	default:
		refuse(w, status, http.StatusText(status))
	}
}

func refuse(w http.ResponseWriter, status int, message string) {
	answer(w, status, map[string]any{"message": message, "documentation_url": "https://docs.github.com/rest"})
}

func answer(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // a client that is gone reads nothing
}

type route struct {
	method, path string
	do           func(w http.ResponseWriter, r *http.Request, parts []string, in map[string]any)
}

func (f *Forge) routes() []route {
	const repo = "/repos/owner/name"
	return []route{
		{"GET", repo + `/pulls/(\d+)`, func(w http.ResponseWriter, _ *http.Request, parts []string, _ map[string]any) {
			if parts[0] != strconv.Itoa(f.Number) {
				refuse(w, 404, "Not Found")
				return
			}
			answer(w, 200, f.pull())
		}},
		{"GET", repo + `/pulls`, func(w http.ResponseWriter, r *http.Request, _ []string, _ map[string]any) {
			list := []any{}
			if r.URL.Query().Get("head") == f.HeadOwner+":"+f.HeadRef {
				list = append(list, f.pull())
			}
			page(w, r, list)
		}},
		{"GET", repo + `/git/ref/heads/(.+)`, func(w http.ResponseWriter, _ *http.Request, parts []string, _ map[string]any) {
			if parts[0] != f.BaseRef {
				refuse(w, 404, "Not Found")
				return
			}
			answer(w, 200, map[string]any{"ref": "refs/heads/" + f.BaseRef, "object": map[string]any{"type": "commit", "sha": f.Base}})
		}},
		{"GET", repo + `/pulls/\d+/files`, func(w http.ResponseWriter, r *http.Request, _ []string, _ map[string]any) {
			list := []any{}
			for name, patch := range f.Patches {
				list = append(list, map[string]any{"filename": name, "status": "modified", "patch": patch})
			}
			page(w, r, list)
		}},
		{"GET", repo + `/(issues|pulls)/\d+/comments`, func(w http.ResponseWriter, r *http.Request, parts []string, _ map[string]any) {
			comments := f.Comments
			if parts[0] == "pulls" {
				comments = f.LineComments
			}
			list := []any{}
			for _, c := range comments {
				list = append(list, shown(c))
			}
			page(w, r, list)
		}},
		{"POST", repo + `/issues/\d+/comments`, func(w http.ResponseWriter, _ *http.Request, _ []string, in map[string]any) {
			if c, ok := f.written(w, in); ok {
				f.Comments = append(f.Comments, c)
				answer(w, 201, shown(c))
			}
		}},
		{"PATCH", repo + `/issues/comments/(\d+)`, func(w http.ResponseWriter, _ *http.Request, parts []string, in map[string]any) {
			at := slices.IndexFunc(f.Comments, func(c Comment) bool { return strconv.FormatInt(c.ID, 10) == parts[0] })
			if at < 0 {
				refuse(w, 404, "Not Found")
			} else if c, ok := f.written(w, in); ok {
				f.Comments[at].Body = c.Body
				answer(w, 200, shown(f.Comments[at]))
			}
		}},
		{"POST", repo + `/pulls/\d+/comments/(\d+)/replies`, func(w http.ResponseWriter, _ *http.Request, parts []string, in map[string]any) {
			to, _ := strconv.ParseInt(parts[0], 10, 64)
			at := slices.IndexFunc(f.LineComments, func(c Comment) bool { return c.ID == to })
			if at < 0 || f.LineComments[at].ReplyTo != 0 {
				refuse(w, 404, "Not Found") // a reply to a reply is not supported
			} else if c, ok := f.written(w, in); ok {
				c.ReplyTo, c.Path = to, f.LineComments[at].Path
				f.LineComments = append(f.LineComments, c)
				answer(w, 201, shown(c))
			}
		}},
		{"POST", repo + `/pulls/\d+/reviews`, f.review},
		{"GET", repo + `/commits/([0-9a-f]+)/check-runs`, func(w http.ResponseWriter, r *http.Request, parts []string, _ map[string]any) {
			list := []any{}
			for _, c := range f.Checks {
				if name := r.URL.Query().Get("check_name"); c.Head == parts[0] && (name == "" || name == c.Name) {
					list = append([]any{map[string]any{"id": c.ID, "name": c.Name, "head_sha": c.Head, "external_id": c.ExternalID, "status": "completed", "conclusion": c.Conclusion, "app": map[string]any{"slug": c.Slug}}}, list...)
				}
			}
			answer(w, 200, map[string]any{"total_count": len(list), "check_runs": list})
		}},
		{"POST", repo + `/check-runs`, func(w http.ResponseWriter, _ *http.Request, _ []string, in map[string]any) {
			output, _ := in["output"].(map[string]any)
			c := Check{ID: f.id(), Name: text(in["name"]), Head: text(in["head_sha"]), Conclusion: text(in["conclusion"]), Slug: "github-actions", ExternalID: text(in["external_id"]), Title: text(output["title"]), Summary: text(output["summary"])}
			if c.Name == "" || c.Head == "" || c.Title == "" || c.Summary == "" || len(c.Summary) > 65535 || !slices.Contains([]string{"success", "failure", "neutral", "action_required"}, c.Conclusion) {
				refuse(w, 422, "Validation Failed")
				return
			}
			f.Checks = append(f.Checks, c)
			answer(w, 201, map[string]any{"id": c.ID})
		}},
		{"GET", repo + `/collaborators/([^/]+)/permission`, func(w http.ResponseWriter, _ *http.Request, parts []string,
			_ map[string]any) {
			if f.Permissions[parts[0]] == "" {
				refuse(w, 404, parts[0]+" is not a user")
				return
			}
			answer(w, 200, map[string]any{"permission": f.Permissions[parts[0]], "user": shownUser(parts[0])})
		}},
		{"GET", repo + `/actions/artifacts/(\d+)`, func(w http.ResponseWriter, _ *http.Request, parts []string, _ map[string]any) {
			if a, ok := f.artifact(parts[0]); ok {
				answer(w, 200, map[string]any{"id": a.ID, "name": a.Name, "size_in_bytes": len(a.Zip), "expired": a.Expired, "digest": a.Digest(), "workflow_run": map[string]any{"id": a.Run, "repository_id": 1, "head_repository_id": 1}})
				return
			}
			refuse(w, 404, "Not Found")
		}},
		{"GET", repo + `/actions/artifacts/(\d+)/zip`, func(w http.ResponseWriter, _ *http.Request, parts []string, _ map[string]any) {
			a, ok := f.artifact(parts[0])
			if !ok || a.Expired {
				refuse(w, 410, "Gone")
				return
			}
			w.Header().Set("Location", strings.Replace(f.URL, "127.0.0.1", "localhost", 1)+"/blob/"+parts[0]+"?sig=secret")
			w.WriteHeader(302)
		}},
		{"GET", repo + `/actions/runs/(\d+)`, func(w http.ResponseWriter, _ *http.Request, parts []string, _ map[string]any) {
			for _, run := range f.Runs {
				if strconv.FormatInt(run.ID, 10) == parts[0] {
					answer(w, 200, shownRun(run))
					return
				}
			}
			refuse(w, 404, "Not Found")
		}},
		{"GET", repo + `/actions/runs`, func(w http.ResponseWriter, r *http.Request, _ []string, _ map[string]any) {
			list := []any{}
			for _, run := range f.Runs {
				if q := r.URL.Query(); run.Event == q.Get("event") && run.Head == q.Get("head_sha") {
					list = append(list, shownRun(run))
				}
			}
			answer(w, 200, map[string]any{"total_count": len(list), "workflow_runs": list})
		}},
	}
}

func text(v any) string { s, _ := v.(string); return s }

func (f *Forge) pull() map[string]any {
	stale := f.StaleBase
	if stale == "" {
		stale = f.Base
	}
	return map[string]any{"number": f.Number, "state": "open", "title": f.Title, "user": shownUser(f.Author),
		"author_association": f.Association,
		"head":               map[string]any{"sha": f.Head, "ref": f.HeadRef, "repo": map[string]any{"full_name": f.HeadOwner + "/name"}},
		"base":               map[string]any{"sha": stale, "ref": f.BaseRef, "repo": map[string]any{"full_name": "owner/name"}}}
}

// shownUser is a user: one whose login ends in [bot] is none of flesh.
func shownUser(login string) map[string]any {
	kind, id := "User", int64(0)
	if strings.HasSuffix(login, "[bot]") {
		kind = "Bot"
	}
	for _, r := range login {
		id = id*31 + int64(r)
	}
	return map[string]any{"login": login, "id": id & 0xffffffff, "type": kind}
}

func shown(c Comment) map[string]any {
	out := map[string]any{"id": c.ID, "user": shownUser(c.User), "body": c.Body, "commit_id": strings.Repeat("1a", 20),
		"created_at": "2026-01-05T08:00:00Z", "updated_at": "2026-01-05T08:00:00Z"}
	if c.Edited {
		out["updated_at"] = "2026-01-05T09:00:00Z"
	}
	if c.Path != "" {
		out["path"], out["line"], out["side"] = c.Path, c.Line, "RIGHT"
	}
	if c.ReplyTo != 0 {
		out["in_reply_to_id"] = c.ReplyTo
	}
	return out
}

func shownRun(r Run) map[string]any {
	var ended any
	if r.Ended != "" {
		ended = r.Ended
	}
	return map[string]any{"id": r.ID, "name": r.Name, "event": r.Event, "workflow_id": r.Workflow, "head_sha": r.Head, "conclusion": ended}
}

func (f *Forge) artifact(id string) (Artifact, bool) {
	for _, a := range f.Artifacts {
		if strconv.FormatInt(a.ID, 10) == id {
			return a, true
		}
	}
	return Artifact{}, false
}

func (f *Forge) blob(w http.ResponseWriter, r *http.Request, id string) {
	if a, ok := f.artifact(id); ok && r.Header.Get("Authorization") == "" && r.URL.Query().Get("sig") == "secret" {
		_, _ = w.Write(a.Zip)
		return
	}
	w.WriteHeader(403)
}

// written is a comment of the token's user, where its body is one.
func (f *Forge) written(w http.ResponseWriter, in map[string]any) (Comment, bool) {
	body := text(in["body"])
	if body == "" || utf8.RuneCountInString(body) > 65536 {
		refuse(w, 422, "Validation Failed")
		return Comment{}, false
	}
	return Comment{ID: f.id(), User: Bot, Body: body}, true
}

func (f *Forge) review(w http.ResponseWriter, _ *http.Request, _ []string, in map[string]any) {
	list, _ := in["comments"].([]any)
	if text(in["event"]) != "COMMENT" || text(in["body"]) == "" || text(in["commit_id"]) != f.Head {
		refuse(w, 422, "Unprocessable Entity")
		return
	}
	var made []Comment
	for _, each := range list {
		in, _ := each.(map[string]any)
		c, ok := f.written(w, in)
		if !ok {
			return
		}
		line, _ := in["line"].(float64)
		start, given := in["start_line"].(float64)
		c.Path, c.Line, c.StartLine = text(in["path"]), int(line), int(start)
		if text(in["side"]) != "RIGHT" || given && (text(in["start_side"]) != "RIGHT" || start >= line) || !f.inDiff(c) {
			refuse(w, 422, "Unprocessable Entity: line must be part of the diff")
			return
		}
		made = append(made, c)
	}
	f.Reviews, f.LineComments = append(f.Reviews, text(in["body"])), append(f.LineComments, made...)
	answer(w, 200, map[string]any{"id": f.id(), "state": "COMMENTED"})
}

var hunk = regexp.MustCompile(`^@@ -\d+(?:,\d+)? \+(\d+)(?:,(\d+))? @@`)

// inDiff reports whether all lines of a comment stand in one hunk.
func (f *Forge) inDiff(c Comment) bool {
	first := c.Line
	if c.StartLine > 0 {
		first = c.StartLine
	}
	for line := range strings.SplitSeq(f.Patches[c.Path], "\n") {
		if m := hunk.FindStringSubmatch(line); m != nil {
			from, _ := strconv.Atoi(m[1])
			count := 1
			if m[2] != "" {
				count, _ = strconv.Atoi(m[2])
			}
			if first >= from && c.Line < from+count {
				return true
			}
		}
	}
	return false
}

func (f *Forge) graphql(w http.ResponseWriter, in map[string]any) {
	query := text(in["query"])
	variables, _ := in["variables"].(map[string]any)
	switch {
	case strings.Contains(query, "viewer"):
		answer(w, 200, map[string]any{"data": map[string]any{"viewer": map[string]any{"login": Bot}}})
	case strings.Contains(query, "reviewThreads"):
		nodes := []any{}
		for _, c := range f.LineComments {
			if c.ReplyTo == 0 {
				nodes = append(nodes, map[string]any{"id": fmt.Sprintf("T%d", c.ID), "isResolved": c.Resolved, "comments": map[string]any{"nodes": []any{map[string]any{"databaseId": c.ID}}}})
			}
		}
		answer(w, 200, map[string]any{"data": map[string]any{"repository": map[string]any{"pullRequest": map[string]any{"reviewThreads": map[string]any{"pageInfo": map[string]any{"hasNextPage": false}, "nodes": nodes}}}}})
	case strings.Contains(query, "resolveReviewThread"):
		for i, c := range f.LineComments {
			if fmt.Sprintf("T%d", c.ID) == text(variables["id"]) {
				f.LineComments[i].Resolved = true
			}
		}
		answer(w, 200, map[string]any{"data": map[string]any{"resolveReviewThread": map[string]any{"thread": map[string]any{"id": variables["id"]}}}})
	default:
		answer(w, 200, map[string]any{"errors": []any{map[string]any{"message": "unknown query"}}})
	}
}

// page answers with a page of a list.
func page(w http.ResponseWriter, r *http.Request, list []any) {
	size, number := 30, 1
	if n, err := strconv.Atoi(r.URL.Query().Get("per_page")); err == nil {
		size = min(n, 100)
	}
	if n, err := strconv.Atoi(r.URL.Query().Get("page")); err == nil {
		number = n
	}
	from := min(len(list), (number-1)*size)
	answer(w, 200, list[from:min(len(list), from+size)])
}
