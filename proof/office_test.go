package proof_test

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/catalog"
	"github.com/tidegate/tidegate/internal/base/archive"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/test/reader"
	"github.com/tidegate/tidegate/internal/test/scratch"
	"github.com/tidegate/tidegate/tool"
)

// office is a project with its runs and changes, and the tools that an agent has
// there: those of the MCP server and no other.
type office struct {
	dir    string
	env    *catalog.Env
	tools  map[string]*tool.Tool
	leases map[string]*codec.Value // leases that agents have, by job
}

func newOffice(t *testing.T) *office {
	t.Helper()
	return officeIn(t, scratch.Short(t))
}

func officeIn(t *testing.T, dir string) *office {
	t.Helper()
	must.Do(t, os.MkdirAll(filepath.Join(dir, "runs"), 0o700))
	o := &office{dir: dir, env: &catalog.Env{Now: time.Now, Dir: dir, Project: dir, Home: filepath.Join(dir, "runs"), Fetch: fetchArticles, Call: noService}, tools: map[string]*tool.Tool{}, leases: map[string]*codec.Value{}}
	for _, each := range tool.ForAgents(catalog.Tools(o.env)) {
		o.tools[each.Name] = each
	}
	return o
}

// call is a call of an agent, in this process.
func (o *office) call(t *testing.T, name string, args any) *codec.Value {
	t.Helper()
	raw := must.Get(codec.MarshalLine(args))(t)
	if o.tools[name] == nil {
		t.Fatalf("an agent has no tool %s", name)
	}
	return parsed(t, o.tools[name].Call(t.Context(), raw, tool.Caller{}).Envelope)
}

// person carries out a decision that only a person may take.
func (o *office) person(t *testing.T, name string, args any) *codec.Value {
	t.Helper()
	raw := must.Get(codec.MarshalLine(args))(t)
	tools := catalog.Tools(o.env)
	i := slices.IndexFunc(tools, func(each *tool.Tool) bool { return each.Name == name })
	result := tools[i].Call(tidegate.WithActor(t.Context(), tidegate.Actor{Kind: tidegate.Person}), raw, tool.Caller{})
	if result.Err != nil {
		t.Fatalf("%s by a person: %v", name, result.Err)
	}
	return parsed(t, result.Envelope)
}

func parsed(t *testing.T, envelope []byte) *codec.Value {
	t.Helper()
	answer, err := codec.Parse(envelope)
	if err != nil {
		t.Fatalf("%v in %s", err, envelope)
	}
	return answer
}

// codeOf is the code of an answer, "" when the call was granted.
func codeOf(answer *codec.Value) tidegate.Code {
	return tidegate.Code(answer.Get("error").Get("code").Str())
}

// folder is a run of the office, wherever it lies.
type folder struct {
	*office
	id   string
	root string
}

func (o *office) run(id string) folder { return folder{o, id, filepath.Join(o.dir, "runs", id)} }

// at is the run at another place.
func (f folder) at(root string) folder { return folder{f.office, f.id, root} }

func (f folder) path(name string) string { return filepath.Join(f.root, filepath.FromSlash(name)) }
func (f folder) manifest() string        { return f.path("manifest.json") }

func (f folder) read(t *testing.T, name string) []byte {
	t.Helper()
	data := must.Get(os.ReadFile(f.path(name)))(t)
	return data
}

func (f folder) has(name string) bool {
	_, err := os.Stat(f.path(name))
	return err == nil
}

// write puts a file into the run as somebody with a shell would.
func (f folder) write(t *testing.T, name, text string) {
	t.Helper()
	must.Write(t, f.path(name), text)
}

func (f folder) json(t *testing.T, name string) *codec.Value {
	t.Helper()
	return parsed(t, f.read(t, name))
}

func (f folder) stage(t *testing.T) string {
	return f.json(t, "manifest.json").Get("stage").Get("current").Str()
}

// must is a call that has to be granted.
func (f folder) must(t *testing.T, name string, args tidegate.Details) *codec.Value {
	t.Helper()
	answer := f.call(t, name, args)
	if code := codeOf(answer); code != "" {
		t.Fatalf("%s of run %s in stage %s: %s", name, f.id, f.stage(t), answer.Get("error").Get("message").Str())
	}
	return answer
}

// question is the question of every run.
const question = "Why do tides turn?"

// The perspectives of every run.
var perspectiveIDs = []string{"moon", "sun"}

// contracts are the perspectives of a run, as a planner writes them.
func contracts(runID string, maxWords int) tidegate.Details {
	return contractsWith(runID, maxWords, "Findings", "Gaps", "Sources")
}

func contractsWith(runID string, maxWords int, sections ...string) tidegate.Details {
	list := []tidegate.Details{}
	for _, id := range perspectiveIDs {
		list = append(list, tidegate.Pairs("id", id, "title", "The "+id, "track", "standard", "agent_type", "researcher",
			"prompt_contract", tidegate.Pairs("max_words", maxWords, "max_sources", 2, "tool_budget", tidegate.Pairs("search", 3),
				"must_include_sections", sections)))
	}
	return tidegate.Pairs("schema_version", "perspectives.v1", "run_id", runID, "created_at", "2026-03-04T00:00:00Z", "perspectives", list)
}

// fetchArticles is the web of an office: every page is an article about whatever
// its URL names.
func fetchArticles(_ context.Context, urls []string, keep func([]*archive.Packed) error) error {
	var batch []*archive.Packed
	for _, url := range urls {
		body, kind := article(url), "text/html"
		switch path.Base(url) {
		case "planted":
			body = plantedPage
		case "picture":
			body, kind = "\x89PNG\r\n\x1a\n\x00", "image/png"
		}
		at := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
		packed, err := archive.Pack(archive.Capture{URL: url, Kind: archive.Responded, Time: at, Hops: []archive.Hop{
			{URL: url, Time: at, Status: 200, Header: []archive.Field{{Name: "Content-Type", Value: kind}}, Body: []byte(body)},
		}})
		if err != nil {
			return err
		}
		batch = append(batch, packed)
	}
	return keep(batch)
}

// article is the page at a URL.
func article(url string) string {
	name := path.Base(url)
	body := "<title>" + name + "</title><p>" + strings.Join(saidBy(name), " ") + " So says " + url + ".</p><p>"
	for k := range 6 { // errors can be made of them that a second reader is tested with
		body += reader.Sentence(len(url), k) + " "
	}
	return body + "</p>"
}

// output is what an agent that keeps to its contract writes.
func output(id, gap string) string {
	gaps := ""
	if gap != "" {
		gaps = "- " + gap + "\n\n"
	}
	return "## Findings\n\nThe " + id + " pulls.\n\n## Gaps\n\n" + gaps + "## Sources\n\n- https://example.org/" + id + "\n"
}

// rung is one step of an agent that keeps every rule, and when it is due.
type rung struct {
	name string // of the state that the run is in after it
	due  func(t *testing.T, f folder) bool
	take func(t *testing.T, f folder)
}

// The courses of a run: with a gap that needs a second wave, or without.
const (
	withGap    = "(P0) How much the sun adds"
	withoutGap = ""
)

// ladder is the course of an obedient agent through a run to its report: up to the
// citations with the tools of each step, from there on with jobs. A run with a gap
// goes through a second wave, and its first draft is sent back.
func ladder(gap string) []rung {
	in := func(stage string) func(*testing.T, folder) bool {
		return func(t *testing.T, f folder) bool { return f.stage(t) == stage }
	}
	steps := []rung{
		{"made", func(_ *testing.T, f folder) bool { return !f.has("manifest.json") }, func(t *testing.T, f folder) {
			answer := f.call(t, "deep_research_run_init", tidegate.Pairs("query", question, "run_id", f.id))
			if codeOf(answer) != "" {
				t.Fatal(answer.Get("error").Get("message").Str())
			}
		}},
		{"with perspectives", in("init"), func(t *testing.T, f folder) {
			f.must(t, "deep_research_perspectives_write", tidegate.Pairs("perspectives_path", f.path("perspectives.json"), "value", contracts(f.id, 60), "reason", "r"))
		}},
		{"planned", in("init"), func(t *testing.T, f folder) {
			f.must(t, "deep_research_wave1_plan", tidegate.Pairs("manifest_path", f.manifest(), "reason", "r"))
		}},
		{"in wave1", in("init"), advanceTo("wave1")},
		{"wave1 handed in", in("wave1"), func(t *testing.T, f folder) { f.handIn(t, "wave1", perspectiveIDs, gap) }},
		{"wave1 reviewed", in("wave1"), func(t *testing.T, f folder) { f.review(t) }},
		{"wave1 judged", in("wave1"), func(t *testing.T, f folder) { f.judge(t, "B") }},
		{"in pivot", in("wave1"), advanceTo("pivot")},
		{"decided", in("pivot"), func(t *testing.T, f folder) { f.decide(t, nil) }},
	}
	if gap != "" {
		steps = append(steps,
			rung{"in wave2", in("pivot"), advanceTo("wave2")},
			rung{"wave2 handed in", in("wave2"), func(t *testing.T, f folder) { f.handIn(t, "wave2", f.gapIDs(t), "") }},
			rung{"wave2 judged", in("wave2"), func(t *testing.T, f folder) { f.judge(t, "B") }},
			rung{"in citations", in("wave2"), advanceTo("citations")})
	} else {
		steps = append(steps, rung{"in citations", in("pivot"), advanceTo("citations")})
	}
	steps = append(steps,
		rung{"sources judged", in("citations"), func(t *testing.T, f folder) {
			f.must(t, "deep_research_citations_validate", tidegate.Pairs("manifest_path", f.manifest(), "reason", "r"))
		}},
		rung{"citations judged", in("citations"), func(t *testing.T, f folder) { f.judge(t, "C") }},
		rung{"in summaries", in("citations"), advanceTo("summaries")},
		rung{"a summary leased", in("summaries"), func(t *testing.T, f folder) { f.lease(t, "summary.moon") }},
		rung{"a summary handed in", in("summaries"), func(t *testing.T, f folder) { f.answer(t, "summary.moon", "") }},
		rung{"summarised", in("summaries"), func(t *testing.T, f folder) { f.doJobs(t) }},
		rung{"in synthesis", in("summaries"), settleTo("synthesis")},
		rung{"synthesis refused", in("synthesis"), func(t *testing.T, f folder) {
			f.lease(t, "synthesis")
			f.submit(t, "synthesis", "## Summary\n\nThe moon pulls.\n")
		}},
		rung{"synthesis handed in", in("synthesis"), func(t *testing.T, f folder) { f.answer(t, "synthesis", "") }},
		rung{"in review", in("synthesis"), settleTo("review")},
		rung{"read", in("review"), readReport})
	if gap != "" {
		steps = append(steps,
			rung{"sent back", in("review"), func(t *testing.T, f folder) {
				f.lease(t, "review")
				f.answer(t, "review", `{"decision":"CHANGES_REQUIRED","findings":[],"directives":[{"line":3,"action":"Say whose word it is."}]}`)
			}},
			rung{"in synthesis again", in("review"), settleTo("synthesis")},
			rung{"synthesis handed in again", in("synthesis"), func(t *testing.T, f folder) { f.doJobs(t) }},
			rung{"in review again", in("synthesis"), settleTo("review")},
			rung{"read again", in("review"), readReport})
	}
	return append(steps,
		rung{"reviewed", in("review"), func(t *testing.T, f folder) { f.doJobs(t) }},
		rung{"completed", in("review"), settleTo("finalize")})
}

// climb takes a run on, by honest steps, up to the step of that name.
func (f folder) climb(t *testing.T, gap, to string) folder {
	t.Helper()
	return f.climbFrom(t, gap, "", to)
}

// climbFrom is climb for a run that has already come as far as from.
func (f folder) climbFrom(t *testing.T, gap, from, to string) folder {
	t.Helper()
	begun := from == ""
	for _, s := range ladder(gap) {
		if begun {
			if !s.due(t, f) {
				t.Fatalf("%s is not due: the run is in stage %s", s.name, f.stage(t))
			}
			s.take(t, f)
		}
		if s.name == to {
			return f
		}
		begun = begun || s.name == from
	}
	t.Fatalf("there is no step %q after %q", to, from)
	return f
}

// courses are the runs that obedient agents took through their ladders, as they were
// after each step, by gap and step.
var courses struct {
	sync.Mutex
	made map[string]map[string]folder
}

// begun is the run tides where an obedient agent has taken it to that step. It is
// made once for all tests, which only copy it.
func begun(t *testing.T, gap, at string) folder {
	t.Helper()
	courses.Lock()
	defer courses.Unlock()
	if courses.made[gap] == nil {
		dir := must.Get(os.MkdirTemp(filepath.Dir(binary), "course"))(t)
		f, kept := officeIn(t, dir).run("tides"), map[string]folder{}
		for _, s := range ladder(gap) {
			s.take(t, f)
			kept[s.name] = f.at(f.root + " " + s.name)
			must.Do(t, os.CopyFS(kept[s.name].root, os.DirFS(f.root)))
		}
		if courses.made == nil {
			courses.made = map[string]map[string]folder{}
		}
		courses.made[gap] = kept
	}
	f, ok := courses.made[gap][at]
	if !ok {
		t.Fatalf("there is no step %q", at)
	}
	return f
}

// copied puts the run tides into the office, in a folder of another name, where an
// obedient agent has taken it to that step.
func (o *office) copied(t *testing.T, name, gap, at string) folder {
	t.Helper()
	f := o.run("tides").at(o.run(name).root)
	must.Do(t, os.CopyFS(f.root, os.DirFS(begun(t, gap, at).root)))
	return f
}

func advanceTo(stage string) func(*testing.T, folder) {
	return func(t *testing.T, f folder) {
		f.must(t, "deep_research_stage_advance", f.advanceArgs())
		if got := f.stage(t); got != stage {
			t.Fatalf("the run is in stage %s, want %s", got, stage)
		}
	}
}

// settleTo lets the rules do what follows from the files.
func settleTo(stage string) func(*testing.T, folder) {
	return func(t *testing.T, f folder) {
		t.Helper()
		answer := f.must(t, "deep_research_run_step", tidegate.Pairs("manifest_path", f.manifest()))
		if got := f.stage(t); got != stage {
			t.Fatalf("the run is in stage %s, want %s: %s", got, stage, asJSON(answer))
		}
	}
}

// readReport has a second reader read every sentence of the report.
func readReport(t *testing.T, f folder) {
	f.doJobs(t)
	settleTo("review")(t, f)
}

// lease takes a job, or the next one when none is named. It is null when no job
// is open.
func (f folder) lease(t *testing.T, job string) *codec.Value {
	t.Helper()
	args := tidegate.Pairs("manifest_path", f.manifest(), "holder", "an agent")
	if job != "" {
		args = append(args, tidegate.Detail{Key: "job_id", Value: job})
	}
	leased := f.must(t, "deep_research_job_lease", args).Get("job")
	if leased.Kind() == codec.Object {
		f.leases[leased.Get("job_id").Str()] = leased
	}
	return leased
}

// submit hands in an answer to a job that was leased.
func (f folder) submit(t *testing.T, job, answer string) *codec.Value {
	t.Helper()
	return f.must(t, "deep_research_job_submit", tidegate.Pairs("manifest_path", f.manifest(), "token", f.leases[job].Get("token").Str(), "answer", answer))
}

// answer hands in an answer that must be accepted, or wait for the other halves of its pairs;
// "" stands for the one that the prompt asks for.
func (f folder) answer(t *testing.T, job, answer string) {
	t.Helper()
	if answer == "" {
		answer = obey(f.leases[job])
	}
	if verdict := f.submit(t, job, answer); !verdict.Get("accepted").Bool() && verdict.Get("state").Str() != "held" {
		t.Fatalf("the answer to %s is refused: %s\n%s", job, asJSON(verdict), answer)
	}
}

// doJobs does every open job, each by its prompt.
func (f folder) doJobs(t *testing.T) {
	t.Helper()
	for {
		leased := f.lease(t, "")
		if leased.Kind() != codec.Object {
			return
		}
		f.answer(t, leased.Get("job_id").Str(), "")
	}
}

// obey is the answer that the prompt of a leased job asks for.
func obey(leased *codec.Value) string {
	job := leased.Get("job_id").Str()
	return answerTo(job, leased.Get("kind").Str(), leased.Get("prompt_md").Str(), "https://example.org/"+url.PathEscape(job))
}

func (f folder) advanceArgs() tidegate.Details {
	return tidegate.Pairs("manifest_path", f.manifest(), "gates_path", f.path("gates.json"), "reason", "r")
}

// gapIDs are the perspectives of the second wave.
func (f folder) gapIDs(t *testing.T) []string {
	var ids []string
	for _, p := range f.json(t, "wave-2/wave2-perspectives.json").Get("perspectives").Elems() {
		ids = append(ids, p.Get("id").Str())
	}
	return ids
}

// handIn hands in outputs that keep to their contracts; the first states the gap.
func (f folder) handIn(t *testing.T, wave string, ids []string, gap string) {
	t.Helper()
	outputs := []tidegate.Details{}
	for i, id := range ids {
		if i > 0 {
			gap = ""
		}
		outputs = append(outputs, tidegate.Pairs("perspective_id", id, "markdown", output(id, gap), "tool_usage", tidegate.Pairs("search", 2)))
	}
	f.must(t, "deep_research_wave_output_ingest", tidegate.Pairs("manifest_path", f.manifest(), "perspectives_path", f.path("perspectives.json"), "wave", wave, "outputs", outputs))
}

func (f folder) reviewArgs() tidegate.Details {
	return tidegate.Pairs("perspectives_path", f.path("perspectives.json"), "outputs_dir", f.path("wave-1"), "report_path", f.path("wave-review.json"))
}

func (f folder) review(t *testing.T) { f.must(t, "deep_research_wave_review", f.reviewArgs()) }

// judge has a gate judged and records what its judge found.
func (f folder) judge(t *testing.T, gate string) {
	t.Helper()
	f.person(t, "deep_research_gate_"+strings.ToLower(gate)+"_record", tidegate.Pairs("manifest_path", f.manifest()))
	if status := f.json(t, "gates.json").Get("gates").Get(gate).Get("status").Str(); status != "pass" {
		t.Fatalf("gate %s of an obedient agent is %s", gate, status)
	}
}

// pivotArgs are the arguments with which the pivot is decided from the run's own
// outputs.
func (f folder) pivotArgs(t *testing.T) tidegate.Details {
	t.Helper()
	outputs, reports := []tidegate.Details{}, []*codec.Value{}
	for _, id := range perspectiveIDs {
		outputs = append(outputs, tidegate.Pairs("perspective_id", id, "output_md_path", "wave-1/"+id+".md"))
		reports = append(reports, f.must(t, "deep_research_wave_output_validate", tidegate.Pairs("perspectives_path", f.path("perspectives.json"), "perspective_id", id, "markdown_path", f.path("wave-1/"+id+".md"))))
	}
	return tidegate.Pairs("manifest_path", f.manifest(), "reason", "r", "wave1_outputs", outputs, "wave1_validation_reports", reports)
}

func (f folder) decide(t *testing.T, more tidegate.Details) *codec.Value {
	t.Helper()
	return f.must(t, "deep_research_pivot_decide", append(f.pivotArgs(t), more...))
}

// verify is the findings of `run verify` of level error, and whether it passes.
func (f folder) verify(t *testing.T) (pass bool, findings string) {
	t.Helper()
	answer := f.call(t, "deep_research_run_verify", tidegate.Pairs("manifest_path", f.manifest()))
	if e := answer.Get("error"); e != nil {
		return false, e.Get("message").Str()
	}
	var found []string
	for _, each := range answer.Get("findings").Elems() {
		found = append(found, fmt.Sprintf("%s %s: %s", each.Get("level").Str(), each.Get("rule").Str(), each.Get("message").Str()))
	}
	return answer.Get("pass").Bool(), strings.Join(found, "\n")
}

// noService stands for search services that nobody reaches.
func noService(context.Context, string, archive.Request) (archive.Capture, error) {
	return archive.Capture{}, errors.New("no service is reached here")
}
