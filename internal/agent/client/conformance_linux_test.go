package client_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tidegate/tidegate/internal/agent/client"
	"github.com/tidegate/tidegate/internal/agent/driver"
	"github.com/tidegate/tidegate/internal/test/agents"
	"github.com/tidegate/tidegate/internal/test/full"
	"github.com/tidegate/tidegate/internal/test/must"
)

// scene is one thing that a client can do to a driver, and what the driver must
// make of it.
type scene struct {
	name string
	want driver.Kind // of the error; empty: the answer
	// any is for a scene that may end in time or not: only what is left counts.
	any bool
	// hurry lets time fly: from the start, or once an event contains this.
	hurry string
}

const fromStart = "from the start"

// plainScenes are for the program whose output is the answer.
var plainScenes = []scene{
	{name: "plain"},
	{name: "split"},
	{name: "hang at start", want: driver.Deadline, hurry: fromStart},
	{name: "hang after the answer", want: driver.Deadline, hurry: fromStart},
	{name: "deaf after the answer", want: driver.Deadline, hurry: fromStart},
	{name: "100 MB", want: driver.Flood},
	{name: "long answer", want: driver.Flood},
	{name: "no answer", want: driver.Empty},
	{name: "exit 1", want: driver.Died},
	{name: "exit 1 after the answer", want: driver.Died},
	{name: "exit 0 without result", want: driver.Empty},
	{name: "killed", want: driver.Died},
	{name: "child left behind"},
	{name: "children at the deadline", want: driver.Deadline, hurry: fromStart},
	{name: "locked folder"},
	{name: "outside"},
	{name: "deep folder"},
	{name: "closed output", want: driver.Deadline, hurry: fromStart},
	{name: "endless output", want: driver.Flood},
	{name: "rewritten output", any: true},
	{name: "many lines", want: driver.Flood},
	{name: "answer after its death", any: true},
	{name: "supervisor killed"}, // it fails to
}

// clientScenes are for clients that write events; last is a part of their last
// event.
func clientScenes(last string) []scene {
	return []scene{
		{name: "plain"},
		{name: "split"},
		{name: "unknown events"},
		{name: "garbage around"},
		{name: "hang at start", want: driver.Idle, hurry: fromStart},
		{name: "hang after the answer", hurry: last},
		{name: "deaf after the answer", hurry: last},
		{name: "half a line", want: driver.Died},
		{name: "garbage", want: driver.Died},
		{name: "100 MB", want: driver.Flood},
		{name: "long answer", want: driver.Flood},
		{name: "no answer", want: driver.Empty},
		{name: "exit 1", want: driver.Died},
		{name: "exit 1 after the answer", want: driver.Died},
		{name: "exit 0 without result", want: driver.Died},
		{name: "killed", want: driver.Died},
		{name: "child left behind"},
		{name: "children at the deadline", want: driver.Idle, hurry: "{"}, // once it says anything
		{name: "locked folder"},
		{name: "outside"},
		{name: "deep folder"},
		{name: "closed output", want: driver.Idle, hurry: "{"},
		{name: "endless output", want: driver.Flood},
		{name: "rewritten output", want: driver.Died},
		{name: "many lines"},
		{name: "answer after its death", any: true},
		{name: "supervisor killed"}, // it fails to
		{name: "rate limit", want: driver.Rate},
		{name: "login missing", want: driver.Auth},
		{name: "overloaded", want: driver.Unavailable},
		{name: "wrong version", want: driver.Unavailable},
	}
}

// suite is every driver that starts a program, with its scenes.
var suite = map[string][]scene{
	"program":  plainScenes,
	"claude":   append(clientScenes(`"result"`), scene{name: "no version", want: driver.Unavailable}),
	"codex":    append(clientScenes(`"turn.completed"`), scene{name: "no version", want: driver.Unavailable}),
	"opencode": append(clientScenes(`"step_finish"`), scene{name: "no version", want: driver.Unavailable}),
	"gemini":   append(clientScenes(`"result"`), scene{name: "no version", want: driver.Unavailable}),
	// Once its conversation is over, how an agent exits says nothing.
	"agent": slices.DeleteFunc(clientScenes(`"stopReason"`), func(s scene) bool { return s.name == "exit 1 after the answer" }),
}

// spared are the scenes of a driver that only -full plays: they are about its process
// and folder or take long, and another driver has the same keeper and reader.
func spared(name string) []string {
	switch name {
	case "codex", "opencode", "gemini": // read as claude is
		return []string{"100 MB", "many lines", "endless output", "child left behind", "children at the deadline", "locked folder", "outside", "deep folder",
			"closed output", "answer after its death", "supervisor killed", "split", "hang at start", "deaf after the answer", "long answer", "exit 1 after the answer", "killed", "rewritten output",
			"garbage around", "half a line", "exit 1", "hang after the answer"}
	case "agent":
		return []string{"100 MB", "endless output", "child left behind", "children at the deadline", "locked folder", "outside", "deep folder", "long answer", "supervisor killed", "answer after its death"}
	case "claude": // kept as the program is
		return []string{"100 MB", "child left behind", "locked folder", "outside", "deep folder", "supervisor killed", "answer after its death"}
	}
	return nil
}

func TestConformance(t *testing.T) {
	for name, scenes := range suite {
		for _, s := range scenes {
			t.Run(name+"/"+s.name, func(t *testing.T) {
				if slices.Contains(spared(name), s.name) && !full.Asked() {
					t.Skip("another driver with the same keeper and reader plays it; -full lets all play it")
				}
				t.Parallel()
				stage := newStage(t, name, s)
				answer, err := stage.run(t.Context(), task())
				var failure *driver.Error
				switch {
				case s.any:
				case s.want == "" && err != nil:
					t.Errorf("got %v, want an answer", err)
				case s.want == "" && answer.Text != agents.Answer:
					t.Errorf("got the answer %q", answer.Text)
				case s.want != "" && (!errors.As(err, &failure) || failure.Kind != s.want):
					t.Errorf("got %v and %q, want %s", err, answer.Text, s.want)
				case s.want != "" && answer.Text != "":
					t.Errorf("beside %v stands the answer %q", err, answer.Text)
				case s.want == driver.Rate && failure.Wait != 7*time.Second:
					t.Errorf("wait %v, want 7s", failure.Wait)
				case s.want == driver.Auth && failure.Help == "":
					t.Errorf("%v does not say what helps", failure)
				}
				stage.checkNothingLeft(t)
			})
		}
	}
}

// TestAnAgentWithoutACellCanKillItsSupervisor and leaves nothing all the same.
func TestAnAgentWithoutACellCanKillItsSupervisor(t *testing.T) {
	for name := range full.Some(suite, 2) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			stage := newStageWith(t, name, scene{name: "supervisor killed"}, driver.Cells{Unconfined: true})
			_, err := stage.run(t.Context(), task())
			agents.CheckKind(t, err, driver.Died)
			stage.checkNothingLeft(t)
		})
	}
}

func TestCancelledAgentsEnd(t *testing.T) {
	for name := range full.Some(suite, 3) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			stage := newStage(t, name, scene{name: "children at the deadline"})
			ctx, cancel := context.WithCancelCause(t.Context())
			why := errors.New("nobody waits")
			go func() {
				stage.await(func(alive int) bool { return alive >= 3 }) // the agent, and what it has started
				stage.clock.Hurry()
				cancel(why)
			}()
			if answer, err := stage.run(ctx, task()); err != why {
				t.Errorf("got %v and %q, want the cause of the context", err, answer.Text)
			}
			stage.checkNothingLeft(t)
		})
	}
}

func TestNamesThatAreNone(t *testing.T) {
	for name := range suite {
		if name == "program" {
			continue // it gets neither
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			stage := newStage(t, name, scene{name: "plain"})
			for _, session := range []string{"--version", "1/--help", "1/-x", "../1/s1", "1/../s1", "1", "/", `1\..\x/s1`} {
				asked := task()
				asked.Session = session
				_, err := stage.run(t.Context(), asked)
				if failure := agents.CheckKind(t, err, driver.Unavailable); failure == nil || !failure.SessionGone {
					t.Errorf("the session %q: got %v", session, err)
				}
			}
			for _, model := range []string{"--help", "-m", "a b", "a\nb", "a;b"} {
				asked := task()
				asked.Model = model
				_, err := stage.run(t.Context(), asked)
				agents.CheckKind(t, err, driver.Unavailable)
			}
			stage.checkNothingLeft(t)
		})
	}
}

func TestKilledProgramLeavesNoAgent(t *testing.T) {
	t.Parallel()
	stage := newStage(t, "program", scene{})
	home := exec.Command(os.Args[0])
	home.Args[0] = "home"
	home.Env = append(stage.environ, "STANDIN=home", "TMPDIR="+stage.temp)
	home.Stderr = os.Stderr
	must.Do(t, home.Start())
	// The home, the agent, and what it has started.
	stage.await(func(alive int) bool { return alive >= 4 })
	home.Process.Kill()
	home.Wait()
	stage.await(func(alive int) bool { return alive == 0 })
	// The supervisor, which lacks the mark, cleans up after the last of them.
	for left := 1; left > 0; {
		entries := must.Get(os.ReadDir(stage.temp))(t)
		left = len(entries)
		time.Sleep(time.Millisecond) // what it waits for needs the processor, too
	}
	stage.checkNothingLeft(t)
}

func task() driver.Task {
	return driver.Task{
		ID: "sha256:1", Job: "wave1.grid", Kind: "wave1", Attempt: 3, Turn: 1, Prompt: "Say hello.", Role: "researcher",
		Limits: driver.Limits{Idle: time.Minute, Step: 2 * time.Minute, Deadline: 4 * time.Minute},
	}
}

// stage is where one scene is played: a driver for a stand-in, a clock, and a
// folder of its own for temporary files.
type stage struct {
	driver  driver.Driver
	temp    string
	victim  string // a folder of somebody else
	mark    string
	environ []string
	clock   *agents.Clock
	hurry   string

	mu     sync.Mutex
	events []driver.Event
}

func newStage(t *testing.T, name string, s scene) *stage {
	t.Helper()
	return newStageWith(t, name, s, driver.Cells{})
}

func newStageWith(t *testing.T, name string, s scene, cells driver.Cells) *stage {
	t.Helper()
	bin, temp := t.TempDir(), t.TempDir()
	self := must.Get(os.Executable())(t)
	must.Do(t, os.Symlink(self, filepath.Join(bin, name)))
	stage := &stage{temp: temp, victim: newVictim(t), mark: "MARK=" + temp, clock: agents.Still(), hurry: s.hurry}
	stage.environ = []string{"PATH=" + bin, "HOME=" + temp, stage.mark, "SSH_AUTH_SOCK=/agent", "STANDIN=" + s.name, "VICTIM=" + stage.victim}
	if s.name != "login missing" {
		stage.environ = append(stage.environ, "GEMINI_API_KEY=k") // the one client that cannot say whether it is logged in
	}
	which := name
	switch name {
	case "program":
		which = "exec:program"
	case "agent":
		which = "acp:agent"
	}
	stage.driver = must.Get(client.New(
		driver.Settings{Driver: which, Env: []string{"STANDIN", "MARK", "VICTIM"}},
		driver.Host{
			Now: stage.clock.Now, Temp: temp, Environ: stage.environ, Cells: cells,
		}))(t)
	if s.hurry == fromStart {
		// What is asked before the first task is asked at the usual pace. An agent
		// that does not even send its greeting cannot be asked.
		if name != "agent" {
			must.Get(driver.Check(t.Context(), stage.driver))(t)
		}
		stage.clock.Hurry()
	}
	return stage
}

func (s *stage) run(ctx context.Context, task driver.Task) (driver.Answer, error) {
	return s.driver.Run(ctx, task, func(e driver.Event) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.events = append(s.events, e)
		if s.hurry != "" && strings.Contains(e.Raw, s.hurry) {
			s.clock.Hurry()
		}
	})
}

// checkNothingLeft looks for processes, zombies included, and files, once nothing
// can be repaired any more.
func (s *stage) checkNothingLeft(t *testing.T) {
	t.Helper()
	driver.Forget(s.driver, "")
	if alive := s.alive(); alive != nil {
		t.Errorf("still there: %q", alive)
	}
	left := must.Get(os.ReadDir(s.temp))(t)
	for _, entry := range left {
		t.Errorf("left behind: %s", entry.Name())
	}
	if s.victim == "" {
		return
	}
	for name, want := range map[string]fs.FileMode{"": fs.ModeDir | 0o750, "/folder": fs.ModeDir | 0o500, "/folder/file": 0o440} {
		if info, err := os.Lstat(s.victim + name); err != nil || info.Mode() != want {
			t.Errorf("the folder of somebody else is no longer as it was: %v, %v", info, err)
		}
	}
}

// newVictim makes a folder that no attempt may touch.
func newVictim(t *testing.T) string {
	t.Helper()
	victim := filepath.Join(t.TempDir(), "victim")
	for _, err := range []error{
		os.MkdirAll(victim+"/folder", 0o750), os.WriteFile(victim+"/folder/file", nil, 0o440), os.Chmod(victim, 0o750), os.Chmod(victim+"/folder", 0o500),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { os.Chmod(victim+"/folder", 0o700) })
	return victim
}

// alive names the processes that have the stage's mark in their environment.
func (s *stage) alive() []string {
	var alive []string
	for _, process := range processes() {
		environ, _ := os.ReadFile(process + "/environ")
		if bytes.Contains(environ, []byte(s.mark+"\x00")) {
			line, _ := os.ReadFile(process + "/cmdline")
			alive = append(alive, fmt.Sprintf("%s %s", process, line))
		}
	}
	return alive
}

// await looks at the number of processes until it is as it should be. Between two looks
// it leaves the processor to them.
func (s *stage) await(met func(alive int) bool) {
	for !met(len(s.alive())) {
		time.Sleep(time.Millisecond)
	}
}

// processes are the folders of all processes. A pattern would read each of them.
func processes() []string {
	proc, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer proc.Close()
	names, _ := proc.Readdirnames(-1)
	var found []string
	for _, name := range names {
		if name[0] >= '0' && name[0] <= '9' {
			found = append(found, "/proc/"+name)
		}
	}
	return found
}

// leftBehind names what the whole test has left: a child, even a zombie, or an
// open socket.
func leftBehind() string {
	for _, process := range processes() {
		stat, _ := os.ReadFile(process + "/stat")
		fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
		if len(fields) > 1 && fields[1] == fmt.Sprint(os.Getpid()) {
			return string(stat)
		}
	}
	open, _ := filepath.Glob("/proc/self/fd/*")
	for _, file := range open {
		if target, _ := os.Readlink(file); strings.HasPrefix(target, "socket:") {
			return file + " is " + target
		}
	}
	return ""
}
