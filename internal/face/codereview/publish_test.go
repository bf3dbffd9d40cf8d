package codereview

import (
	"bytes"
	"context"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/agent/dispatch"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/fetch"
	"github.com/tidegate/tidegate/internal/face/cli"
	"github.com/tidegate/tidegate/internal/test/fakeforge"
	"github.com/tidegate/tidegate/internal/test/golden"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/test/repo"
	"github.com/tidegate/tidegate/internal/work/change"
	"github.com/tidegate/tidegate/internal/work/forge"
	"github.com/tidegate/tidegate/review"
)

var (
	head1 = strings.Repeat("1a", 20)
	head2 = strings.Repeat("2b", 20)
	base0 = strings.Repeat("0c", 20)
	base1 = strings.Repeat("0d", 20)
)

// onForge is a pull request on a forge, and how commands reach it.
type onForge struct {
	before string // the file with the review before
	*fakeforge.Forge
	t   *testing.T
	env map[string]string
	e   commands
}

func newForge(t *testing.T) *onForge {
	t.Helper()
	f := &fakeforge.Forge{Number: 12, Head: head1, HeadOwner: "octocat", HeadRef: "topic", Base: base0, BaseRef: "main", Author: "octocat", Association: "MEMBER", Title: "Add login",
		Patches: map[string]string{
			"main.go":         "@@ -1,3 +1,6 @@\n package main\n \n-func main() {}\n+func main() {\n+\tlogin()\n+\tserve()\n+}\n@@ -20,2 +23,2 @@ func late\n a\n-b\n+c",
			"docs/a (b) c.md": "@@ -0,0 +1,2 @@\n+one\n+two",
		},
		Runs: []fakeforge.Run{{ID: 77, Workflow: 5, Event: "pull_request_target", Head: base0, Name: "Review"}, {ID: 78, Workflow: 6, Event: "pull_request", Head: head1, Name: "Tests of @octocat", Ended: "success"},
			{ID: 79, Workflow: 8, Event: "pull_request", Head: head1, Name: "Lint"}},
	}
	server := httptest.NewServer(f)
	t.Cleanup(server.Close)
	f.URL = server.URL
	env := map[string]string{"GITHUB_API_URL": server.URL, "GITHUB_GRAPHQL_URL": server.URL + "/graphql", "GITHUB_REPOSITORY": "owner/name", "GITHUB_SERVER_URL": "https://github.example",
		"GITHUB_RUN_ID": "77", "GITHUB_TOKEN": fakeforge.Token}
	return &onForge{Forge: f, t: t, env: env, e: commandsOn(t, env)}
}

// commandsOn are the commands in a job that has an environment, and asks its forge without
// a pause.
func commandsOn(t *testing.T, env map[string]string) commands {
	limits := fetch.DefaultLimits
	limits.Spacing = 0
	client := fetch.New(fetch.Options{Limits: limits})
	t.Cleanup(client.Close)
	return commands{&dispatch.Env{Now: time.Now, Getenv: func(name string) string { return env[name] }, Call: client.Call}}
}

// run runs a command and returns what it printed.
func (f *onForge) run(do func(commands, context.Context, cli.Invocation) error, args []string, flags ...string) (stdout, stderr string, err error) {
	f.t.Helper()
	var out, errs bytes.Buffer
	call := cli.Invocation{Args: args, Flags: map[string][]string{"name": {"review"}, "conclusion": {"failure"}}, Program: cli.Program{Stdout: &out, Stderr: &errs}}
	for _, flag := range flags {
		name, value, _ := strings.Cut(flag, "=")
		call.Flags[name] = []string{value}
	}
	err = do(f.e, context.Background(), call)
	return out.String(), errs.String(), err
}

func (f *onForge) publish(r ReviewRun, flags ...string) (stderr string) {
	f.t.Helper()
	path := filepath.Join(f.t.TempDir(), "review.json")
	data, err := codec.MarshalLine(r)
	if err == nil {
		err = os.WriteFile(path, data, 0o600)
	}
	if err != nil {
		f.t.Fatal(err)
	}
	_, stderr, err = f.run(commands.reviewPublish, []string{path}, append([]string{"number=12", "head=" + *r.Head, "state=9@sha256:" + strings.Repeat("ab", 32)}, flags...)...)
	if err != nil {
		f.t.Fatalf("%v\n%s", err, stderr)
	}
	return stderr
}

// dump is everything that the pull request shows.
func (f *onForge) dump() string {
	var b strings.Builder
	for _, c := range f.Comments {
		fmt.Fprintf(&b, "==== comment %d of %s\n%s\n", c.ID, c.User, c.Body)
	}
	for _, text := range f.Reviews {
		fmt.Fprintf(&b, "==== review\n%s\n", text)
	}
	for _, c := range f.LineComments {
		fmt.Fprintf(&b, "==== comment %d of %s on %s, lines %d-%d, reply to %d, resolved %t\n%s\n", c.ID, c.User, c.Path, c.StartLine, c.Line, c.ReplyTo, c.Resolved, c.Body)
	}
	for _, c := range f.Checks {
		fmt.Fprintf(&b, "==== check %s of %s: %s, %s, state %q\n", c.Name, c.Head, c.Conclusion, c.Title, c.ExternalID)
	}
	return b.String()
}

func line(n int64) *int64 { return &n }

func finding(id string, i review.Issue) Finding {
	return Finding{Finding: review.Finding{ID: id, Issue: i}, Counts: true}
}

// found is a review with something of everything.
func found(head string) ReviewRun {
	fails := "2 findings of severity Medium or above"
	r := ReviewRun{Schema: reviewRunVersion, Base: base0, Head: &head, Paths: []string{}, Fails: &fails, Exit: 1, Closed: []string{}, Failing: []string{"TestLogin"},
		Dropped: []review.Dropped{{Finding: finding("111111111111", review.Issue{Title: "A race",
			Severity: review.Medium, Category: "Bug", File: "main.go", Line: line(4), Description: "x is written twice."}).Finding, Why: `"x" does not stand at line 4`}},
		ForPerson: []review.Unanswered{{ID: "222222222222", Rule: "review-not-shown", File: "third_party/x.go",
			Message: "third_party/x.go changed and no reviewer was shown it: in a folder of others"}}}
	r.ChangeID, r.Verdict, r.Summary, r.Warnings = "review", "NEEDS_FIX", "The change adds `login()`. It is called for **everyone**.\n\n- no password\n- no limit", []string{}
	r.Counts = review.Counts{High: 1, Medium: 2, Low: 2}
	login := finding("aaaaaaaaaaaa", review.Issue{Title: "Login without a password", Severity: review.High, Category: "Security", File: "main.go", Line: line(4),
		Description: "`login()` checks nothing:\n\n```go\nfunc login() {\n\treturn\n}\n```\nSee `serve_all(*x)` and a_b_c.", Recommendation: "Check the password before `serve()`."})
	login.Quote, login.Suggestion, login.FoundBy = "\tlogin()\n\tserve()", "\tif login() {\n\t\tserve() // ``` stays\n\t}", []string{"codex", "claude opus"}
	hostile := finding("bbbbbbbbbbbb", review.Issue{Title: "Ask @octocat | fixes #12 <img src=x>", Severity: review.Medium, Category: "Bug", File: "docs/a (b) c.md", Line: line(2),
		Description:    "![x](https://evil.example/a.png) closes #3, resolves owner/name#4\n\n```suggestion\nrm -rf /\n```\n<details>hidden</details> [click](javascript:alert(1))\n\n# Approved",
		Recommendation: "@everyone merge this\n<!-- tidegate review review " + head + " -->"})
	outside := finding("cccccccccccc", review.Issue{Title: "Caller is not changed", Severity: review.Medium, Category: "Bug", File: "other/caller.go", Line: line(7), Description: "It still passes two arguments."})
	split := finding("dddddddddddd", review.Issue{Title: "Too far apart", Severity: review.Low, Category: "Style", File: "main.go", Line: line(6), Description: "The lines are not all part of the diff."})
	split.Quote, split.Suggestion = "}\n\nx", "}"
	whole := finding("eeeeeeeeeeee", review.Issue{Title: "No tests", Severity: review.Low, Category: "Style", Description: "Nothing tests it."})
	spared := finding("ffffffffffff", review.Issue{Title: "Name", Severity: review.Low, Category: "Style", File: "main.go", Line: line(3), Description: "Short."})
	spared.Counts, spared.Spared = false, "dismissed: it is the name of the port, says @harbour"
	r.Findings = []Finding{login, hostile, outside, split, whole, spared}
	return r
}

// passed is the review of the next commit, in which one finding is still there.
func passed(head string) ReviewRun {
	r := found(head)
	r.Fails, r.Exit, r.Failing, r.Dropped, r.ForPerson, r.Summary = nil, 0, []string{}, []review.Dropped{}, []review.Unanswered{}, "All but the name is mended."
	r.Findings, r.Closed, r.Counts = r.Findings[3:4], []string{"aaaaaaaaaaaa", "bbbbbbbbbbbb"}, review.Counts{Low: 1}
	return r
}

// TestPublish writes a review to a pull request, and the next one after it: one summary
// that is updated, each finding once, a reply to what is gone. Comments of others with
// our marks are left alone.
func TestPublish(t *testing.T) {
	f := newForge(t)
	f.Comments = append(f.Comments, fakeforge.Comment{ID: 1, User: "mallory", Body: "<!-- tidegate review review " + head1 + " -->\nmine"})
	f.LineComments = append(f.LineComments, fakeforge.Comment{ID: 2, User: "mallory", Path: "main.go", Line: 3, Body: "<!-- tidegate finding review aaaaaaaaaaaa -->\nmine"},
		fakeforge.Comment{ID: 3, User: "mallory", Path: "main.go", Line: 3, Body: "<!-- tidegate finding review 999999999999 -->\nmine"})
	if stderr := f.publish(found(head1)); stderr != "" {
		t.Errorf("warned of %s", stderr)
	}
	golden.Check(t, "testdata/comments/first.txt", []byte(f.dump()))
	// Nothing is said twice.
	before := f.dump()
	f.Checks = nil
	f.publish(found(head1))
	if got := f.dump(); got != before {
		t.Errorf("the same review again:\n%s", cmp.Diff(before, got))
	}
	f.Head = head2
	if stderr := f.publish(passed(head2), "resolve-threads=true"); stderr != "" {
		t.Errorf("warned of %s", stderr)
	}
	golden.Check(t, "testdata/comments/second.txt", []byte(f.dump()))
	// What comes back is said again, because its conversation is closed.
	f.Head = head1
	n := len(f.LineComments)
	f.publish(found(head1))
	if got := len(f.LineComments) - n; got != 2 {
		t.Errorf("%d comments on what came back", got)
	}
}

// TestPublishManyFindings: at most thirty comments on lines, the rest in a summary that
// the forge takes.
func TestPublishManyFindings(t *testing.T) {
	f := newForge(t)
	var patch strings.Builder
	fmt.Fprintf(&patch, "@@ -0,0 +1,%d @@", 400)
	for range 400 {
		patch.WriteString("\n+x")
	}
	f.Patches["many.go"] = patch.String()
	r := found(head1)
	r.Findings = nil
	for n := range 300 {
		r.Findings = append(r.Findings, finding(fmt.Sprintf("%012x", n), review.Issue{Title: fmt.Sprintf("Finding %d", n), Severity: review.Medium, Category: "Bug", File: "many.go", Line: line(int64(n + 1)), Description: strings.Repeat("Words about it. ", 40)}))
	}
	if stderr := f.publish(r); stderr != "" {
		t.Errorf("warned of %s", stderr)
	}
	if len(f.LineComments) != 30 || len(f.Comments) != 1 || len(f.Reviews) != 1 || !strings.Contains(f.Comments[0].Body, "of 300 findings are left out here") {
		t.Errorf("%d comments on lines, %d reviews, %d comments\n%.2000s", len(f.LineComments), len(f.Reviews), len(f.Comments), f.dump())
	}
	// The next commit adds none while these are open, and one for one that is closed.
	f.Head = head2
	r.Head = &head2
	f.publish(r)
	if len(f.LineComments) != 30 || len(f.Comments) != 1 {
		t.Errorf("%d comments on lines and %d comments after the next", len(f.LineComments), len(f.Comments))
	}
	r.Findings = r.Findings[1:]
	f.publish(r)
	if len(f.LineComments) != 32 || f.LineComments[30].ReplyTo == 0 || len(f.Reviews) != 2 {
		t.Errorf("%d comments on lines after one was closed: %+v", len(f.LineComments), f.LineComments[30:])
	}
}

// TestPublishWhereTheForgeRefuses: what the forge refuses is a warning; everything else
// is written, and the command ends well.
func TestPublishWhereTheForgeRefuses(t *testing.T) {
	for _, test := range []struct {
		name          string
		method, path  string
		status        int
		warning       string
		lines, others int // comments that are written all the same
		check         bool
	}{
		{"reviews are forbidden", "POST", "/reviews", 403, "the comments on lines are not written, the summary has them: the forge does not answer POST /pulls/12/reviews: 403 Resource not accessible", 0, 1, true},
		{"reviews fail", "POST", "/reviews", 502, "the summary has them", 0, 1, true},
		{"no comment is allowed", "POST", "/comments", 403, "the summary is not written", 2, 0, true},
		{"checks are forbidden", "POST", "/check-runs", 403, "the check is not written", 2, 1, false},
		{"the limit is reached", "", "", 429, "the limit of requests is reached", 0, 0, false},
		{"the forge is down", "", "", 500, "500", 0, 0, false},
		{"nobody says whose token it is", "POST", "/graphql", 403, "no comment is written", 0, 0, true},
		{"the diff is not shown", "GET", "/files", 500, "no comment on lines is written", 0, 1, true},
		{"the comments are not shown", "GET", "/issues/12/comments", 500, "the summary is not written", 2, 0, true},
		{"runs are forbidden", "GET", "/actions/runs", 403, "what the change's own workflows report is not known", 2, 1, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := newForge(t)
			f.Refuse = func(method, path string) int {
				if (test.method == "" || method == test.method) && strings.HasSuffix(path, test.path) {
					return test.status
				}
				return 0
			}
			stderr := f.publish(found(head1))
			if !strings.Contains(stderr, test.warning) || strings.Contains(stderr, fakeforge.Token) {
				t.Errorf("warned of\n%s", stderr)
			}
			if len(f.LineComments) != test.lines || len(f.Comments) != test.others || (len(f.Checks) == 1) != test.check {
				t.Errorf("%d comments on lines, %d others, %d checks", len(f.LineComments), len(f.Comments), len(f.Checks))
			}
			if test.lines == 0 && test.others == 1 && !strings.Contains(f.Comments[0].Body, "`login()` checks nothing") {
				t.Errorf("the summary lacks what stands on no line:\n%s", f.Comments[0].Body)
			}
		})
	}
}

// TestPublishAfterAnotherPush: a force push or a new commit leaves the comments to the
// review of that.
func TestPublishAfterAnotherPush(t *testing.T) {
	f := newForge(t)
	f.Head = head2
	if stderr := f.publish(found(head1)); !strings.Contains(stderr, "has moved on from 1a1a1a1a1a1a to 2b2b2b2b2b2b") || len(f.Comments)+len(f.LineComments) != 0 || len(f.Checks) != 1 || f.Checks[0].Head != head1 {
		t.Errorf("%s\n%s", stderr, f.dump())
	}
}

func TestPublishWithoutAReview(t *testing.T) {
	f := newForge(t)
	if _, stderr, err := f.run(commands.reviewPublish, nil, "number=12", "head="+head1, "not-reviewed=the quota of the key is used up", "conclusion=neutral"); err != nil || stderr != "" {
		t.Fatal(err, stderr)
	}
	if len(f.Checks) != 1 || f.Checks[0].Conclusion != "neutral" || f.Checks[0].Title != "Not reviewed" || f.Checks[0].Summary != "The quota of the key is used up." || len(f.Comments) != 0 {
		t.Errorf("%+v", f.Checks)
	}
}

// TestPublishRefusesWhatIsNoReview: an artifact is data of another job.
func TestPublishRefusesWhatIsNoReview(t *testing.T) {
	good := must.Get(codec.MarshalLine(found(head1)))(t)
	for name, text := range map[string]string{
		"a mark as an id":     strings.Replace(string(good), `"id":"aaaaaaaaaaaa"`, `"id":"a --> <b>"`, 1),
		"a mark as a name":    strings.Replace(string(good), `"change_id":"review"`, `"change_id":"review -->"`, 1),
		"another commit":      strings.ReplaceAll(string(good), head1, head2),
		"another name":        strings.Replace(string(good), `"change_id":"review"`, `"change_id":"other"`, 1),
		"another severity":    strings.Replace(string(good), `"severity":"High"`, `"severity":"Fine"`, 1),
		"a later version":     strings.Replace(string(good), `"review_run.v1"`, `"review_run.v2"`, 1),
		"a key twice":         strings.Replace(string(good), `"exit_status":1`, `"exit_status":1,"exit_status":0`, 1),
		"no JSON":             "hello",
		"an error":            `{"ok":false,"error":{}}`,
		"a base that is none": strings.Replace(string(good), base0, "--upload-pack=x", 1),
	} {
		f := newForge(t)
		path := filepath.Join(t.TempDir(), "review.json")
		if text == string(good) {
			t.Fatalf("%s: nothing was changed", name)
		}
		must.Do(t, os.WriteFile(path, []byte(text), 0o600))
		_, _, err := f.run(commands.reviewPublish, []string{path}, "number=12", "head="+head1)
		if tidegate.CodeOf(err) != tidegate.InvalidArgs || len(f.Asked) != 0 {
			t.Errorf("%s: %v, asked %v", name, err, f.Asked)
		}
	}
}

// TestPull looks a pull request up, for those who may spend something.
func TestPull(t *testing.T) {
	event := func(action, label, head string) string {
		return fmt.Sprintf(`{"action":%q,"label":{"name":%q},"number":12,"pull_request":{"number":12,"head":{"sha":%q}}}`, action, label, head)
	}
	fork := fmt.Sprintf(`{"action":"completed","workflow_run":{"head_sha":%q,"head_branch":"topic","head_repository":{"owner":{"login":"octocat"}},"pull_requests":[]}}`, head1)
	for _, test := range []struct {
		name, event, association, stale string
		want                            string
	}{
		{"a member", event("opened", "", head1), "MEMBER", "", "number=12\nhead=" + head1 + "\nbase=" + base0 + "\nallowed=true\nwhy=\n"},
		{"the event is older than the pull request", event("opened", "", head2), "OWNER", "", "number=12\nhead=" + head1 + "\nbase=" + base0 + "\nallowed=true\nwhy=\n"},
		{"a base that has moved on", event("opened", "", head1), "COLLABORATOR", base1, "base=" + base0 + "\n"},
		{"the workflow of a fork", fork, "MEMBER", "", "number=12\nhead=" + head1},
		{"a stranger", event("opened", "", head1), "FIRST_TIME_CONTRIBUTOR", "", "allowed=false\nwhy=octocat does not belong to the repository: a member who puts the label tidegate-review on the pull request has its last commit reviewed\n"},
		{"a stranger with an old commit", event("synchronize", "tidegate-review", head1), "CONTRIBUTOR", "", "allowed=false\n"},
		{"a label for this commit", event("labeled", "tidegate-review", head1), "NONE", "", "allowed=true\n"},
		{"a label for another commit", event("labeled", "tidegate-review", head2), "NONE", "", "allowed=false\nwhy=the label tidegate-review was for 2b2b2b2b2b2b, and the pull request ends with 1a1a1a1a1a1a\n"},
		{"another label", event("labeled", "bug", head1), "NONE", "", "allowed=false\n"},
		{"a stranger's fork", fork, "NONE", "", "allowed=false\n"},
	} {
		f := newForge(t)
		f.Association, f.StaleBase = test.association, test.stale
		got, _, err := f.pull(test.event)
		if err != nil || !strings.Contains(got, test.want) {
			t.Errorf("%s: %v\n%s", test.name, err, got)
		}
		if strings.Contains(test.want, "allowed=false") && strings.Contains(strings.Join(f.Asked, " "), "graphql") {
			t.Errorf("%s: asked %v", test.name, f.Asked)
		}
	}
	for name, change := range map[string]func(*onForge){
		"another commit of the branch": func(f *onForge) { f.Head = head2 },
		"the forge is down":            func(f *onForge) { f.Refuse = func(string, string) int { return 500 } },
		"the limit is reached":         func(f *onForge) { f.Refuse = func(string, string) int { return 429 } },
	} {
		f := newForge(t)
		change(f)
		if got, _, err := f.pull(fork); err == nil || got != "" {
			t.Errorf("%s: %s", name, got)
		}
	}
}

func (f *onForge) pull(event string) (stdout, stderr string, err error) {
	f.t.Helper()
	path := filepath.Join(f.t.TempDir(), "event.json")
	must.Do(f.t, os.WriteFile(path, []byte(event), 0o600))
	f.env["GITHUB_EVENT_PATH"] = path
	f.before = filepath.Join(filepath.Dir(path), "before.json")
	return f.run(commands.reviewPull, nil, "earlier="+f.before)
}

// TestPullFindsTheReviewBefore: only what the same workflow made for the same pull request
// and commit, as the default branch has it, is gone on from.
func TestPullFindsTheReviewBefore(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(*onForge)
		why    string // "" where the review before counts
	}{
		{"as it should be", func(*onForge) {}, ""},
		{"a force push", func(f *onForge) { f.Head = head2 }, ""},
		{"somebody else's comment", func(f *onForge) { f.Comments[0].User = "mallory" }, "it was not reviewed before"},
		{"a comment of somebody else before ours", func(f *onForge) {
			f.Comments = append([]fakeforge.Comment{{ID: 1, User: "mallory", Body: "<!-- tidegate review review " + head2 + " -->"}}, f.Comments...)
		}, ""},
		{"another name", func(f *onForge) { f.Comments[0].Body = "<!-- tidegate review other " + head1 + " -->" }, "it was not reviewed before"},
		{"a comment that names no commit", func(f *onForge) { f.Comments[0].Body = "<!-- tidegate review review ../../x -->" }, "it was not reviewed before"},
		{"no check", func(f *onForge) { f.Checks = nil }, "the commit has no check of this review"},
		{"an external id that is none", func(f *onForge) { f.Checks[0].ExternalID = "1/../../9@x" }, "the commit has no check of this review"},
		{"the artifact of another pull request", func(f *onForge) { f.Artifacts[0].Name = forge.ArtifactName("review", 13, head1) }, "its artifact is of another review"},
		{"the artifact of an older commit", func(f *onForge) { f.Artifacts[0].Name = forge.ArtifactName("review", 12, head2) }, "its artifact is of another review"},
		{"other bytes", func(f *onForge) { f.Artifacts[0].Zip = fakeforge.Zip("review.json", []byte("{}")) }, "its artifact has another digest"},
		{"expired", func(f *onForge) { f.Artifacts[0].Expired = true }, "its artifact has expired"},
		{"gone", func(f *onForge) { f.Artifacts = nil }, "its artifact is gone"},
		{"another workflow", func(f *onForge) { f.Runs[len(f.Runs)-1].Workflow = 6 }, "another workflow made its artifact"},
		{"a workflow as the pull request has it", func(f *onForge) { f.Runs[len(f.Runs)-1].Event = "pull_request" }, "its workflow ran as the pull request has it"},
		{"an external id of somebody else", func(f *onForge) {
			f.Checks = append(f.Checks, fakeforge.Check{Name: "tidegate review", Head: head1, ExternalID: "78@" + f.Artifacts[0].Digest(), Slug: "other"})
		}, ""},
		{"checks are forbidden", func(f *onForge) {
			f.Refuse = func(_, path string) int {
				if strings.HasSuffix(path, "/check-runs") {
					return 403
				}
				return 0
			}
		}, "the review before cannot be read"},
	} {
		f := newForge(t)
		f.Comments = []fakeforge.Comment{{ID: 4, User: fakeforge.Bot, Body: "<!-- tidegate review review " + head1 + " -->\ntext"}}
		a := fakeforge.Artifact{ID: 9, Name: forge.ArtifactName("review", 12, head1), Zip: fakeforge.Zip("review.json", []byte("{\"a\":1}")), Run: 70}
		f.Artifacts = []fakeforge.Artifact{a}
		f.Checks = []fakeforge.Check{{Name: "tidegate review", Head: head1, ExternalID: "9@" + a.Digest(),
			Slug: "github-actions"}}
		f.Runs = append(f.Runs, fakeforge.Run{ID: 70, Workflow: 5, Event: "pull_request_target", Head: base0})
		test.change(f)
		got, stderr, err := f.pull(`{"action":"synchronize","pull_request":{"number":12,"head":{"sha":"` + f.Head + `"}}}`)
		before, _ := os.ReadFile(f.before)
		if err != nil || string(before) != map[bool]string{true: "{\"a\":1}"}[test.why == ""] || !strings.Contains(stderr, test.why) {
			t.Errorf("%s: %v, %s\n%s%s", test.name, err, before, got, stderr)
		}
	}
}

// TestSuggestionsShowAllThatTheyDo: one with characters that nobody sees is not offered
// for a click.
func TestSuggestionsShowAllThatTheyDo(t *testing.T) {
	r := found(head1)
	for text, offered := range map[string]bool{"\tx := 1": true, "x := \"\u200b\"": false, "a\u2060b": false, "": false, strings.Repeat("x", 5000): false} {
		f := r.Findings[0]
		f.Suggestion = text
		if got := strings.Contains(r.lineComment(f, "suggestion"), "```suggestion"); got != offered {
			t.Errorf("%.20q: offered %t", text, got)
		}
	}
}

// TestDismissedOnTheForge: who may dismiss a finding in its conversation, and what becomes
// of it.
func TestDismissedOnTheForge(t *testing.T) {
	const finding = "<!-- tidegate finding review aaaaaaaaaaaa -->\nLogin without a password"
	for _, tt := range []struct {
		name, root, author, body string
		edited                   bool
		counts                   bool
		said                     string
	}{
		{"a member", fakeforge.Bot, "harbour", "tidegate: dismiss the caller checks\nmore", false, true, ""},
		{"an admin", fakeforge.Bot, "owner", "tidegate: dismiss it is a test server", false, true, ""},
		{"a reader", fakeforge.Bot, "visitor", "tidegate: dismiss why not", false, false,
			"of visitor dismisses nothing: its author may not write"},
		{"a stranger", fakeforge.Bot, "mallory", "tidegate: dismiss why not", false, false, "its author may not write"},
		{"a bot", fakeforge.Bot, "helper[bot]", "tidegate: dismiss why not", false, false, "its author is no person"},
		{"edited", fakeforge.Bot, "harbour", "tidegate: dismiss the caller checks", true, false, "it was edited"},
		{"no reason", fakeforge.Bot, "harbour", "tidegate: dismiss ", false, false, ""},
		{"too long a reason", fakeforge.Bot, "harbour", "tidegate: dismiss " + strings.Repeat("x", 501), false, false,
			"more than 500 characters"},
		{"not in the first line", fakeforge.Bot, "harbour", "I think\ntidegate: dismiss it", false, false, ""},
		{"in a conversation of somebody else", "mallory", "harbour", "tidegate: dismiss the caller checks", false, false, ""},
	} {
		f := newForge(t)
		f.Permissions = map[string]string{"harbour": "write", "owner": "admin", "visitor": "read", "helper[bot]": "write"}
		f.LineComments = []fakeforge.Comment{{ID: 1, User: tt.root, Path: "main.go", Line: 4, Body: finding, Resolved: true},
			{ID: 2, User: tt.author, Path: "main.go", Line: 4, Body: tt.body, ReplyTo: 1, Edited: tt.edited}}
		path := filepath.Join(t.TempDir(), "decided.json")
		event := filepath.Join(t.TempDir(), "event.json")
		must.Do(t, os.WriteFile(event, []byte(fmt.Sprintf(`{"action":"opened","number":12,"pull_request":{"number":12,"head":{"sha":%q}}}`, head1)), 0o600))
		f.env["GITHUB_EVENT_PATH"] = event
		_, stderr, err := f.run(commands.reviewPull, nil, "decided="+path)
		if err != nil || tt.said != "" && !strings.Contains(stderr, tt.said) {
			t.Errorf("%s: %v, warned of %s", tt.name, err, stderr)
		}
		was := found(head1).Findings[0].Finding // is High
		list, kept, _, err := readDecided(path, []review.Finding{was})
		if err != nil || (len(list) == 1) != tt.counts || len(kept) != len(list) {
			t.Errorf("%s: %+v, %v", tt.name, list, err)
			continue
		}
		if !tt.counts {
			continue
		}
		was.Title = "Another title"
		if holds, _ := list.Of(was); holds == nil || kept[0].Digest != codec.DigestBytes([]byte(tt.body)) ||
			kept[0].Comment != 2 || kept[0].Commit != head1 {
			t.Errorf("%s: %+v, %+v", tt.name, holds, kept)
		}
	}
	// The author of the change dismisses nothing that is High.
	high, low := found(head1).Findings[0].Finding, found(head1).Findings[3].Finding
	path := filepath.Join(t.TempDir(), "decided.json")
	must.Do(t, os.WriteFile(path, must.Get(codec.MarshalFile(decided{decidedSchema, []forge.Dismissal{{Finding: high.ID,
		Reason: "r", Comment: 1, ByAuthor: true}, {Finding: low.ID, Reason: "r", Comment: 2, ByAuthor: true}}}))(t), 0o600))
	list, _, not, err := readDecided(path, []review.Finding{high, low})
	if err != nil || len(list) != 1 || list[0].ID != low.ID || len(not) != 1 {
		t.Errorf("%+v, %v, %v", list, not, err)
	}
	if list, _, _, err = readDecided(path, nil); err != nil || len(list) != 2 || list[0].Severity != review.Medium {
		t.Errorf("of findings that are not known: %+v, %v", list, err)
	}
	// Without the review before, the comment that was answered says what a dismissal holds for.
	said := Finding{Finding: high}
	said.Severity = review.Medium
	id, about := markedFinding(findingMark("review", said)+"\ntext", "review")
	must.Do(t, os.WriteFile(path, must.Get(codec.MarshalFile(decided{decidedSchema, []forge.Dismissal{{Finding: id, About: about, Reason: "r"}}}))(t), 0o600))
	list, _, _, err = readDecided(path, nil)
	said.ID, said.Title = "bbbbbbbbbbbb", "Another title"
	if holds, _ := list.Of(said.Finding); holds == nil || err != nil {
		t.Errorf("under another title: %+v, %v", list, err)
	}
	said.Severity = review.High
	if holds, graver := list.Of(said.Finding); holds != nil || graver == nil {
		t.Errorf("of what is graver: %+v", list)
	}
	said.Severity = "X"
	if id, about := markedFinding(findingMark("review", said), "review"); id != said.ID || about != (forge.About{}) {
		t.Errorf("a severity that is none: %s, %+v", id, about)
	}
}

// TestDismissFromAPullRequest: the review of its last commit comes from the artifact that
// its check names, and what it found is dismissed in any clone.
func TestDismissFromAPullRequest(t *testing.T) {
	f := newForge(t)
	r := found(head1)
	for _, each := range r.Findings {
		r.Issues = append(r.Issues, each.Finding)
	}
	a := fakeforge.Artifact{ID: 9, Name: forge.ArtifactName("review", 12, head1), Zip: fakeforge.Zip("review.json",
		must.Get(codec.MarshalLine(r))(t)), Run: 70}
	f.Artifacts = []fakeforge.Artifact{a}
	f.Checks = []fakeforge.Check{{Name: "tidegate review", Head: head1, ExternalID: "9@" + a.Digest(),
		Slug: "github-actions"}}
	f.Runs = append(f.Runs, fakeforge.Run{ID: 70, Workflow: 5, Event: "pull_request_target", Head: base0})
	f.e.Project = repo.New(t)
	const page = "https://github.example/owner/name/pull/12"
	dismiss := func(from string) error {
		_, _, err := f.run(commands.reviewDismiss, []string{"aaaaaaaaaaaa"}, "from="+from, "reason=the caller checks")
		return err
	}
	if err := dismiss(page); err != nil {
		t.Fatal(err)
	}
	list := must.Get(change.Dismissed(t.Context(), f.e.OwnDesk(), f.e.Project, ""))(t)
	if len(list) != 1 || list[0].Quote != r.Findings[0].Quote || list[0].Severity != review.High ||
		list[0].Reason != "the caller checks" {
		t.Errorf("dismissed are %+v", list)
	}
	if err := dismiss("https://github.example/owner/name/issues/12"); tidegate.CodeOf(err) != tidegate.InvalidArgs {
		t.Errorf("what is no pull request: %v", err)
	}
	f.Artifacts[0].Zip = fakeforge.Zip("review.json", []byte("{}"))
	if err := dismiss(page); tidegate.CodeOf(err) != tidegate.FileNotFound || !strings.Contains(err.Error(),
		"another digest") {
		t.Errorf("another artifact: %v", err)
	}
}
