package proof_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/work/run"
)

// TestLegacyRunsCountWhatOthersWrite: a run that a person made with
// --legacy-gates behaves as the earlier system's tolerant runs do, and says so.
func TestLegacyRunsCountWhatOthersWrite(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	f := o.run("tides")
	typed := func(words ...string) string {
		t.Helper()
		command := exec.Command(binary, words...)
		command.Env, command.Dir = append(os.Environ(), "TIDEGATE_HOME="+o.dir, "COLUMNS=400"), o.dir
		out, err := command.CombinedOutput()
		if err != nil && len(out) == 0 {
			t.Fatalf("%q: %v", words, err)
		}
		return string(out)
	}
	typed("run", "init", question, "--id", "tides", "--legacy-gates")
	if !f.has("manifest.json") {
		t.Fatal("the run was not made")
	}
	pass := func(gate string) {
		f.must(t, "deep_research_gates_write", tidegate.D("gates_path", f.path("gates.json"), "inputs_digest", "sha256:00", "reason", "r",
			"update", tidegate.D(gate, tidegate.D("status", "pass", "checked_at", "2026-03-04T00:00:00Z"))))
	}
	onward := func(stage string) {
		t.Helper()
		f.must(t, "deep_research_stage_advance", f.advanceArgs())
		if got := f.stage(t); got != stage {
			t.Fatalf("the run is in stage %s, want %s", got, stage)
		}
	}
	// Another program writes the files and says what the gates are. Nobody is asked
	// for gate A, and nothing that passed is checked again.
	f.write(t, "perspectives.json", asJSON(contracts(f.id, 60)))
	onward("wave1")
	f.write(t, "wave-1/moon.md", "no contract is kept here")
	f.write(t, "wave-review.json", `{}`)
	pass("B")
	onward("pivot")
	f.write(t, "perspectives.json", asJSON(contracts(f.id, 100_000)))
	f.write(t, "pivot.json", `{"run_wave2":false}`)
	onward("citations")
	f.write(t, "citations/citations.jsonl", "")
	pass("C")
	onward("summaries")
	// Its log is added to, its manifest is edited, and patches move its status.
	f.write(t, run.AuditFile, string(f.read(t, run.AuditFile))+foreignLine)
	f.write(t, "manifest.json", strings.Replace(string(f.read(t, "manifest.json")), `"max_wave1_agents": `, `"max_wave1_agents": 1`, 1))
	f.must(t, "deep_research_manifest_write", tidegate.D("manifest_path", f.manifest(), "patch", tidegate.D("status", "paused"), "reason", "r"))
	f.must(t, "deep_research_manifest_write", tidegate.D("manifest_path", f.manifest(), "patch", tidegate.D("status", "running"), "reason", "r"))
	f.write(t, "summaries/summary-pack.json", `{}`)
	pass("D")
	onward("synthesis")
	f.write(t, "synthesis/final-synthesis.md", "x")
	onward("review")
	f.write(t, "review/review-bundle.json", `{"decision":"PASS"}`)
	pass("E")
	pass("F")
	onward("finalize")
	// It says what it is wherever it is shown.
	status := f.must(t, "deep_research_run_status", tidegate.D("manifest_path", f.manifest()))
	verified := f.must(t, "deep_research_run_verify", tidegate.D("manifest_path", f.manifest()))
	if !status.Get("legacy_gates").Bool() || !verified.Get("legacy_gates").Bool() {
		t.Error("status or verify does not say legacy_gates")
	}
	for _, words := range [][]string{{"run", "status", "tides"}, {"run", "verify", "tides"}, {"run", "status", "tides", "--format", "markdown"}, {"run", "verify", "tides", "--format", "markdown"}} {
		if shown := strings.Join(strings.Fields(typed(words...)), " "); !strings.Contains(shown, "made with --legacy-gates") {
			t.Errorf("tidegate %s does not say that the run is a legacy run:\n%s", strings.Join(words, " "), shown)
		}
	}
}

// TestLegacyGatesAreMadeAndNotGiven: the flag makes no other run a legacy run,
// no matter who starts a program with it.
func TestLegacyGatesAreMadeAndNotGiven(t *testing.T) {
	t.Parallel()
	f := newOffice(t).copied(t, "tides", withGap, "wave1 handed in")
	bad(t, victim{f, ""})
	f.review(t)
	f.env.LegacyGates = true
	update := tidegate.D("gates_path", f.path("gates.json"), "inputs_digest", "d", "reason", "r", "update", tidegate.D("B", tidegate.D("status", "pass", "checked_at", "2026-03-04T00:00:00Z")))
	if code := codeOf(f.call(t, "deep_research_gates_write", update)); code != tidegate.GateNotDerived {
		t.Errorf("a program with --legacy-gates records a gate of another run: %q", code)
	}
	if f.must(t, "deep_research_run_status", tidegate.D("manifest_path", f.manifest())).Get("legacy_gates").Bool() {
		t.Error("the run has become a legacy run")
	}
	// An edited policy does not make it one either.
	f.env.LegacyGates = false
	edit("run-config/policy.json", `"require_bound_gates": false`, `"require_bound_gates": false, "legacy_gates": true`)(t, victim{f, ""})
	if code := codeOf(f.call(t, "deep_research_gates_write", update)); code != tidegate.GateNotDerived {
		t.Errorf("an edited policy makes gates count as they are written: %q", code)
	}
}
