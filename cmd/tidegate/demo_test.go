package main

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
	"sync"
	"testing"

	"github.com/tidegate/tidegate/internal/test/full"
	"github.com/tidegate/tidegate/internal/test/must"
)

var (
	digest  = regexp.MustCompile(`sha256:[0-9a-f]{64}`)
	process = regexp.MustCompile(`process [0-9]+`)
	tokens  = regexp.MustCompile(`[0-9,]+ tokens`)
)

// tale is what a demo printed and the folder that it left.
type tale struct {
	told   string
	folder string
}

// theDemo is the demo, played once, step by step, where there is no network if that
// can be had. Tests that only need its folder get a copy of it, and -full plays it
// for each. What it told is also in a file, the name of the folder with .txt.
var theDemo = sync.OnceValues(func() (tale, error) {
	s, err := playDemo(filepath.Join(sharedFolder, "harbour"), "\n\n\n", "--step")
	if err != nil {
		return s, err
	}
	return s, os.WriteFile(s.folder+".txt", []byte(s.told), 0o600)
})

func playDemo(folder, stdin string, flags ...string) (tale, error) {
	command := withoutNetwork("tidegate", append([]string{"demo", "--keep", folder}, flags...)...)
	command.Env = append(os.Environ(), "TIDEGATE_NOW=2026-03-02T09:00:00Z", "NO_COLOR=1")
	command.Stdin = strings.NewReader(stdin)
	out, err := command.Output()
	if err != nil {
		err = fmt.Errorf("%w\n%s", err, out)
	}
	return tale{string(out), folder}, err
}

// withoutNetwork is a command that can open no connection, where the system lets it
// be made.
func withoutNetwork(program string, args ...string) *exec.Cmd {
	if networkCanBeTaken() {
		return exec.Command("unshare", append([]string{"-rn", program}, args...)...)
	}
	return exec.Command(program, args...)
}

var networkCanBeTaken = sync.OnceValue(func() bool { return exec.Command("unshare", "-rn", "true").Run() == nil })

// text is the tale without what depends on the folder, the process and the words of
// prompts: names, digests of documents that hold paths, and tokens.
func (s tale) text() string {
	text := strings.ReplaceAll(s.told, s.folder, "/home/you/harbour")
	text = eachJob(tokens.ReplaceAllString(text, "… tokens"))
	return process.ReplaceAllString(digest.ReplaceAllString(text, "sha256:…"), "process …")
}

// TestDemoTellsItsStory plays it step by step, which prints the same as playing on,
// and looks at what it made on terminals of several widths. What the README says is in
// the folder of a run is in that of the demo's.
func TestDemoTellsItsStory(t *testing.T) {
	t.Parallel()
	const golden = "testdata/demo.txt"
	demo := must.Get(theDemo())(t)
	got := demo.text()
	if *update {
		must.Do(t, os.WriteFile(golden, []byte(got), 0o644))
	}
	want := must.Get(os.ReadFile(golden))(t)
	if diff := difference(string(want), got); diff != "" {
		t.Errorf("the demo differs (-want +got); to rewrite it: go test ./cmd/tidegate -run Demo -update\n%s", diff)
	}
	if full.Asked() {
		on := must.Get(playDemo(filepath.Join(t.TempDir(), "harbour"), ""))(t)
		if diff := difference(got, on.text()); diff != "" {
			t.Errorf("played on, it tells another story:\n%s", diff)
		}
	}
	checkScreens(t, demo.folder)
	_, paragraph, _ := strings.Cut(documents(t)["README.md"], "The run's folder holds everything")
	paragraph, _, _ = strings.Cut(paragraph, "`tidegate report")
	named := regexp.MustCompile("`([a-z][a-z./-]+)`").FindAllStringSubmatch(paragraph, -1)
	if len(named) < 6 {
		t.Errorf("the README names %q", named)
	}
	for _, each := range named {
		if _, err := os.Stat(filepath.Join(demo.folder, "runs", "harbour", each[1])); err != nil {
			t.Errorf("the README names %s: %v", each[1], err)
		}
	}
}

// TestTheDemosAdviceWorks types what the demo says at its end, on a machine without agents
// and without a network, and what a person may try next.
func TestTheDemosAdviceWorks(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	s := demoRun(t, home)
	s.fetch = nil
	var out strings.Builder
	s.stdout, s.stderr = &out, &out
	_, advice, _ := strings.Cut(must.Get(theDemo())(t).told, "Try next:")
	typed := 0
	for line := range strings.Lines(advice) {
		command, _, _ := strings.Cut(strings.TrimSpace(line), "  ")
		if !strings.HasPrefix(command, "tidegate ") || strings.HasPrefix(command, "tidegate serve") || strings.HasPrefix(command, "tidegate wave") {
			continue
		}
		typed++
		out.Reset()
		if status := s.run(t.Context(), typedWords(command)...); status != 0 {
			t.Errorf("%s ends with %d:\n%s", command, status, out.String())
		}
	}
	if typed < 8 {
		t.Errorf("the demo says %d commands:\n%s", typed, advice)
	}
	for _, tt := range []struct {
		command string
		status  int
		says    string
	}{
		{`ask harbour "How much does the electric tug cost?" --agent recorded:demo`, 4, "asked another question: \"How much bollard pull does the electric tug have?\""},
		{`ask harbour "How much does the electric tug cost?"`, 2, "or look at a finished run, without any agent: tidegate demo"},
		{"verify harbour", 2, "harbour is a run: `tidegate run verify harbour` holds it against its log"},
		{"verify harbour.sealed", 2, "--signers must name"},
		{"audit show latest", 3, "`tidegate audit list` shows what there is"},
		{"run status latest", 3, "`tidegate run list` shows what there is"},
		{"ask latest tides", 3, "`tidegate run list` and `tidegate audit list` show what there is"},
		{"ask --help", 0, "The exit status is 2"},
		{"explain frames", 0, "It needs no citation"},
		{`explain "second reader"`, 0, "another agent than the writer"},
		{"report harbor", 3, "did you mean harbour?"},
		{"run update harbour", 0, "recorded too: no connection was opened"},
		{"run update harbor", 3, "did you mean harbour?"},
	} {
		out.Reset()
		if status := s.run(t.Context(), typedWords("tidegate "+tt.command)...); status != tt.status || !strings.Contains(out.String(), tt.says) {
			t.Errorf("%s ends with %d and not %q:\n%s", tt.command, status, tt.says, out.String())
		}
	}
}

// TestAnInterruptedDemoGoesOn interrupts the demo at its first agent, and types what it says.
func TestAnInterruptedDemoGoesOn(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	variables := map[string]string{"TIDEGATE_HOME": home, "HOME": home, "PATH": "", "XDG_CONFIG_HOME": home}
	ctx, interrupt := context.WithCancelCause(t.Context())
	out := &interrupting{after: "attempt 1 begins", then: func() { interrupt(errors.New("interrupted")) }}
	s := surroundings{dir: home, getenv: func(name string) string { return variables[name] }, stdout: out, stderr: out}
	if status := s.run(ctx, "demo", "--keep", "played"); status != 130 || strings.Contains(out.String(), "CANCELLED") {
		t.Fatalf("%d: %s", status, out.String())
	}
	next := regexp.MustCompile(`tidegate run continue \S+`).FindStringSubmatch(out.String())
	if next == nil {
		t.Fatalf("nothing says how to go on:\n%s", out.String())
	}
	out.Reset()
	if status := s.run(t.Context(), typedWords(next[0])...); status != 0 || !strings.Contains(out.String(), "completed: every gate passed") {
		t.Errorf("%s ends with %d:\n%s", next[0], status, out.String())
	}
}

// interrupting is an output that does something once a text was written to it.
type interrupting struct {
	strings.Builder
	after string
	then  func()
}

func (w *interrupting) Write(p []byte) (int, error) {
	n, err := w.Builder.Write(p)
	if w.then != nil && strings.Contains(w.String(), w.after) {
		w.then()
		w.then = nil
	}
	return n, err
}

// BenchmarkDemo is how long a person waits for the first report.
func BenchmarkDemo(b *testing.B) {
	for b.Loop() {
		command := exec.Command("tidegate", "demo")
		command.Env = append(os.Environ(), "TIDEGATE_HOME="+b.TempDir(), "TMPDIR="+b.TempDir())
		if out, err := command.CombinedOutput(); err != nil {
			b.Fatalf("%v\n%s", err, out)
		}
	}
}

var event = regexp.MustCompile(`^\d\d:\d\d:\d\d  (.{18})`)

// eachJob puts the events of each job together, from one move of the run to the
// next: the answer of one agent is judged while the next one is at work, so the
// order of events of different jobs is left to chance.
func eachJob(text string) string {
	lines := strings.Split(text, "\n")
	for from := 0; from < len(lines); from++ {
		to := from
		for to < len(lines) && event.MatchString(lines[to]) && !strings.Contains(lines[to], " → ") {
			to++
		}
		slices.SortStableFunc(lines[from:to], func(a, b string) int {
			jobA, jobB := event.FindStringSubmatch(a)[1], event.FindStringSubmatch(b)[1]
			if order := strings.Compare(jobA, jobB); order != 0 || strings.TrimSpace(jobA) != "" {
				return order
			}
			return strings.Compare(a, b)
		})
		from = max(from, to)
	}
	return strings.Join(lines, "\n")
}
