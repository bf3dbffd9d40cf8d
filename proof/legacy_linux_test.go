package proof_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/catalog"
	"github.com/tidegate/tidegate/internal/test/scratch"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/tool"
)

// orchestrated has the runs of keptRuns. Among them are those into which the tools of
// the earlier system's orchestrator wrote.
func orchestrated(t *testing.T) (home string, kept func(id string) folder) {
	t.Helper()
	home = scratch.Short(t)
	unpack(t, "testdata/stages.tar.gz", home)
	return home, officeIn(t, home).run
}

// TestLegacyRunsAreRead: a run that was created with --legacy-gates, in whose log another
// program wrote, is opened, shown, verified and replayed, and says what it is wherever it
// is shown.
func TestLegacyRunsAreRead(t *testing.T) {
	t.Parallel()
	home, kept := orchestrated(t)
	f := kept("legacy")
	f.write(t, run.AuditFile, string(f.read(t, run.AuditFile))+foreignLine)
	before := snapshot(t, f.root)
	if pass, findings := f.verify(t); !pass {
		t.Errorf("it does not verify:\n%s", findings)
	}
	status := f.must(t, "deep_research_run_status", tidegate.Pairs("manifest_path", f.manifest()))
	verified := f.must(t, "deep_research_run_verify", tidegate.Pairs("manifest_path", f.manifest()))
	if !status.Get("legacy_gates").Bool() || !verified.Get("legacy_gates").Bool() {
		t.Error("status or verify does not say legacy_gates")
	}
	if got := counting(t, f); strings.Join(got, "") != "BCD" {
		t.Errorf("of the gates that were written %v are shown as passed", got)
	}
	replayed := f.must(t, "deep_research_run_replay", tidegate.Pairs("manifest_path", f.manifest()))
	if !replayed.Get("pass").Bool() || replayed.Get("not_compared").Len() != 1 {
		t.Errorf("%s", asJSON(replayed))
	}
	for _, words := range [][]string{{"run", "status", "legacy"}, {"run", "verify", "legacy"}, {"run", "status", "legacy", "--format", "markdown"}, {"report", "legacy", "--partial"}} {
		command := exec.Command(binary, words...)
		command.Env, command.Dir = append(os.Environ(), "TIDEGATE_HOME="+home, "COLUMNS=400"), home
		out, err := command.CombinedOutput()
		if shown := strings.ToLower(string(out)); err != nil || !strings.Contains(shown, "legacy-gates") && !strings.Contains(shown, "legacy run") {
			t.Errorf("tidegate %s does not say that the run is a legacy run: %v\n%s", strings.Join(words, " "), err, out)
		}
	}
	if diff := cmp.Diff(before, snapshot(t, f.root)); diff != "" {
		t.Errorf("reading changed the run:\n%s", diff)
	}
}

// TestNothingWritesToALegacyRun calls every tool that writes to a run: no byte of a
// legacy run changes, and nearly all say why. Those that judge first may find another
// reason.
func TestNothingWritesToALegacyRun(t *testing.T) {
	t.Parallel()
	_, kept := orchestrated(t)
	f := kept("legacy")
	before := snapshot(t, f.root)
	person := tidegate.WithActor(t.Context(), tidegate.Actor{Kind: tidegate.Person})
	var silent []string
	said := 0
	for _, each := range catalog.Tools(f.env) {
		args := baseArguments[each.Name]
		if each.Effect == tool.Reads || !strings.Contains(args, "$WORK/runs/tides/") || each.Name == deleteRun || each.Name == "deep_research_run_recover" {
			continue
		}
		args = strings.NewReplacer("$WORK/runs/tides", f.root, `"tides"`, `"legacy"`, "$WORK", f.dir).Replace(args)
		err := each.Call(person, []byte(args), tool.Caller{}).Err
		switch {
		case err == nil:
			t.Errorf("%s is not refused", each.Name)
		case tidegate.CodeOf(err) == tidegate.InvalidState && strings.Contains(err.Error(), "--legacy-gates"):
			said++
		default:
			silent = append(silent, each.Name+": "+err.Error())
		}
	}
	if said < 25 {
		t.Errorf("%d say why; the others are\n%s", said, strings.Join(silent, "\n"))
	}
	if diff := cmp.Diff(before, snapshot(t, f.root)); diff != "" {
		t.Errorf("the run was changed:\n%s", diff)
	}
}

// TestAnEditedPolicyMakesNoLegacyRun: what an agent writes into the policy or the first
// line of a log makes no gate count as it is written.
func TestAnEditedPolicyMakesNoLegacyRun(t *testing.T) {
	t.Parallel()
	f := newOffice(t).copied(t, "tides", withGap, "wave1 handed in")
	bad(t, victim{f, ""})
	f.review(t)
	edit("run-config/policy.json", `"require_bound_gates": false`, `"require_bound_gates": false, "legacy_gates": true`)(t, victim{f, ""})
	update := tidegate.Pairs("gates_path", f.path("gates.json"), "inputs_digest", "d", "reason", "r", "update", tidegate.Pairs("B", tidegate.Pairs("status", "pass", "checked_at", "2026-03-04T00:00:00Z")))
	if code := codeOf(f.call(t, "deep_research_gates_write", update)); code != tidegate.GateNotDerived {
		t.Errorf("an edited policy makes gates count as they are written: %q", code)
	}
	if f.must(t, "deep_research_run_status", tidegate.Pairs("manifest_path", f.manifest())).Get("legacy_gates").Bool() {
		t.Error("the run has become a legacy run")
	}
	if pass, _ := f.verify(t); pass {
		t.Error("verify does not find the edited policy")
	}
}

// TestLinesOfToolsThatAreGoneAreComparedByDigest: a run that has them verifies, its
// replay names each of them, and finds what was changed since.
func TestLinesOfToolsThatAreGoneAreComparedByDigest(t *testing.T) {
	t.Parallel()
	_, kept := orchestrated(t)
	replayed := func(f folder) (pass bool, left, differ string) {
		answer := f.must(t, "deep_research_run_replay", tidegate.Pairs("manifest_path", f.manifest()))
		for _, step := range answer.Get("steps").Elems() {
			if !step.Get("same").Bool() {
				differ += step.Get("what").Str() + "\n"
			}
		}
		return answer.Get("pass").Bool(), asJSON(answer.Get("not_compared")), differ
	}
	for id, kinds := range map[string]string{
		"ticked": "telemetry_append run_metrics_write tick_ledger_append", "reported": "gate_e_reports", "seeded": "fixture_run_seed", "dry": "dry_run_seed",
	} {
		f := kept(id)
		if pass, findings := f.verify(t); !pass {
			t.Errorf("%s does not verify:\n%s", id, findings)
		}
		pass, left, differ := replayed(f)
		if !pass {
			t.Errorf("%s: %s", id, differ)
		}
		for _, kind := range strings.Fields(kinds) {
			if !strings.Contains(left, ": "+kind+",") {
				t.Errorf("%s: the replay does not name %s: %s", id, kind, left)
			}
		}
	}
	for id, name := range map[string]string{"reported": "reports/gate-e-status.json", "ticked": "logs/ticks.jsonl", "seeded": "wave-1/records.md"} {
		f := kept(id)
		f.spoilt(t, name, func(text string) string { return text + "\n" }, func() {
			if pass, _, differ := replayed(f); pass || differ != name+"\n" {
				t.Errorf("%s was changed, and the replay finds %q", name, differ)
			}
		})
	}
}
