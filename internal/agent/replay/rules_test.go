package replay_test

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/agent/driver"
	"github.com/tidegate/tidegate/internal/agent/engine"
	"github.com/tidegate/tidegate/internal/agent/job"
	"github.com/tidegate/tidegate/internal/agent/replay"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/rule/evidence"
	"github.com/tidegate/tidegate/internal/test/full"
	"github.com/tidegate/tidegate/internal/test/runs"
	"github.com/tidegate/tidegate/internal/test/signing"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/stage"
	"github.com/tidegate/tidegate/internal/work/step"
)

// later makes the test a program of later rules.
func later(t *testing.T) {
	was := evidence.Rules
	evidence.Rules = "evidence.2"
	t.Cleanup(func() { evidence.Rules = was })
}

// TestEarlierRulesAreTaken: a later program takes the sentences, windows and controls of an
// earlier one as they are kept, holds them against the digests of the log, and says by
// which rules they were made. It is not parallel, because the rules are the program's. The
// short form has one kind of run and does not seal it again.
func TestEarlierRulesAreTaken(t *testing.T) {
	kinds := []string{"second-wave", "sent-back", "disputed", "review-rounds", "unfit-reader"}
	if !full.Asked() {
		kinds = kinds[:1]
	}
	for _, kind := range kinds {
		root := golden(t, t.TempDir(), kind)
		key, signers := signing.New(t)
		var sealed []byte
		if kind != "disputed" {
			var err error
			if sealed, err = replay.Seal(t.Context(), open(t, root), key, program, false); err != nil {
				t.Fatal(err)
			}
		}
		t.Run(kind, func(t *testing.T) {
			later(t)
			out, err := replay.Run(t.Context(), open(t, root), "")
			if err != nil || !out.Pass || !strings.Contains(strings.Join(out.Left, "\n"), "the sentences of round 1, which were checked by the rules evidence.1") {
				t.Errorf("pass %v %v %v\n%s", out.Pass, out.Left, err, differences(out))
			}
			verified, err := run.Verify(t.Context(), pinned, run.VerifyInput{ManifestPath: filepath.Join(root, run.ManifestFile), Follows: stage.Follows})
			if err != nil || !verified.Pass {
				t.Errorf("%v %v", verified.Findings, err)
			}
			judged, err := step.Judge(t.Context(), open(t, root), "E")
			if err != nil || (judged.Status() == run.GatePass) != (kind != "disputed") {
				t.Errorf("gate E: %v %v", judged.Status(), err)
			}
			trust, err := step.ReadTrust(open(t, root))
			if err != nil || !strings.HasSuffix(trust.Line, "checked by the rules evidence.1 of an earlier version.") {
				t.Errorf("%q %v", trust.Line, err)
			}
			if sealed == nil {
				return
			}
			opened, err := unseal(t, sealed, signers)
			if err != nil || !opened.Pass || opened.Trust != trust.Line {
				t.Errorf("%q %v %v\n%s", opened.Trust, opened.Findings, err, differences(opened.Replay))
			}
			if !full.Asked() {
				return
			}
			if _, err := replay.Seal(t.Context(), open(t, root), key, program, false); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestEarlierRulesExcuseNoForgery: what the log does not record is found, and rules that no
// program has had are none.
func TestEarlierRulesExcuseNoForgery(t *testing.T) {
	const claims = "synthesis/claims.json"
	set := func(rules string) func(*codec.Value) {
		return func(doc *codec.Value) { doc.Set("rules", codec.Of(rules)) }
	}
	for name, test := range full.Some(map[string]struct {
		later bool
		forge func(f forger)
		found string
	}{
		"claims that the log does not record": {true, func(f forger) { f.write(claims, altered(f.read(claims))) }, claims},
		"a reading that the log does not record": {true, func(f forger) {
			const reading = "jobs/verify.1/001/reading.json"
			f.write(reading, replaced(`"supported"`, `"partly"`)(f.read(reading)))
		}, "jobs/verify.1/001/reading.json"},
		"claims that no line explains": {true, func(f forger) {
			changed := altered(f.read(claims))
			f.write(claims, changed)
			f.file(claims, func([]byte) []byte { return changed })
			f.edit(func(e *codec.Value) []*codec.Value {
				if e.Get("kind").Str() == "claims_read" {
					return nil
				}
				return []*codec.Value{e}
			})
		}, claims},
		"rules of the future":     {false, func(f forger) { f.document(claims, set("evidence.2")) }, claims},
		"rules of no program":     {true, func(f forger) { f.document(claims, set("evidence.0")) }, claims},
		"rules by another name":   {true, func(f forger) { f.document(claims, set("evidence.01")) }, claims},
		"rules before the first":  {false, func(f forger) { f.document(claims, set("evidence.0")) }, claims},
		"rules that are no rules": {true, func(f forger) { f.document(claims, set("mine")) }, claims},
	}, 1) {
		t.Run(name, func(t *testing.T) {
			f := forger{t, golden(t, t.TempDir(), "second-wave")}
			test.forge(f)
			if test.later {
				later(t)
			}
			out, err := replay.Run(t.Context(), open(t, f.root), "")
			if err != nil || out.Pass || !strings.Contains(differences(out), test.found) {
				t.Errorf("pass %v, %v, %v, and not %q in\n%s", out.Pass, out.Left, err, test.found, differences(out))
			}
		})
	}
}

// TestARunGoesOnByLaterRules: a report that was written under earlier rules is read, and
// decided about, by what was kept of it. The short form has the decision.
func TestARunGoesOnByLaterRules(t *testing.T) {
	never := int64(0)
	for name, agent := range full.Some(map[string]func(driver.Task) string{"a person decides": lying, "another agent reads": mute}, 1) {
		t.Run(name, func(t *testing.T) {
			at := time.Date(2026, 2, 14, 12, 0, 0, 0, time.UTC)
			desk := run.Desk{Pinned: true, Now: func() time.Time { at = at.Add(time.Millisecond); return at }}
			made := runs.CreateAt(t, desk, run.InitInput{Query: "Should the harbour buy electric tugs?", RunID: "later", Limits: &run.Limits{MaxVerifyRounds: &never}, Budget: map[string]float64{"tries": 1}})
			drive := func(agent func(driver.Task) string, want run.Status) {
				t.Helper()
				out, err := engine.Drive(t.Context(), made.ManifestPath, engine.Options{Desk: desk, Pool: &crew{agent: agent, asked: map[string]string{}}, Fetch: web,
					Wait: func(context.Context, time.Duration) {}, Agents: agents})
				if err != nil || out.Status != want {
					t.Fatalf("%s %s %v", out.Status, out.Reason, err)
				}
			}
			drive(agent, run.Failed)
			later(t)
			person := tidegate.WithActor(t.Context(), tidegate.Actor{Kind: tidegate.Person, By: tidegate.ByTerminal, Name: "ada"})
			claims, err := step.ReadClaims(runs.OpenAt(t, desk, made.ManifestPath))
			if err != nil {
				t.Fatal(err)
			}
			if refused := claims.Judge(true).Refused; len(refused) > 0 {
				if _, err := step.AcceptClaim(person, desk, step.AcceptClaimInput{ManifestPath: made.ManifestPath, ID: refused[0].ID, Reason: "I was there"}); err != nil {
					t.Fatal(err)
				}
			} else {
				board, err := job.OpenBoard(person, desk, made.ManifestPath)
				if err != nil {
					t.Fatal(err)
				}
				if _, err := board.Retry(person, "verify.1", "again"); err != nil {
					t.Fatal(err)
				}
				board.Close()
			}
			drive(writer(nil), run.Completed)
			if claims, err = step.ReadClaims(runs.OpenAt(t, desk, made.ManifestPath)); err != nil || claims.Rules != "evidence.1" {
				t.Errorf("the claims are by %s, %v", claims.Rules, err)
			}
			out, err := replay.Run(t.Context(), open(t, made.Root), "")
			if err != nil || !out.Pass {
				t.Errorf("%v %v\n%s", out.Left, err, differences(out))
			}
		})
	}
}
