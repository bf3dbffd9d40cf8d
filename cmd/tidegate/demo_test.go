package main

import (
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
	demo, err := theDemo()
	if err != nil {
		t.Fatal(err)
	}
	got := demo.text()
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := difference(string(want), got); diff != "" {
		t.Errorf("the demo differs (-want +got); to rewrite it: go test ./cmd/tidegate -run Demo -update\n%s", diff)
	}
	if full.Asked() {
		on, err := playDemo(filepath.Join(t.TempDir(), "harbour"), "")
		if err != nil {
			t.Fatal(err)
		}
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
