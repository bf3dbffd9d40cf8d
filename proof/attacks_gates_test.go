package proof_test

import (
	"os"
	"strings"
	"testing"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/test/must"
)

// TestNoAgentForgesAGate: only a gate's own judge can say that it passes.
func TestNoAgentForgesAGate(t *testing.T) {
	t.Parallel()
	attacks := []attack{
		{wants: "gate B passed on outputs that fail, and the run in pivot", at: "wave1 handed in",
			given: func(t *testing.T, v victim) { bad(t, v); v.review(t) }, laundering: true,
			tries: []try{
				{"deep_research_stage_advance", resume, tidegate.GateBlocked},
			}},
		{wants: "gate B passed before anything is handed in", at: "in wave1",
			tries: []try{{"deep_research_stage_advance", resume, tidegate.MissingArtifact}}},
		{wants: "gate B passed by a review with relaxed contracts", at: "wave1 handed in", laundering: true,
			given: func(t *testing.T, v victim) {
				bad(t, v)
				folder{v.office, "", v.root + "-aside"}.write(t, "perspectives.json", asJSON(contractsWith(v.id, 100_000, "Findings")))
			},
			tries: []try{
				{"deep_research_wave_review", `{"perspectives_path":"$RUN-aside/perspectives.json","outputs_dir":"$RUN/wave-1","report_path":"$RUN/wave-review.json"}`, ""},
			}},
		{wants: "gate B passed by a review of other outputs", at: "wave1 handed in", laundering: true, given: bad,
			tries: []try{
				{"deep_research_wave_review", `{"perspectives_path":"$RUN/perspectives.json","outputs_dir":"$DIR/drafts/good","report_path":"$RUN/wave-review.json"}`, ""},
			}},
		{wants: "to be moved by the gates of another run", at: "wave1 reviewed",
			tries: []try{
				{"deep_research_stage_advance", `{` + manifestOf + `,"gates_path":"$DIR/runs/other/gates.json",` + because + `}`, tidegate.PathNotAllowed},
			}},
		{wants: "gate B kept after an output was exchanged", at: "wave1 judged", laundering: true,
			given: func(t *testing.T, v victim) { v.write(t, "wave-1/moon.md", output("moon", "(P3) Nothing much")) },
			tries: []try{
				{"deep_research_stage_advance", resume, tidegate.Tampered},
			}},
		{wants: "gate B kept after an output was exchanged, in a later stage", at: "decided", laundering: true,
			given: func(t *testing.T, v victim) { v.write(t, "wave-1/sun.md", output("sun", "(P3) Nothing much")) },
			tries: []try{{"deep_research_stage_advance", resume, tidegate.MissingArtifact}}},
	}
	for _, records := range []string{"{}\n", forgedRecord} {
		attacks = append(attacks, attack{wants: "gate C passed by records of its own", gap: withoutGap, at: "in citations",
			given: func(t *testing.T, v victim) {
				v.write(t, "citations/citations.jsonl", records)
				v.write(t, "summaries/summary-pack.json", `{"schema_version":"summary_pack.v1","run_id":"`+v.id+`","summaries":[]}`)
				v.write(t, "synthesis/final-synthesis.md", "{}\n")
			},
			tries: []try{{"deep_research_stage_advance", resume, tidegate.GateBlocked}},
			holds: func(t *testing.T, v victim) {
				for _, gate := range []string{"C", "D", "E", "F"} {
					hasNotPassed(t, v, gate)
				}
			}})
	}
	besiege(t, attacks)
}

// TestNoAgentSwapsWhatWasJudged: what was judged is what is used.
func TestNoAgentSwapsWhatWasJudged(t *testing.T) {
	t.Parallel()
	ingest := func(wave, id, markdown string) string {
		return `{` + manifestOf + `,"perspectives_path":"$RUN/perspectives.json","wave":"` + wave + `","outputs":[{"perspective_id":"` + id + `","markdown":` + asJSON(markdown) + `}]}`
	}
	otherPivot := `{` + manifestOf + `,` + because + `,"wave1_outputs":[{"perspective_id":"moon","output_md_path":"$DIR/drafts/good/moon.md"},{"perspective_id":"sun","output_md_path":"$DIR/drafts/good/sun.md"}],` +
		`"wave1_validation_reports":[` + validated("moon") + `,` + validated("sun") + `]}`
	besiege(t, []attack{
		{wants: "other outputs than those that were judged to decide the pivot", gap: withGap, at: "in pivot",
			tries: []try{{"deep_research_pivot_decide", otherPivot, ""}, {"deep_research_stage_advance", resume, tidegate.MissingArtifact}}},
		{wants: "the pivot decided by source_artifact", gap: withGap, at: "made",
			given: func(t *testing.T, v victim) {
				text := strings.Replace(asJSON(contracts(v.id, 60)), `"id":"moon"`, `"id":"moon","source_artifact":"operator/moon.md"`, 1)
				v.must(t, "deep_research_perspectives_write", tidegate.Pairs("perspectives_path", v.path("perspectives.json"), "value", parsed(t, []byte(text)), "reason", "r"))
				v.climbFrom(t, withGap, "with perspectives", "in pivot")
				v.write(t, "operator/moon.md", output("moon", ""))
			},
			tries: []try{
				{"deep_research_pivot_decide", strings.Replace(otherPivot, "$DIR/drafts/good/moon.md", "operator/moon.md", 1), ""},
				{"deep_research_stage_advance", resume, tidegate.MissingArtifact},
			}},
		{wants: "other files to feed the summaries", gap: withoutGap, at: "in citations",
			tries: []try{
				{"deep_research_summary_pack_build", `{` + manifestOf + `,"mode":"fixture","fixture_summaries_dir":"$DIR/drafts/good","citations_path":"$DIR/drafts/relaxed.json",` + because + `}`, tidegate.RawURLNotAllowed},
				{"deep_research_summary_pack_build", `{` + manifestOf + `,"mode":"generate","perspectives_path":"$DIR/drafts/relaxed.json",` + because + `}`, tidegate.SchemaValidationFailed},
			},
			holds: func(t *testing.T, v victim) {
				if v.has("summaries/summary-pack.json") {
					t.Error("a pack was written")
				}
			}},
		{wants: "a pack that came before its stage to count after it was changed", gap: withoutGap, at: "citations judged",
			given: func(t *testing.T, v victim) {
				for _, id := range perspectiveIDs {
					v.write(t, "in/"+id+".md", "## Findings\n\nNothing was found.\n")
				}
			},
			tries: []try{
				{"deep_research_summary_pack_build", `{` + manifestOf + `,"mode":"fixture","fixture_summaries_dir":"$RUN/in",` + because + `}`, ""},
			},
			holds: func(t *testing.T, v victim) {
				v.climbFrom(t, withoutGap, "citations judged", "in summaries")
				v.write(t, "summaries/"+perspectiveIDs[0]+".md", "## Findings\n\nEverything was found.\n")
				if code := codeOf(v.call(t, "deep_research_stage_advance", v.advanceArgs())); code == "" {
					t.Error("a pack whose summary was changed moves the run")
				}
				hasNotPassed(t, v, "D")
			}},
		{wants: "other outputs taken in stage pivot", gap: withGap, at: "in pivot",
			tries: []try{
				{"deep_research_wave_output_ingest", ingest("wave1", "moon", output("moon", "")), tidegate.StageMismatch},
				{"deep_research_wave_output_ingest", ingest("wave2", "moon", output("moon", "")), tidegate.StageMismatch},
			}},
		{wants: "the pivot decided before gate B", gap: withGap, at: "wave1 handed in",
			tries: []try{{"deep_research_pivot_decide", otherPivot, ""}},
			holds: func(t *testing.T, v victim) {
				v.climbFrom(t, withGap, "wave1 handed in", "in pivot")
				if code := codeOf(v.call(t, "deep_research_stage_advance", v.advanceArgs())); code != tidegate.MissingArtifact {
					t.Errorf("a decision of an earlier stage moves the run: %q", code)
				}
			}},
		{wants: "the pivot decided from the run's own outputs before gate B", gap: withGap, at: "wave1 handed in",
			given: func(t *testing.T, v victim) { v.decide(t, nil) },
			holds: func(t *testing.T, v victim) {
				v.climbFrom(t, withGap, "wave1 handed in", "in pivot")
				if code := codeOf(v.call(t, "deep_research_stage_advance", v.advanceArgs())); code != tidegate.MissingArtifact {
					t.Errorf("a decision of an earlier stage moves the run: %q", code)
				}
			}},
		{wants: "a second wave without outputs", gap: withGap, at: "in wave2",
			tries: []try{
				{"deep_research_stage_advance", resume, tidegate.MissingArtifact},
			}},
		{wants: "a second wave with outputs that nobody planned", gap: withGap, at: "in wave2",
			given: func(t *testing.T, v victim) { v.write(t, "wave-2/freely.md", output("freely", "")) },
			tries: []try{
				{"deep_research_wave_output_ingest", ingest("wave2", "freely", output("freely", "")), tidegate.PerspectiveNotFound},
				{"deep_research_wave_output_ingest", ingest("wave2", "moon", output("moon", "")), tidegate.PerspectiveNotFound},
				{"deep_research_stage_advance", resume, tidegate.MissingArtifact},
			}},
		{wants: "a second wave whose outputs break their contracts", gap: withGap, at: "in wave2", laundering: false,
			given: func(t *testing.T, v victim) { v.write(t, "wave-2/"+v.gapIDs(t)[0]+".md", "## Findings\n") },
			tries: []try{
				{"deep_research_stage_advance", resume, tidegate.GateBlocked},
			}},
		{wants: "the relaxed contract of another perspective for the second wave", gap: withGap, at: "made",
			given: func(t *testing.T, v victim) {
				text := asJSON(contracts(v.id, 60))
				i := strings.LastIndex(text, `"max_words":60`)
				text = text[:i] + `"max_words":6000` + text[i+len(`"max_words":60`):]
				v.must(t, "deep_research_perspectives_write", tidegate.Pairs("perspectives_path", v.path("perspectives.json"), "value", parsed(t, []byte(text)), "reason", "r"))
				v.climbFrom(t, withGap, "with perspectives", "in pivot")
				v.decide(t, tidegate.Pairs("explicit_gaps", []tidegate.Details{
					tidegate.Pairs("gap_id", "gap_moon_1", "priority", "P0", "text", "How much the sun adds", "from_perspective_id", "sun"),
				}))
				v.must(t, "deep_research_stage_advance", v.advanceArgs())
			},
			holds: func(t *testing.T, v victim) {
				contract := v.json(t, "wave-2/wave2-perspectives.json").Get("perspectives").Elems()[0].Get("prompt_contract")
				if words, _ := contract.Get("max_words").Int(); words != 60 {
					t.Errorf("the gap of moon is closed by a contract of %d words", words)
				}
			}},
		{wants: "contracts of the second wave of his own", gap: withGap, at: "decided",
			tries: []try{
				{"deep_research_perspectives_write", `{"perspectives_path":"$RUN/wave-2/wave2-perspectives.json","value":$RELAXED,` + because + `}`, tidegate.PathNotAllowed},
			}},
		{wants: "relaxed contracts after the plan", at: "planned",
			tries: []try{{"deep_research_perspectives_write", `{"perspectives_path":"$RUN/perspectives.json","value":$RELAXED,` + because + `}`, tidegate.ContractFrozen}}},
		{wants: "relaxed contracts while the wave is out", at: "wave1 handed in",
			tries: []try{
				{"deep_research_perspectives_write", `{"perspectives_path":"$RUN/perspectives.json","value":$RELAXED,` + because + `}`, tidegate.ContractFrozen},
				{"deep_research_wave1_plan", `{` + manifestOf + `,"perspectives_path":"$DIR/drafts/relaxed.json",` + because + `}`, tidegate.InvalidArgs},
			}},
		{wants: "a refused draft taken by relaxed contracts that lie elsewhere", at: "in wave1",
			given: func(t *testing.T, v victim) {
				folder{v.office, "", v.root + "-aside"}.write(t, "perspectives.json", asJSON(contracts(v.id, 100_000)))
			},
			tries: []try{
				{"deep_research_wave_output_ingest", strings.Replace(ingest("wave1", "moon", strings.Replace(output("moon", ""), "pulls.", strings.Repeat("pulls ", 200), 1)), "$RUN/perspectives.json", "$RUN-aside/perspectives.json", 1), tidegate.TooManyWords},
			}},
		{wants: "a copied run that shows the gates of the original", at: "wave1 judged",
			given: func(t *testing.T, v victim) {
				must.Do(t, os.CopyFS(v.root+"-copy", os.DirFS(v.root)))
				v.at(v.root+"-copy").write(t, "wave-1/moon.md", "## Findings\n")
			},
			tries: []try{{"deep_research_stage_advance", strings.ReplaceAll(resume, "$RUN", "$RUN-copy"), tidegate.GateBlocked}},
			holds: func(t *testing.T, v victim) {
				if ids := counting(t, v.at(v.root+"-copy")); strings.Join(ids, "") != "A" {
					t.Errorf("gates %v of the copy count", ids)
				}
			}},
	})
}

func validated(id string) string {
	return `{"ok":true,"perspective_id":"` + id + `","markdown_path":"$RUN/wave-1/` + id + `.md","words":9,"sources":1,"missing_sections":[]}`
}
