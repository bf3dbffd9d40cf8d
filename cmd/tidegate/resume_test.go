package main

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/test/full"
	"github.com/tidegate/tidegate/internal/test/must"
)

// researcher types commands with runs in a home of its own.
type researcher struct {
	t    *testing.T
	home string
	env  []string
}

func newResearcher(t *testing.T) *researcher {
	home := t.TempDir()
	// A killed program leaves its temporary files.
	return &researcher{t, home, append(os.Environ(), "TIDEGATE_HOME="+home, "XDG_CONFIG_HOME="+home, "TMPDIR="+t.TempDir(), "TIDEGATE_NOW=2026-03-02T09:00:00Z")}
}

func (r *researcher) command(words ...string) *exec.Cmd {
	command := exec.Command("tidegate", words...)
	command.Env, command.Dir = r.env, r.home
	return command
}

// question is what the demo asks, and demoQuestion asks it, one agent after the other.
const question = "Harbour: should the port replace two of its four tugs with electric ones?"

var demoQuestion = []string{"research", question, "--agent", "recorded:demo", "--parallel", "1", "--yes"}

// theResearch is what demoQuestion printed and the home that it left, asked once. Tests
// that need no more than a completed run get a copy of it. What it told is also in a file,
// the name of the home with .txt. The short form takes it out of the demo, which asks the
// same with a template.
var theResearch = sync.OnceValues(func() (tale, error) {
	home := filepath.Join(sharedFolder, "researched")
	ask := researchedOfDemo
	if full.Asked() {
		ask = askDemoQuestion
	}
	told, err := ask(home)
	if err == nil {
		err = os.WriteFile(home+".txt", []byte(told), 0o600)
	}
	return tale{told, home}, err
})

func researchedOfDemo(home string) (string, error) {
	demo, err := theDemo()
	if err != nil {
		return "", err
	}
	_, told, began := strings.Cut(demo.told, " --yes\n\n")
	told, _, ended := strings.Cut(told, "\nCompleted: six gates")
	if !began || !ended {
		return "", fmt.Errorf("the demo tells of no research:\n%s", demo.told)
	}
	return told, os.CopyFS(filepath.Join(home, "runs"), os.DirFS(filepath.Join(demo.folder, "runs")))
}

func askDemoQuestion(home string) (string, error) {
	if err := os.Mkdir(home, 0o700); err != nil {
		return "", err
	}
	command := exec.Command("tidegate", demoQuestion...)
	command.Env, command.Dir = append(os.Environ(), "TIDEGATE_HOME="+home, "XDG_CONFIG_HOME="+home, "TIDEGATE_NOW=2026-03-02T09:00:00Z"), home
	var complaints strings.Builder
	command.Stderr = &complaints
	out, err := command.Output()
	if err != nil || complaints.Len() > 0 {
		err = fmt.Errorf("%v\n%s%s", err, out, complaints.String())
	}
	return string(out), err
}

// narrow lets a pipe hold no more than a few lines, where the system can, so that a
// program that writes to it does not run ahead of its reader.
var narrow = func(*os.File) {}

// killedAt runs a command and kills it when it has printed that many lines. It
// reports whether it was killed.
func (r *researcher) killedAt(lines int, words ...string) bool {
	r.t.Helper()
	command := r.command(words...)
	out := must.Get(command.StdoutPipe())(r.t)
	narrow(out.(*os.File))
	must.Do(r.t, command.Start())
	printed := bufio.NewScanner(out)
	for n := 0; n < lines && printed.Scan(); n++ {
	}
	command.Process.Kill()
	for printed.Scan() {
	}
	return command.Wait() != nil
}

// reports are the report of the run at home in every format.
func reports(t *testing.T, home string) string {
	t.Helper()
	var all strings.Builder
	for _, format := range []string{"markdown", "html", "csl-json", "bibtex", "ris"} {
		if out, status := typedAt(t, home, "report", "harbour", "--format", format); status != 0 {
			t.Fatalf("%s: exit status %d\n%s", format, status, out)
		} else {
			all.WriteString(out)
		}
	}
	return all.String()
}

// typedAt is typedIn with the runs of a home.
func typedAt(t *testing.T, home string, words ...string) (string, int) {
	return typedIn(t.Context(), home, map[string]string{"TIDEGATE_HOME": home, "XDG_CONFIG_HOME": home, "TIDEGATE_NOW": "2026-03-02T09:00:00Z"}, words...)
}

// TestKilledResearchGivesTheSameReport kills the research of the demo at one moment
// after the other, and again on its way after most of them.
// Going on gives the report of an undisturbed research, byte for byte, and no agent
// is asked again for what was accepted. In the short form
// TestKilledProgramResumesWithoutAskingAgain alone kills one.
func TestKilledResearchGivesTheSameReport(t *testing.T) {
	if !full.Asked() {
		t.Skip("a short research is killed; -full kills the demo's")
	}
	t.Parallel()
	calm := must.Get(theResearch())(t)
	want, lines := reports(t, calm.folder), strings.Count(calm.told, "\n")
	if lines < 100 {
		t.Fatalf("the research prints %d lines", lines)
	}
	var tried, killed atomic.Int32
	t.Cleanup(func() {
		t.Logf("%d of %d researches were killed before they had ended", killed.Load(), tried.Load())
		if killed.Load() == 0 {
			t.Error("every research ended before it was killed")
		}
	})
	for first := 1; first < lines; first++ {
		t.Run(strconv.Itoa(first), func(t *testing.T) {
			t.Parallel()
			r := newResearcher(t)
			again := []string{"run", "continue", "harbour"}
			tried.Add(1)
			// Where pipes are wide it may be done before its lines were read.
			if r.killedAt(first, demoQuestion...) {
				killed.Add(1)
			}
			for range first % 3 {
				r.killedAt(7, again...)
			}
			if out, err := r.command(again...).CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			if got := reports(t, r.home); got != want {
				t.Errorf("the report differs from that of a research that nothing happened to")
			}
			if out, status := typedAt(t, r.home, "run", "verify", "harbour"); status != 0 {
				t.Errorf("exit status %d\n%s", status, out)
			}
		})
	}
}

// ends are ways in which a research stops, and what its result says.
var ends = []struct {
	name    string
	lines   [][]string // typed one after the other; the last one's result counts
	status  int
	reason  string
	command string // one of those that come next
}{
	{"completed", [][]string{demoQuestion}, 0, "the run is completed", "tidegate report harbour --format html"},
	{"a plan", [][]string{{"research", "Tugs: which?", "--agent", "recorded:demo", "--adapt", "--yes", "--plan-only"}}, 0, "the plan waits for your yes", "tidegate perspectives write tugs FILE"},
	{"jobs", [][]string{{"research", "Tugs: which?", "--agent", "exec:false", "--yes"}}, 4, "all tries are used up", "tidegate job retry tugs perspectives --note TEXT"},
	{"budget", [][]string{{"research", "Tugs: which?", "--agent", "recorded:demo", "--adapt", "--yes", "--max-tokens", "100"}}, 4, "the budget is used up", "tidegate run continue tugs --max-tokens 3064"},
	{"minutes", [][]string{
		{"research", "Tugs: which?", "--agent", "recorded:demo", "--adapt", "--yes", "--plan-only"}, {"run", "limit", "tugs", "max_minutes", "0"}, {"run", "continue", "tugs"},
	}, 4, "the budget is used up", "tidegate run continue tugs --max-minutes 1"},
	{"paused", [][]string{
		{"research", "Tugs: which?", "--agent", "recorded:demo", "--adapt", "--yes", "--plan-only"}, {"run", "pause", "tugs"}, {"run", "watch", "tugs"},
	}, 4, "the run is paused", "tidegate run continue tugs"},
	{"cancelled", [][]string{
		{"research", "Tugs: which?", "--agent", "recorded:demo", "--adapt", "--yes", "--plan-only"}, {"run", "cancel", "tugs"}, {"run", "continue", "tugs"},
	}, 1, "the run is cancelled", "tidegate report tugs --partial"},
	{"sources", [][]string{{"research", "Tugs: which?", "--agent", "exec:./agent", "--perspectives", "mine.json", "--yes", "--sensitivity", "no_web"}}, 4, "gate C", "tidegate citations replace tugs CID URL"},
	{"a gate that a person accepted", [][]string{
		{"research", "Tugs: which?", "--agent", "exec:./agent", "--perspectives", "mine.json", "--yes", "--sensitivity", "no_web"},
		{"gate", "c", "tugs", "--accept", "--reason", "the page is known"}, {"run", "continue", "tugs", "--agent", "exec:./agent"},
	}, 1, "the run is completed", "tidegate report tugs"},
	{"a source with a file", [][]string{
		{"research", "Tugs: which?", "--agent", "exec:./agent", "--perspectives", "mine.json", "--yes", "--sensitivity", "no_web", "--no-second-reader"},
		{"citations", "attach", "tugs", "cid_01617787", "page.txt"}, {"run", "continue", "tugs", "--agent", "exec:./agent"},
	}, 0, "the run is completed", "tidegate report tugs"},
	{"jobs with their tries again", [][]string{
		{"research", "Tugs: which?", "--agent", "exec:false", "--yes", "--sensitivity", "no_web"},
		{"job", "retry", "tugs", "perspectives", "--note", "more care"}, {"run", "continue", "tugs", "--agent", "exec:./agent", "--agent-read", "mine.json"},
	}, 4, "gate C", "tidegate gate c tugs --accept --reason TEXT"},
}

// answersEachKind is an agent whose one source nobody opens. It cites that source
// where the prompt names it.
const answersEachKind = `#!/bin/sh
grep -q '^- s1: ' && cite=' [@s1]'
case $TIDEGATE_KIND in
perspectives) cat "$(dirname "$0")/mine.json" ;;
wave1) printf '## Findings\n\nText.\n\n## Gaps\n\nNone.\n\n## Sources\n\n- Page https://example.invalid/a\n' ;;
summary) echo "The page says so$cite." ;;
synthesis) for title in Summary "Key Findings" Evidence Caveats; do printf "## $title\n\nThe tide turns twice a day.$cite\n\n"; done ;;
review) printf '{"decision":"PASS","findings":[],"directives":[]}' ;;
esac
`

// TestEveryEndSaysWhatToType ends research in every way, in the short form in some, with
// and without what a person decides about it, and checks that each command that it names exists. A
// person who watches the run sees the same. The long research to the end is done once
// for several tests, and going on with it says how it ended; -full does it again.
func TestEveryEndSaysWhatToType(t *testing.T) {
	t.Parallel()
	for i := 0; i < len(ends); i += full.Stride(len(ends), 4) {
		tt := ends[i]
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := newResearcher(t)
			for name, text := range map[string]string{
				"agent":    answersEachKind,
				"page.txt": "The tide turns twice a day.\n",
				"mine.json": `{"schema_version":"perspectives.v1","perspectives":[{"id":"p1","title":"One","track":"standard","agent_type":"researcher",
					"prompt_contract":{"max_words":90,"max_sources":2,"tool_budget":{},"must_include_sections":["Findings","Gaps","Sources"]}}]}`,
			} {
				must.Do(t, os.WriteFile(filepath.Join(r.home, name), []byte(text), 0o700))
			}
			lines := tt.lines
			if slices.Equal(lines[0], demoQuestion) && !full.Asked() {
				done := must.Get(theResearch())(t)
				must.Do(t, os.CopyFS(r.home, os.DirFS(done.folder)))
				lines = [][]string{{"run", "continue", "harbour"}}
			}
			for i, words := range lines {
				last := i == len(lines)-1
				if last {
					words = append(words, "--format", "json")
				}
				if !last && !startsMore.MatchString(strings.Join(words, " ")) && !full.Asked() {
					typedAt(t, r.home, words...)
					continue
				}
				command := r.command(words...)
				out, _ := command.Output()
				if !last {
					continue
				}
				if got := command.ProcessState.ExitCode(); got != tt.status {
					t.Fatalf("exit status %d, want %d: %s", got, tt.status, out)
				}
				all := strings.Split(strings.TrimSpace(string(out)), "\n")
				result := must.Get(codec.Parse([]byte(all[len(all)-1])))(t)
				if reason := result.Get("reason").Str(); !strings.Contains(reason, tt.reason) {
					t.Errorf("the reason is %q, want %q", reason, tt.reason)
				}
				found := false
				for _, next := range result.Get("next").Elems() {
					line := next.Get("command").Str()
					found = found || strings.HasPrefix(line, tt.command)
					if problem := refuses(line); problem != "" {
						t.Errorf("%s: %s", line, problem)
					}
				}
				if !found {
					t.Errorf("%s is not among what comes next: %s", tt.command, all[len(all)-1])
				}
				if result.Get("status").Str() == "running" || result.Get("status").Str() == "created" {
					continue // it would be watched until it ends
				}
				text, got := typedAt(t, r.home, "run", "watch", result.Get("run_id").Str())
				if got != tt.status || !strings.Contains(text, "\n  "+tt.command) {
					t.Errorf("run watch: exit status %d, want %d and %s:\n%s", got, tt.status, tt.command, text)
				}
			}
		})
	}
}
