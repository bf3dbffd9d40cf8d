package proof_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/work/run"
)

// TestNoAgentWritesBeyondItsDocuments: a path argument that is written to names
// its own artifact and nothing else.
func TestNoAgentWritesBeyondItsDocuments(t *testing.T) {
	t.Parallel()
	targets := []struct {
		what, path           string
		perspectives, report tidegate.Code
	}{
		{"the state of a change", "$DIR/agentd/changes/other/STATE.yaml", tidegate.PathNotAllowed, tidegate.PathNotAllowed},
		{"the review of a change", "$DIR/agentd/changes/other/REVIEW.md", tidegate.PathNotAllowed, tidegate.PathNotAllowed},
		{"a kept review", "$DIR/agentd/changes/other/reviews/0001.md", tidegate.PathNotAllowed, tidegate.PathNotAllowed},
		{"the log of a change", "$DIR/agentd/changes/other/log.jsonl", tidegate.PathNotAllowed, tidegate.PathNotAllowed},
		{"the lock of a change", "$DIR/agentd/changes/other/.tidegate.lock", tidegate.PathNotAllowed, tidegate.PathNotAllowed},
		{"a new file beside a change", "$DIR/agentd/changes/other/perspectives.json", tidegate.PathNotAllowed, tidegate.PathNotAllowed},
		{"the servers of a client", "$DIR/.mcp.json", tidegate.WriteFailed, tidegate.WriteFailed},
		{"the settings of a client", "$DIR/.client/settings.json", tidegate.WriteFailed, tidegate.WriteFailed},
		{"a file with such a name that holds something else", "$DIR/package-perspectives.json", tidegate.WriteFailed, tidegate.WriteFailed},
		{"the ledger of runs", "$DIR/runs/runs-ledger.jsonl", tidegate.WriteFailed, tidegate.WriteFailed},
		{"the manifest", "$RUN/manifest.json", tidegate.PathNotAllowed, tidegate.PathNotAllowed},
		{"the gates", "$RUN/gates.json", tidegate.PathNotAllowed, tidegate.PathNotAllowed},
		{"the policy", "$RUN/run-config/policy.json", tidegate.PathNotAllowed, tidegate.PathNotAllowed},
		{"the log", "$RUN/logs/audit.jsonl", tidegate.PathNotAllowed, tidegate.PathNotAllowed},
		{"the head of the log", "$RUN/logs/audit.head", tidegate.PathNotAllowed, tidegate.PathNotAllowed},
		{"the lock", "$RUN/.tidegate.lock", tidegate.PathNotAllowed, tidegate.PathNotAllowed},
		{"the plan", "$RUN/wave-1/wave1-plan.json", tidegate.PathNotAllowed, tidegate.PathNotAllowed},
		{"an output", "$RUN/wave-1/moon.md", tidegate.PathNotAllowed, tidegate.PathNotAllowed},
		{"what the run took", "$RUN/wave-1/.accepted/moon.md", tidegate.PathNotAllowed, tidegate.PathNotAllowed},
		{"the contracts of a second wave", "$RUN/wave-2/wave2-perspectives.json", tidegate.PathNotAllowed, tidegate.PathNotAllowed},
		{"a new file in the run", "$RUN/operator/perspectives.json", tidegate.PathNotAllowed, tidegate.PathNotAllowed},
		{"the wave review of another run", "$DIR/runs/other/wave-review.json", tidegate.PathNotAllowed, ""},
		{"a file by a path that climbs", "$RUN/wave-1/../manifest.json", tidegate.PathNotAllowed, tidegate.PathNotAllowed},
	}
	var attacks []attack
	for _, target := range targets {
		a := attack{wants: "to replace " + target.what, at: "wave1 handed in",
			tries: []try{{"deep_research_perspectives_write", `{"perspectives_path":"` + target.path + `","value":$CONTRACTS,` + because + `}`, target.perspectives}}}
		if target.report != "" {
			a.tries = append(a.tries, try{"deep_research_wave_review", `{"perspectives_path":"$RUN/perspectives.json","outputs_dir":"$RUN/wave-1","report_path":"` + target.path + `"}`, target.report})
		}
		attacks = append(attacks, a)
	}
	traversal := func(id string) string {
		return `{"manifest_path":"$RUN/no-such-manifest.json","perspectives_path":"$RUN/perspectives.json","wave":"wave1","outputs":[{"perspective_id":"` + id + `","markdown":"x"}]}`
	}
	attacks = append(attacks,
		attack{wants: "an output outside the wave, and an answer that tells what is there", at: "in wave1",
			tries: []try{
				{"deep_research_wave_output_ingest", traversal("../evil"), tidegate.PathTraversal},
				{"deep_research_wave_output_ingest", traversal(`..\\evil`), tidegate.PathTraversal},
				{"deep_research_wave_output_ingest", traversal(".."), tidegate.PathTraversal},
			}},
		attack{wants: "outputs in a folder that climbs out of the wave's", at: "in wave1", laundering: false,
			given: func(t *testing.T, v victim) {
				// A run of another program, without a log of ours that would show the edit.
				v.write(t, "manifest.json", strings.Replace(string(v.read(t, "manifest.json")), `"wave-1"`, `"wave-1/../escape"`, 1))
				remove(run.LogFile)(t, v)
				remove(run.HeadFile)(t, v)
			},
			tries: []try{{"deep_research_wave_output_ingest", `{` + manifestOf + `,"perspectives_path":"$RUN/perspectives.json","wave":"wave1","outputs":[{"perspective_id":"moon","markdown":` + asJSON(output("moon", "")) + `}]}`, tidegate.InvalidWaveDir}},
			holds: func(t *testing.T, v victim) {
				if v.has("escape") {
					t.Error("the output was written to the folder")
				}
			}},
		attack{wants: "a new file that means something to a program", at: "wave1 handed in", given: linkedToAClient,
			tries: reports("$DIR/manifest.json", "$DIR/gates.json", "$DIR/STATE.yaml", "$DIR/agentd/allowed_signers", "$DIR/tidegate.toml", "$DIR/.envrc", "$DIR/.bash_profile",
				"$DIR/CLAUDE.md", "$DIR/Agents.MD", "$DIR/Makefile", "$DIR/workflow.yml", "$DIR/package.json", "$DIR/Package.JSON", "$DIR/opencode.json", "$DIR/mcp.json", "$DIR/con.json", "$DIR/pack\u200dage.json", "$DIR/notes.md",
				"$DIR/.client/report.json", "$DIR/link/report.json", "$DIR/link")},
		attack{wants: "perspectives where a program takes orders", at: "wave1 handed in", given: linkedToAClient,
			tries: []try{
				{"deep_research_perspectives_write", `{"perspectives_path":"$DIR/.client/perspectives.json","value":$CONTRACTS,` + because + `}`, tidegate.WriteFailed},
				{"deep_research_perspectives_write", `{"perspectives_path":"$DIR/link/perspectives.json","value":$CONTRACTS,` + because + `}`, tidegate.WriteFailed},
			}},
		attack{wants: "a run whose outputs are commands of a client",
			given: linkedToAClient,
			tries: []try{
				{"deep_research_run_init", `{"query":"q","run_id":"inner","root_override":"$DIR/.client/commands"}`, tidegate.WriteFailed},
				{"deep_research_run_init", `{"query":"q","run_id":"inner","root_override":"$DIR/link/commands"}`, tidegate.WriteFailed},
				{"deep_research_run_init", `{"query":"q","run_id":"CLAUDE","root_override":"$DIR/elsewhere"}`, tidegate.InvalidArgs},
			}},
		attack{wants: "a run inside a run, by a link to one of its folders", at: "made",
			given: func(t *testing.T, v victim) {
				must.Do(t, os.Symlink(v.path("wave-1"), v.root+"-link"))
			},
			tries: []try{{"deep_research_run_init", `{"query":"q","run_id":"inner","root_override":"$RUN-link/deeper"}`, tidegate.PathNotAllowed}}},
		attack{wants: "a run inside a run", at: "made",
			tries: []try{
				{"deep_research_run_init", `{"query":"q","run_id":"inner","root_override":"$RUN"}`, tidegate.PathNotAllowed},
				{"deep_research_run_init", `{"query":"q","run_id":"inner","root_override":"$RUN/wave-1/deeper"}`, tidegate.PathNotAllowed},
			}},
		attack{wants: "a run inside a folder of changes",
			tries: []try{
				{"deep_research_run_init", `{"query":"q","run_id":"inner","root_override":"$DIR/agentd/changes"}`, tidegate.PathNotAllowed},
				{"deep_research_run_init", `{"query":"q","run_id":"inner","root_override":"$DIR/agentd/changes/other"}`, tidegate.PathNotAllowed},
			}},
		attack{wants: "a run outside its home",
			tries: []try{
				{"deep_research_run_init", `{"query":"q","run_id":"../evil"}`, tidegate.PathTraversal},
				{"deep_research_run_init", `{"query":"q","run_id":".client"}`, tidegate.InvalidArgs},
			}},
		attack{wants: "a change outside its folder",
			tries: []try{
				{"create_review", `{"change_id":"../evil","verdict":"APPROVED","summary":"s"}`, tidegate.InvalidArgs},
				{"change_start", `{"change_id":"../../.client"}`, tidegate.InvalidArgs},
				{"change_advance", `{"change_id":".."}`, tidegate.InvalidArgs},
			}},
		attack{wants: "the pack in place of another document", gap: withoutGap, at: "in citations",
			tries: []try{
				{"deep_research_summary_pack_build", `{` + manifestOf + `,"mode":"generate","summary_pack_path":"$RUN/gates.json",` + because + `}`, tidegate.PathNotAllowed},
				{"deep_research_summary_pack_build", `{` + manifestOf + `,"mode":"generate","summaries_dir":"$RUN/wave-1",` + because + `}`, tidegate.PathNotAllowed},
			}},
	)
	besiege(t, attacks)
}

// linkedToAClient has a link with a harmless name to the folder of a client.
func linkedToAClient(t *testing.T, v victim) {
	dir := filepath.Dir(filepath.Dir(v.root))
	if err := os.Symlink(filepath.Join(dir, ".client"), filepath.Join(dir, "link")); err != nil && !os.IsExist(err) {
		t.Fatal(err)
	}
}

// reports are reviews with reports in places where no report is allowed.
func reports(paths ...string) []try {
	var tries []try
	for _, path := range paths {
		tries = append(tries, try{"deep_research_wave_review", `{"perspectives_path":"$RUN/perspectives.json","outputs_dir":"$RUN/wave-1","report_path":"` + path + `"}`, tidegate.WriteFailed})
	}
	return tries
}

// TestNoCopyOfAManifestSteersARun: the run root is the folder of manifest.json,
// and no other file in it is the manifest.
func TestNoCopyOfAManifestSteersARun(t *testing.T) {
	t.Parallel()
	raised := func(t *testing.T, v victim) string {
		text := string(v.read(t, "manifest.json"))
		for _, limit := range []string{"max_wave1_agents", "max_wave2_agents", "max_summary_kb", "max_total_summary_kb", "max_review_iterations"} {
			text = strings.Replace(text, `"`+limit+`": `, `"`+limit+`": 9`, 1)
		}
		return text
	}
	pivot := `"wave1_outputs":[{"perspective_id":"moon","output_md_path":"wave-1/moon.md"}],"wave1_validation_reports":[` + validated("moon") + `]`
	steer := func(manifest string, code tidegate.Code) []try {
		m := `"manifest_path":"` + manifest + `"`
		return []try{
			{"deep_research_summary_pack_build", `{` + m + `,"mode":"generate","perspectives_path":"$RUN/perspectives.json","citations_path":"$DIR/drafts/relaxed.json",` + because + `}`, code},
			{"deep_research_wave_output_ingest", `{` + m + `,"perspectives_path":"$RUN/perspectives.json","wave":"wave1","outputs":[{"perspective_id":"moon","markdown":` + asJSON(output("moon", "")) + `}]}`, code},
			{"deep_research_wave1_plan", `{` + m + `,` + because + `}`, code},
			{"deep_research_pivot_decide", `{` + m + `,` + pivot + `,` + because + `}`, code},
			{"deep_research_stage_advance", `{` + m + `,` + gatesOf + `,` + because + `}`, code},
		}
	}
	beside := func(t *testing.T, v victim) { v.write(t, "manifest-2.json", raised(t, v)) }
	cancelled := func(t *testing.T, v victim) {
		v.write(t, "manifest-2.json", raised(t, v))
		v.person(t, "deep_research_run_cancel", tidegate.Pairs("manifest_path", v.manifest()))
	}
	elsewhere := func(t *testing.T, v victim) { v.at(v.root+"-aside").write(t, "manifest.json", raised(t, v)) }
	aside := steer("$RUN-aside/manifest.json", tidegate.FileNotFound)
	for i := range aside {
		switch aside[i].tool {
		case "deep_research_stage_advance":
			aside[i].code = tidegate.PathNotAllowed
		case "deep_research_wave_output_ingest":
			aside[i].code = tidegate.StageMismatch
		}
	}
	attacks := []attack{
		{wants: "raised limits by a manifest in another folder whose root is the run", at: "in pivot", given: elsewhere, tries: aside},
	}
	for _, at := range []string{"planned", "wave1 handed in", "in pivot"} {
		attacks = append(attacks,
			attack{wants: "raised limits by a manifest beside the run's, " + at, at: at, given: beside, tries: steer("$RUN/manifest-2.json", tidegate.InvalidArgs)},
			attack{wants: "to go on with a cancelled run, " + at, at: at, given: cancelled, tries: steer("$RUN/manifest-2.json", tidegate.InvalidArgs)})
	}
	besiege(t, attacks)
}
