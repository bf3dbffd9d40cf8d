package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tidegate/tidegate/internal/test/full"
	"github.com/tidegate/tidegate/internal/test/must"
)

// The variables of the agent that the test binary is.
const (
	notesVariable = "TIDEGATE_WORKER_TEST_NOTES" // a folder with a file for each start and each end
	slowVariable  = "TIDEGATE_WORKER_TEST_SLOW"  // how long a task takes
)

// slowAgent is an agent of the driver exec: it notes that it began, takes its time,
// answers, and notes that it ended.
func slowAgent() int {
	name := filepath.Join(os.Getenv(notesVariable), fmt.Sprintf("%s.%s.%d", os.Getenv("TIDEGATE_JOB"), os.Getenv("TIDEGATE_ATTEMPT"), os.Getpid()))
	if os.WriteFile(name+".began", nil, 0o600) != nil {
		return 1
	}
	slow, err := time.ParseDuration(os.Getenv(slowVariable))
	if err != nil {
		return 1
	}
	time.Sleep(slow)
	if os.WriteFile(name+".ended", nil, 0o600) != nil {
		return 1
	}
	fmt.Print("## Findings\n\nThe harbour has tugs.\n\n## Gaps\n\n## Sources\n\n- https://files.invalid/harbour.md\n")
	return 0
}

const manyTasks = 50

// fiftyPerspectives is a file of perspectives, and the folder of documents that
// their answers cite.
func fiftyPerspectives(t *testing.T) (perspectives, documents string) {
	t.Helper()
	type contract struct {
		MaxWords   int            `json:"max_words"`
		MaxSources int            `json:"max_sources"`
		Sections   []string       `json:"must_include_sections"`
		Budget     map[string]int `json:"tool_budget"`
	}
	type perspective struct {
		ID       string   `json:"id"`
		Title    string   `json:"title"`
		Agent    string   `json:"agent_type"`
		Track    string   `json:"track"`
		Contract contract `json:"prompt_contract"`
	}
	var list []perspective
	for i := range manyTasks {
		list = append(list, perspective{fmt.Sprintf("p%02d", i), fmt.Sprintf("View %d", i), "researcher", []string{"standard", "independent", "contrarian"}[i%3],
			contract{300, 5, []string{"Findings", "Gaps", "Sources"}, map[string]int{}}})
	}
	data := must.Get(json.Marshal(map[string]any{"schema_version": "perspectives.v1", "perspectives": list}))(t)
	dir := t.TempDir()
	perspectives, documents = filepath.Join(dir, "perspectives.json"), filepath.Join(dir, "documents")
	must.Do(t, os.Mkdir(documents, 0o700))
	for name, text := range map[string][]byte{perspectives: data, filepath.Join(documents, "harbour.md"): []byte("# The harbour\n\nThe harbour has tugs. " + strings.Repeat("They pull ships. ", 50))} {
		must.Do(t, os.WriteFile(name, text, 0o600))
	}
	return perspectives, documents
}

// agentCommand is the driver of the slow agent. Agents get no variable of a person
// that no configuration names, so a shell sets them.
func agentCommand(t *testing.T, notes, slow string) string {
	t.Helper()
	script := filepath.Join(t.TempDir(), "agent")
	text := fmt.Sprintf("#!/bin/sh\nexport %s=agent %s='%s' %s=%s\nexec '%s'\n", programVariable, notesVariable, notes, slowVariable, slow, os.Args[0])
	must.Do(t, os.WriteFile(script, []byte(text), 0o700))
	return "exec:" + script
}

func notesOf(t *testing.T, notes, kind string) map[string]int {
	t.Helper()
	entries := must.Get(os.ReadDir(notes))(t)
	count := map[string]int{}
	for _, e := range entries {
		if parts := strings.Split(e.Name(), "."); parts[len(parts)-1] == kind && strings.HasPrefix(e.Name(), "wave1.") {
			count[strings.Join(parts[:3], ".")]++
		}
	}
	return count
}

// until waits for something that other processes do.
func until(t *testing.T, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); !is(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("never: %s", what)
		}
	}
}

// harbour are what the tests of this file have in common: a run with fifty tasks, and
// an agent that takes its time.
type harbour struct {
	t     *testing.T
	notes string // of the agent
	data  string // of the home
	user  string // its folder of configuration, which knows this copy of the run
	agent string
	flags []string // of the home
}

func newHarbour(t *testing.T, slow, address string, flags ...string) *harbour {
	h := &harbour{t: t, notes: t.TempDir(), data: t.TempDir(), user: t.TempDir()}
	h.agent = agentCommand(t, h.notes, slow)
	h.flags = append([]string{"--agent", h.agent, "--address", address, "--format", "json", "--quiet"}, flags...)
	return h
}

// worker starts a worker whose agents have no cell: they note what they do in a folder
// of the test, under the numbers that their processes have outside.
func (h *harbour) worker(address string, flags ...string) *process {
	h.t.Helper()
	return beginWorker(h.t, address, nil, append([]string{"--agent", h.agent, "--unconfined"}, flags...)...)
}

// research begins the run, and resume goes on with it.
func (h *harbour) research(flags ...string) *process {
	perspectives, documents := fiftyPerspectives(h.t)
	return h.begin(append(append([]string{"research", "Harbour: what are tugs?", "--perspectives", perspectives, "--files", documents,
		"--sensitivity", "no_web", "--yes"}, h.flags...), flags...)...)
}

func (h *harbour) resume() *process {
	return h.begin(append([]string{"run", "continue", "harbour"}, h.flags...)...)
}

func (h *harbour) begin(args ...string) *process {
	h.t.Helper()
	return begin(h.t, []string{"XDG_DATA_HOME=" + h.data, "XDG_CONFIG_HOME=" + h.user}, args...)
}

// began counts the starts of the agent by task.
func (h *harbour) began() map[string]int { return notesOf(h.t, h.notes, "began") }

// untilBegun waits until so many tasks have begun.
func (h *harbour) untilBegun(n int) {
	h.t.Helper()
	until(h.t, fmt.Sprintf("%d tasks begin", n), func() bool { return len(h.began()) >= n })
}

// firstAttempt is when the first attempt of the run began.
func (h *harbour) firstAttempt() (first time.Time) {
	h.t.Helper()
	attempts, err := filepath.Glob(filepath.Join(h.data, "tidegate", "runs", "harbour", "jobs", "*", "*", "attempt.json"))
	if err != nil || len(attempts) == 0 {
		h.t.Fatal("no attempt has begun", err)
	}
	for _, name := range attempts {
		data := must.Get(os.ReadFile(name))(h.t)
		var attempt struct {
			StartedAt time.Time `json:"started_at"`
		}
		must.Do(h.t, json.Unmarshal(data, &attempt))
		if first.IsZero() || attempt.StartedAt.Before(first) {
			first = attempt.StartedAt
		}
	}
	return first
}

// twice counts the tasks that were executed more than once.
func (h *harbour) twice() (n int) {
	for _, times := range h.began() {
		if times > 1 {
			n++
		}
	}
	return n
}

// TestNothingIsLost drives fifty tasks while the home is killed and comes back, a worker
// is killed, another one is frozen and thawed, and the server is gone for three seconds:
// no task is lost, none is accepted twice, and the home that comes back starts nothing
// that is running.
func TestNothingIsLost(t *testing.T) {
	if testing.Short() {
		t.Skip("takes half a minute")
	}
	file := filepath.Join(t.TempDir(), "server.db")
	server, address := beginServer(t, "--file", file)
	h := newHarbour(t, "1s", address, "--lost-after", "10s", "--parallel", "12")
	worker := func() *process { return h.worker(address, "--parallel", "4") }
	killed, frozen := worker(), worker()
	worker()

	home := h.research()
	h.untilBegun(8)
	home.kill()
	home = h.resume()
	h.untilBegun(20)
	if n := h.twice(); n > 0 {
		t.Errorf("the home that came back started %d tasks that were running: %v", n, h.began())
	}

	killed.kill()
	frozen.signal(syscall.SIGSTOP)
	h.untilBegun(24)
	server.kill()
	time.Sleep(3 * time.Second) // without a server: what the test is about
	beginAs(t, "server", nil, "--port", address[strings.LastIndex(address, ":")+1:], "--file", file)
	until(t, "a task of the frozen worker begins elsewhere", func() bool { return h.twice() > 0 })
	frozen.signal(syscall.SIGCONT)

	accepted := func() map[string]int {
		jobs := map[string]int{}
		for _, found := range regexp.MustCompile(`"job_id":"(wave1\.p\d\d)"[^\n]*"accepted":true`).FindAllStringSubmatch(readLog(t, h.data), -1) {
			jobs[found[1]]++
		}
		return jobs
	}
	until(t, "every task is accepted", func() bool { return len(accepted()) == manyTasks })
	home.signal(syscall.SIGINT)
	home.ends()
	for job, n := range accepted() {
		if n != 1 {
			t.Errorf("%s was accepted %d times", job, n)
		}
	}
	outputs, err := filepath.Glob(filepath.Join(h.data, "tidegate", "runs", "harbour", "wave-1", "p*.md"))
	if err != nil || len(outputs) != manyTasks {
		t.Errorf("%d of %d tasks have an output, %v", len(outputs), manyTasks, err)
	}
	for task := range h.began() {
		if !strings.HasSuffix(task, ".1") {
			t.Errorf("%s: what happened to machines used up a try", task)
		}
	}
	t.Logf("%d tasks, %d of them executed more than once", manyTasks, h.twice())
}

// TestFarAgentsStop stops far agents by a person's cancel and by the budget. The time
// that it takes is logged. Until then the worker has as many as --parallel says.
func TestFarAgentsStop(t *testing.T) {
	_, address := beginServer(t)
	for _, test := range []struct {
		name   string
		flags  []string // of the home
		cancel bool
		status int
		says   string // the cause, in the run's log
	}{
		{"cancel", nil, true, 1, "operator-cli cancel: enough"},
		{"budget", []string{"--max-minutes", "0.2"}, false, 4, "max_minutes is used up"},
	} {
		t.Run(test.name, func(t *testing.T) {
			h := newHarbour(t, "10m", address, "--queue", test.name)
			worker := h.worker(address, "--queue", test.name, "--parallel", "2")
			home := h.research(test.flags...)
			h.untilBegun(1)
			var asked time.Time
			if test.cancel {
				h.untilBegun(2)
				asked = time.Now()
				if status := h.begin("run", "cancel", "harbour", "--reason", "enough").ends(); status != 0 {
					t.Fatalf("run cancel: exit status %d", status)
				}
			} else {
				asked = h.firstAttempt().Add(12 * time.Second) // when --max-minutes are over
			}
			until(t, "no agent is left", func() bool { return living(t, h.notes) == 0 })
			after := time.Since(asked).Round(time.Millisecond)
			t.Logf("%s: the agents were gone after %v", test.name, after)
			if full.Asked() && after > 5*time.Second { // on a machine that has nothing else to do
				t.Errorf("%s: the agents were gone after %v, want five seconds at most", test.name, after)
			}
			if status := home.ends(); status != test.status {
				t.Errorf("exit status %d, want %d:\n%s", status, test.status, home.text())
			}
			if !strings.Contains(readLog(t, h.data), test.says) {
				t.Errorf("the log does not say %q", test.says)
			}
			if n := len(notesOf(t, h.notes, "ended")); n > 0 || strings.Contains(worker.text(), ": answered") {
				t.Errorf("%d agents came to their end", n)
			}
			if n := len(h.began()); n > 2 {
				t.Errorf("the worker had %d tasks at once, and --parallel is 2", n)
			}
			worker.says("failed: canceled")
		})
	}
}

// living counts the agents that have begun and are still there.
func living(t *testing.T, notes string) (n int) {
	t.Helper()
	entries := must.Get(os.ReadDir(notes))(t)
	for _, e := range entries {
		parts := strings.Split(strings.TrimSuffix(e.Name(), ".began"), ".")
		pid, err := strconv.Atoi(parts[len(parts)-1])
		if err == nil && syscall.Kill(pid, 0) == nil {
			n++
		}
	}
	return n
}

// TestOneHome starts a second home for a run: the home's lock decides, and the second
// says who has it.
func TestOneHome(t *testing.T) {
	_, address := beginServer(t)
	h := newHarbour(t, "10m", address)
	h.worker(address)
	home := h.research()
	h.untilBegun(1)
	second := h.resume()
	if status := second.ends(); status != 4 || !strings.Contains(second.text(), "LOCK_HELD") || !strings.Contains(second.text(), strconv.Itoa(home.cmd.Process.Pid)) {
		t.Errorf("exit status %d:\n%s", status, second.text())
	}
}

func readLog(t *testing.T, data string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(data, "tidegate", "runs", "*", "logs", "audit.jsonl"))
	if err != nil || len(found) != 1 {
		t.Fatal(err, found)
	}
	text := must.Get(os.ReadFile(found[0]))(t)
	return string(text)
}
