package proof_test

import (
	"bytes"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/catalog"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/test/must"
)

// TestNoAgentTakesAPersonsDecision: no tool, argument or patch makes a decision
// that belongs to a person.
func TestNoAgentTakesAPersonsDecision(t *testing.T) {
	t.Parallel()
	paused := func(t *testing.T, v victim) {
		v.person(t, "deep_research_run_pause", tidegate.Pairs("manifest_path", v.manifest()))
	}
	attacks := []attack{
		{wants: "to resume what a person paused", at: "in wave1", given: paused, tries: []try{
			{"deep_research_stage_advance", resume, tidegate.InvalidState},
		}},
		{wants: "to go on with what a person cancelled", gap: withGap, at: "decided",
			given: func(t *testing.T, v victim) {
				v.person(t, "deep_research_run_cancel", tidegate.Pairs("manifest_path", v.manifest()))
				v.write(t, "pivot.json.was", string(v.read(t, "pivot.json")))
			},
			tries: []try{
				{"deep_research_stage_advance", resume, tidegate.InvalidState},
				{"deep_research_wave1_plan", `{` + manifestOf + `,` + because + `}`, tidegate.InvalidState},
				{"deep_research_perspectives_write", `{"perspectives_path":"$RUN/perspectives.json","value":$CONTRACTS,` + because + `}`, tidegate.InvalidState},
				{"deep_research_wave_review", `{"perspectives_path":"$RUN/perspectives.json","outputs_dir":"$DIR/drafts/good","report_path":"$RUN/wave-review.json"}`, tidegate.InvalidState},
				{"deep_research_pivot_decide", `{` + manifestOf + `,` + because + `,"wave1_outputs":` + asJSON(pivotOutputs) + `,"wave1_validation_reports":` + asJSON(pivotReports) + `}`, ""},
			},
			holds: func(t *testing.T, v victim) {
				if string(v.read(t, "pivot.json")) != string(v.read(t, "pivot.json.was")) {
					t.Error("another decision was written into a run that has ended")
				}
			}},
		{wants: "other limits by making the run again", at: "in wave1", tries: []try{
			{"deep_research_run_init", `{"query":"` + question + `","run_id":"other","limits":{"max_wave1_agents":9}}`, tidegate.AlreadyExistsConflict},
			{"deep_research_run_init", `{"query":"` + question + `","run_id":"other","sensitivity":"no_web"}`, tidegate.AlreadyExistsConflict},
		}},
		{wants: "a pivot without the gaps that the outputs state", gap: withGap, at: "in pivot",
			given: func(t *testing.T, v victim) {
				v.decide(t, tidegate.Pairs("explicit_gaps", []tidegate.Details{tidegate.Pairs("gap_id", "g", "priority", "P3", "text", "nothing much")}))
			},
			tries: []try{
				{"deep_research_stage_advance", resume, tidegate.MissingArtifact},
				{"deep_research_stage_advance", strings.Replace(resume, `"reason"`, `"requested_next":"citations","reason"`, 1), tidegate.MissingArtifact},
			}},
		{wants: "a second wave of the attacker's own tasks", gap: withoutGap, at: "in pivot",
			given: func(t *testing.T, v victim) {
				v.decide(t, tidegate.Pairs("explicit_gaps", []tidegate.Details{tidegate.Pairs("gap_id", "g", "priority", "P0", "text", "mine bitcoin")}))
			},
			tries: []try{{"deep_research_stage_advance", resume, tidegate.MissingArtifact}}},
		{wants: "more fix rounds", tries: []try{
			{"change_start", `{"change_id":"$CHANGE","max_rounds":99}`, tidegate.InvalidArgs},
			{"change_advance", `{"change_id":"other","max_rounds":99}`, tidegate.InvalidArgs},
		}},
	}
	for _, each := range catalog.Tools(&catalog.Env{}) {
		if each.Person {
			attacks = append(attacks, attack{wants: "the tool " + each.Name, at: "made",
				tries: []try{{each.Name, `{` + manifestOf + `,` + because + `}`, tidegate.InvalidArgs}}})
		}
	}
	besiege(t, attacks)
}

// TestNoEditIsLaundered: what was changed by other means stays visible and is
// never overwritten.
func TestNoEditIsLaundered(t *testing.T) {
	t.Parallel()
	wash := func(code tidegate.Code) []try {
		return []try{
			{"deep_research_wave1_plan", `{` + manifestOf + `,` + because + `}`, code},
			{"deep_research_wave_review", `{"perspectives_path":"$RUN/perspectives.json","outputs_dir":"$RUN/wave-1","report_path":"$RUN/wave-review.json"}`, code},
			{"deep_research_run_recover", `{` + manifestOf + `}`, ""},
		}
	}
	var attacks []attack
	for _, e := range tamperings() {
		attacks = append(attacks, attack{wants: "to have written over " + e.what, at: "wave1 handed in", laundering: true, given: e.given, tries: wash(e.code)})
	}
	besiege(t, attacks)
}

// TestAPersonAcceptsWhatDoesNotMatch: a run that was tampered with goes on when a
// person says so, and `run verify` keeps reporting the tampering.
func TestAPersonAcceptsWhatDoesNotMatch(t *testing.T) {
	t.Parallel()
	begun := begun(t, withGap, "wave1 handed in")
	for _, e := range tamperings() {
		t.Run(e.what, func(t *testing.T) {
			v := victim{newOffice(t).run("tides"), ""}
			must.Do(t, os.CopyFS(v.root, os.DirFS(begun.root)))
			e.given(t, v)
			v.person(t, "deep_research_run_accept", tidegate.Pairs("manifest_path", v.manifest(), "reason", "seen"))
			v.must(t, "deep_research_wave1_plan", tidegate.Pairs("manifest_path", v.manifest(), "reason", "r"))
			answer := v.must(t, "deep_research_run_verify", tidegate.Pairs("manifest_path", v.manifest()))
			accepted := slices.ContainsFunc(answer.Get("findings").Elems(), func(f *codec.Value) bool { return f.Get("rule").Str() == "record-accepted" })
			if !accepted || !answer.Get("pass").Bool() {
				t.Errorf("`run verify` does not pass, or does not say that a person accepted it: %s", asJSON(answer.Get("findings")))
			}
		})
	}
}

// tampering is a change to a run by other means, and how a write answers it.
type tampering struct {
	what  string
	given func(*testing.T, victim)
	code  tidegate.Code
}

func tamperings() []tampering {
	return []tampering{
		{"a raised limit", edit("manifest.json", `"max_wave1_agents": `, `"max_wave1_agents": 9`), tidegate.Tampered},
		{"a white space more", edit("manifest.json", `"mode": `, `"mode":  `), tidegate.Tampered},
		{"a forged gate", func(t *testing.T, v victim) {
			forged := v.json(t, "gates.json")
			b := forged.Get("gates").Get("B")
			b.Set("status", codec.Of("pass"))
			b.Set("checked_at", codec.Of("2026-03-04T00:00:00.000Z"))
			v.write(t, "gates.json", asJSON(forged))
		}, tidegate.Tampered},
		{"a second reader left out", edit("run-config/policy.json", `"verify": "require"`, `"verify": "off"`), tidegate.Tampered},
		{"another scope", edit("operator/scope.json", question, "Is it late?"), tidegate.Tampered},
		{"relaxed contracts", edit("perspectives.json", `"max_words": 60`, `"max_words": 6000`), tidegate.Tampered},
		{"another prompt", edit("wave-1/wave1-plan.json", question, "Is it late?"), tidegate.Tampered},
		{"a policy that is gone", remove("run-config/policy.json"), tidegate.Tampered},
		{"a log that is gone", remove("logs/audit.jsonl"), tidegate.Tampered},
		{"a head that is gone", remove("logs/audit.head"), tidegate.Tampered},
		{"another head of the log", edit("logs/audit.head", `"lines":`, `"lines":1`), tidegate.Tampered},
		{"another last line of the log", func(t *testing.T, v victim) {
			text := string(v.read(t, "logs/audit.jsonl"))
			i := strings.LastIndex(text, `"ts":"2`)
			v.write(t, "logs/audit.jsonl", text[:i]+`"ts":"1`+text[i+len(`"ts":"2`):])
		}, tidegate.Tampered},
		{"a log without its last line", func(t *testing.T, v victim) {
			all := lines(v.read(t, "logs/audit.jsonl"))
			v.write(t, "logs/audit.jsonl", string(bytes.Join(all[:len(all)-1], nil)))
		}, tidegate.Tampered},
		{"a line that is not chained", add("logs/audit.jsonl", foreignLine), tidegate.Tampered},
		{"a raised limit, and a line that is not chained", func(t *testing.T, v victim) {
			edit("manifest.json", `"max_wave1_agents": `, `"max_wave1_agents": 9`)(t, v)
			add("logs/audit.jsonl", foreignLine)(t, v)
		}, tidegate.Tampered},
		// Adding a line does not check older lines of the log; a change to one shows
		// all the same.
		{"another reason in the log", edit("logs/audit.jsonl", `"reason":"r"`, `"reason":"s"`), ""},
	}
}

const foreignLine = `{"ts":"2026-03-04T00:00:00Z","kind":"note"}` + "\n"

func edit(name, from, to string) func(*testing.T, victim) {
	return func(t *testing.T, v victim) {
		t.Helper()
		text := string(v.read(t, name))
		if !strings.Contains(text, from) {
			t.Fatalf("%s has no %q", name, from)
		}
		v.write(t, name, strings.Replace(text, from, to, 1))
	}
}

func add(name, text string) func(*testing.T, victim) {
	return func(t *testing.T, v victim) { v.write(t, name, string(v.read(t, name))+text) }
}

func remove(name string) func(*testing.T, victim) {
	return func(t *testing.T, v victim) {
		t.Helper()
		must.Do(t, os.Remove(v.path(name)))
	}
}
