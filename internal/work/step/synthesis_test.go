package step_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/rule/source"
	"github.com/tidegate/tidegate/internal/test/planted"
	"github.com/tidegate/tidegate/internal/test/runs"
	"github.com/tidegate/tidegate/internal/text/link"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/step"
)

// summarized is a run whose sources are checked, with a summary of each output
// and the pack of them, and the records of its sources.
func summarized(t *testing.T, in run.InitInput) (run.InitResult, []source.Record) {
	t.Helper()
	web := planted.New()
	t.Cleanup(web.Close)
	made := citing(t, in, outputOf(honest(4)...))
	runs.Put(t, made.Root, "perspectives.json", perspectivesDoc)
	validate(t, made, fetcher(t, web), step.CitationsInput{})
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

// earlier makes a run one that an earlier program began, which looks at quotations and
// numbers alone.
func earlier(t *testing.T, made run.InitResult) run.InitResult {
	t.Helper()
	policy := runs.Read(t, filepath.Join(made.Root, run.PolicyFile))
	take(t, runs.Open(t, made.ManifestPath), func(u *run.Update) error {
		return u.Write(run.PolicyFile, []byte(strings.Replace(policy, `"evidence": 1,`, "", 1)))
	})
	return made
}

// draft is a synthesis with a text among its findings.
func draft(text string) string {
	return "## Summary\n\nThe tide moves.\n\n## Key Findings\n\n" + text + "\n\n## Evidence\n\nSee above.\n\n## Caveats\n\nFew.\n"
}

func judged(t *testing.T, made run.InitResult, id string) step.GateRecord {
	t.Helper()
	out, err := step.RecordGate(t.Context(), runs.Pinned, step.GateInput{ManifestPath: made.ManifestPath, Gate: id})
	if err != nil {
		t.Fatal(err)
	}
	return out
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
	_, err := step.RecordGate(t.Context(), runs.Pinned, step.GateInput{ManifestPath: made.ManifestPath, Gate: "D"})
	runs.WantCode(t, err, tidegate.SchemaValidationFailed)
}

// TestGateEJudgesByThePages: numbers and quotations must stand on the archived
// page that is cited; the run's own pool says what may be cited.
func TestGateEJudgesByThePages(t *testing.T) {
	made, list := summarized(t, run.InitInput{})
	earlier(t, made)
	cid, text := sentence(t, list, 0)
	quotation := `It says "` + text + `"`
	for name, test := range map[string]struct{ text, want string }{
		"quoted":               {quotation + " [@" + cid + "].", ""},
		"quoted from nowhere":  {`It says "the moon is made of old harbour bricks" [@` + cid + "].", "QUOTATION_NOT_FOUND"},
		"a number of nowhere":  {"It has 987123 cranes [@" + cid + "].", "NUMBER_NOT_FOUND"},
		"a number uncited":     {"It has 12 cranes.", "UNCITED_NUMBER"},
		"unknown":              {"It moves [@cid_x].", "UNKNOWN_CID"},
		"hidden in a comment":  {"It has 12 cranes <!-- [@" + cid + "] -->.", "HTML_NOT_ALLOWED UNCITED_NUMBER"},
		"a link in the draft":  {"It has [12 cranes](#evidence) [@" + cid + "].", "LINK_NOT_ALLOWED"},
		"a raw URL":            {"See https://a.test/.", "RAW_URL_NOT_ALLOWED"},
		"unknown in a comment": {"It moves [@" + cid + "]. <!-- [@cid_x] -->", "UNKNOWN_CID HTML_NOT_ALLOWED"},
	} {
		runs.Put(t, made.Root, "synthesis/final-synthesis.md", draft(test.text))
		out, err := step.JudgeGateE(t.Context(), runs.Pinned, step.GateEInput{ManifestPath: made.ManifestPath, Reason: "test"})
		if err != nil {
			t.Fatal(err)
		}
		var codes []string
		for _, f := range out.Faults {
			codes = append(codes, string(f.Code))
		}
		if got := strings.Join(slices.Compact(codes), " "); got != test.want || out.Passed() != (test.want == "") {
			t.Errorf("%s: %s %q, want %q: %s", name, out.Status, got, test.want, line(t, out.Metrics))
		}
	}
	runs.Put(t, made.Root, "synthesis/final-synthesis.md", strings.Replace(draft(quotation+" [@"+cid+"]."), "## Caveats", "## Limits", 1))
	if g := judged(t, made, "E"); g.Passed() || g.Warnings[0] != "MISSING_REQUIRED_SECTION" {
		t.Errorf("%+v", g)
	}
}

// TestGateEIsBound: the pass counts only for what was judged.
func TestGateEIsBound(t *testing.T) {
	made, list := summarized(t, run.InitInput{})
	earlier(t, made)
	cid, _ := sentence(t, list, 0)
	runs.Put(t, made.Root, "synthesis/final-synthesis.md", draft("It moves [@"+cid+"]."))
	if g := judged(t, made, "E"); !g.Passed() {
		t.Fatalf("%+v", g)
	}
	r := runs.Open(t, made.ManifestPath)
	counts := func() string {
		gates, err := r.Gates()
		if err != nil {
			t.Fatal(err)
		}
		state, err := r.GateState(gates, "E")
		if err != nil {
			t.Fatal(err)
		}
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
	validate(t, made, noFetch(t), step.CitationsInput{})
	runs.Put(t, made.Root, "synthesis/final-synthesis.md", draft("It has 12 cranes."))
	if g := judged(t, made, "E"); g.Passed() {
		t.Errorf("passes without a person: %+v", g)
	}
	person := tidegate.WithActor(t.Context(), tidegate.Actor{Kind: tidegate.Person})
	if _, err := step.RecordGate(person, runs.Pinned, step.GateInput{ManifestPath: made.ManifestPath, Gate: "C", Accept: true, Reason: "no network here"}); err != nil {
		t.Fatal(err)
	}
	if g := judged(t, made, "E"); !g.Passed() || !strings.Contains(line(t, g.Metrics), `"unsourced":1`) {
		t.Errorf("%+v", g)
	}
}

func TestGateFJudgesWhatTheRunKept(t *testing.T) {
	made, list := summarized(t, run.InitInput{})
	if g := judged(t, made, "F"); g.Passed() || strings.Join(g.Warnings, " ") != "NO_FINAL_SYNTHESIS" {
		t.Errorf("%+v", g)
	}
	runs.Put(t, made.Root, "synthesis/final-synthesis.md", draft("It moves [@"+list[0].CID+"]."))
	if g := judged(t, made, "F"); !g.Passed() || len(g.Warnings) > 0 {
		t.Errorf("%+v", g)
	}
	// A source that could not be checked.
	lines := strings.Split(runs.Read(t, made.Root+"/citations/citations.jsonl"), "\n")
	lines[0] = strings.Replace(lines[0], `"status":"valid"`, `"status":"blocked"`, 1)
	runs.Put(t, made.Root, "citations/citations.jsonl", strings.Join(lines, "\n"))
	if g := judged(t, made, "F"); g.Passed() || strings.Join(g.Warnings, " ") != "BLOCKED_SOURCES_CITED:1" {
		t.Errorf("%+v", g)
	}
}

// TestEvaluateGateFHasTheEarlierDigest is vector 9 of the earlier system.
func TestEvaluateGateFHasTheEarlierDigest(t *testing.T) {
	made := runs.Create(t, run.InitInput{Sensitivity: "no_web"})
	out, err := step.JudgeGateF(t.Context(), runs.Pinned, step.JudgeInput{ManifestPath: made.ManifestPath, Reason: "test"})
	if err != nil || out.InputsDigest != "sha256:442e66ec37eb1f570b269b30af8422c0ca813ab65238d80f3c91676e43e5093d" {
		t.Errorf("%s %v", out.InputsDigest, err)
	}
}

// TestEvaluationIsTakenByGatesWrite: gates_write takes the update of every
// evaluation, and only while its judge says the same.
func TestEvaluationIsTakenByGatesWrite(t *testing.T) {
	made, list := summarized(t, run.InitInput{})
	earlier(t, made)
	runs.Put(t, made.Root, "synthesis/final-synthesis.md", draft("It moves [@"+list[0].CID+"]."))
	for id, evaluate := range map[string]func(context.Context) (step.GateResult, error){
		"D": func(ctx context.Context) (step.GateResult, error) {
			return step.JudgeGateD(ctx, runs.Pinned, step.JudgeInput{ManifestPath: made.ManifestPath, Reason: "test"})
		},
		"E": func(ctx context.Context) (step.GateResult, error) {
			out, err := step.JudgeGateE(ctx, runs.Pinned, step.GateEInput{ManifestPath: made.ManifestPath, Reason: "test"})
			return out.GateResult, err
		},
		"F": func(ctx context.Context) (step.GateResult, error) {
			return step.JudgeGateF(ctx, runs.Pinned, step.JudgeInput{ManifestPath: made.ManifestPath, Reason: "test"})
		},
	} {
		out, err := evaluate(t.Context())
		if err != nil || !out.Passed() {
			t.Fatalf("%s: %+v %v", id, out, err)
		}
		write := func() error {
			_, err := step.GatesWrite(t.Context(), runs.Pinned, step.GatesWriteInput{GatesPath: made.GatesPath, Update: codec.Of(out.Update), InputsDigest: out.InputsDigest, Reason: "test"})
			return err
		}
		if err := write(); err != nil {
			t.Errorf("%s: %v", id, err)
		}
	}
	runs.Put(t, made.Root, "synthesis/final-synthesis.md", draft("It has 12 cranes."))
	_, err := writeGates(t, made, `{"E":{"status":"pass","checked_at":"2026-02-14T12:00:00Z"}}`)
	runs.WantCode(t, err, tidegate.GateNotDerived)
}

// inStage makes a run of the earlier system's shape that stands in a stage: this
// program did not begin its log, so that it takes it as found.
func inStage(t *testing.T, made run.InitResult, stage run.Stage) {
	t.Helper()
	manifest := runs.Read(t, made.ManifestPath)
	runs.Put(t, made.Root, "manifest.json", strings.Replace(manifest, `"current": "init"`, `"current": "`+string(stage)+`"`, 1))
	for _, name := range []string{"logs/audit.jsonl", "logs/audit.head"} {
		if err := os.Remove(filepath.Join(made.Root, name)); err != nil {
			t.Fatal(err)
		}
	}
}

// earlierRun is a folder made by hand: perspectives, an output, a pool with one
// valid and one blocked source, a summary and its pack.
func earlierRun(t *testing.T, stage run.Stage) run.InitResult {
	t.Helper()
	made := earlier(t, runs.Create(t, run.InitInput{Evidence: run.EvidenceChoice{NoGrounding: true}}))
	runs.Put(t, made.Root, "perspectives.json", perspectivesDoc)
	runs.Put(t, made.Root, "wave-1/p1.md", "## Findings\n\nText.\n\n## Sources\n\n- https://a.test/x\n\n## Gaps\n")
	runs.Put(t, made.Root, "citations/citations.jsonl", `{"cid":"cid_a","status":"valid","normalized_url":"https://a.test/x"}`+"\n"+`{"cid":"cid_b","status":"blocked","normalized_url":"https://b.test/x"}`+"\n")
	runs.Put(t, made.Root, "summaries/p1.md", "- The moon pulls 12 times [@cid_a]\n")
	runs.Put(t, made.Root, "summaries/summary-pack.json", `{"schema_version":"summary_pack.v1","run_id":"r1","summaries":[{"perspective_id":"p1","source_artifact":"wave-1/p1.md","summary_md":"summaries/p1.md","key_claims":[{"claim":"The moon pulls 12 times","citation_cids":["cid_a"],"confidence":100}]}]}`)
	inStage(t, made, stage)
	return made
}

func TestWriteSynthesis(t *testing.T) {
	made := earlierRun(t, run.Synthesis)
	write := func(in step.SynthesisInput) (step.SynthesisResult, error) {
		in.ManifestPath, in.Reason = made.ManifestPath, "test"
		return step.WriteSynthesis(t.Context(), runs.Pinned, in)
	}
	for name, test := range map[string]struct {
		text string
		code tidegate.Code
	}{
		"no heading":     {"The tide moves [@cid_a].\n", tidegate.SchemaValidationFailed},
		"cites nothing":  {draft("It moves."), tidegate.SchemaValidationFailed},
		"unknown":        {draft("It moves [@cid_x]."), tidegate.UnknownCID},
		"could not look": {draft("It moves [@cid_b]."), tidegate.UnknownCID},
		"a raw URL":      {draft("It moves [@cid_a], see https://a.test/x."), tidegate.RawURLNotAllowed},
	} {
		runs.Put(t, made.Root, "in.md", test.text)
		_, err := write(step.SynthesisInput{FixtureDraftPath: filepath.Join(made.Root, "in.md")})
		if tidegate.CodeOf(err) != test.code {
			t.Errorf("%s: %v, want %s", name, err, test.code)
		}
	}
	_, err := write(step.SynthesisInput{Mode: "generate", OutputPath: filepath.Join(made.Root, "wave-1/p1.md")})
	runs.WantCode(t, err, tidegate.PathNotAllowed)
	outside := filepath.Join(t.TempDir(), "in.md")
	if err := os.WriteFile(outside, []byte(draft("It moves [@cid_a].")), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = write(step.SynthesisInput{FixtureDraftPath: outside})
	runs.WantCode(t, err, tidegate.PathNotAllowed) // an agent names what lies elsewhere
	runs.Put(t, made.Root, "in.md", draft("It moves [@cid_a]."))
	out, err := write(step.SynthesisInput{FixtureDraftPath: filepath.Join(made.Root, "in.md")})
	if err != nil || runs.Read(t, out.OutputPath) != draft("It moves [@cid_a].") || filepath.Base(out.OutputPath) != "draft-synthesis.md" {
		t.Errorf("%+v %v", out, err)
	}
}

// TestADraftCountsForNothing: a final synthesis comes from a job, with or without a
// second reader.
func TestADraftCountsForNothing(t *testing.T) {
	for _, choice := range []run.EvidenceChoice{{}, {NoReader: true}, {NoGrounding: true}} {
		made, list := summarized(t, run.InitInput{Evidence: choice})
		inStage(t, made, run.Synthesis)
		runs.Put(t, made.Root, "in.md", draft("It moves [@"+list[0].CID+"]."))
		in := step.SynthesisInput{ManifestPath: made.ManifestPath, FixtureDraftPath: filepath.Join(made.Root, "in.md"), OutputPath: filepath.Join(made.Root, "synthesis/final-synthesis.md"), Reason: "test"}
		_, err := step.WriteSynthesis(t.Context(), runs.Pinned, in)
		runs.WantCode(t, err, tidegate.PathNotAllowed)
		in.OutputPath = ""
		if _, err := step.WriteSynthesis(t.Context(), runs.Pinned, in); err != nil {
			t.Fatal(err)
		}
		_, err = writeGates(t, made, `{"E":{"status":"pass","checked_at":"2026-02-14T12:00:00Z"}}`)
		runs.WantCode(t, err, tidegate.FileNotFound)
	}
}

// TestGeneratedSynthesisNeverPasses: not even when the file that says how it was
// made is removed. What a job hands in afterwards is not taken for it.
func TestGeneratedSynthesisNeverPasses(t *testing.T) {
	made := earlierRun(t, run.Synthesis)
	final := filepath.Join(made.Root, "synthesis/final-synthesis.md")
	out, err := step.WriteSynthesis(t.Context(), runs.Pinned, step.SynthesisInput{ManifestPath: made.ManifestPath, Mode: "generate", Reason: "test"})
	if err != nil {
		t.Fatal(err)
	}
	meta := runs.Read(t, out.MetaPath)
	runs.Put(t, made.Root, "synthesis/final-synthesis.md", runs.Read(t, out.OutputPath))
	if text := runs.Read(t, final); !strings.Contains(text, "- The moon pulls 12 times [@cid_a]\n") {
		t.Errorf("a claim stands without its source:\n%s", text)
	}
	if g := judged(t, made, "E"); g.Passed() || g.Warnings[0] != "SCAFFOLD_SYNTHESIS" {
		t.Errorf("%+v", g)
	}
	if err := os.Remove(out.MetaPath); err != nil {
		t.Fatal(err)
	}
	if g := judged(t, made, "E"); g.Passed() || g.Warnings[0] != "SCAFFOLD_SYNTHESIS" {
		t.Errorf("without its meta file: %+v", g)
	}
	runs.Put(t, made.Root, "synthesis/final-synthesis.meta.json", meta)
	take(t, runs.Open(t, made.ManifestPath), func(u *run.Update) error {
		return step.TakeSynthesis(u, []byte(draft("It moves [@cid_a].")), nil, "synthesis", 1)
	})
	if g := judged(t, made, "E"); slices.Contains(g.Warnings, "SCAFFOLD_SYNTHESIS") {
		t.Errorf("what a job handed in: %+v", g)
	}
}

func TestSynthesisIsWrittenInItsStage(t *testing.T) {
	made := earlierRun(t, run.Review)
	_, err := step.WriteSynthesis(t.Context(), runs.Pinned, step.SynthesisInput{ManifestPath: made.ManifestPath, Mode: "generate", Reason: "test"})
	runs.WantCode(t, err, tidegate.StageMismatch)
}

func TestListGates(t *testing.T) {
	made, list := summarized(t, run.InitInput{})
	earlier(t, made)
	runs.Put(t, made.Root, "synthesis/final-synthesis.md", draft("It moves [@"+list[0].CID+"]."))
	judged(t, made, "E")
	judged(t, made, "D")
	runs.Put(t, made.Root, "synthesis/final-synthesis.md", draft("Changed."))
	out, err := step.ListGates(t.Context(), runClock, made.ManifestPath)
	if err != nil {
		t.Fatal(err)
	}
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
	runs.Put(t, made.Root, "review/review-bundle.json", `{"decision":"CHANGES_REQUIRED","findings":[],"directives":[{"line":7,"action":"say how"}]}`)
	runs.Put(t, made.Root, "manifest.json", strings.Replace(runs.Read(t, made.ManifestPath), `"history": []`,
		`"history": [{"from":"review","to":"synthesis","ts":"2026-02-14T12:00:00Z","reason":"r","inputs_digest":"d","gates_revision":1}]`, 1))
	if g := judged(t, made, "E"); g.Passed() || g.Warnings[0] != "REVIEW_NOT_KEPT" {
		t.Errorf("a review that nobody kept is not asked for: %+v", g)
	}
	r := runs.Open(t, made.ManifestPath)
	if _, err := r.Update(t.Context(), func(u *run.Update) error { return step.KeepRound(u, 1) }); err != nil {
		t.Fatal(err)
	}
	if g := judged(t, made, "E"); g.Passed() || g.Warnings[0] != "UNCHANGED" {
		t.Errorf("the same draft again: %+v", g)
	}
	write := func(name, text string) {
		t.Helper()
		if _, err := runs.Open(t, made.ManifestPath).Update(t.Context(), func(u *run.Update) error { return u.Write(name, []byte(text)) }); err != nil {
			t.Fatal(err)
		}
	}
	// The newest review is about this draft, and is not what it answers.
	write("review/review-bundle.json", `{"decision":"PASS","findings":[],"directives":[]}`)
	write("synthesis/final-synthesis.md", strings.Replace(first, "The tide moves.", "The tide moves on.", 1))
	if g := judged(t, made, "E"); g.Passed() || g.Warnings[0] != "UNCHANGED" {
		t.Errorf("changed elsewhere: %+v", g)
	}
	write("synthesis/final-synthesis.md", draft("It moves twice a day, as the moon does [@cid_a]."))
	if g := judged(t, made, "E"); !g.Passed() {
		t.Errorf("%+v", g)
	}
	runs.Put(t, made.Root, "synthesis/final-synthesis.md", draft("It moves thrice a day, as the moon does [@cid_a]."))
	_, err := step.RecordGate(t.Context(), runs.Pinned, step.GateInput{ManifestPath: made.ManifestPath, Gate: "E"})
	runs.WantCode(t, err, tidegate.Tampered)
	runs.Put(t, made.Root, "synthesis/final-synthesis.md", draft("It moves twice a day, as the moon does [@cid_a]."))
	runs.Put(t, made.Root, "review/rounds/1/synthesis.md", "x")
	_, err = step.RecordGate(t.Context(), runs.Pinned, step.GateInput{ManifestPath: made.ManifestPath, Gate: "E"})
	runs.WantCode(t, err, tidegate.Tampered)
}
