package step_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/rule/source"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/test/planted"
	"github.com/tidegate/tidegate/internal/test/runs"
	"github.com/tidegate/tidegate/internal/text/link"
	"github.com/tidegate/tidegate/internal/work/gates"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/sentences"
	"github.com/tidegate/tidegate/internal/work/sourcing"
)

// summarized is a run whose sources are checked, with a summary of each output
// and the pack of them, and the records of its sources.
func summarized(t *testing.T, in run.InitInput) (run.InitResult, []source.Record) {
	t.Helper()
	web := planted.New()
	t.Cleanup(web.Close)
	made := citing(t, in, outputOf(honest(4)...))
	runs.Put(t, made.Root, "perspectives.json", perspectivesDoc)
	validate(t, made, fetcher(t, web), sourcing.CitationsInput{})
	list := records(t, made)
	pack(t, made, map[string]string{"p1": "## Findings\n\n- It moves [@" + list[0].CID + "].\n"})
	return made, list
}

// pack puts summaries and their pack into a run.
func pack(t *testing.T, made run.InitResult, summaries map[string]string) {
	t.Helper()
	var entries []string
	for _, id := range slices.Sorted(func(yield func(string) bool) {
		for id := range summaries {
			if !yield(id) {
				return
			}
		}
	}) {
		runs.Put(t, made.Root, "summaries/"+id+".md", summaries[id])
		entries = append(entries, fmt.Sprintf(`{"perspective_id":%q,"source_artifact":"wave-1/%s.md","summary_md":"summaries/%s.md","key_claims":[]}`, id, id, id))
	}
	runs.Put(t, made.Root, "summaries/summary-pack.json", `{"schema_version":"summary_pack.v1","run_id":"r1","summaries":[`+strings.Join(entries, ",")+`]}`)
}

// unread is a run without a second reader.
var unread = run.InitInput{Evidence: run.EvidenceChoice{NoReader: true}}

// draft is a synthesis with a text in each of its sections.
func draft(text string) string {
	return "## Summary\n\n" + text + "\n\n## Key Findings\n\n" + text + "\n\n## Evidence\n\n" + text + "\n\n## Caveats\n\n" + text + "\n"
}

// others are sentences about sources other than the first, each with its citation.
func others(t *testing.T, list []source.Record) (text string) {
	t.Helper()
	for i := 1; i < 3; i++ {
		cid, said := sentence(t, list, i)
		text += "\n\n" + strings.TrimSuffix(said, ".") + " [@" + cid + "]."
	}
	return text
}

func judged(t *testing.T, made run.InitResult, id string) gates.GateRecord {
	t.Helper()
	out, err := gates.RecordGate(t.Context(), runs.Pinned, gates.GateInput{ManifestPath: made.ManifestPath, Gate: id})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// judgement is what the judge of a gate finds; nothing is recorded.
func judgement(t *testing.T, made run.InitResult, id string) run.Judgement {
	t.Helper()
	return must.Get(gates.Judge(t.Context(), runs.Open(t, made.ManifestPath), id))(t)
}

// sentence is the words of a page that a synthesis can quote.
func sentence(t *testing.T, list []source.Record, i int) (cid, text string) {
	t.Helper()
	for _, page := range honest(4) {
		if url, err := link.Normalize(page.URL); err == nil && url == list[i].NormalizedURL {
			return list[i].CID, page.Sentences[0]
		}
	}
	t.Fatalf("no page of %s", list[i].NormalizedURL)
	return "", ""
}

func TestGateDJudgesTheFiles(t *testing.T) {
	made, list := summarized(t, run.InitInput{})
	cited := " [@" + list[0].CID + "]"
	if g := judged(t, made, "D"); !g.Passed() || len(g.Warnings) > 0 {
		t.Fatalf("%+v", g)
	}
	for name, test := range map[string]struct {
		summaries map[string]string
		want      string
	}{
		"left out":         {map[string]string{}, "MISSING_SUMMARIES:1"},
		"of nobody":        {map[string]string{"p1": "x" + cited, "p9": "y" + cited}, "UNKNOWN_SUMMARIES:1"},
		"above the cap":    {map[string]string{"p1": strings.Repeat("x", 5*1024+1)}, "LARGE_SUMMARIES:1"},
		"a raw URL":        {map[string]string{"p1": "see https://a.test/x" + cited}, "FAULTY_SUMMARIES:1"},
		"an unknown cid":   {map[string]string{"p1": "x [@cid_x]"}, "FAULTY_SUMMARIES:1"},
		"hidden in escape": {map[string]string{"p1": "x &#91;@cid_x]"}, "FAULTY_SUMMARIES:1"},
	} {
		pack(t, made, test.summaries)
		if g := judged(t, made, "D"); g.Passed() || strings.Join(g.Warnings, " ") != test.want {
			t.Errorf("%s: %v, want %s", name, g.Warnings, test.want)
		}
	}
	// A pack that points out of the run has no summary.
	runs.Put(t, made.Root, "summaries/summary-pack.json", `{"summaries":[{"perspective_id":"p1","summary_md":"../p1.md"}]}`)
	if g := judged(t, made, "D"); strings.Join(g.Warnings, " ") != "MISSING_SUMMARIES:1" {
		t.Errorf("%v", g.Warnings)
	}
	runs.Put(t, made.Root, "summaries/summary-pack.json", `{}`)
	_, err := gates.RecordGate(t.Context(), runs.Pinned, gates.GateInput{ManifestPath: made.ManifestPath, Gate: "D"})
	runs.WantCode(t, err, tidegate.SchemaValidationFailed)
}

// TestGateEJudgesByThePages: numbers and quotations must stand on the archived
// page that is cited; the run's own pool says what may be cited.
func TestGateEJudgesByThePages(t *testing.T) {
	made, list := summarized(t, unread)
	cid, text := sentence(t, list, 0)
	quotation := `It says "` + text + `"`
	for name, test := range map[string]struct{ text, want string }{
		"quoted":               {quotation + " [@" + cid + "].", ""},
		"quoted from nowhere":  {`It says "the moon is made of old harbour bricks" [@` + cid + "].", "QUOTATION_NOT_FOUND"},
		"a number of nowhere":  {"It has 987123 cranes [@" + cid + "].", "NUMBER_NOT_FOUND"},
		"a number uncited":     {"It has 12 cranes.", "UNCITED_SENTENCE"},
		"unknown":              {"It moves [@cid_x].", "UNKNOWN_CID"},
		"hidden in a comment":  {"It has 12 cranes <!-- [@" + cid + "] -->.", "HTML_NOT_ALLOWED UNCITED_SENTENCE"},
		"a link in the draft":  {"It has [12 cranes](#evidence) [@" + cid + "].", "LINK_NOT_ALLOWED"},
		"a raw URL":            {"See https://a.test/.", "RAW_URL_NOT_ALLOWED"},
		"unknown in a comment": {"It moves [@" + cid + "]. <!-- [@cid_x] -->", "UNKNOWN_CID HTML_NOT_ALLOWED"},
	} {
		runs.Put(t, made.Root, "synthesis/final-synthesis.md", draft(test.text+others(t, list)))
		out := judgement(t, made, "E")
		for _, code := range strings.Fields(test.want) {
			if !strings.Contains(strings.Join(out.Warnings, " "), code) {
				t.Errorf("%s: %q, want %q: %s", name, out.Warnings, test.want, line(t, out.Metrics))
			}
		}
		if (test.want == "") != out.Passed() {
			t.Errorf("%s: %s %q", name, out.Status(), out.Warnings)
		}
	}
	runs.Put(t, made.Root, "synthesis/final-synthesis.md", strings.Replace(draft(quotation+" [@"+cid+"]."+others(t, list)), "## Caveats", "## Limits", 1))
	if g := judged(t, made, "E"); g.Passed() || !slices.Contains(g.Warnings, "MISSING_REQUIRED_SECTION") {
		t.Errorf("%+v", g)
	}
}

// TestGateEIsBound: the pass counts only for what was judged.
func TestGateEIsBound(t *testing.T) {
	made, list := summarized(t, unread)
	cid, _ := sentence(t, list, 0)
	runs.Put(t, made.Root, "synthesis/final-synthesis.md", draft("It moves [@"+cid+"]."+others(t, list)))
	if g := judged(t, made, "E"); !g.Passed() {
		t.Fatalf("%+v", g)
	}
	r := runs.Open(t, made.ManifestPath)
	counts := func() string {
		gates := must.Get(r.Gates())(t)
		state := must.Get(r.GateState(gates, "E"))(t)
		return state.Counts()
	}
	if got := counts(); got != "pass" {
		t.Fatal(got)
	}
	runs.Put(t, made.Root, "synthesis/final-synthesis.md", draft("It has 12 cranes."))
	if got := counts(); got != "not_run" {
		t.Errorf("a pass counts for another synthesis: %s", got)
	}
}

// TestUnsourcedRunIsNotAskedForCitations: a person let gate C pass without a single
// source that was checked.
func TestUnsourcedRunIsNotAskedForCitations(t *testing.T) {
	made := citing(t, run.InitInput{Sensitivity: "no_web"}, outputOf(honest(2)...))
	runs.Put(t, made.Root, "perspectives.json", perspectivesDoc)
	validate(t, made, noFetch(t), sourcing.CitationsInput{})
	runs.Put(t, made.Root, "synthesis/final-synthesis.md", draft("It has 12 cranes."))
	if g := judged(t, made, "E"); g.Passed() {
		t.Errorf("passes without a person: %+v", g)
	}
	person := tidegate.WithActor(t.Context(), tidegate.Actor{Kind: tidegate.Person})
	must.Get(gates.RecordGate(person, runs.Pinned, gates.GateInput{ManifestPath: made.ManifestPath, Gate: "C", Accept: true, Reason: "no network here"}))(t)
	if g := judged(t, made, "E"); !g.Passed() || !strings.Contains(line(t, g.Metrics), `"unsourced":1`) {
		t.Errorf("%+v", g)
	}
}

func TestGateFJudgesWhatTheRunKept(t *testing.T) {
	made, list := summarized(t, run.InitInput{})
	if g := judged(t, made, "F"); g.Passed() || strings.Join(g.Warnings, " ") != "NO_FINAL_SYNTHESIS" {
		t.Errorf("%+v", g)
	}
	runs.Put(t, made.Root, "synthesis/final-synthesis.md", draft("It moves [@"+list[0].CID+"]."+others(t, list)))
	if g := judged(t, made, "F"); !g.Passed() || len(g.Warnings) > 0 {
		t.Errorf("%+v", g)
	}
	// A source that could not be checked.
	lines := strings.Split(must.Read(t, made.Root+"/citations/citations.jsonl"), "\n")
	lines[0] = strings.Replace(lines[0], `"status":"valid"`, `"status":"blocked"`, 1)
	runs.Put(t, made.Root, "citations/citations.jsonl", strings.Join(lines, "\n"))
	if g := judged(t, made, "F"); g.Passed() || strings.Join(g.Warnings, " ") != "BLOCKED_SOURCES_CITED:4" {
		t.Errorf("%+v", g)
	}
}

// TestEvaluateGateFHasTheEarlierDigest is vector 9 of the earlier system.
func TestEvaluateGateFHasTheEarlierDigest(t *testing.T) {
	made := runs.Create(t, run.InitInput{Sensitivity: "no_web"})
	if got := judgement(t, made, "F").InputsDigest; got != "sha256:442e66ec37eb1f570b269b30af8422c0ca813ab65238d80f3c91676e43e5093d" {
		t.Error(got)
	}
}

// inStage makes a run of the earlier system's shape that stands in a stage: this
// program did not begin its log, so that it takes it as found.
func inStage(t *testing.T, made run.InitResult, stage run.Stage) {
	t.Helper()
	manifest := must.Read(t, made.ManifestPath)
	runs.Put(t, made.Root, "manifest.json", strings.Replace(manifest, `"current": "init"`, `"current": "`+string(stage)+`"`, 1))
	for _, name := range []string{"logs/audit.jsonl", "logs/audit.head"} {
		must.Do(t, os.Remove(filepath.Join(made.Root, name)))
	}
}

// earlierRun is a folder made by hand: perspectives, an output, a pool with one
// valid and one blocked source, a summary and its pack.
func earlierRun(t *testing.T, stage run.Stage) run.InitResult {
	t.Helper()
	made := runs.Create(t, run.InitInput{Evidence: run.EvidenceChoice{NoGrounding: true}})
	runs.Put(t, made.Root, "perspectives.json", perspectivesDoc)
	runs.Put(t, made.Root, "wave-1/p1.md", "## Findings\n\nText.\n\n## Sources\n\n- https://a.test/x\n\n## Gaps\n")
	runs.Put(t, made.Root, "citations/citations.jsonl", `{"cid":"cid_a","status":"valid","normalized_url":"https://a.test/x"}`+"\n"+`{"cid":"cid_b","status":"blocked","normalized_url":"https://b.test/x"}`+"\n")
	runs.Put(t, made.Root, "summaries/p1.md", "- The moon pulls 12 times [@cid_a]\n")
	runs.Put(t, made.Root, "summaries/summary-pack.json", `{"schema_version":"summary_pack.v1","run_id":"r1","summaries":[{"perspective_id":"p1","source_artifact":"wave-1/p1.md","summary_md":"summaries/p1.md","key_claims":[{"claim":"The moon pulls 12 times","citation_cids":["cid_a"],"confidence":100}]}]}`)
	inStage(t, made, stage)
	return made
}

func TestListGates(t *testing.T) {
	made, list := summarized(t, unread)
	runs.Put(t, made.Root, "synthesis/final-synthesis.md", draft("It moves [@"+list[0].CID+"]."+others(t, list)))
	judged(t, made, "E")
	judged(t, made, "D")
	runs.Put(t, made.Root, "synthesis/final-synthesis.md", draft("Changed."))
	out := must.Get(gates.ListGates(t.Context(), runClock, made.ManifestPath))(t)
	var stands []string
	for _, g := range out.Gates {
		stands = append(stands, g.GateID+" "+g.Status+" "+g.Counts)
	}
	if got := strings.Join(stands, ", "); got != "A not_run not_run, B not_run not_run, C not_run not_run, D pass pass, E pass not_run, F not_run not_run" {
		t.Error(got)
	}
}

// TestGateEAsksForWhatTheReviewAskedFor: from the second round on, the draft is
// judged by the review that sent the run back, as it was kept then.
func TestGateEAsksForWhatTheReviewAskedFor(t *testing.T) {
	made := earlierRun(t, run.Review)
	first := draft("It moves [@cid_a].")
	runs.Put(t, made.Root, "synthesis/final-synthesis.md", first)
	runs.Put(t, made.Root, "review/review-bundle.json", `{"decision":"CHANGES_REQUIRED","findings":[],"directives":[{"line":3,"action":"say how"}]}`)
	runs.Put(t, made.Root, "manifest.json", strings.Replace(must.Read(t, made.ManifestPath), `"history": []`,
		`"history": [{"from":"review","to":"synthesis","ts":"2026-02-14T12:00:00Z","reason":"r","inputs_digest":"d","gates_revision":1}]`, 1))
	if g := judged(t, made, "E"); g.Passed() || g.Warnings[0] != "REVIEW_NOT_KEPT" {
		t.Errorf("a review that nobody kept is not asked for: %+v", g)
	}
	r := runs.Open(t, made.ManifestPath)
	must.Get(r.Update(t.Context(), func(u *run.Update) error { return sentences.KeepRound(u, 1) }))(t)
	if g := judged(t, made, "E"); g.Passed() || g.Warnings[0] != "UNCHANGED" {
		t.Errorf("the same draft again: %+v", g)
	}
	write := func(name, text string) {
		t.Helper()
		must.Get(runs.Open(t, made.ManifestPath).Update(t.Context(), func(u *run.Update) error { return u.Write(name, []byte(text)) }))(t)
	}
	// The newest review is about this draft, and is not what it answers.
	write("review/review-bundle.json", `{"decision":"PASS","findings":[],"directives":[]}`)
	write("synthesis/final-synthesis.md", first+"\nIt turns, too [@cid_a].\n")
	if g := judged(t, made, "E"); g.Passed() || g.Warnings[0] != "UNCHANGED" {
		t.Errorf("changed elsewhere: %+v", g)
	}
	write("synthesis/final-synthesis.md", draft("It moves twice a day, as the moon does [@cid_a]."))
	if g := judged(t, made, "E"); !g.Passed() {
		t.Errorf("%+v", g)
	}
	runs.Put(t, made.Root, "synthesis/final-synthesis.md", draft("It moves thrice a day, as the moon does [@cid_a]."))
	_, err := gates.RecordGate(t.Context(), runs.Pinned, gates.GateInput{ManifestPath: made.ManifestPath, Gate: "E"})
	runs.WantCode(t, err, tidegate.Tampered)
	runs.Put(t, made.Root, "synthesis/final-synthesis.md", draft("It moves twice a day, as the moon does [@cid_a]."))
	runs.Put(t, made.Root, "review/rounds/1/synthesis.md", "x")
	_, err = gates.RecordGate(t.Context(), runs.Pinned, gates.GateInput{ManifestPath: made.ManifestPath, Gate: "E"})
	runs.WantCode(t, err, tidegate.Tampered)
}
