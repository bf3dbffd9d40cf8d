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
	if _, err := server.Connect(t.Context(), serverEnd, nil); err != nil {
		t.Fatal(err)
	}
	session, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), clientEnd, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { session.Close() })
	return &orchestrator{t: t, session: session}
}

func (o *orchestrator) call(name, format string, args ...any) *codec.Value {
	o.t.Helper()
	result, err := o.session.CallTool(o.t.Context(), &sdk.CallToolParams{Name: "deep_research_" + name, Arguments: rawArguments(fmt.Appendf(nil, format, args...))})
	if err != nil {
		o.t.Fatal(err)
	}
	text := result.Content[0].(*sdk.TextContent).Text
	answer, err := codec.Parse([]byte(text))
	if err != nil || result.IsError {
		o.t.Fatalf("%s: %s", name, text)
	}
	return answer
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
			answer, err := codec.MarshalLine(o.answer(kind, prompt, refused))
			if err != nil {
				o.t.Fatal(err)
			}
			verdict := o.call("job_submit", `{"run": %q, "token": %q, "answer": %s}`, id, leased.Get("token").Str(), answer)
			if verdict.Get("accepted").Bool() {
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
		for _, want := range []string{"perspectives wave1.", "wave2.", "summary.", " synthesis verify.1 verify.2 ", " synthesis.2 verify.2.1 review.2 synthesis.3 verify.3.1 review.3"} {
			if !strings.Contains(jobs, want) {
				t.Errorf("no %q among the jobs %s", want, jobs)
			}
		}
		return o
	}
	o := research()
	if full.Asked() {
		first := filesIn(t, filepath.Join(home, "harbour"))
		if err := os.RemoveAll(home); err != nil {
			t.Fatal(err)
		}
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

// TestTheDocumentedLoopIsPlayed plays the loop of docs/agents.md as it stands there, line
// by line, and holds what it says of each answer against the answer.
func TestTheDocumentedLoopIsPlayed(t *testing.T) {
	full.Story(t)
	t.Parallel()
	document, err := os.ReadFile("../docs/agents.md")
	if err != nil {
		t.Fatal(err)
	}
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
	err := filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		files[strings.TrimPrefix(path, dir)] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}
