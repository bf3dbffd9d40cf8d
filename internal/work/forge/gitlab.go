package forge

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/archive"
)

// GitLab is a project of a GitLab, for the owner of a token.
type GitLab struct {
	API      string // such as https://gitlab.com/api/v4
	Project  string // its number
	URL      string // of its pages
	Pipeline string // that a check belongs to; "" for the latest of the commit
	Token    string
	Call     archive.Call

	refs    diffRefs
	files   map[string]gitlabFile
	threads map[int64]string // of comments on lines
}

type diffRefs struct {
	Base  string `json:"base_sha"`
	Head  string `json:"head_sha"`
	Start string `json:"start_sha"`
}

// gitlabFile is a file of the diff of a merge request.
type gitlabFile struct {
	oldPath string
	old     map[int]int // lines that did not change: the line of the earlier version by that of the later one
}

// do sends a request about the project, as [Forge.do] does.
func (g *GitLab) do(ctx context.Context, method, path string, body, into any) error {
	return send(ctx, g.Call, g.request(method, "/projects/"+g.Project+path), path, body, into)
}

// request is a request of the owner of the token.
func (g *GitLab) request(method, path string) archive.Request {
	return archive.Request{Method: method, URL: g.API + path, Named: true, Secrets: []string{g.Token},
		Header: []archive.Field{{Name: "PRIVATE-TOKEN", Value: g.Token}, {Name: "Accept", Value: "application/json"}}}
}

func mergeRequest(number int) string { return fmt.Sprintf("/merge_requests/%d", number) }

// Pull looks a merge request up, as [Forge.Pull] does.
func (g *GitLab) Pull(ctx context.Context, number int) (Pull, error) {
	var answer struct {
		IID    int
		SHA    string
		Refs   diffRefs `json:"diff_refs"`
		Target string   `json:"target_branch"`
		Author gitlabUser
	}
	if err := g.do(ctx, "GET", mergeRequest(number), nil, &answer); err != nil {
		return Pull{}, err
	}
	g.refs = answer.Refs
	p := Pull{Number: number, Head: answer.SHA, Base: answer.Refs.Base, Author: answer.Author.Username, AuthorID: answer.Author.ID}
	if answer.IID != number || !IsCommit(p.Head) || !IsCommit(p.Base) {
		return p, tidegate.Errorf(tidegate.InvalidState, nil, "the forge's answer about merge request %d names no commits", number)
	}
	return p, nil
}

type gitlabUser struct {
	ID       int64
	Username string
}

// Me is the name of the user whose token this is.
func (g *GitLab) Me(ctx context.Context) (string, error) {
	var answer gitlabUser
	err := send(ctx, g.Call, g.request("GET", "/user"), "/user", nil, &answer)
	if err == nil && answer.Username == "" {
		err = tidegate.Errorf(tidegate.InvalidState, nil, "the forge does not say whose token this is")
	}
	return answer.Username, err
}

// Reported is nothing: a pipeline of the merge request shows its other jobs itself.
func (g *GitLab) Reported(context.Context, string) ([]Reported, error) { return nil, nil }

type gitlabNote struct {
	ID       int64
	Type     string // DiffNote on lines
	Body     string
	Author   gitlabUser
	System   bool
	Resolved bool
	Position struct {
		Path string `json:"new_path"`
	}
}

// Comments are the comments of an author on a merge request, the oldest first.
func (g *GitLab) Comments(ctx context.Context, number int, author string) (list []Comment, err error) {
	err = each(ctx, g.do, mergeRequest(number)+"/notes?sort=asc&order_by=created_at", func(n gitlabNote) {
		if n.Author.Username == author && n.Type == "" && !n.System {
			list = append(list, Comment{ID: n.ID, Author: author, Body: n.Body})
		}
	})
	return list, err
}

type discussion struct {
	ID    string
	Notes []gitlabNote
}

func (g *GitLab) discussions(ctx context.Context, number int, visit func(discussion)) error {
	return each(ctx, g.do, mergeRequest(number)+"/discussions", func(d discussion) {
		if len(d.Notes) > 0 && d.Notes[0].Type == "DiffNote" {
			visit(d)
		}
	})
}

// LineComments are the comments of an author on lines of a merge request, the oldest first.
func (g *GitLab) LineComments(ctx context.Context, number int, author string) (list []Comment, err error) {
	g.threads = map[int64]string{}
	err = g.discussions(ctx, number, func(d discussion) {
		first := int64(0)
		for _, n := range d.Notes {
			if n.Author.Username == author {
				list = append(list, Comment{n.ID, author, n.Body, n.Position.Path, first})
			}
			first, g.threads[n.ID] = d.Notes[0].ID, d.ID
		}
	})
	return list, err
}

// WriteComment writes a comment on a merge request, in the place of the one with the id,
// where that is not 0.
func (g *GitLab) WriteComment(ctx context.Context, number int, id int64, body string) error {
	text := map[string]string{"body": body}
	if id != 0 {
		return g.do(ctx, "PUT", fmt.Sprintf("%s/notes/%d", mergeRequest(number), id), text, nil)
	}
	return g.do(ctx, "POST", mergeRequest(number)+"/notes", text, nil)
}

// Reply answers a comment on a line that [GitLab.LineComments] found.
func (g *GitLab) Reply(ctx context.Context, number int, to int64, body string) error {
	return g.do(ctx, "POST", mergeRequest(number)+"/discussions/"+url.PathEscape(g.threads[to])+"/notes", map[string]string{"body": body}, nil)
}

// Lines asks the forge which lines its diff of a merge request shows. A file without a diff
// there has none.
func (g *GitLab) Lines(ctx context.Context, number int) (Lines, error) {
	lines := Lines{}
	g.files = map[string]gitlabFile{}
	err := each(ctx, g.do, mergeRequest(number)+"/diffs", func(file struct {
		Old  string `json:"old_path"`
		New  string `json:"new_path"`
		Diff string
	}) {
		f := gitlabFile{oldPath: file.Old}
		lines[file.New], f.old = shownLines(file.Diff)
		g.files[file.New] = f
	})
	return lines, err
}

// Review writes comments on lines of a merge request at a commit, each as a thread, after
// [GitLab.Pull] and [GitLab.Lines]. A comment on several lines stands at the last of them:
// a suggestion counts from there.
func (g *GitLab) Review(ctx context.Context, number int, head, _ string, comments []OnLines) error {
	for _, c := range comments {
		file := g.files[c.Path]
		position := map[string]any{"position_type": "text", "base_sha": g.refs.Base, "start_sha": g.refs.Start, "head_sha": head,
			"old_path": file.oldPath, "new_path": c.Path, "new_line": c.To}
		if line, same := file.old[c.To]; same {
			position["old_line"] = line
		}
		if err := g.do(ctx, "POST", mergeRequest(number)+"/discussions", map[string]any{"body": c.Body, "position": position}, nil); err != nil {
			return err
		}
	}
	return nil
}

// Threads are the conversations about lines of a merge request.
func (g *GitLab) Threads(ctx context.Context, number int) (list []Thread, err error) {
	err = g.discussions(ctx, number, func(d discussion) {
		list = append(list, Thread{ID: mergeRequest(number) + "/discussions/" + url.PathEscape(d.ID), Resolved: d.Notes[0].Resolved, First: d.Notes[0].ID})
	})
	return list, err
}

// Resolve marks a conversation as resolved.
func (g *GitLab) Resolve(ctx context.Context, thread string) error {
	return g.do(ctx, "PUT", thread, map[string]any{"resolved": true}, nil)
}

// maxDescription is how many characters the description of a status has.
const maxDescription = 255

// WriteCheck makes a status of a commit, which fails the pipeline unless the review passed or
// there is none.
func (g *GitLab) WriteCheck(ctx context.Context, c Check) error {
	state := map[string]string{"success": "success", "neutral": "skipped"}[c.Conclusion]
	title := []rune(c.Title)
	body := map[string]any{"state": cmp.Or(state, "failed"), "name": c.Name, "description": string(title[:min(len(title), maxDescription)])}
	if id, err := strconv.ParseInt(g.Pipeline, 10, 64); err == nil {
		body["pipeline_id"] = id
	}
	return g.do(ctx, "POST", "/statuses/"+c.Head, body, nil)
}

// Page is the address of lines of a file at a commit.
func (g *GitLab) Page(head, file string, from, to int) string {
	if g.URL == "" {
		return ""
	}
	address := g.URL + "/-/blob/" + head + escapedPath(file)
	if from > 0 {
		address += fmt.Sprintf("#L%d", from)
	}
	if to > from {
		address += fmt.Sprintf("-%d", to)
	}
	return address
}

// SuggestionWord follows the fence of a suggestion that replaces the line of its comment and
// those before it.
func (g *GitLab) SuggestionWord(lines int) string { return fmt.Sprintf("suggestion:-%d+0", lines-1) }

// Host is what the review of a pull request, or merge request, is published on.
type Host interface {
	Pull(ctx context.Context, number int) (Pull, error)
	Me(ctx context.Context) (string, error)
	Reported(ctx context.Context, head string) ([]Reported, error)

	Comments(ctx context.Context, number int, author string) ([]Comment, error)
	LineComments(ctx context.Context, number int, author string) ([]Comment, error)
	WriteComment(ctx context.Context, number int, id int64, body string) error
	Reply(ctx context.Context, number int, to int64, body string) error

	Lines(ctx context.Context, number int) (Lines, error)
	Review(ctx context.Context, number int, head, body string, comments []OnLines) error
	Threads(ctx context.Context, number int) ([]Thread, error)
	Resolve(ctx context.Context, thread string) error

	WriteCheck(ctx context.Context, c Check) error

	// Page is the address at which people see lines of a file as it is at a commit, "" where
	// that is not known.
	Page(head, file string, from, to int) string
	// SuggestionWord follows the fence of a suggestion for so many lines.
	SuggestionWord(lines int) string
}

// HostFromEnv is the forge that the environment of a job names: GitLab where that has its
// API, else GitHub. It returns INVALID_ARGS.
func HostFromEnv(getenv func(string) string, call archive.Call) (Host, error) {
	if getenv("CI_API_V4_URL") == "" || getenv("GITHUB_API_URL") != "" {
		f, err := FromEnv(getenv)
		if err != nil {
			return nil, err
		}
		f.Call = call
		return f, nil
	}
	g := &GitLab{API: strings.TrimSuffix(getenv("CI_API_V4_URL"), "/"), Project: getenv("CI_PROJECT_ID"), URL: getenv("CI_PROJECT_URL"), Pipeline: getenv("CI_PIPELINE_ID"), Token: getenv("GITLAB_TOKEN"), Call: call}
	if err := checkAddress("CI_API_V4_URL", g.API); err != nil {
		return nil, err
	}
	for name, value := range map[string]string{"CI_PROJECT_ID": g.Project, "CI_PIPELINE_ID": cmp.Or(g.Pipeline, "1")} {
		if !digits().MatchString(value) {
			return nil, tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs(name, tidegate.Cut(value)), "%s must be a number, got %q", name, tidegate.Cut(value))
		}
	}
	if g.Token == "" {
		return nil, tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("GITLAB_TOKEN", nil), "GITLAB_TOKEN is not set: it is a token of the project with the scope api, because that of a job may not comment")
	}
	return g, nil
}

var digits = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[1-9][0-9]{0,17}$`) })
