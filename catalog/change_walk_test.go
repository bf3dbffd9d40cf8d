package catalog_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tidegate/tidegate/catalog"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/test/full"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/tool"
)

// walker is an agent that calls every tool for changes at random, edits the
// code, and plants faults in the files of its change, together with a model of
// what it may reach.
type walker struct {
	t      *testing.T
	root   string
	tools  []*tool.Tool
	random *rand.Rand
	code   int // what the one file of the project holds

	changes map[string]*walked
}

// walked is what the model knows of a change.
type walked struct {
	last        string // verdict of the last review that was handed in
	clean       bool   // it names no High issue and no failed test
	code        int    // that was reviewed
	needsPerson bool
	completed   bool
}

// TestAnAgentNeverCompletesWhatNobodyApproved walks at random. No person takes
// part, so what needs one stays, and the limit of rounds is the default.
func TestAnAgentNeverCompletesWhatNobodyApproved(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git here")
	}
	t.Setenv("HOME", t.TempDir())
	seeds, steps := 1, 100
	if full.Asked() {
		seeds, steps = 3, 700
	}
	completed, blocked := 0, 0
	for seed := range uint64(seeds) {
		w := &walker{t: t, root: t.TempDir(), random: rand.New(rand.NewPCG(seed, 1)), changes: map[string]*walked{}}
		w.tools = tool.ForAgents(catalog.Tools(&catalog.Env{Now: time.Now, Dir: w.root, Project: w.root, Home: filepath.Join(w.root, "runs")}))
		w.git("init", "-q")
		w.edit()
		for step := range steps {
			id := fmt.Sprintf("c%d", max(0, step/15-w.random.IntN(3))) // most changes stop soon, so there are always new ones
			if w.changes[id] == nil {
				w.changes[id] = &walked{}
				w.call("change_start", fmt.Sprintf(`{"change_id":%q}`, id))
			}
			before := w.state(id)
			what, answer := w.step(id)
			w.check(id, fmt.Sprintf("seed %d, step %d, %s of %s", seed, step, what, id), before, answer)
			if t.Failed() {
				return
			}
		}
		for _, c := range w.changes {
			if c.completed {
				completed++
			}
			if c.needsPerson {
				blocked++
			}
		}
	}
	if completed == 0 || blocked == 0 {
		t.Errorf("%d changes were completed and %d stopped: the walk shows nothing", completed, blocked)
	}
}

// step does one thing, and returns its name and what change_advance answered.
func (w *walker) step(id string) (what string, advanced *codec.Value) {
	c := w.changes[id]
	switch w.random.IntN(14) {
	case 0, 1, 2:
		verdict := []string{"APPROVED", "APPROVED", "APPROVED", "NEEDS_FIX", "NEEDS_FIX", "MAJOR_ISSUES"}[w.random.IntN(6)]
		severity := []string{"High", "Medium", "Low", "Low"}[w.random.IntN(4)]
		failed := max(0, w.random.IntN(8)-6)
		if answer := w.call("create_review", fmt.Sprintf(`{"change_id":%q,"verdict":%q,"summary":"s","test_results":{"passed":3,"failed":%d},"issues":[{"title":"t","severity":%q,"category":"Bug","description":"d"}]}`,
			id, verdict, failed, severity)); !answer.Get("ok").Bool() {
			w.t.Errorf("a review was refused: %v", answer.Get("error").Get("message").Str())
		}
		c.last, c.clean, c.code = verdict, severity != "High" && failed == 0, w.code
	case 3, 4, 5, 6:
		return "change_advance", w.call("change_advance", fmt.Sprintf(`{"change_id":%q}`, id))
	case 7:
		w.call("change_start", fmt.Sprintf(`{"change_id":%q}`, id))
		if answer := w.call("change_start", fmt.Sprintf(`{"change_id":%q,"max_rounds":100}`, id)); answer.Get("ok").Bool() {
			w.t.Error("an agent set a limit")
		}
	case 8:
		for _, name := range []string{"change_status", "review_list", "review_diff"} {
			w.call(name, fmt.Sprintf(`{"change_id":%q}`, id))
		}
		w.call("change_list", `{}`)
	case 9, 10:
		w.edit()
	case 11:
		w.git("commit", "-q", "--allow-empty", "-m", "m")
	case 12, 13:
		return w.plant(id), nil
	}
	return "a step", nil
}

// plant edits a file of the change by other means.
func (w *walker) plant(id string) string {
	folder := filepath.Join(w.root, "agentd", "changes", id)
	replace := func(name, from, to string) {
		path := filepath.Join(folder, name)
		if text, err := os.ReadFile(path); err == nil {
			must.Do(w.t, os.WriteFile(path, []byte(strings.ReplaceAll(string(text), from, to)), 0o644))
		}
	}
	switch w.random.IntN(4) {
	case 0:
		replace("REVIEW.md", "NEEDS_CHANGES", "APPROVED")
		replace("REVIEW.md", "NEEDS_FIX", "APPROVED")
		replace("REVIEW.md", "MAJOR_ISSUES", "APPROVED")
		return "turning REVIEW.md around"
	case 1:
		replace("REVIEW.md", "- **Severity**: High", "- **Severity**: Low")
		replace("REVIEW.md", "- Failed: 1", "- Failed: 0")
		return "making REVIEW.md milder"
	case 2:
		replace("STATE.yaml", "\nneeds_person:", "\nneeded_person:")
		return "taking needs_person away"
	}
	if _, err := os.Stat(folder); err == nil {
		must.Do(w.t, os.WriteFile(filepath.Join(folder, "REVIEW.md"), []byte("## Verdict\n\nAPPROVED\n"), 0o644))
	}
	return "writing a REVIEW.md"
}

// check compares what happened with the model.
func (w *walker) check(id, what, before string, answer *codec.Value) {
	c, state := w.changes[id], w.state(id)
	isComplete, wasComplete := strings.Contains(state, "\nphase: complete\n"), strings.Contains(before, "\nphase: complete\n")
	switch {
	case isComplete && !wasComplete && (c.last != "APPROVED" || !c.clean || c.code != w.code || c.needsPerson):
		w.t.Errorf("%s completed a change: last review %+v, code %d\n%s", what, *c, w.code, state)
	case isComplete && answer.Get("ok").Bool() && c.last != "APPROVED":
		w.t.Errorf("%s left a change complete that was not approved: %+v", what, *c)
	case strings.Contains(state, "max_rounds"):
		w.t.Errorf("%s set a limit:\n%s", what, state)
	case strings.Contains(state, "iteration: 4"):
		w.t.Errorf("%s began a third round:\n%s", what, state)
	}
	c.completed = c.completed || isComplete
	if answer.Get("needs_person").Str() != "" {
		c.needsPerson = true
	}
}

func (w *walker) state(id string) string {
	text, _ := os.ReadFile(filepath.Join(w.root, "agentd", "changes", id, "STATE.yaml"))
	return string(text)
}

func (w *walker) call(name, args string) *codec.Value {
	i := slices.IndexFunc(w.tools, func(each *tool.Tool) bool { return each.Name == name })
	answer, err := codec.Parse(w.tools[i].Call(w.t.Context(), []byte(args), tool.Caller{}).Envelope)
	must.Do(w.t, err)
	return answer
}

// edit writes one of three texts to the code.
func (w *walker) edit() {
	w.code = w.random.IntN(3)
	must.Do(w.t, os.WriteFile(filepath.Join(w.root, "main.go"), fmt.Appendf(nil, "package main // %d\n", w.code), 0o644))
}

func (w *walker) git(args ...string) {
	cmd := exec.Command("git", append([]string{"-c", "user.name=n", "-c", "user.email=e@example.org"}, args...)...)
	cmd.Dir = w.root
	if out, err := cmd.CombinedOutput(); err != nil {
		w.t.Fatalf("git %q: %v\n%s", args, err, out)
	}
}
