package forge

import (
	"context"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/review"
)

// Comment is a comment on a pull request or, with a Path, on lines of its diff.
type Comment struct {
	ID      int64
	Author  string
	Body    string
	Path    string
	ReplyTo int64 // the comment that it answers, 0 for none
}

type commentAnswer struct {
	ID      int64
	User    user
	Body    string
	Path    string
	ReplyTo int64 `json:"in_reply_to_id"`

	Commit    string `json:"commit_id"`
	CreatedAt string `json:"created_at"`
	UpdatedAt string `json:"updated_at"`
}

func (f *Forge) comments(ctx context.Context, path, author string) ([]Comment, error) {
	var list []Comment
	err := each(ctx, f.do, path, func(c commentAnswer) {
		if c.User.Login == author {
			list = append(list, Comment{c.ID, c.User.Login, c.Body, c.Path, c.ReplyTo})
		}
	})
	return list, err
}

// Comments are the comments of an author on a pull request, the oldest first.
func (f *Forge) Comments(ctx context.Context, number int, author string) ([]Comment, error) {
	return f.comments(ctx, fmt.Sprintf("/issues/%d/comments", number), author)
}

// LineComments are the comments of an author on lines of a pull request, the oldest
// first.
func (f *Forge) LineComments(ctx context.Context, number int, author string) ([]Comment, error) {
	return f.comments(ctx, fmt.Sprintf("/pulls/%d/comments", number), author)
}

// WriteComment writes a comment on a pull request, in the place of the one with the id,
// where that is not 0.
func (f *Forge) WriteComment(ctx context.Context, number int, id int64, body string) error {
	if id != 0 {
		return f.do(ctx, "PATCH", fmt.Sprintf("/issues/comments/%d", id), map[string]string{"body": body}, nil)
	}
	return f.do(ctx, "POST", fmt.Sprintf("/issues/%d/comments", number), map[string]string{"body": body}, nil)
}

// Reply answers a comment on a line.
func (f *Forge) Reply(ctx context.Context, number int, to int64, body string) error {
	return f.do(ctx, "POST", fmt.Sprintf("/pulls/%d/comments/%d/replies", number, to), map[string]string{"body": body}, nil)
}

// OnLines is a comment on the lines From to To of the later version of a file.
type OnLines struct {
	Path     string
	From, To int
	Body     string
}

// Review writes comments on lines as one review of a pull request at a commit.
func (f *Forge) Review(ctx context.Context, number int, head, body string, comments []OnLines) error {
	type comment struct {
		Path      string `json:"path"`
		Body      string `json:"body"`
		StartLine int    `json:"start_line,omitzero"`
		StartSide string `json:"start_side,omitzero"`
		Line      int    `json:"line"`
		Side      string `json:"side"`
	}
	list := []comment{}
	for _, c := range comments {
		one := comment{Path: c.Path, Body: c.Body, Line: c.To, Side: "RIGHT"}
		if c.From < c.To {
			one.StartLine, one.StartSide = c.From, "RIGHT"
		}
		list = append(list, one)
	}
	return f.do(ctx, "POST", fmt.Sprintf("/pulls/%d/reviews", number), map[string]any{"commit_id": head, "event": "COMMENT", "body": body, "comments": list}, nil)
}

// Lines are the lines of the later version that the diff of a pull request shows, by
// file: the number of the hunk that each stands in, from 1.
type Lines map[string]map[int]int

// Has reports whether the diff shows all lines of a file from one to another, in one
// hunk.
func (l Lines) Has(file string, from, to int) bool {
	hunk := l[file][from]
	for line := from; line <= to; line++ {
		if l[file][line] != hunk {
			return false
		}
	}
	return hunk > 0 && from <= to
}

// Lines asks the forge which lines its diff of a pull request shows. A file without a
// diff there has none.
func (f *Forge) Lines(ctx context.Context, number int) (Lines, error) {
	lines := Lines{}
	err := each(ctx, f.do, fmt.Sprintf("/pulls/%d/files", number), func(file struct{ Filename, Patch string }) {
		lines[file.Filename], _ = shownLines(file.Patch)
	})
	return lines, err
}

var hunkHead = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^@@ -([0-9]{1,9})(?:,[0-9]+)? \+([0-9]{1,9})(?:,[0-9]+)? @@`)
})

// shownLines are the lines of the later version that a diff of a file shows, with their hunks,
// and of those that did not change the lines of the earlier version.
func shownLines(patch string) (lines, old map[int]int) {
	lines, old = map[int]int{}, map[int]int{}
	hunk, from, at := 0, 0, 0
	for text := range strings.SplitSeq(patch, "\n") {
		if m := hunkHead().FindStringSubmatch(text); m != nil {
			hunk++
			from, _ = strconv.Atoi(m[1]) // nine digits
			at, _ = strconv.Atoi(m[2])
			continue
		}
		if hunk == 0 || text == "" {
			continue
		}
		switch text[0] {
		case ' ':
			lines[at], old[at] = hunk, from
			at, from = at+1, from+1
		case '+':
			lines[at] = hunk
			at++
		case '-':
			from++
		}
	}
	return lines, old
}

// Thread is a conversation about lines.
type Thread struct {
	ID       string
	Resolved bool
	First    int64 // the id of its first comment
}

// Threads are the conversations about lines of a pull request.
func (f *Forge) Threads(ctx context.Context, number int) ([]Thread, error) {
	owner, name, _ := strings.Cut(f.Repository, "/")
	const text = `query($owner: String!, $name: String!, $number: Int!, $after: String) { repository(owner: $owner, name: $name) { pullRequest(number: $number) {
 reviewThreads(first: 100, after: $after) { pageInfo { hasNextPage endCursor } nodes { id isResolved comments(first: 1) { nodes { databaseId } } } } } } }`
	var list []Thread
	variables := map[string]any{"owner": owner, "name": name, "number": number, "after": nil}
	for range maxPages {
		var answer struct {
			Repository struct {
				PullRequest struct {
					ReviewThreads struct {
						PageInfo struct {
							HasNextPage bool
							EndCursor   string
						}
						Nodes []struct {
							ID         string
							IsResolved bool
							Comments   struct{ Nodes []struct{ DatabaseID int64 } }
						}
					}
				}
			}
		}
		if err := f.query(ctx, text, variables, &answer); err != nil {
			return list, err
		}
		threads := answer.Repository.PullRequest.ReviewThreads
		for _, n := range threads.Nodes {
			t := Thread{ID: n.ID, Resolved: n.IsResolved}
			if len(n.Comments.Nodes) > 0 {
				t.First = n.Comments.Nodes[0].DatabaseID
			}
			list = append(list, t)
		}
		if !threads.PageInfo.HasNextPage {
			break
		}
		variables["after"] = threads.PageInfo.EndCursor
	}
	return list, nil
}

// Resolve marks a conversation as resolved.
func (f *Forge) Resolve(ctx context.Context, thread string) error {
	var done struct{}
	return f.query(ctx, "mutation($id: ID!) { resolveReviewThread(input: {threadId: $id}) { thread { id } } }", map[string]any{"id": thread}, &done)
}

// Check is a check of a commit, as the forge shows it beside others.
type Check struct {
	Name, Head  string
	Conclusion  string // success, failure, neutral or action_required
	Title, Text string
	State       *State
}

// WriteCheck makes a check.
func (f *Forge) WriteCheck(ctx context.Context, c Check) error {
	body := map[string]any{"name": c.Name, "head_sha": c.Head, "status": "completed", "conclusion": c.Conclusion, "output": map[string]string{"title": c.Title, "summary": c.Text}}
	if c.State != nil {
		body["external_id"] = c.State.String()
	}
	return f.do(ctx, "POST", "/check-runs", body, nil)
}

// Reported is how a workflow of the change itself ended. The change can make it say
// anything.
type Reported struct{ Name, Conclusion string }

// Reported are the workflows that ran for a commit as its pull request has them, the
// newest of each name. One that goes on has no conclusion.
func (f *Forge) Reported(ctx context.Context, head string) ([]Reported, error) {
	var answer struct {
		Runs []Reported `json:"workflow_runs"`
	}
	err := f.do(ctx, "GET", fmt.Sprintf("/actions/runs?event=pull_request&head_sha=%s&per_page=%d", head, perPage), nil, &answer)
	var list []Reported
	for _, r := range answer.Runs {
		if !slices.ContainsFunc(list, func(known Reported) bool { return known.Name == r.Name }) {
			list = append(list, r)
		}
	}
	return list, err
}

// Dismissal is a comment by which a member of the repository dismisses a finding.
type Dismissal struct {
	Finding  string `json:"finding"` // its id
	About           // as the comment that it answers has it
	Reason   string `json:"reason"` // data of whoever wrote it
	Comment  int64  `json:"comment_id"`
	Author   int64  `json:"author_id"`
	Digest   string `json:"body_digest"`
	Commit   string `json:"commit"`    // that the comment was about
	ByAuthor bool   `json:"by_author"` // of the pull request, who may not dismiss what is High
}

// About is what a dismissal of a finding holds for, whatever its title.
type About struct {
	File     string          `json:"file,omitempty"`
	Category string          `json:"category,omitempty"`
	Severity review.Severity `json:"severity,omitempty"`
	Quote    string          `json:"quote,omitempty"`
}

// dismissWord begins the first line of a comment that dismisses.
const dismissWord = "tidegate: dismiss "

// longestReason is how many characters a reason has.
const longestReason = 500

// mayDismiss are the permissions of those who may dismiss.
var mayDismiss = []string{"write", "maintain", "admin"}

// Dismissals are the dismissals in the conversations of a pull request that the user me
// began about a finding, which findingOf reads from the first comment: answers of persons
// who may write to the repository while they are read, and who did not edit them since.
// Resolving a conversation dismisses nothing. Not says what does not count, and why.
func (f *Forge) Dismissals(
	ctx context.Context, pull Pull, me string, findingOf func(body string) (id string, about About),
) (list []Dismissal, not []string, err error) {
	var all []commentAnswer
	keep := func(c commentAnswer) { all = append(all, c) }
	if err := each(ctx, f.do, fmt.Sprintf("/pulls/%d/comments", pull.Number), keep); err != nil {
		return nil, nil, err
	}
	permissions := map[string]string{}
	for _, c := range all {
		first, _, _ := strings.Cut(c.Body, "\n")
		reason, dismisses := strings.CutPrefix(strings.TrimSpace(first), dismissWord)
		at := slices.IndexFunc(all, func(root commentAnswer) bool { return root.ID == c.ReplyTo })
		if !dismisses || at < 0 || all[at].User.Login != me || all[at].ReplyTo != 0 {
			continue
		}
		id, about := findingOf(all[at].Body)
		if id == "" {
			continue
		}
		if _, known := permissions[c.User.Login]; !known && c.User.Type == "User" {
			if permissions[c.User.Login], err = f.permission(ctx, c.User.Login); err != nil {
				return nil, nil, err
			}
		}
		why := ""
		switch reason = strings.TrimSpace(reason); {
		case reason == "":
			why = "it says no reason"
		case utf8.RuneCountInString(reason) > longestReason:
			why = fmt.Sprintf("its reason has more than %d characters", longestReason)
		case c.User.Type != "User":
			why = "its author is no person"
		case !slices.Contains(mayDismiss, permissions[c.User.Login]):
			why = "its author may not write to the repository"
		case c.CreatedAt != c.UpdatedAt:
			why = "it was edited; a comment of its own says it again"
		}
		if why != "" {
			not = append(not, fmt.Sprintf("the comment %d of %s dismisses nothing: %s", c.ID, c.User.Login, why))
			continue
		}
		list = append(list, Dismissal{Finding: id, About: about, Reason: reason, Comment: c.ID, Author: c.User.ID,
			Digest: codec.DigestBytes([]byte(c.Body)), Commit: c.Commit,
			ByAuthor: c.User.ID == pull.AuthorID})
	}
	return list, not, nil
}

// permission is what a user may do with the repository; none for a stranger.
func (f *Forge) permission(ctx context.Context, login string) (string, error) {
	var answer struct{ Permission string }
	err := f.do(ctx, "GET", "/collaborators/"+url.PathEscape(login)+"/permission", nil, &answer)
	if tidegate.CodeOf(err) == tidegate.FileNotFound {
		return "none", nil
	}
	return answer.Permission, err
}
