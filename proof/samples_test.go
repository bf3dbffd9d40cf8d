package proof_test

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/catalog"
	"github.com/tidegate/tidegate/internal/test/corpus"
	"github.com/tidegate/tidegate/internal/test/full"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/test/played"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/tool"
)

// writer is one writing tool, with a state in which it has something to do.
type writer struct {
	name    string
	prepare []command
	tool    string // or the command line, where only a person may do it
	args    string
	// then is called after the tool, where the tool itself may have nothing left to do
	// and so takes no lock or adds no line to the log.
	then command
}

// parts reports whether the call makes several changes, one after the other, so that
// an injury may leave only the first ones. The next calls do the rest. The last of
// them comes an hour later, because a lease may have to run out first.
func (w writer) parts() bool {
	for _, each := range []string{"deep_research_run_step", "deep_research_job_submit", "job answer ", "run continue "} {
		if strings.HasPrefix(w.tool, each) {
			return true
		}
	}
	return false
}

// command is one call. With the tool byHand, args names a file that somebody
// changes by other means.
type command struct{ tool, args string }

// tokenOf is the token of a lease in a run whose clock is pinned: there it follows
// from the job and the attempt.
func tokenOf(job string, attempt int) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "tides %s %d %s", job, attempt, tidegate.Stamp(corpus.Now)))
	return fmt.Sprintf("%x/%d/%s", sum[:16], attempt, job)
}

const byHand = "by hand"

// laidOut lays out a played run in the home, under its own name.
const laidOut = "laid out"

// sampleFiles are inputs for the writing tools.
var sampleFiles = map[string]string{
	"summaries-in/moon.md":                         "## Findings\n\n- The moon pulls [@cid_a]\n",
	"perspectives-in.json":                         samplePerspectives,
	"bare/manifest.json":                           `{"schema_version":"manifest.v1","run_id":"bare","limits":{"max_summary_kb":5,"max_total_summary_kb":60}}`,
	"bare/perspectives.json":                       `{"schema_version":"perspectives.v1","run_id":"bare","perspectives":[{"id":"moon"}]}`,
	"bare/wave-1/moon.md":                          strings.ReplaceAll(sampleOutput, `\n`, "\n"),
	"moon.md":                                      strings.ReplaceAll(sampleOutput, `\n`, "\n"),
	"recorded/jobs/perspectives/001/answer-1.json": samplePerspectives,
	"findings.json":                                `{"diagnostics":[{"message":"m","severity":"WARNING","location":{"path":"moon.html","range":{"start":{"line":1}}}}]}`,
	"payload.json":                                 `{"change_id":"c1","verdict":"NEEDS_FIX","summary":"s","issues":[]}`,
	"moon.html":                                    "<title>The moon</title><p>The moon pulls at the water, and the water follows it twice a day around the earth.</p>",
	"citations-in.jsonl":                           `{"cid":"cid_a","status":"valid","normalized_url":"https://example.invalid/moon"}` + "\n",
}

// Runs made by hand, in stages that no sample reaches: hand in review, and desk in
// synthesis.
func init() {
	for name, stage := range map[string]string{"hand": "review", "desk": "synthesis"} {
		for file, text := range runByHand(name, stage) {
			sampleFiles[name+"/"+file] = text
		}
	}
}

func runByHand(id, stage string) map[string]string {
	gates := ""
	for _, row := range run.GateTable {
		gates += `,"` + row.ID + `":{"id":"` + row.ID + `","name":"` + row.Name + `","class":"hard","status":"not_run","checked_at":null,"metrics":{},"artifacts":[],"warnings":[],"notes":""}`
	}
	return map[string]string{
		"manifest.json": `{"schema_version":"manifest.v1","run_id":"` + id + `","created_at":"2026-03-04T00:00:00Z","updated_at":"2026-03-04T00:00:00Z","revision":1,"mode":"standard","status":"running",` +
			`"query":{"text":"Why?","constraints":{},"sensitivity":"normal"},"stage":{"current":"` + stage + `","started_at":"2026-03-04T00:00:00Z","history":[]},` +
			`"limits":{"max_wave1_agents":6,"max_wave2_agents":1,"max_summary_kb":5,"max_total_summary_kb":60,"max_review_iterations":2},"artifacts":{"root":"/","paths":{"wave1_dir":"wave-1","wave2_dir":"wave-2",` +
			`"citations_dir":"citations","summaries_dir":"summaries","synthesis_dir":"synthesis","logs_dir":"logs","gates_file":"gates.json","perspectives_file":"perspectives.json","citations_file":"citations/citations.jsonl",` +
			`"summary_pack_file":"summaries/summary-pack.json","pivot_file":"pivot.json"}},"agents":{"policy":"existing-runtime-only"},"metrics":{},"failures":[]}`,
		"gates.json":                   `{"schema_version":"gates.v1","run_id":"` + id + `","revision":1,"updated_at":"2026-03-04T00:00:00Z","inputs_digest":"d","gates":{` + gates[1:] + `}}`,
		"perspectives.json":            `{"schema_version":"perspectives.v1","run_id":"` + id + `","perspectives":[{"id":"moon"}]}`,
		"citations/citations.jsonl":    `{"cid":"cid_a","status":"valid","normalized_url":"https://example.invalid/moon"}` + "\n",
		"summaries/moon.md":            "- The moon pulls [@cid_a]\n",
		"summaries/summary-pack.json":  `{"schema_version":"summary_pack.v1","run_id":"` + id + `","summaries":[{"perspective_id":"moon","summary_md":"summaries/moon.md","key_claims":[{"claim":"The moon pulls","citation_cids":["cid_a"],"confidence":100}]}]}`,
		"synthesis/final-synthesis.md": sampleSynthesis,
		"review/review-bundle.json":    `{"decision":"PASS","findings":[],"directives":[]}`,
	}
}

const sampleSynthesis = "## Summary\n\nThe moon pulls [@cid_a].\n\n## Key Findings\n\nIt does.\n\n## Evidence\n\nAbove.\n\n## Caveats\n\nNone.\n"

const (
	nightArg = `"manifest_path":"$WORK/runs/night/manifest.json"`
	handArg  = `"manifest_path":"$WORK/hand/manifest.json"`
	deskArg  = `"manifest_path":"$WORK/desk/manifest.json"`
)

const (
	samplePerspectives = `{"schema_version":"perspectives.v1","run_id":"tides","created_at":"2026-03-04T00:00:00Z","perspectives":[{"id":"moon","title":"The moon","track":"standard","agent_type":"researcher","prompt_contract":{"max_words":50,"max_sources":2,"tool_budget":{},"must_include_sections":["Findings","Gaps","Sources"]}}]}`
	// The source is refused before anything is asked, so that no sample needs a
	// network.
	sampleOutput      = `## Findings\nThe moon pulls.\n\n## Gaps\n- (P3) How much the sun adds\n\n## Sources\n- https://example.invalid/moon\n`
	sampleOtherOutput = `## Findings\nThe moon pulls harder.\n\n## Gaps\n\n## Sources\n- https://example.invalid/moon\n`
	sampleCID         = "cid_145aac13ccc4b4b49b5bb16aef5bff89a30b8b1b9f64f6a20afa02e904bd1c05" // of the source of sampleOutput
	manifestArg       = `"manifest_path":"$WORK/runs/tides/manifest.json"`
	gatesArg          = `"gates_path":"$WORK/runs/tides/gates.json"`
	perspectivesArg   = `"perspectives_path":"$WORK/runs/tides/perspectives.json"`
)

var (
	initRun      = command{"deep_research_run_init", `{"query":"Why do tides turn?","run_id":"tides"}`}
	initNight    = command{"deep_research_run_init", `{"query":"Why is it dark at night?","run_id":"night"}`}
	perspectives = command{"deep_research_perspectives_write", `{` + perspectivesArg + `,"value":` + samplePerspectives + `,"reason":"r"}`}
	advance      = command{"deep_research_stage_advance", `{` + manifestArg + `,` + gatesArg + `,"reason":"r"}`}
	ingest       = command{"deep_research_wave_output_ingest", `{` + manifestArg + `,` + perspectivesArg + `,"wave":"wave1","outputs":[{"perspective_id":"moon","markdown":"` + sampleOutput + `"}]}`}
	reviewWave   = command{"deep_research_wave_review", `{` + perspectivesArg + `,"outputs_dir":"$WORK/runs/tides/wave-1","report_path":"$WORK/runs/tides/wave-review.json"}`}
	gateB        = command{"deep_research_gate_b_record", `{` + manifestArg + `}`}
	buildPack    = `{"manifest_path":"$WORK/bare/manifest.json","mode":"fixture","fixture_summaries_dir":"$WORK/summaries-in","citations_path":"$WORK/citations-in.jsonl","reason":"r"}`
	firstReview  = command{"create_review", `{"change_id":"c1","verdict":"NEEDS_FIX","summary":"One.","issues":[{"title":"T","severity":"High","category":"Bug","description":"d"}]}`}
	majorReview  = command{"create_review", `{"change_id":"c1","verdict":"MAJOR_ISSUES","summary":"One.","issues":[{"title":"T","severity":"High","category":"Bug","description":"d"}]}`}
	moveChange   = command{"change_advance", `{"change_id":"c1"}`}
	recoverRun   = command{"deep_research_run_recover", `{` + manifestArg + `}`}
	startChange  = command{"change_start", `{"change_id":"c1"}`}
	planWave     = command{"deep_research_wave1_plan", `{` + manifestArg + `,"reason":"r"}`}
	fetchSources = command{"deep_research_citations_fetch", `{` + manifestArg + `}`}
	judgeSources = command{"deep_research_citations_validate", `{` + manifestArg + `,"reason":"r"}`}
	settleRun    = command{"deep_research_run_step", `{` + manifestArg + `}`}
	leaseJob     = command{"deep_research_job_lease", `{` + manifestArg + `,"holder":"h"}`}
	releaseJob   = command{"deep_research_job_release", `{` + manifestArg + `,"token":"` + tokenOf("wave1.moon", 1) + `","reason":"r"}`}
	pauseRun     = command{"deep_research_run_pause", `{` + manifestArg + `,"reason":"r"}`}
)

// deleteRun is the tool after which there is no run.
const deleteRun = "deep_research_run_delete"

// writers lists every tool that writes.
func writers() []writer {
	inWave1 := []command{initRun, perspectives, planWave, advance}
	taken := append(append([]command{}, inWave1...), ingest)
	judged := append(append([]command{}, taken...), reviewWave)
	passed := append(append([]command{}, judged...), gateB)
	inPivot := append(append([]command{}, passed...), advance)
	fetched := append(append([]command{}, taken...), fetchSources)
	found := append(append([]command{}, fetched...), judgeSources)
	return []writer{
		{"run init", nil, initRun.tool, initRun.args, command{}},
		{"perspectives write", []command{initRun}, perspectives.tool, perspectives.args, command{}},
		{"wave plan", []command{initRun, perspectives}, "deep_research_wave1_plan", `{` + manifestArg + `,"reason":"r"}`, command{}},
		{"wave ingest", taken, ingest.tool, `{` + manifestArg + `,` + perspectivesArg + `,"wave":"wave1","outputs":[{"perspective_id":"moon","markdown":"` + sampleOtherOutput + `","tool_usage":{"search":1}}]}`, command{}},
		{"wave review with a report", taken, reviewWave.tool, reviewWave.args, command{}},
		{"advance", passed, advance.tool, advance.args, command{}},
		{"run pause", inWave1, "run pause $WORK/runs/tides --reason r", "", command{}},
		{"run resume", append(append([]command{}, inWave1...), pauseRun), "run resume $WORK/runs/tides --reason r", "", command{}},
		{"run cancel", inWave1, "run cancel $WORK/runs/tides --reason r", "", recoverRun},
		{"gate a", inWave1, "gate a $WORK/runs/tides --reason r", "", command{}},
		{"gate b", judged, "gate b $WORK/runs/tides --reason r", "", command{}},
		{"gate accepted", judged, "gate b $WORK/runs/tides --accept --reason r", "", command{}},
		{"run limit", inWave1, "run limit $WORK/runs/tides max_review_iterations 6", "", command{}},
		{"run accept", append(append([]command{}, taken...), command{byHand, "runs/tides/perspectives.json"}), "run accept $WORK/runs/tides --reason r --format json", "", command{}},
		{"replan", taken, "perspectives write $WORK/runs/tides $WORK/perspectives-in.json --replan", "", command{}},
		{"wave restore", append(append([]command{}, taken...), command{byHand, "runs/tides/wave-1/moon.md"}), "wave restore $WORK/runs/tides moon", "", command{}},
		{"pivot", inPivot, "deep_research_pivot_decide", `{` + manifestArg + `,"reason":"r","wave1_outputs":[{"perspective_id":"moon","output_md_path":"wave-1/moon.md"}],"wave1_validation_reports":[{"ok":true,"perspective_id":"moon","markdown_path":"$WORK/runs/tides/wave-1/moon.md","words":20,"sources":1,"missing_sections":[]}]}`, command{}},
		{"citations fetch", taken, fetchSources.tool, fetchSources.args, pauseRun},
		{"citations validate", fetched, judgeSources.tool, judgeSources.args, command{}},
		{"citations attach", taken, "citations attach $WORK/runs/tides " + sampleCID + " $WORK/moon.html", "", command{}},
		{"citations replace", fetched, "citations replace $WORK/runs/tides " + sampleCID + " https://example.invalid/moon", "", command{}},
		{"gate c", found, "gate c $WORK/runs/tides --reason r", "", command{}},
		{"gate d", nil, "gate d $WORK/hand --reason r", "", command{}},
		{"gate e", nil, "gate e $WORK/hand --reason r", "", command{}},
		{"gate f", nil, "gate f $WORK/hand --reason r", "", command{}},
		{"claim accept", []command{{laidOut, "disputed"}}, "claim accept $WORK/runs/disputed c3 --reason r --format json", "", command{recoverRun.tool, `{"manifest_path":"$WORK/runs/disputed/manifest.json"}`}},
		{"run step", []command{initRun, perspectives}, settleRun.tool, settleRun.args, command{}},
		{"job lease", inWave1, leaseJob.tool, leaseJob.args, command{}},
		{"job submit", []command{initRun, leaseJob}, "deep_research_job_submit", `{` + manifestArg + `,"token":"` + tokenOf("perspectives", 1) + `","answer":` + asJSON(samplePerspectives) + `}`, settleRun},
		{"job submit, of an output", append(slices.Clone(inWave1), leaseJob), "deep_research_job_submit", `{` + manifestArg + `,"token":"` + tokenOf("wave1.moon", 1) + `","answer":"` + sampleOutput + `"}`, command{leaseJob.tool, leaseJob.args}},
		{"job submit, refused", append(slices.Clone(inWave1), leaseJob), "deep_research_job_submit", `{` + manifestArg + `,"token":"` + tokenOf("wave1.moon", 1) + `","answer":"x"}`, command{"deep_research_run_step", settleRun.args}},
		{"job extend", append(slices.Clone(inWave1), leaseJob), "deep_research_job_extend", `{` + manifestArg + `,"token":"` + tokenOf("wave1.moon", 1) + `","lease_seconds":7200}`, command{}},
		{"job release", append(slices.Clone(inWave1), leaseJob), releaseJob.tool, releaseJob.args, command{}},
		{"job release by a person", append(slices.Clone(inWave1), leaseJob), "job release $WORK/runs/tides wave1.moon --reason r --format json", "", command{}},
		{"job retry", append(slices.Clone(inWave1), leaseJob, releaseJob), "job retry $WORK/runs/tides wave1.moon --note n --format json", "", command{}},
		{"job answer", inWave1, "job answer $WORK/runs/tides wave1.moon $WORK/moon.md --format json", "", command{"job answer $WORK/runs/tides wave1.moon $WORK/moon.md --format json", ""}},
		{"run continue", []command{initRun}, "run continue $WORK/runs/tides --agent recorded:$WORK/recorded --format json", "", command{}},
		{"summary pack", nil, "deep_research_summary_pack_build", buildPack, command{}},
		{"first review", nil, firstReview.tool, firstReview.args, command{}},
		{"review import", []command{startChange, firstReview}, "review_import", `{"files":["$WORK/findings.json"],"change_id":"c1"}`, command{}},
		{"second review", []command{startChange, firstReview}, "create_review", `{"change_id":"c1","verdict":"APPROVED","summary":"Two."}`, command{}},
		{"change start", nil, startChange.tool, startChange.args, command{}},
		{"change limit", []command{startChange}, "change start c1 --max-rounds 3 --project $WORK", "", command{}},
		{"change advance", []command{startChange, firstReview}, moveChange.tool, moveChange.args, command{}},
		{"change resume", []command{startChange, majorReview, moveChange}, "change resume c1 --accept --reason r --project $WORK", "", command{}},
	}
}

// state is a folder in which the tool has something to do.
func (w writer) state(t *testing.T, work string) map[string][]byte {
	t.Helper()
	layOut(t, work)
	prepareHere(t, work, w.prepare...)
	return snapshot(t, work)
}

// envOf is the environment for calling the tools of a folder in this process.
func envOf(work string) *catalog.Env {
	return &catalog.Env{Now: func() time.Time { return corpus.Now }, Pinned: true, Dir: work, Project: work, Home: filepath.Join(work, "runs")}
}

// prepareHere calls tools in this process, because the preparation is not under
// test. All calls must be accepted.
func prepareHere(t *testing.T, work string, commands ...command) {
	t.Helper()
	byName := toolsByName(envOf(work))
	for _, c := range commands {
		if c.tool == byHand {
			changeByHand(t, filepath.Join(work, c.args))
			continue
		}
		if c.tool == laidOut {
			played.Lay(t, filepath.Join(work, "runs"), c.args)
			continue
		}
		ctx := t.Context()
		if isPersons(byName[c.tool], c.args) {
			ctx = tidegate.WithActor(ctx, tidegate.Actor{Kind: tidegate.Person})
		}
		if result := byName[c.tool].Call(ctx, []byte(strings.ReplaceAll(c.args, "$WORK", work)), tool.Caller{}); result.Err != nil {
			t.Fatalf("preparing %s: %s", c.tool, result.Envelope)
		}
	}
}

// layOut writes the input files of the tools.
func layOut(t *testing.T, work string) {
	t.Helper()
	for name, text := range sampleFiles {
		path := filepath.Join(work, name)
		must.Write(t, path, text)
	}
}

// changeByHand adds a line end to a file, which changes it and leaves it valid.
func changeByHand(t *testing.T, path string) {
	t.Helper()
	data := must.Get(os.ReadFile(path))(t)
	must.Do(t, os.WriteFile(path, append(data, '\n'), 0o600))
}

// call makes the call. Comparing the files shows whether it was refused.
func (w writer) call(t *testing.T, work string) {
	t.Helper()
	undisturbed(t, work, corpus.Now, command{w.tool, w.args})
	w.callThen(t, work)
	if w.parts() { // everything may have been done already, so that nothing took the lock
		undisturbed(t, work, corpus.Now, recoverRun)
	}
}

func (w writer) callThen(t *testing.T, work string) {
	t.Helper()
	if w.then.tool == "" {
		return
	}
	now := corpus.Now
	if w.parts() {
		now = now.Add(time.Hour)
	}
	undisturbed(t, work, now, w.then)
}

// undisturbed makes one call that nothing disturbs: in this process, or with -full in
// one of its own, as a command that is typed always is.
func undisturbed(t *testing.T, work string, now time.Time, c command) {
	t.Helper()
	args := []byte(strings.ReplaceAll(c.args, "$WORK", work))
	env := envOf(work)
	env.Now = func() time.Time { return now }
	if each := toolsByName(env)[c.tool]; each != nil && !full.Asked() {
		each.Call(t.Context(), args, tool.Caller{})
		return
	}
	call(t, work, []string{"TIDEGATE_NOW=" + now.Format(time.RFC3339)}, "", "", c.tool, args)
}

// snapshot is the content of every file under work.
func snapshot(t *testing.T, work string) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	must.Do(t, filepath.WalkDir(work, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(work, path)
		files[name] = data
		return err
	}))
	return files
}

// isLog reports whether a file is a log or the head of one. A log records every
// call, so it is not compared byte by byte but checked by its chain, and in a run
// by [run.Verify].
func isLog(name string) bool {
	return strings.HasSuffix(name, ".jsonl") || strings.HasSuffix(name, ".head")
}

// isArchive reports whether a file is an archive, which only grows: what a killed
// process left at its end counts for nothing and stays. [run.Verify] checks that
// everything else is there.
func isArchive(name string) bool { return strings.HasSuffix(name, ".warc.gz") }
