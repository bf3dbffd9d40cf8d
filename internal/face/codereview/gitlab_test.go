package codereview

import (
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/test/fakeforge"
	"github.com/tidegate/tidegate/internal/test/golden"
	"github.com/tidegate/tidegate/review"
)

// onGitLab is a merge request, and how commands reach it.
type onGitLab struct {
	*fakeforge.GitLab
	onForge
}

func newGitLab(t *testing.T) *onGitLab {
	t.Helper()
	g := &onGitLab{GitLab: &fakeforge.GitLab{Number: 12, Head: head1, Base: base0, Start: base1, Author: "octocat", Diffs: newForge(t).Patches}}
	server := httptest.NewServer(g.GitLab)
	t.Cleanup(server.Close)
	g.env = map[string]string{"CI_API_V4_URL": server.URL + "/api/v4", "CI_PROJECT_ID": "42", "CI_PIPELINE_ID": "9", "CI_PROJECT_URL": "https://gitlab.example/owner/name", "GITLAB_TOKEN": fakeforge.Token}
	g.t, g.e = t, commandsOn(t, g.env)
	return g
}

// shown is everything that the merge request shows.
func (g *onGitLab) shown() string {
	var b strings.Builder
	for _, c := range g.Notes {
		fmt.Fprintf(&b, "==== note %d of %s\n%s\n", c.ID, c.User, c.Body)
	}
	for _, t := range g.Threads {
		fmt.Fprintf(&b, "==== thread on %s, line %d, %d before, resolved %t\n", t.Path, t.NewLine, t.OldLine, t.Resolved)
		for _, c := range t.Notes {
			fmt.Fprintf(&b, "---- %d of %s\n%s\n", c.ID, c.User, c.Body)
		}
	}
	for _, c := range g.Statuses {
		fmt.Fprintf(&b, "==== status %s of %s: %s, %s\n", c.Name, c.Head, c.Conclusion, c.Title)
	}
	return b.String()
}

// TestPublishOnGitLab writes a review to a merge request, and the next one after it: one note
// that is updated, each finding once on its line, a reply to what is gone, and a status.
// Comments of others with our marks are left alone.
func TestPublishOnGitLab(t *testing.T) {
	g := newGitLab(t)
	g.Notes = append(g.Notes, fakeforge.Comment{ID: 2, User: "mallory", Body: "<!-- tidegate review review " + head1 + " -->\nmine"})
	g.Threads = append(g.Threads, fakeforge.GitLabThread{ID: strings.Repeat("f", 40), Path: "main.go", NewLine: 4, Notes: []fakeforge.Comment{{ID: 3, User: "mallory", Body: "<!-- tidegate finding review aaaaaaaaaaaa -->\nmine"}}})
	first := found(head1)
	first.Findings = append(first.Findings, finding("999999999999", review.Issue{Title: "On a line that did not change", Severity: review.Low, Category: "Style", File: "main.go", Line: line(23), Description: "/close\n\n/merge now, see !12 and &3."}))
	if stderr := g.publish(first); stderr != "" {
		t.Errorf("warned of %s", stderr)
	}
	golden.Check(t, "testdata/comments/gitlab.txt", []byte(g.shown()))
	before := g.shown()
	g.Statuses = nil
	g.publish(first)
	if got := g.shown(); got != before {
		t.Errorf("the same review again:\n%s", cmp.Diff(before, got))
	}
	g.GitLab.Head = head2
	if stderr := g.publish(passed(head2), "resolve-threads=true"); stderr != "" {
		t.Errorf("warned of %s", stderr)
	}
	golden.Check(t, "testdata/comments/gitlab-second.txt", []byte(g.shown()))
}

// TestGitLabRefuses: what it refuses is a warning, and what the environment lacks is named.
func TestGitLabRefuses(t *testing.T) {
	for _, test := range []struct {
		method, path, warning  string
		threads, notes, status int
	}{
		{"POST", "/discussions", "the comments on lines are not written, the summary has them", 0, 1, 1},
		{"POST", "/notes", "the summary is not written", 2, 0, 1},
		{"POST", "/statuses/" + head1, "the check is not written", 2, 1, 0},
		{"GET", "/user", "no comment is written", 0, 0, 1},
		{"GET", "/diffs", "no comment on lines is written", 0, 1, 1},
		{"GET", "/merge_requests/12", "no comment is written", 0, 0, 1},
	} {
		g := newGitLab(t)
		g.GitLab.Refuse = func(method, path string) int {
			if method == test.method && strings.HasSuffix(path, test.path) {
				return 403
			}
			return 0
		}
		stderr := g.publish(found(head1))
		if !strings.Contains(stderr, test.warning) || strings.Contains(stderr, fakeforge.Token) || len(g.Threads) != test.threads || len(g.Notes) != test.notes || len(g.Statuses) != test.status {
			t.Errorf("%s %s: %d threads, %d notes, %d statuses; warned of\n%s", test.method, test.path, len(g.Threads), len(g.Notes), len(g.Statuses), stderr)
		}
	}
	for name, value := range map[string]string{"CI_API_V4_URL": "gitlab", "CI_PROJECT_ID": "../1", "CI_PIPELINE_ID": "x", "GITLAB_TOKEN": ""} {
		g := newGitLab(t)
		g.env[name] = value
		_, _, err := g.run(commands.reviewPublish, nil, "number=12", "head="+head1, "not-reviewed=no quota")
		if tidegate.CodeOf(err) != tidegate.InvalidArgs || !strings.Contains(err.Error(), name) || len(g.GitLab.Asked) > 0 {
			t.Errorf("%s=%q: %v", name, value, err)
		}
	}
}

// TestGitLabWithoutAReview: the status of a commit that could not be reviewed.
func TestGitLabWithoutAReview(t *testing.T) {
	for conclusion, state := range map[string]string{"neutral": "skipped", "failure": "failed", "action_required": "failed"} {
		g := newGitLab(t)
		if _, stderr, err := g.run(commands.reviewPublish, nil, "number=12", "head="+head1, "not-reviewed=no quota", "conclusion="+conclusion); err != nil || stderr != "" {
			t.Fatal(err, stderr)
		}
		if len(g.Statuses) != 1 || g.Statuses[0].Conclusion != state || len(g.Notes) > 0 {
			t.Errorf("%s: %+v", conclusion, g.Statuses)
		}
	}
}
