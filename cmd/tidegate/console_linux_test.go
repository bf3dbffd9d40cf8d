package main

import (
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/tidegate/tidegate/internal/agent/job"
	"github.com/tidegate/tidegate/internal/test/full"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/work/run"
	"golang.org/x/sys/unix"
)

// console is a program on a pseudo-terminal of its own, and a person who types.
type console struct {
	t       *testing.T
	command *exec.Cmd
	screen  *os.File // the side of the terminal that the person looks at
	ended   chan error

	mu    sync.Mutex
	more  *sync.Cond
	shown []byte
	over  bool
	read  int // how far the person has read
}

// patience is how long the person waits for something to be shown.
const patience = time.Minute

// newConsole starts tidegate on a terminal with that many columns and rows, with its
// runs in home.
func newConsole(t *testing.T, home string, columns, rows uint16, args ...string) *console {
	t.Helper()
	screen, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("there are no terminals here: %v", err)
	}
	if err := unix.IoctlSetPointerInt(int(screen.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Skipf("there are no terminals here: %v", err)
	}
	number, err := unix.IoctlGetInt(int(screen.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Skipf("there are no terminals here: %v", err)
	}
	terminal, err := os.OpenFile("/dev/pts/"+strconv.Itoa(number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("there are no terminals here: %v", err)
	}
	c := &console{t: t, screen: screen, ended: make(chan error, 1), command: exec.Command("tidegate", args...)}
	c.more = sync.NewCond(&c.mu)
	c.resize(columns, rows)
	c.command.Stdin, c.command.Stdout, c.command.Stderr = terminal, terminal, terminal
	c.command.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	c.command.Env = append(os.Environ(), "TIDEGATE_HOME="+home, "XDG_CONFIG_HOME="+home, "TERM=xterm", "NO_COLOR=", "EDITOR="+filepath.Join(home, "editor"), "PATH="+filepath.Join(home, "bin")+":"+os.Getenv("PATH"))
	c.command.Dir = t.TempDir()
	must.Do(t, c.command.Start())
	terminal.Close()
	go func() {
		buffer := make([]byte, 4096)
		for {
			n, err := screen.Read(buffer)
			c.mu.Lock()
			c.shown = append(c.shown, buffer[:n]...)
			c.over = c.over || err != nil // the program has closed the terminal
			c.more.Broadcast()
			c.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	go func() { c.ended <- c.command.Wait() }()
	t.Cleanup(func() {
		c.command.Process.Kill()
		screen.Close()
	})
	return c
}

func (c *console) resize(columns, rows uint16) {
	c.t.Helper()
	must.Do(c.t, unix.IoctlSetWinsize(int(c.screen.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Col: columns, Row: rows}))
}

func (c *console) press(keys string) {
	c.t.Helper()
	must.Get(c.screen.WriteString(keys))(c.t)
}

// await waits until a text is shown, after what was awaited before.
func (c *console) await(text string) {
	c.t.Helper()
	timer := time.AfterFunc(patience, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.over = true
		c.more.Broadcast()
	})
	defer timer.Stop()
	c.mu.Lock()
	defer c.mu.Unlock()
	for {
		if i := strings.Index(string(c.shown[c.read:]), text); i >= 0 {
			c.read += i + len(text)
			return
		}
		if c.over {
			c.t.Fatalf("%q is never shown:\n%q", text, c.shown[c.read:])
		}
		c.more.Wait()
	}
}

// exits waits for the end and demands that exit status. It returns everything that
// was shown.
func (c *console) exits(status int) string {
	c.t.Helper()
	var err error
	select {
	case err = <-c.ended:
	case <-time.After(patience):
		c.t.Fatalf("it does not end:\n%q", c.shown)
	}
	got := 0
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		got = exit.ExitCode()
	}
	c.mu.Lock()
	for !c.over {
		c.more.Wait()
	}
	shown := string(c.shown)
	c.mu.Unlock()
	if got != status {
		c.t.Fatalf("exit status %d, want %d:\n%s", got, status, shown)
	}
	return shown
}

// What the screen, and a bell after it, send to a terminal.
const (
	entersScreen = "\x1b[?1049h"
	leavesScreen = "\x1b[?1049l"
)

// agentThat writes a program that acts as an agent. It may write in the folder beside
// it that has its name and .said.
func agentThat(t *testing.T, home, script string) string {
	t.Helper()
	path := filepath.Join(home, "bin", "agent")
	for _, folder := range []string{path + ".said", filepath.Join(home, "tidegate")} {
		must.Do(t, os.MkdirAll(folder, 0o700))
	}
	settings := fmt.Sprintf("[agents.default]\nwrite = [%q]\n", path+".said")
	must.Do(t, os.WriteFile(filepath.Join(home, "tidegate", "tidegate.toml"), []byte(settings), 0o600))
	must.Do(t, os.WriteFile(path, []byte("#!/bin/sh\n"+script), 0o700))
	return "exec:" + path
}

// TestResearchOnATerminal has a person look at both questions, edit the
// perspectives twice, once badly, and say yes. The short form has no budget for more than
// some outputs.
func TestResearchOnATerminal(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	editor := filepath.Join(home, "editor")
	edit := func(script string) {
		must.Do(t, os.WriteFile(editor, []byte("#!/bin/sh\nsed -i "+script+" \"$1\"\n"), 0o700))
	}
	words, status := []string{"research", "Tugs: should the port replace two of its four?", "--agent", "recorded:demo", "--adapt"}, 0
	if !full.Asked() {
		words, status = append(words, "--max-tokens", "15000"), 4
	}
	c := newConsole(t, home, 80, 24, words...)
	c.await("Agents")
	c.await("recorded:demo")
	c.await("plan the perspectives?")
	c.await("[y/N]")
	c.press("y\n")
	c.await(entersScreen)
	c.await("\x1b]2;tidegate tugs: plan")
	c.await(leavesScreen)
	c.await("Whether the quay")
	edit("'/\"Gaps\",/d'")
	c.await("[e]dit the perspectives")
	c.press("e\n")
	c.await("The perspectives are as they were")
	c.await("NO_GAPS_SECTION")
	edit("'s/Whether the quay/If the quay/'")
	c.await("[e]dit the perspectives")
	c.press("e\n")
	c.await("If the quay")
	c.await("[e]dit the perspectives")
	c.press("y\n")
	c.await(entersScreen)
	c.await("recorded:demo") // the agent of a job; which jobs are shown is left to chance
	c.await(leavesScreen)
	if full.Asked() {
		c.await("✓\x1b[0m report")
		c.await("tidegate report tugs")
		c.await("completed: every gate passed by its judge")
	} else {
		c.await("tidegate run continue tugs --max-tokens ")
		c.await("the budget is used up")
	}
	if shown := c.exits(status); !strings.HasSuffix(shown, "\a") || strings.Count(shown, "\a") != 1 {
		t.Errorf("there is not one bell at the end: %q", shown[len(shown)-200:])
	}
	written, err := os.ReadFile(filepath.Join(home, "runs", "tugs", "perspectives.json"))
	if err != nil || !strings.Contains(string(written), "If the quay") {
		t.Errorf("the edited perspectives are not those of the run: %v", err)
	}
}

// TestANoOnATerminal answers each question with no.
func TestANoOnATerminal(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	c := newConsole(t, home, 80, 24, "research", "Tugs: which?", "--agent", "recorded:demo", "--adapt")
	c.await("[y/N]")
	c.press("\n")
	c.await("Nothing was begun, and nothing was spent.")
	c.exits(0)
	if _, err := os.Stat(filepath.Join(home, "runs")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("something was begun: %v", err)
	}
	c = newConsole(t, home, 60, 20, "research", "Tugs: which?", "--agent", "recorded:demo", "--adapt", "--quiet")
	c.await("[y/N]")
	c.press("y\n")
	c.await("[e]dit the perspectives")
	c.press("n\n")
	c.await("tidegate run continue tugs")
	if shown := c.exits(4); strings.Contains(shown, "\a") {
		t.Error("--quiet rings a bell")
	}
}

// TestInterruptsOnATerminal presses Ctrl-C once, and once more.
func TestInterruptsOnATerminal(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, agent string
		presses     int
	}{
		{"once", "echo ready >\"$0.said/is\"\nexec sleep 100\n", 1},
		{"twice", "trap '' TERM INT\necho ready >\"$0.said/is\"\nsleep 100\n", 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			home := t.TempDir()
			ready := filepath.Join(home, "bin", "agent.said", "is")
			agent := agentThat(t, home, tt.agent)
			must.Do(t, unix.Mkfifo(ready, 0o600))
			c := newConsole(t, home, 80, 24, "research", "Tugs: which?", "--agent", agent, "--yes", "--quiet")
			c.await("working")
			if said, err := os.ReadFile(ready); err != nil || string(said) != "ready\n" {
				t.Fatalf("the agent is not ready: %q, %v", said, err)
			}
			c.press("\x03")
			if tt.presses > 1 {
				c.await("stopping the agents")
				c.press("\x03")
				if shown := c.exits(130); !strings.Contains(shown, leavesScreen) {
					t.Errorf("the terminal is not given back: %q", shown)
				}
				return
			}
			c.await(leavesScreen)
			c.await("tidegate run continue tugs --agent exec:")
			c.await("interrupted: nothing is lost")
			c.exits(130)
		})
	}
}

// TestTheScreenFollowsTheTerminal watches a run that another process drives: it
// changes the size of the terminal, scrolls, and pauses the run.
func TestTheScreenFollowsTheTerminal(t *testing.T) {
	full.Story(t)
	t.Parallel()
	home := t.TempDir()
	driving := newConsole(t, home, 80, 24, "research", "Tugs: which?", "--agent", agentThat(t, home, "exec sleep 100\n"), "--yes", "--quiet")
	driving.await("working")
	watching := newConsole(t, home, 80, 24, "run", "watch", "tugs")
	watching.await("○\x1b[0m summaries\x1b[2m ›\x1b[0m\x1b[") // the rail goes on below
	watching.await("working")
	watching.resize(60, 20)
	watching.await("\x1b[2J")
	watching.await("○\x1b[0m citations\x1b[2m ›\x1b[0m\x1b[") // one stage earlier
	watching.press("jk\x1b[A\x1b[6~G\x0c")
	watching.await(entersScreen) // drawn again
	types(t, home, "run", "pause", "tugs")
	for _, c := range []*console{driving, watching} {
		c.await(leavesScreen)
		c.await("waits for a person: the run is paused")
		c.exits(4)
	}
}

// types runs a command of another person at the same home.
func types(t *testing.T, home string, words ...string) string {
	t.Helper()
	command := exec.Command("tidegate", words...)
	command.Env = append(os.Environ(), "TIDEGATE_HOME="+home, "XDG_CONFIG_HOME="+home)
	out, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("tidegate %s: %v\n%s", strings.Join(words, " "), err, out)
	}
	return string(out)
}

// TestAPlanThatChangesIsShownAgain changes the perspectives after they are shown and
// before the yes: the yes was for other bytes.
func TestAPlanThatChangesIsShownAgain(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	c := newConsole(t, home, 80, 24, "research", "Tugs: which?", "--agent", "recorded:demo", "--adapt", "--quiet")
	c.await("[y/N]")
	c.press("y\n")
	c.await("Whether the quay")
	c.await("[e]dit the perspectives")
	written := must.Get(os.ReadFile(filepath.Join(home, "runs", "tugs", "perspectives.json")))(t)
	other := filepath.Join(home, "other.json")
	must.Do(t, os.WriteFile(other, []byte(strings.Replace(string(written), "Whether the quay", "If the quay", 1)), 0o600))
	types(t, home, "perspectives", "write", "tugs", other)
	c.press("y\n")
	c.await("The perspectives have changed since they were shown; here they are again.")
	c.await("If the quay")
	c.await("[e]dit the perspectives")
	c.press("n\n")
	c.exits(4)
	if log := types(t, home, "run", "log", "tugs", "--format", "json"); strings.Contains(log, `"what":"plan"`) {
		t.Error("the plan counts as accepted")
	}
}

// manyPerspectives writes a file with that many perspectives.
func manyPerspectives(t *testing.T, home string, n int) string {
	t.Helper()
	var list []string
	for i := range n {
		list = append(list, fmt.Sprintf(`{"id":"p%03d","title":"Part %d","track":"standard","agent_type":"researcher",
			"prompt_contract":{"max_words":900,"max_sources":8,"tool_budget":{},"must_include_sections":["Findings","Gaps","Sources"]}}`, i, i))
	}
	path := filepath.Join(home, "perspectives.json")
	must.Do(t, os.WriteFile(path, []byte(`{"schema_version":"perspectives.v1","perspectives":[`+strings.Join(list, ",")+`]}`), 0o600))
	return path
}

// TestARunOfManyJobsScrolls looks at 200 jobs through a window of a few rows, while
// their agents work.
func TestARunOfManyJobsScrolls(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	c := newConsole(t, home, 80, 24, "research", "Tugs: which?", "--agent", agentThat(t, home, "exec sleep 100\n"), "--perspectives", manyPerspectives(t, home, 200), "--yes", "--quiet")
	c.await("1–8 of 200 ↑↓")
	c.press("j")
	c.await("2–9 of 200 ↑↓")
	c.press(" ")
	c.await("14–21 of 200 ↑↓")
	c.press("g")
	c.await("1–8 of 200 ↑↓")
	c.press("\x1b[6~\x1b[6~\x1b[B")
	c.await("26–33 of 200 ↑↓")
	c.press(strings.Repeat(" ", 20))
	c.await("193–200 of 200 ↑↓")
	c.await("wave1.p199")
	c.press("G") // back to those at work
	c.await("1–8 of 200 ↑↓")
	c.resize(80, 40)
	c.await("1–21 of 200 ↑↓")
	c.press("\x03")
	c.await("interrupted: nothing is lost")
	c.exits(130)
}

// TestEveryScreenShowsTheLastTool has a client that searches without end. The
// screen of the process that drives it shows that, and so does the screen of
// another process that watches.
func TestEveryScreenShowsTheLastTool(t *testing.T) {
	full.Story(t)
	t.Parallel()
	home := t.TempDir()
	client := `#!/bin/sh
case $1 in
--version) echo '2.1.325 (Claude Code)' ;;
auth) ;;
*) echo '{"type":"assistant","message":{"content":[{"type":"tool_use","id":"t1","name":"WebSearch"}]}}'
   exec sleep 100 ;;
esac
`
	must.Do(t, os.Mkdir(filepath.Join(home, "bin"), 0o700))
	must.Do(t, os.WriteFile(filepath.Join(home, "bin", "claude"), []byte(client), 0o700))
	driving := newConsole(t, home, 80, 24, "research", "Tugs: which?", "--agent", "claude", "--yes", "--quiet")
	driving.await("1/4 search")
	watching := newConsole(t, home, 80, 24, "run", "watch", "tugs")
	watching.await("1/4 search")
	types(t, home, "run", "pause", "tugs")
	driving.exits(4)
	watching.exits(4)
}

// TestABudgetThatRunsOutIsNamedOnTheScreen lowers the budget of a run until most
// of it is used, and raises it by the command that the screen names.
func TestABudgetThatRunsOutIsNamedOnTheScreen(t *testing.T) {
	full.Story(t)
	t.Parallel()
	home := t.TempDir()
	// One agent answers and is refused, the next hangs: some tokens are used, then no more.
	agent := agentThat(t, home, "test -e \"$0.said/was\" && exec sleep 100\ntouch \"$0.said/was\"\necho "+strings.Repeat("x", 4000)+"\n")
	c := newConsole(t, home, 80, 24, "research", "Tugs: which?", "--agent", agent, "--yes", "--quiet")
	c.await("refused, INVALID_JSON")
	c.await("2/4")
	board, err := job.OpenBoard(t.Context(), run.Desk{Now: time.Now}, filepath.Join(home, "runs", "tugs", "manifest.json"))
	if err != nil {
		t.Fatal(err)
	}
	used := board.Spent().Tokens
	board.Close()
	if used < 1000 {
		t.Fatalf("%v tokens are used", used)
	}
	limit := math.Floor(used * 1.2)
	words := func(tokens float64) string { return strconv.FormatFloat(tokens, 'f', -1, 64) }
	types(t, home, "run", "limit", "tugs", "max_tokens", words(limit))
	twice := words(2 * limit)
	c.await("tidegate run limit tugs max_tokens " + twice)
	types(t, home, "run", "limit", "tugs", "max_tokens", twice)
	c.await("max_tokens is " + twice)
	c.press("\x03")
	c.exits(130)
}

// TestWaitingForInputIsInterrupted presses Ctrl-C while a command waits for a person
// to type.
func TestWaitingForInputIsInterrupted(t *testing.T) {
	t.Parallel()
	c := newConsole(t, t.TempDir(), 80, 24, "call", "deep_research_run_list")
	c.await("Type the arguments")
	c.press("\x03")
	c.exits(130)
}
