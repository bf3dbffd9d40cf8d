package proof_test

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/catalog"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/face/mcp"
	"github.com/tidegate/tidegate/internal/test/full"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/tool"
)

// TestNoWalkOfAnAgentBreaksAPromise lets an agent call every tool of the MCP server
// at random, on runs and changes, some of them with faults, with arguments that make
// sense and arguments that are hostile. About half of its steps are those that an
// obedient agent would take next, so that it gets deep into runs. After every call
// the test looks for everything that an agent must not be able to bring about.
func TestNoWalkOfAnAgentBreaksAPromise(t *testing.T) {
	full.Story(t)
	t.Parallel()
	walks, calls := 1, 100
	if full.Asked() {
		walks, calls = 10, 1000
	}
	reached := map[string]int{}
	for seed := range walks {
		w := newWalk(t, uint64(seed+1))
		for range calls {
			w.step()
		}
		w.end()
		for what, n := range w.reached {
			reached[what] += n
		}
	}
	deep := []string{"stage wave1", "stage pivot", "gate A passed", "gate B passed", "gate C passed", "gate D passed", "stage synthesis", "accepted synthesis", "granted", "refused", "answer refused"}
	if full.Asked() {
		deep = append(deep, "stage wave2", "stage citations", "stage summaries", "gate E passed", "gate F passed", "stage review", "stage finalize", "run failed", "run completed",
			"accepted perspectives", "accepted wave1", "accepted wave2", "accepted summary", "accepted review", "change complete", "change needs a person")
	}
	for _, what := range deep {
		if reached[what] == 0 {
			t.Errorf("the walk never reached: %s", what)
		}
	}
	for _, what := range slices.Sorted(maps.Keys(reached)) {
		t.Logf("%6d %s", reached[what], what)
	}
}

// TestTheWalkKnowsEveryArgument fails for a tool argument that the walk has no
// values for.
func TestTheWalkKnowsEveryArgument(t *testing.T) {
	t.Parallel()
	for _, each := range tool.ForAgents(catalog.Tools(&catalog.Env{})) {
		for _, m := range each.InputSchema().Get("properties").Members() {
			if pools[m.Key] == nil {
				t.Errorf("the walk has no values for %s of %s", m.Key, each.Name)
			}
		}
	}
}

// walk is a walk in progress.
type walk struct {
	*testing.T
	*office
	seed    uint64
	random  *rand.Rand
	session *sdk.ClientSession
	tools   []*tool.Tool
	trail   []string
	reached map[string]int
	made    int               // the number of runs made
	ids     map[string]string // of runs, by their folders
	leased  []*codec.Value    // what job_lease answered
	watched *watch
}

func newWalk(t *testing.T, seed uint64) *walk {
	t.Helper()
	w := &walk{T: t, office: newOffice(t), seed: seed, random: rand.New(rand.NewPCG(seed, 14)), reached: map[string]int{}, ids: map[string]string{}}
	now := time.Now().Add(-24 * time.Hour).Truncate(time.Second)
	w.env.Now = func() time.Time { return now }
	w.plant()
	w.env.Now = func() time.Time { now = now.Add(time.Second / 4); return now }
	w.tools = tool.ForAgents(catalog.Tools(w.env))
	serverEnd, clientEnd := sdk.NewInMemoryTransports()
	server := mcp.New(w.tools, mcp.Options{Log: slog.New(slog.NewTextHandler(io.Discard, nil))})
	must.Get(server.Connect(t.Context(), serverEnd, nil))(t)
	var err error
	if w.session, err = sdk.NewClient(&sdk.Implementation{Name: "walker", Version: "1"}, nil).Connect(t.Context(), clientEnd, nil); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.session.Close() })
	w.watched = newWatch(w)
	return w
}

// plantedClaim is what somebody wrote into a text that the run had accepted.
const plantedClaim = "- It pulls 99 times.\n"

// plant makes runs and changes that have a fault or that a person has decided
// about, and files that do not belong to the agent.
func (w *walk) plant() {
	t := w.T
	plantBystanders(t, w.office)
	for _, fault := range []struct {
		name, at string
		make     func(v victim)
	}{
		{"bad-output", "wave1 handed in", func(v victim) { bad(t, v) }},
		{"exchanged-output", "wave1 judged", func(v victim) { v.write(t, "wave-1/moon.md", output("moon", "(P3) x")) }},
		{"raised-limit", "wave1 judged", func(v victim) { edit("manifest.json", `"max_wave1_agents": `, `"max_wave1_agents": 9`)(t, v) }},
		{"foreign-line", "decided", func(v victim) { add("logs/audit.jsonl", foreignLine)(t, v) }},
		{"paused", "decided", func(v victim) { v.person(t, "deep_research_run_pause", tidegate.Pairs("manifest_path", v.manifest())) }},
		{"cancelled", "decided", func(v victim) { v.person(t, "deep_research_run_cancel", tidegate.Pairs("manifest_path", v.manifest())) }},
		{"cancelled-writing", "in synthesis", func(v victim) {
			v.person(t, "deep_research_run_cancel", tidegate.Pairs("manifest_path", v.manifest()))
		}},
		{"cancelled-review", "in review", func(v victim) {
			v.person(t, "deep_research_run_cancel", tidegate.Pairs("manifest_path", v.manifest()))
		}},
		{"second-manifest", "made", func(v victim) { v.write(t, "manifest-2.json", string(v.read(t, "manifest.json"))) }},
		{"to-summarise", "in summaries", func(victim) {}},
		{"to-write", "in synthesis", func(victim) {}},
		{"to-review", "in review", func(victim) {}},
		{"to-finish", "reviewed", func(victim) {}},
		{"finished", "completed", func(victim) {}},
		{"exchanged-synthesis", "reviewed", func(v victim) {
			v.write(t, "synthesis/final-synthesis.md", string(v.read(t, "synthesis/final-synthesis.md"))+plantedClaim)
		}},
		{"exchanged-summary", "in synthesis", func(v victim) { v.write(t, "summaries/moon.md", plantedClaim) }},
		{"unplanned-wave2", "in wave2", func(v victim) { v.write(t, "wave-2/freely.md", output("freely", "")) }},
	} {
		fault.make(victim{w.copied(t, fault.name, withGap, fault.at), ""})
	}
	for _, c := range []try{
		{"change_start", `{"change_id":"started"}`, ""},
		{"change_start", `{"change_id":"exchanged"}`, ""},
		{"create_review", `{"change_id":"exchanged","verdict":"MAJOR_ISSUES","summary":"s"}`, ""},
		{"change_start", `{"change_id":"by-hand"}`, ""},
	} {
		if answer := w.asCalled(t, c.tool, c.args); codeOf(answer) != "" {
			t.Fatal(answer.Get("error").Get("message").Str())
		}
	}
	project := folder{w.office, "", w.dir}
	exchanged := "agentd/changes/exchanged/REVIEW.md"
	project.write(t, exchanged, strings.ReplaceAll(string(project.read(t, exchanged)), "MAJOR_ISSUES", "APPROVED"))
	project.write(t, "agentd/changes/by-hand/REVIEW.md", "# Review\n\n## Verdict: APPROVED\n")
	project.write(t, "drafts/perspectives.json", asJSON(contracts("tides", 100_000)))
	project.write(t, "drafts/wave-review.json", `{"results":[],"retry_directives":[]}`)
}

// step makes one call, or two that belong together.
func (w *walk) step() {
	switch n := w.random.IntN(100); {
	case n < 45:
		w.honestly()
	case n < 60:
		w.reviewing()
	default:
		each := w.tools[w.random.IntN(len(w.tools))]
		w.calls(each.Name, w.arguments(each))
	}
}

// calls makes a call over MCP and checks everything after it.
func (w *walk) calls(name string, args any) *codec.Value {
	w.Helper()
	text := asJSON(args)
	w.trail = append(w.trail, name+" "+text)
	out, err := overMCP(w.Context(), w.session, name, text)
	if err != nil {
		w.broken("%s: %v", name, err)
	}
	answer := parsed(w.T, out)
	if leased := answer.Get("job"); leased.Get("token").Str() != "" {
		w.leased = append(w.leased, leased)
	}
	if accepted := answer.Get("accepted"); accepted != nil && !accepted.Bool() {
		w.reached["answer refused"]++
	}
	if code := codeOf(answer); code == tidegate.Internal {
		w.broken("%s met a state that it did not expect: %s", name, out)
	} else if code != "" {
		w.reached["refused"]++
		w.trail[len(w.trail)-1] += " → " + string(code)
	} else {
		w.reached["granted"]++
		w.reached["granted "+name]++
	}
	w.watched.after(w, name, args)
	return answer
}

// broken ends the walk and shows the steps that led here.
func (w *walk) broken(format string, args ...any) {
	w.Helper()
	w.Fatalf("%s\nseed %d, after\n%s", fmt.Sprintf(format, args...), w.seed, strings.Join(w.trail, "\n"))
}

// runs are the runs that the agent knows of, by their folders.
func (w *walk) runs() []folder {
	found, err := filepath.Glob(filepath.Join(w.dir, "runs", "*", "manifest.json"))
	if err != nil {
		w.Fatal(err)
	}
	list := make([]folder, len(found))
	for i, path := range found {
		f := w.run("").at(filepath.Dir(path))
		if w.ids[f.root] == "" {
			w.ids[f.root] = f.json(w.T, "manifest.json").Get("run_id").Str()
		}
		f.id = w.ids[f.root]
		list[i] = f
	}
	return list
}

// honestly takes the step that an obedient agent would take next in one of the
// runs, or begins another run.
func (w *walk) honestly() {
	f := draw(w, w.runs())
	if own := w.run(fmt.Sprintf("run%d", w.made)); w.random.IntN(3) > 0 && own.has("manifest.json") {
		f = own
	}
	if w.made == 0 || f.stage(w.T) == "summaries" && w.random.IntN(2) == 0 {
		w.made++
		w.calls("deep_research_run_init", tidegate.Pairs("query", question, "run_id", fmt.Sprintf("run%d", w.made)))
		return
	}
	manifest := tidegate.Pairs("manifest_path", f.manifest(), "reason", "r")
	passed := strings.Join(w.watched.gates[f.root], "")
	switch stage := f.stage(w.T); {
	case w.random.IntN(4) == 0 || f.has("jobs/perspectives") || slices.Contains([]string{"summaries", "synthesis", "review", "finalize"}, stage):
		w.working(f)
	case (stage == "init" || stage == "perspectives") && !f.has("perspectives.json"):
		w.calls("deep_research_perspectives_write", tidegate.Pairs("perspectives_path", f.path("perspectives.json"), "value", contracts(f.id, 60), "reason", "r"))
	case !strings.Contains(passed, "A"):
		w.calls("deep_research_wave1_plan", manifest)
	case stage == "wave1" && !(f.has("wave-1/moon.md") && f.has("wave-1/sun.md")):
		gap := []string{withGap, withoutGap}[w.random.IntN(2)]
		w.calls("deep_research_wave_output_ingest", tidegate.Pairs("manifest_path", f.manifest(), "perspectives_path", f.path("perspectives.json"), "wave", "wave1",
			"outputs", []tidegate.Details{submission("moon", gap), submission("sun", "")}))
	case stage == "wave2" && len(w.missing(f)) > 0:
		w.calls("deep_research_wave_output_ingest", tidegate.Pairs("manifest_path", f.manifest(), "perspectives_path", f.path("perspectives.json"), "wave", "wave2",
			"outputs", []tidegate.Details{submission(w.missing(f)[0], "")}))
	case stage != "init" && stage != "perspectives" && !strings.Contains(passed, "B"):
		w.calls("deep_research_wave_review", f.reviewArgs())
		w.calls("deep_research_stage_advance", f.advanceArgs())
	case stage == "citations" && !f.has("citations/citations.jsonl"):
		w.calls("deep_research_citations_validate", manifest)
	case stage == "pivot" && w.random.IntN(2) == 0:
		w.calls("deep_research_pivot_decide", append(manifest, tidegate.Pairs("wave1_outputs", pivotOutputs, "wave1_validation_reports", pivotReports)...))
	default:
		w.calls("deep_research_stage_advance", f.advanceArgs())
	}
}

// working does what an agent does that knows only the job tools: one job, if one
// is open.
func (w *walk) working(f folder) {
	manifest := tidegate.Pairs("manifest_path", f.manifest())
	if step := w.calls("deep_research_run_step", manifest); step.Get("waiting_for").Str() != "agents" {
		return
	}
	leased := w.calls("deep_research_job_lease", append(manifest, tidegate.Pairs("holder", "walker")...)).Get("job")
	if leased.Get("token").Str() == "" {
		return
	}
	if w.random.IntN(8) == 0 {
		return // it forgets about the job
	}
	answer := obey(leased)
	if w.random.IntN(5) == 0 {
		answer = fmt.Sprint(pools["answer"](w, f))
	}
	w.calls("deep_research_job_submit", append(manifest, tidegate.Pairs("token", leased.Get("token").Str(), "answer", answer)...))
}

func submission(id, gap string) tidegate.Details {
	return tidegate.Pairs("perspective_id", id, "markdown", output(id, gap))
}

// missing are the perspectives of the second wave that have no output.
func (w *walk) missing(f folder) []string {
	return slices.DeleteFunc(f.gapIDs(w.T), func(id string) bool { return f.has("wave-2/" + id + ".md") })
}

var pivotOutputs, pivotReports = func() (outputs, reports []tidegate.Details) {
	for _, id := range perspectiveIDs {
		outputs = append(outputs, tidegate.Pairs("perspective_id", id, "output_md_path", "wave-1/"+id+".md"))
		reports = append(reports, tidegate.Pairs("ok", true, "perspective_id", id, "markdown_path", "/"+id+".md", "words", 9, "sources", 1, "missing_sections", []string{}))
	}
	return outputs, reports
}()

// reviewing moves a change on with reviews of every kind.
func (w *walk) reviewing() {
	id := tidegate.Pairs("change_id", draw(w, changeIDs[:4]))
	switch w.random.IntN(4) {
	case 0:
		w.calls("change_start", id)
	case 1:
		verdict := draw(w, []string{"APPROVED", "APPROVED", "NEEDS_FIX", "MAJOR_ISSUES"})
		w.calls("create_review", append(id, tidegate.Pairs("verdict", verdict, "summary", "s", "issues", pools["issues"](w, folder{}))...))
	default:
		w.calls("change_advance", id)
	}
}

// end checks everything once more. What a run has accepted may be handed in again,
// and then a judged text replaces the edited one: the run is as it was recorded
// exactly where the edited text is gone.
func (w *walk) end() {
	tampered := []string{"bad-output", "exchanged-output", "raised-limit", "foreign-line"}
	for _, f := range w.runs() {
		for run, name := range map[string]string{"exchanged-synthesis": "synthesis/final-synthesis.md", "exchanged-summary": "summaries/moon.md"} {
			if filepath.Base(f.root) == run && bytes.Contains(f.read(w.T, name), []byte(plantedClaim)) {
				tampered = append(tampered, run)
			}
		}
		if passed, findings := f.verify(w.T); passed == slices.Contains(tampered, filepath.Base(f.root)) {
			w.broken("`run verify` of %s says pass %v:\n%s", f.root, passed, findings)
		}
		w.reached["stage "+f.stage(w.T)]++
	}
}
