package engine_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/agent/driver"
	"github.com/tidegate/tidegate/internal/agent/engine"
	"github.com/tidegate/tidegate/internal/agent/job"
	"github.com/tidegate/tidegate/internal/agent/sandbox"
	"github.com/tidegate/tidegate/internal/test/full"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/work/git"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/review"
)

// reviewers are agents that answer with a text.
func reviewers(answer func(ctx context.Context, task driver.Task) (string, error)) *crew {
	return &crew{agent: func(ctx context.Context, task driver.Task) (driver.Answer, error) {
		text, err := answer(ctx, task)
		return driver.Answer{Text: text}, err
	}}
}

// largeChange is a repository in which many files changed.
func largeChange(t *testing.T, files int) string {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git here")
	}
	dir := t.TempDir()
	git := func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-c", "user.name=n", "-c", "user.email=e@example.org"}, args...)...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "HOME="+dir, "GIT_CONFIG_NOSYSTEM=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	git("init", "-q", "-b", "main")
	git("commit", "-q", "--allow-empty", "-m", "first")
	git("checkout", "-q", "-b", "work")
	for i := range files {
		text := strings.Repeat(fmt.Sprintf("line of file %d\n", i), 2000)
		must.Do(t, os.WriteFile(filepath.Join(dir, fmt.Sprintf("file%02d.txt", i)), []byte(text), 0o644))
	}
	return dir
}

func openReview(t *testing.T, project, home string) *engine.Reviewing {
	t.Helper()
	r := must.Get(engine.OpenCodeReview(t.Context(), reviewClock, engine.CodeReviewInput{Project: project, Home: home, Name: "work", Budget: run.DefaultBudget(nil)}))(t)
	t.Cleanup(func() { r.Close() })
	v := must.Get(r.Begin(t.Context()))(t)
	return v
}

var (
	reviewClock = run.Desk{Now: time.Now}
	shownFile   = regexp.MustCompile(`(?m)^==== (file[0-9]+\.txt)`)
)

// nitpick finds one thing in the first file that it is shown, and one that every
// reviewer finds.
func nitpick(_ context.Context, task driver.Task) (string, error) {
	file := shownFile.FindStringSubmatch(task.Prompt)[1]
	verdict := "APPROVED"
	if file == "file00.txt" {
		verdict = "NEEDS_FIX"
	}
	return fmt.Sprintf(`{"change_id":"work","verdict":%q,"summary":"Looked at %s.","issues":[
		{"title":"Repeats itself","severity":"Low","category":"Style","file":%q,"line":2,"description":"Line 2 is line 1."},
		{"title":"No tests","severity":"Medium","category":"Bug","description":"Nothing is tested."}]}`, verdict, file, file), nil
}

// TestLargeReviewIsMerged is about a diff that one prompt does not hold: every file
// is shown to a reviewer, and one review comes out, in which nothing stands twice.
func TestLargeReviewIsMerged(t *testing.T) {
	t.Parallel()
	project, home := largeChange(t, 6), t.TempDir()
	v := openReview(t, project, home)
	if v.Jobs() < 2 {
		t.Fatalf("%d jobs, want several", v.Jobs())
	}
	pool := reviewers(nitpick)
	out := must.Get(v.Drive(t.Context(), engine.Options{Desk: reviewClock, Pool: pool}))(t)
	if out.WaitingFor != engine.ForNothing || out.Review.Verdict != review.NeedsFix || len(out.Review.Issues) != v.Jobs()+1 {
		t.Errorf("got %s, %s and %d issues of %d reviewers: %s", out.WaitingFor, out.Review.Verdict, len(out.Review.Issues), v.Jobs(), out.Reason)
	}
	kept, err := os.ReadFile(filepath.Join(v.Path(), "REVIEW.md"))
	if err != nil || string(kept) != string(review.Format(out.Review, out.Warnings)) {
		t.Errorf("the kept review is another one: %v\n%s", err, kept)
	}
	// The next one is a review of its own.
	if again := openReview(t, project, home); again.Path() == v.Path() {
		t.Errorf("a review that has ended is begun again in %s", again.Path())
	}
}

// TestInterruptedReviewResumes stops a review after its first answer: nothing that
// was accepted is asked for again.
func TestInterruptedReviewResumes(t *testing.T) {
	t.Parallel()
	project, home := largeChange(t, 6), t.TempDir()
	v := openReview(t, project, home)
	ctx, cancel := context.WithCancelCause(t.Context())
	first := reviewers(func(ctx context.Context, task driver.Task) (string, error) {
		if task.Job != "code_review.1" {
			cancel(errors.New("stopped"))
			<-ctx.Done()
			return "", context.Cause(ctx)
		}
		return nitpick(ctx, task)
	})
	if _, err := v.Drive(ctx, engine.Options{Desk: reviewClock, Pool: first, Parallel: 1}); tidegate.CodeOf(err) != tidegate.Cancelled {
		t.Fatalf("got %v, want CANCELLED", err)
	}
	again := openReview(t, project, home)
	if again.Path() != v.Path() {
		t.Fatalf("it goes on in %s, began in %s", again.Path(), v.Path())
	}
	second := reviewers(nitpick)
	out, err := again.Drive(t.Context(), engine.Options{Desk: reviewClock, Pool: second})
	if err != nil || out.WaitingFor != engine.ForNothing {
		t.Fatalf("got %v, %s: %s", err, out.WaitingFor, out.Reason)
	}
	if second.times("code_review.1") != 0 || len(second.asked) != v.Jobs()-1 {
		t.Errorf("%v were asked", second.asked)
	}
}

// TestReviewEnds is about reviewers that never give an answer that counts.
func TestReviewEnds(t *testing.T) {
	t.Parallel()
	project := largeChange(t, 1)
	for name, answer := range map[string]string{
		"not JSON":       "I approve.",
		"another change": `{"change_id":"other","verdict":"APPROVED","summary":"s","issues":[]}`,
		"High":           `{"change_id":"work","verdict":"APPROVED","summary":"s","issues":[{"title":"t","severity":"High","category":"Bug","description":"d"}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pool := reviewers(func(context.Context, driver.Task) (string, error) { return answer, nil })
			v := openReview(t, project, t.TempDir())
			out, err := v.Drive(t.Context(), engine.Options{Desk: reviewClock, Pool: pool})
			if err != nil || out.WaitingFor != engine.ForPerson || !strings.Contains(out.Reason, "all tries are used up") || pool.times("code_review.1") != 4 {
				t.Errorf("got %v, %s: %s after %d attempts", err, out.WaitingFor, out.Reason, pool.times("code_review.1"))
			}
			if _, err := os.Stat(filepath.Join(v.Path(), "REVIEW.md")); err == nil {
				t.Error("there is a review")
			}
		})
	}
}

// TestFindingsThatDoNotHold is about a reviewer that insists: it is asked again while
// tries are left, and then what holds counts and the rest is listed.
func TestFindingsThatDoNotHold(t *testing.T) {
	t.Parallel()
	project := largeChange(t, 1)
	issue := func(severity, quote string) string {
		return fmt.Sprintf(`{"title":"says %s","severity":%q,"category":"Bug","file":"file00.txt","line":2,"quote":%q,"description":"d"}`, quote, severity, quote)
	}
	right, wrong, grave := issue("Medium", "line of file 0"), issue("Low", "no such line"), issue("High", "nor this one")
	for _, tt := range []struct {
		name, issues           string
		asked, issuesLeft, out int
		person                 string
	}{
		{"all hold", right, 1, 1, 0, ""},
		{"one does not", right + "," + wrong, 4, 1, 1, ""},
		{"a grave one does not", right + "," + grave, 4, 1, 1, "is High and does not hold"},
		{"none does", wrong, 4, 0, 1, "none of its findings holds"},
	} {
		pool := reviewers(func(context.Context, driver.Task) (string, error) {
			return `{"change_id":"work","verdict":"NEEDS_FIX","summary":"s","issues":[` + tt.issues + `]}`, nil
		})
		v := openReview(t, project, t.TempDir())
		out, err := v.Drive(t.Context(), engine.Options{Desk: reviewClock, Pool: pool})
		if err != nil || out.WaitingFor != engine.ForNothing || pool.times("code_review.1") != tt.asked || len(out.Review.Issues) != tt.issuesLeft || len(out.Dropped) != tt.out {
			t.Errorf("%s: %v, %s: %s; %d answers, %d issues, %v dropped", tt.name, err, out.WaitingFor, out.Reason, pool.times("code_review.1"), len(out.Review.Issues), out.Dropped)
		}
		if person, _ := (review.Policy{}).ForPerson(nil, out.Dropped, nil); !strings.Contains(person, tt.person) ||
			(tt.person == "") != (person == "") {
			t.Errorf("%s: a person is needed because %q", tt.name, person)
		}
	}
}

// TestReviewIsTriedAgain is about a person who names another reviewer after the tries
// are used up: parts that were accepted are not reviewed again.
func TestReviewIsTriedAgain(t *testing.T) {
	t.Parallel()
	project, home := largeChange(t, 6), t.TempDir()
	v := openReview(t, project, home)
	out, err := v.Drive(t.Context(), engine.Options{Desk: reviewClock, Pool: reviewers(func(ctx context.Context, task driver.Task) (string, error) {
		if task.Job == "code_review.2" {
			return "I will not.", nil
		}
		return nitpick(ctx, task)
	})})
	if err != nil || out.WaitingFor != engine.ForPerson {
		t.Fatalf("got %v, %s", err, out.WaitingFor)
	}
	again := reviewers(nitpick)
	out, err = openReview(t, project, home).Drive(t.Context(), engine.Options{Desk: reviewClock, Pool: again})
	if err != nil || out.WaitingFor != engine.ForNothing || len(again.asked) != 1 || again.times("code_review.2") != 1 {
		t.Errorf("got %v, %s: %s, asked %v", err, out.WaitingFor, out.Reason, again.asked)
	}
}

func TestReviewKeepsToItsBudget(t *testing.T) {
	t.Parallel()
	r := must.Get(engine.OpenCodeReview(t.Context(), reviewClock, engine.CodeReviewInput{Project: largeChange(t, 6), Home: t.TempDir(), Name: "work",
		Budget: run.DefaultBudget(map[string]float64{"max_tokens": 1000, "max_parallel": 1})}))(t)
	defer r.Close()
	v := must.Get(r.Begin(t.Context()))(t)
	pool := reviewers(nitpick)
	out, err := v.Drive(t.Context(), engine.Options{Desk: reviewClock, Pool: pool})
	if err != nil || out.WaitingFor != engine.ForPerson || !strings.Contains(out.Reason, "max_tokens is 1000") {
		t.Errorf("got %v, %s: %s", err, out.WaitingFor, out.Reason)
	}
}

// TestReviewOfThisRepository reviews commits of this repository's own history: every
// line that the reviewer names is there, and what REVIEW.md says is what was judged.
// The full form reviews ten.
func TestReviewOfThisRepository(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git here")
	}
	root, clone := filepath.Join("..", "..", ".."), t.TempDir()
	must.Get(os.Stat(filepath.Join(root, "go.mod")))(t)
	if out, err := exec.Command("git", "clone", "-q", "--shared", "--no-checkout", root, clone).CombinedOutput(); err != nil {
		t.Skipf("this is not a repository: %v: %s", err, out)
	}
	commits := strings.Fields(gitIn(t, clone, "log", "--no-merges", "--format=%H", "--max-count=41"))
	if len(commits) < 41 {
		t.Skipf("the history has %d commits", len(commits))
	}
	addedLine := regexp.MustCompile(`(?m)^ *([0-9]+) \+\| \S`)
	home := t.TempDir()
	const wanted = 10
	for i := 0; i < wanted; i += full.Stride(wanted, 1) {
		commit := commits[4*i]
		gitIn(t, clone, "update-ref", "--no-deref", "HEAD", commit)
		r, err := engine.OpenCodeReview(t.Context(), reviewClock, engine.CodeReviewInput{Project: clone, Home: home, Name: "history", Budget: run.DefaultBudget(nil),
			DiffInput: git.DiffInput{Base: commit + "~1", Committed: true}})
		if err != nil {
			t.Fatalf("%s: %v", commit, err)
		}
		if len(r.Diff().Files) == 0 {
			r.Close()
			continue // only files that are not shown have changed
		}
		v := must.Get(r.Begin(t.Context()))(t)
		out, err := v.Drive(t.Context(), engine.Options{Desk: reviewClock, Pool: reviewers(func(_ context.Context, task driver.Task) (string, error) {
			var issues []string
			for _, part := range strings.Split(task.Prompt, "\n==== ")[1:] {
				name, _, _ := strings.Cut(part, " (")
				if m := addedLine.FindStringSubmatch(part); m != nil && len(issues) < 20 {
					issues = append(issues, fmt.Sprintf(`{"title":"Look again","severity":"Low","category":"Style","file":%q,"line":%s,"description":"It was added."}`, name, m[1]))
				}
			}
			return `{"change_id":"history","verdict":"APPROVED","summary":"Read.","issues":[` + strings.Join(issues, ",") + `]}`, nil
		})})
		r.Close()
		// A commit may change a file that no reviewer is shown, which is said.
		out.Warnings = slices.DeleteFunc(out.Warnings, func(w string) bool { return strings.Contains(w, "no reviewer was shown") })
		if err != nil || out.WaitingFor != engine.ForNothing || len(out.Warnings) > 0 {
			t.Fatalf("%s: %v, %s: %s %v", commit, err, out.WaitingFor, out.Reason, out.Warnings)
		}
		data := must.Get(os.ReadFile(filepath.Join(v.Path(), "REVIEW.md")))(t)
		if shown := review.Show("REVIEW.md", data); !shown.Passed() || !shown.Complete || len(shown.Issues) != len(out.Review.Issues) {
			t.Errorf("%s: REVIEW.md says something else:\n%s", commit, data)
		}
	}
}

// TestReviewersWithoutAClientLookThingsUp: they get tools and are told so, or else whole
// functions; a client gets a folder. What was asked can be asked again.
func TestReviewersWithoutAClientLookThingsUp(t *testing.T) {
	t.Parallel()
	project := largeChange(t, 0)
	program := "package p\n\nfunc Long() {\n" + strings.Repeat("\tstep()\n", 30) + "}\n"
	must.Do(t, os.WriteFile(filepath.Join(project, "long.go"), []byte(program), 0o644))
	for _, args := range [][]string{{"add", "."}, {"-c", "user.name=n", "-c", "user.email=e@example.org", "commit",
		"-q", "-m", "long"}} {
		cmd := exec.Command("git", args...)
		cmd.Dir = project
		must.Do(t, cmd.Run())
	}
	must.Do(t, os.WriteFile(filepath.Join(project, "long.go"), []byte(strings.Replace(program, "step()\n}", "last()\n}",
		1)), 0o644))
	for _, tt := range []struct {
		name, reviewer           string
		looking                  bool
		tools, folder, functions bool
	}{
		{"a service", "model:http://127.0.0.1:1/v1", true, true, false, false},
		{"a service that may not", "api:openai gpt", false, false, false, true},
		{"a client", "codex", true, true, true, false}, // which has no use for them
	} {
		r := must.Get(engine.OpenCodeReview(t.Context(), reviewClock, engine.CodeReviewInput{Project: project,
			Home: t.TempDir(), Name: "work", Reviewers: []string{tt.reviewer}, Sight: engine.Sight{Tree: tt.folder, Tools: tt.looking},
			DiffInput: git.DiffInput{Base: "HEAD"}, Budget: run.DefaultBudget(nil)}))(t)
		v := must.Get(r.Begin(t.Context()))(t)
		var seen driver.Task
		pool := reviewers(func(ctx context.Context, task driver.Task) (string, error) {
			seen = task
			if task.Home != nil {
				for _, tree := range []string{"base", "change"} {
					text := must.Get(task.Home.Answer(ctx, "read_file", map[string]string{"tree": tree, "path": "long.go",
						"from": "33", "to": "33"}))(t)
					if strings.Contains(text, "last()") != (tree == "change") {
						t.Errorf("%s: in %s stands %s", tt.name, tree, text)
					}
				}
			}
			return `{"change_id":"work","verdict":"APPROVED","summary":"s","issues":[]}`, nil
		})
		out := must.Get(v.Drive(t.Context(), engine.Options{Desk: reviewClock, Pool: pool}))(t)
		if out.WaitingFor != engine.ForNothing {
			t.Fatal(tt.name, out.Reason)
		}
		if (seen.Home != nil) != tt.tools || strings.Contains(seen.Prompt, "`find_text`") != (tt.tools && !tt.folder) ||
			strings.Contains(seen.Prompt, "../tree") != tt.folder {
			t.Errorf("%s: tools %t, prompt\n%s", tt.name, seen.Home != nil, seen.Prompt)
		}
		if strings.Contains(seen.Prompt, "     3  | func Long() {") != tt.functions || !strings.Contains(seen.Prompt,
			"@@ func Long() {") {
			t.Errorf("%s: the function is shown otherwise:\n%s", tt.name, seen.Prompt)
		}
		r.Close()
	}
}

// TestSecondReadersSeeWhatReviewersSee: one without a client gets the same tools and is told
// so, one with a client a folder; neither is told of what it does not have.
func TestSecondReadersSeeWhatReviewersSee(t *testing.T) {
	t.Parallel()
	project := largeChange(t, 0)
	must.Do(t, os.WriteFile(filepath.Join(project, "a.go"), []byte("package p\n\nfunc Last(list []int) int {\n\treturn list[len(list)]\n}\n"), 0o644))
	for _, tt := range []struct {
		name, verifier string
		sight          engine.Sight
		tools, folder  bool
	}{
		{"a service", "model:http://127.0.0.1:1/v1", engine.Sight{Tree: true, Tools: true}, true, false},
		{"a service that may not", "api:openai", engine.Sight{Tree: true}, false, false},
		{"a client", "codex", engine.Sight{Tree: true, Tools: true}, true, true},
		{"a client elsewhere", "codex", engine.Sight{}, false, false},
	} {
		r := must.Get(engine.OpenCodeReview(t.Context(), reviewClock, engine.CodeReviewInput{Project: project, Home: t.TempDir(), Name: "work", Reviewers: []string{"claude"},
			Verifier: tt.verifier, Sight: tt.sight, DiffInput: git.DiffInput{Base: "HEAD"}, Budget: run.DefaultBudget(nil)}))(t)
		v := must.Get(r.Begin(t.Context()))(t)
		pool := reviewers(func(ctx context.Context, task driver.Task) (string, error) {
			if task.Kind == "code_review" {
				return `{"change_id":"work","verdict":"NEEDS_FIX","summary":"s","issues":[{"title":"Past the end","severity":"High","category":"Bug","file":"a.go","line":4,"description":"The index is one past the end."}]}`, nil
			}
			if task.Home != nil {
				if text := must.Get(task.Home.Answer(ctx, "read_file", map[string]string{"tree": "change", "path": "a.go"}))(t); !strings.Contains(text, "func Last") {
					t.Errorf("%s: %s", tt.name, text)
				}
			}
			if (task.Home != nil) != tt.tools || strings.Contains(task.Prompt, "`find_text`") != (tt.tools && !tt.folder) || strings.Contains(task.Prompt, "../tree") != tt.folder ||
				!strings.Contains(task.Prompt, "     3  | func Last(list []int) int {\n") {
				t.Errorf("%s: tools %t, prompt\n%s", tt.name, task.Home != nil, task.Prompt)
			}
			verdict := "supported"
			if strings.Contains(task.Prompt, " is not one past the end.") {
				verdict = "unsupported"
			}
			return `{"verdicts":[{"claim":1,"verdict":"` + verdict + `","words":"return list[len(list)]"}]}`, nil
		})
		out := must.Get(v.Drive(t.Context(), engine.Options{Desk: reviewClock, Pool: pool, Agents: map[string]engine.Agent{job.CodeVerifier: {Driver: tt.verifier, Model: "m"}}}))(t)
		if out.WaitingFor != engine.ForNothing || out.Second == nil || out.Second.Pairs.Asked != 1 || out.Checked[0].Verdict != review.Confirmed {
			t.Fatal(tt.name, out.Reason, out.Second, out.Checked)
		}
		r.Close()
	}
}

// TestTestsBeginWithTheCachesOfTheBase: those of a change find what those of its base cached,
// no settings, and nothing of another change; those of another base find nothing.
func TestTestsBeginWithTheCachesOfTheBase(t *testing.T) {
	t.Parallel()
	dir, home := t.TempDir(), t.TempDir()
	gitIn(t, dir, "init", "-q", "-b", "main")
	commit := func(kind string) {
		writeFiles(t, dir, map[string]string{"kind": kind + "\n"})
		gitIn(t, dir, "add", ".")
		gitIn(t, dir, "commit", "-q", "-m", kind)
	}
	commit("base")
	commit("change")
	tests := sandbox.Tests{Limit: time.Minute, Command: `mkdir -p "$GOCACHE" "$XDG_CONFIG_HOME"; cat kind >>"$GOCACHE/seen"; cat kind >>"$XDG_CONFIG_HOME/seen"
ln -sf /etc "$GOCACHE/out"; tr '\n' ' ' <"$GOCACHE/seen"; echo; tr '\n' ' ' <"$XDG_CONFIG_HOME/seen"; exit 1`}
	for _, said := range []string{"base change \nchange ", "base change \nchange ", "change another \nanother "} {
		if strings.HasPrefix(said, "change") {
			commit("another")
		}
		r := must.Get(engine.OpenCodeReview(t.Context(), reviewClock, engine.CodeReviewInput{Project: dir, Home: home, Name: "work",
			DiffInput: git.DiffInput{Base: "HEAD~1", Committed: true}}))(t)
		must.Get(r.RunTests(t.Context(), tests))(t)
		if got := r.Tests().Tail; !strings.Contains(got, said) {
			t.Errorf("the tests found %q, want %q", got, said)
		}
		r.Close()
	}
	// A project that the base does not have cannot be tested there: every failure counts.
	writeFiles(t, dir, map[string]string{"sub/kind": "new\n"})
	r := must.Get(engine.OpenCodeReview(t.Context(), reviewClock, engine.CodeReviewInput{Project: filepath.Join(dir, "sub"), Home: t.TempDir(), Name: "work",
		DiffInput: git.DiffInput{Base: "HEAD"}}))(t)
	defer r.Close()
	if said := must.Get(r.RunTests(t.Context(), tests))(t); r.Tests() == nil || r.Tests().FailedNew != 1 {
		t.Errorf("of a project that is new: %s", said)
	}
	if kept := must.Get(filepath.Glob(filepath.Join(home, "caches", "*", "*")))(t); len(kept) != 1 {
		t.Errorf("the caches of other bases are kept: %v", kept)
	}
}
