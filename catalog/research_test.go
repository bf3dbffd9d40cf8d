package catalog_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/tidegate/tidegate/catalog"
	"github.com/tidegate/tidegate/internal/base/archive"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/face/mcp"
	"github.com/tidegate/tidegate/internal/test/full"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/test/reader"
	"github.com/tidegate/tidegate/internal/test/scratch"
	"github.com/tidegate/tidegate/tool"
)

// orchestrator is an agent that knows four tools and reads what they answer.
type orchestrator struct {
	t       *testing.T
	session *sdk.ClientSession
	content bool     // its reviews ask for nothing
	pages   int      // how many it has named
	asked   []string // jobs, in order
}

// pinned is an environment with its runs in a home, and a clock that stands.
func pinned(home string) *catalog.Env {
	return &catalog.Env{Now: func() time.Time { return time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC) }, Pinned: true, Dir: home, Home: home, Fetch: knownPages}
}

// newOrchestrator is one that talks to a server of the tools that agents get.
func newOrchestrator(t *testing.T, env *catalog.Env) *orchestrator {
	t.Helper()
	serverEnd, clientEnd := sdk.NewInMemoryTransports()
	server := mcp.New(tool.ForAgents(catalog.Tools(env)), mcp.Options{Version: "test", Log: slog.New(slog.DiscardHandler)})
	must.Get(server.Connect(t.Context(), serverEnd, nil))(t)
	session := must.Get(sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), clientEnd, nil))(t)
	t.Cleanup(func() { session.Close() })
	return &orchestrator{t: t, session: session}
}

func (o *orchestrator) call(name, format string, args ...any) *codec.Value {
	o.t.Helper()
	answer, failed := o.answered(name, format, args...)
	if failed {
		line, _ := codec.MarshalLine(answer)
		o.t.Fatalf("%s: %s", name, line)
	}
	return answer
}

// refused is the error of a call.
func (o *orchestrator) refused(name, format string, args ...any) *codec.Value {
	o.t.Helper()
	answer, failed := o.answered(name, format, args...)
	if !failed {
		o.t.Fatalf("%s is not refused", name)
	}
	return answer.Get("error")
}

func (o *orchestrator) answered(name, format string, args ...any) (answer *codec.Value, failed bool) {
	o.t.Helper()
	result, err := o.session.CallTool(o.t.Context(), &sdk.CallToolParams{Name: "deep_research_" + name, Arguments: rawArguments(fmt.Appendf(nil, format, args...))})
	if err != nil {
		o.t.Fatal(err)
	}
	text := result.Content[0].(*sdk.TextContent).Text
	if answer, err = codec.Parse([]byte(text)); err != nil {
		o.t.Fatalf("%s: %s", name, text)
	}
	return answer, result.IsError
}

var (
	askedHeadings = regexp.MustCompile(`(?m)^ {3,7}(## .*)$`)
	listedSources = regexp.MustCompile(`(?m)^- (s[0-9]+): .*https://example\.org/port/([0-9]+) `)
	exampleBlock  = regexp.MustCompile("(?s)## Example\n.*?```\n(.*?)```\n")
	refusedID     = regexp.MustCompile(`Sentence (c[0-9]+) does not stand`)
	shownSentence = regexp.MustCompile(`⟦(c[0-9]+)⟧`)
)

// What its first draft says, which no rule can judge and no page says, and what stands
// in its place in the next.
const planted = "The harbour office of Portem hid a grave accident from its owner."

// answer does what a prompt says and reads nothing else. The first draft has a fault at
// first, and always a sentence that no page says; the first review is not content.
func (o *orchestrator) answer(kind, prompt string, refused bool) string {
	var ids []string
	var pages []int
	for _, m := range listedSources.FindAllStringSubmatch(prompt, -1) {
		n, _ := strconv.Atoi(m[2])
		ids, pages = append(ids, m[1]), append(pages, n)
	}
	var titles []string
	for _, m := range askedHeadings.FindAllStringSubmatch(prompt, -1) {
		titles = append(titles, m[1])
	}
	var b strings.Builder
	switch kind {
	case "perspectives":
		return "```json\n" + exampleBlock.FindStringSubmatch(prompt)[1] + "```\n"
	case "wave1", "wave2":
		for _, title := range titles {
			b.WriteString(title + "\n\n")
			switch {
			case title == "## Gaps" && kind == "wave1":
				b.WriteString("- (P1) What tugs cost.\n\n")
			case title == "## Sources":
				fmt.Fprintf(&b, "- Port statistics https://example.org/port/%d\n\n", o.pages)
				o.pages++
			default:
				b.WriteString("Nothing else.\n\n")
			}
		}
	case "summary":
		return "- " + reader.Sentence(pages[0], 0) + " [@" + ids[0] + "]\n"
	case "synthesis":
		honest := reader.Sentence(pages[0], 29) + " [@" + ids[0] + "]"
		if id := refusedID.FindStringSubmatch(prompt); id != nil {
			return fmt.Sprintf(`{"replace":[{"sentence":%q,"with":%q}]}`, id[1], honest)
		}
		if id := shownSentence.FindAllStringSubmatch(prompt, 2); id != nil {
			return fmt.Sprintf(`{"replace":[{"sentence":%q,"with":%q}]}`, id[1][1], reader.Sentence(pages[0], 28)+" [@"+ids[0]+"]")
		}
		b.WriteString(reader.Report(titles, ids, pages, 4) + planted + " [@" + ids[0] + "]\n")
		if !refused {
			b.WriteString("\nThere were 4,200 calls.\n")
		}
	case "verify":
		return reader.Faithful(prompt)
	case "review":
		if !o.content && !slices.ContainsFunc(o.asked, func(job string) bool { return strings.HasPrefix(job, "synthesis.3") }) {
			return `{"decision":"CHANGES_REQUIRED","findings":[],"directives":[{"line":3,"action":"Say which tugs."}]}`
		}
		return exampleBlock.FindStringSubmatch(prompt)[1]
	}
	return b.String()
}

// work leases the jobs of a run that are open, one after the other, and hands them in.
func (o *orchestrator) work(id, holder string) {
	o.t.Helper()
	for {
		leased := o.call("job_lease", `{"run": %q, "holder": %q}`, id, holder).Get("job")
		if leased.Kind() == codec.Null {
			return
		}
		job, kind, prompt := leased.Get("job_id").Str(), leased.Get("kind").Str(), leased.Get("prompt_md").Str()
		o.asked = append(o.asked, job)
		for refused := false; ; refused = true {
			answer := must.Get(codec.MarshalLine(o.answer(kind, prompt, refused)))(o.t)
			verdict := o.call("job_submit", `{"run": %q, "token": %q, "answer": %s}`, id, leased.Get("token").Str(), answer)
			if verdict.Get("accepted").Bool() || verdict.Get("state").Str() == "held" {
				break
			}
			if refused {
				line, _ := codec.MarshalLine(verdict)
				o.t.Fatalf("%s is refused twice: %s\n%s", job, line, prompt)
			}
		}
	}
}

// research takes a question to its report with run_init, run_step, job_lease and
// job_submit alone.
func (o *orchestrator) research() (last *codec.Value) {
	id := o.call("run_init", `{"query": "Should the harbour buy electric tugs?", "run_id": "harbour"}`).Get("run_id").Str()
	for range 100 {
		step := o.call("run_step", `{"run": %q}`, id)
		if waiting := step.Get("waiting_for").Str(); waiting != "agents" {
			return step
		}
		o.work(id, "orchestrator")
	}
	o.t.Fatal("the run does not end")
	return nil
}

// handIn begins a run with one perspective and hands in its output, without a job. Its
// output is about a page of known sentences.
func (o *orchestrator) handIn(home, id string) {
	o.t.Helper()
	o.call("run_init", `{"query": "Should the harbour buy electric tugs?", "run_id": %q}`, id)
	o.call("perspectives_write", `{"run": %q, "reason": "r", "value": {"schema_version": "perspectives.v1", "run_id": %q, "created_at": "2026-03-04",
		"perspectives": [{"id": "calls", "title": "Calls", "track": "standard", "agent_type": "researcher", "prompt_contract":
		{"max_words": 90, "max_sources": 2, "tool_budget": {}, "must_include_sections": ["Findings", "Gaps", "Sources"]}}]}}`, id, id)
	o.call("wave1_plan", `{"run": %q, "reason": "r"}`, id)
	o.call("stage_advance", `{"run": %q, "reason": "r"}`, id)
	output := must.Get(codec.MarshalLine("## Findings\n\n" + reader.Sentence(1, 0) + "\n\n## Gaps\n\n## Sources\n\n- Port statistics https://example.org/port/1\n"))(o.t)
	o.call("wave_output_ingest", `{"run": %q, "wave": "wave1", "outputs": [{"perspective_id": "calls", "markdown": %s}]}`, id, output)
}

// summarize hands in the pack of the run's one summary.
func (o *orchestrator) summarize(home, id string) {
	o.t.Helper()
	cid := o.call("citations_list", `{"run": %q}`, id).Get("records").Elems()[0].Get("cid").Str()
	dir := filepath.Join(home, "given "+id)
	must.Do(o.t, os.MkdirAll(dir, 0o700))
	must.Do(o.t, os.WriteFile(filepath.Join(dir, "calls.md"), []byte("- "+reader.Sentence(1, 0)+" [@"+cid+"]\n"), 0o600))
	o.call("summary_pack_build", `{"manifest_path": %q, "fixture_summaries_dir": %q, "reason": "r"}`, filepath.Join(home, id, "manifest.json"), dir)
}

// TestARunGoesOnByWhatIsHandedIn takes a run to its synthesis over MCP without a job: its
// perspectives, output and summaries are handed in, and run_step does the rest.
func TestARunGoesOnByWhatIsHandedIn(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	o := newOrchestrator(t, pinned(home))
	at := func(stage, job string) {
		t.Helper()
		step := o.call("run_step", `{"run": "given"}`)
		jobs := step.Get("jobs").Elems()
		if step.Get("stage").Str() != stage || step.Get("waiting_for").Str() != "agents" || len(jobs) != 1 || jobs[0].Get("job_id").Str() != job {
			line, _ := codec.MarshalLine(step)
			t.Fatalf("%s", line)
		}
	}
	o.handIn(home, "given")
	at("summaries", "summary.calls")
	o.summarize(home, "given")
	at("synthesis", "synthesis")
	if v := o.call("run_verify", `{"run": "given"}`); !v.Get("pass").Bool() {
		t.Errorf("%v", v)
	}
	if v := o.call("run_replay", `{"run": "given"}`); !v.Get("pass").Bool() {
		line, _ := codec.MarshalLine(v)
		t.Errorf("%s", line)
	}
}

// TestAMoveJudgesTheGateInItsWay takes a run to its synthesis by moves alone. One that a
// gate blocks says what its judge found.
func TestAMoveJudgesTheGateInItsWay(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	o := newOrchestrator(t, pinned(home))
	o.handIn(home, "moved")
	root := filepath.Join(home, "moved")
	review := func() {
		t.Helper()
		o.call("wave_review", `{"perspectives_path": %q, "outputs_dir": %q, "report_path": %q}`,
			filepath.Join(root, "perspectives.json"), filepath.Join(root, "wave-1"), filepath.Join(root, "wave-review.json"))
	}
	output := filepath.Join(root, "wave-1", "calls.md")
	text := must.Get(os.ReadFile(output))(t)
	review()
	must.Do(t, os.WriteFile(output, []byte("Nothing.\n"), 0o600))
	refused := o.refused("stage_advance", `{"run": "moved", "reason": "r"}`)
	if refused.Get("code").Str() != "GATE_BLOCKED" || strings.Join(refused.Get("details").Get("warnings").Strs(), " ") != "STALE_REPORT" {
		line, _ := codec.MarshalLine(refused)
		t.Errorf("%s", line)
	}
	if got := o.call("gate_list", `{"run": "moved"}`).Get("gates").Elems()[1].Get("status").Str(); got != "fail" {
		t.Errorf("gate B is recorded as %s", got)
	}
	must.Do(t, os.WriteFile(output, text, 0o600))
	moves := func(to string) {
		t.Helper()
		if got := o.call("stage_advance", `{"run": "moved", "reason": "r"}`).Get("to").Str(); got != to {
			t.Fatalf("it moves to %s", got)
		}
	}
	moves("pivot")
	o.call("pivot_decide", `{"manifest_path": %q, "wave1_outputs": [{"perspective_id": "calls", "output_md_path": "wave-1/calls.md"}], "wave1_validation_reports":
		[{"ok": true, "perspective_id": "calls", "markdown_path": "wave-1/calls.md", "words": 1, "sources": 1, "missing_sections": []}]}`, filepath.Join(root, "manifest.json"))
	moves("citations")
	o.call("citations_validate", `{"run": "moved", "reason": "r"}`)
	moves("summaries")
	o.summarize(home, "moved")
	moves("synthesis")
}

// knownPages answers each address with the page of known sentences whose number it ends
// with.
func knownPages(_ context.Context, urls []string, keep func([]*archive.Packed) error) error {
	at := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	for _, url := range urls {
		n, err := strconv.Atoi(path.Base(url))
		if err != nil {
			return err
		}
		packed, err := archive.Pack(archive.Capture{URL: url, Kind: archive.Responded, Time: at, Hops: []archive.Hop{{URL: url, Time: at, Status: 200,
			Header: []archive.Field{{Name: "Content-Type", Value: "text/html; charset=utf-8"}}, Body: []byte(reader.Page(n))}}})
		if err != nil {
			return err
		}
		if err := keep([]*archive.Packed{packed}); err != nil {
			return err
		}
	}
	return nil
}

// TestAnOrchestratingAgentDoesAWholeRun has a scripted agent research a question
// through the tools alone, with a second wave, a refused answer, a sentence that only
// the second reader finds, and a review round. The full form does it again, which leaves
// the same folder byte for byte, and replays it.
func TestAnOrchestratingAgentDoesAWholeRun(t *testing.T) {
	full.Story(t)
	t.Parallel()
	home := filepath.Join(scratch.Short(t), "runs")
	research := func() *orchestrator {
		o := newOrchestrator(t, pinned(home))
		if last := o.research(); last.Get("status").Str() != "completed" || last.Get("waiting_for").Str() != "nothing" {
			t.Fatalf("the run ended so: %v", last)
		}
		jobs := strings.Join(o.asked, " ")
		for _, want := range []string{"perspectives wave1.", "wave2.", "summary.", " synthesis verify.1 verify.2 ", " synthesis.2 verify.2.1 verify.2.2 review.2 synthesis.3 verify.3.1 verify.3.2 review.3"} {
			if !strings.Contains(jobs, want) {
				t.Errorf("no %q among the jobs %s", want, jobs)
			}
		}
		return o
	}
	o := research()
	if full.Asked() {
		first := filesIn(t, filepath.Join(home, "harbour"))
		must.Do(t, os.RemoveAll(home))
		o = research()
		if diff := cmp.Diff(first, filesIn(t, filepath.Join(home, "harbour"))); diff != "" {
			t.Errorf("the second run differs: %s", diff)
		}
	}
	if v := o.call("run_verify", `{"run": "harbour"}`); !v.Get("pass").Bool() {
		t.Errorf("%v", v)
	}
	if !full.Asked() {
		return
	}
	if v := o.call("run_replay", `{"run": "harbour"}`); !v.Get("pass").Bool() {
		line, _ := codec.MarshalLine(v)
		t.Errorf("the folder does not replay: %s", line)
	}
}

var (
	documentedLoop = regexp.MustCompile("(?s)## A whole run by jobs\n.*?```\n(.*?)```\n")
	documentedCall = regexp.MustCompile(`^deep_research_(\w+) +(\{.*?\})(?: +→ (.*))?$`)
	saidOpen       = regexp.MustCompile(`([a-z0-9]+(?:\.[0-9]+)*)(\.…)? (?:is|are) open`)
	saidState      = regexp.MustCompile(`(waiting_for|status) (\w+)`)
)

// TestTheDocumentedLoopIsPlayed plays the loop of docs/setup.md as it stands there, line
// by line, and holds what it says of each answer against the answer.
func TestTheDocumentedLoopIsPlayed(t *testing.T) {
	full.Story(t)
	t.Parallel()
	document := must.Get(os.ReadFile("../docs/setup.md"))(t)
	o := newOrchestrator(t, pinned(filepath.Join(scratch.Short(t), "runs")))
	o.content = true
	played := 0
	for line := range strings.Lines(documentedLoop.FindStringSubmatch(string(document))[1]) {
		line = strings.TrimRight(line, "\n")
		m := documentedCall.FindStringSubmatch(line)
		switch {
		case strings.HasPrefix(line, "  lease and submit"):
			o.work("tugs", "helper")
			continue
		case m == nil:
			t.Fatalf("no call stands in the line %q", line)
		case m[1] == "job_submit": // the answer to the lease above
			continue
		case m[1] == "job_lease":
			if !strings.Contains(m[2], `"holder": "planner"`) {
				t.Errorf("the document leases so: %s", m[2])
			}
			o.work("tugs", "planner")
			continue
		}
		played++
		answer := o.call(m[1], "%s", m[2])
		for _, want := range saidState.FindAllStringSubmatch(m[3], -1) {
			if got := answer.Get(want[1]).Str(); got != want[2] {
				t.Errorf("%s: %s is %s", line, want[1], got)
			}
		}
		for _, want := range saidOpen.FindAllStringSubmatch(m[3], -1) {
			if !slices.ContainsFunc(answer.Get("jobs").Elems(), func(job *codec.Value) bool {
				id := job.Get("job_id").Str()
				return id == want[1] || want[2] != "" && strings.HasPrefix(id, want[1]+".")
			}) {
				given, _ := codec.MarshalLine(answer)
				t.Errorf("%s: no such job is open: %s", line, given)
			}
		}
	}
	if played < 10 || len(o.asked) < 15 {
		t.Errorf("%d calls and the jobs %v were played", played, o.asked)
	}
	if v := o.call("run_verify", `{"run": "tugs"}`); !v.Get("pass").Bool() {
		t.Errorf("%v", v)
	}
}

// filesIn has the files of a folder, by name.
func filesIn(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	must.Do(t, filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		files[strings.TrimPrefix(path, dir)] = string(data)
		return err
	}))
	return files
}
