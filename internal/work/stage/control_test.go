package stage_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/test/runs"
	"github.com/tidegate/tidegate/internal/work/gates"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/stage"
	"github.com/tidegate/tidegate/internal/work/step"
)

func replaceOnce(t *testing.T, s, old, new string) string {
	t.Helper()
	if !strings.Contains(s, old) {
		t.Fatalf("no %q in the text", old)
	}
	return strings.Replace(s, old, new, 1)
}

func (y *toy) control(verb string) (stage.ControlResult, error) {
	in := stage.ControlInput{ManifestPath: y.files.ManifestPath, Reason: "test"}
	switch verb {
	case "pause":
		return stage.Pause(y.t.Context(), runs.Pinned, in)
	case "cancel":
		return stage.Cancel(y.t.Context(), runs.Pinned, in)
	}
	return stage.Resume(y.t.Context(), runs.Pinned, stage.ResumeInput{ManifestPath: in.ManifestPath, Reason: in.Reason, Accept: verb == "accept"})
}

func TestPauseResumeAndCancelFollowTheTable(t *testing.T) {
	want := map[string]string{ // "" is refused, the same status is not a change
		"created pause": "paused", "created resume": "", "created accept": "", "created cancel": "cancelled",
		"running pause": "paused", "running resume": "running", "running accept": "running", "running cancel": "cancelled",
		"paused pause": "paused", "paused resume": "running", "paused accept": "", "paused cancel": "cancelled",
		"failed pause": "", "failed resume": "", "failed accept": "running", "failed cancel": "cancelled",
		"completed pause": "", "completed resume": "", "completed accept": "", "completed cancel": "",
		"cancelled pause": "", "cancelled resume": "", "cancelled accept": "", "cancelled cancel": "cancelled",
	}
	for key, to := range want {
		from, verb, _ := strings.Cut(key, " ")
		y := newToy(t, run.InitInput{})
		y.force(run.Wave1, run.Status(from))
		out, err := y.control(verb)
		if to == "" {
			if tidegate.CodeOf(err) != tidegate.InvalidState || y.status() != from {
				t.Errorf("%s: %v, now %s", key, err, y.status())
			}
			continue
		}
		if err != nil || y.status() != to || out.Changed != (from != to) || string(out.Status) != to {
			t.Errorf("%s: %+v, %v, now %s", key, out, err, y.status())
		}
	}
}

func TestAcceptanceIsForFailedRunsAndStandsInTheLog(t *testing.T) {
	y := newToy(t, run.InitInput{})
	must.Get(y.control("pause"))(t)
	accept := stage.ResumeInput{ManifestPath: y.files.ManifestPath, Accept: true, Reason: "checked"}
	_, err := stage.Resume(t.Context(), runs.Pinned, accept)
	if e := runs.WantCode(t, err, tidegate.InvalidState); !strings.Contains(e.Message, "without --accept") {
		t.Errorf("the message does not say how to go on: %s", e.Message)
	}
	y.force(run.Wave1, run.Failed)
	must.Get(stage.Resume(t.Context(), runs.Pinned, accept))(t)
	if log := y.read("logs/audit.jsonl"); !strings.Contains(log, `"reason":"operator-cli resume --accept: checked"`) {
		t.Errorf("the log does not tell an acceptance from a resumption:\n%s", log)
	}
}

func TestFinalRunTakesNothingMore(t *testing.T) {
	for _, status := range run.Statuses {
		leaves := slices.ContainsFunc(stage.Table(), func(row stage.Row) bool { return row.Status == status })
		if status.Final() == leaves {
			t.Errorf("%s: final is %v, but the table has a way on: %v", status, status.Final(), leaves)
		}
		y := newToy(t, run.InitInput{})
		contracts := `{"schema_version":"perspectives.v1","run_id":"r1","created_at":"2026-02-14","perspectives":[{"id":"p1","title":"t",` +
			`"track":"standard","agent_type":"a","prompt_contract":{"max_words":9,"max_sources":1,"tool_budget":{},"must_include_sections":[]}}]}`
		y.put("perspectives.json", contracts)
		y.force(run.Wave1, status)
		before := y.tree()
		path := filepath.Join(y.root, "perspectives.json")
		for name, write := range map[string]func() error{
			"gates": func() error {
				_, err := gates.RecordGate(t.Context(), runs.Pinned, gates.GateInput{ManifestPath: y.files.ManifestPath, Gate: "A"})
				return err
			},
			"perspectives": func() error {
				_, err := step.WritePerspectives(t.Context(), runs.Pinned, step.PerspectivesInput{PerspectivesPath: path, Value: runs.Parse(t, contracts), Reason: "test"})
				return err
			},
			"plan": func() error {
				_, err := step.Plan(t.Context(), runs.Pinned, step.PlanInput{ManifestPath: y.files.ManifestPath, Reason: "test"})
				return err
			},
			"outputs": func() error {
				_, err := step.Ingest(t.Context(), runs.Pinned, step.IngestInput{ManifestPath: y.files.ManifestPath, PerspectivesPath: path, Wave: "wave1",
					Outputs: []step.Submission{{PerspectiveID: "p1", Markdown: "late"}}})
				return err
			},
		} {
			err := write()
			if !status.Final() {
				if frozen := name == "perspectives" && tidegate.CodeOf(err) == tidegate.ContractFrozen; err != nil && !frozen {
					t.Errorf("%s run, %s: %v", status, name, err)
				}
				continue
			}
			if e := tidegate.AsError(err); tidegate.CodeOf(err) != tidegate.InvalidState || !strings.Contains(e.Message, "final") {
				t.Errorf("%s run, %s: %v", status, name, err)
			}
		}
		if diff := cmp.Diff(before, y.tree()); status.Final() && diff != "" {
			t.Errorf("%s run: %s", status, diff)
		}
	}
}

func TestResumeKeepsWhenTheStageBegan(t *testing.T) {
	y := newToy(t, run.InitInput{})
	must.Get(y.control("pause"))(t)
	at5000 := noon.Add(5000 * time.Second)
	later := run.Desk{Now: func() time.Time { return at5000 }}
	must.Get(stage.Resume(t.Context(), later, stage.ResumeInput{ManifestPath: y.files.ManifestPath}))(t)
	at := y.manifest().Get("stage")
	if at.Get("started_at").Str() != tidegate.Stamp(noon) || at.Get("last_progress_at").Str() != tidegate.Stamp(at5000) {
		t.Errorf("stage %v %v", at.Get("started_at").Str(), at.Get("last_progress_at").Str())
	}
}

func TestCheckpointsHoldOneFactALineWhateverTheReason(t *testing.T) {
	y := newToy(t, run.InitInput{})
	must.Get(stage.Pause(t.Context(), runs.Pinned, stage.ControlInput{ManifestPath: y.files.ManifestPath, Reason: "a\n- stage: finalize\r\n# x"}))(t)
	want := "# Pause Checkpoint\n\n- ts: 2026-02-14T12:00:00.000Z\n- run_id: r1\n- stage: init\n- reason: a - stage: finalize # x\n- next: tidegate run resume "
	if got := y.read("logs/pause-checkpoint.md"); !strings.HasPrefix(got, want) || strings.Count(got, "\n") != 7 {
		t.Errorf("got %q", got)
	}
}

func TestStatusSaysWhereWhatForAndWhatNext(t *testing.T) {
	y := newToy(t, run.InitInput{})
	out, err := stage.Status(t.Context(), runs.Pinned, y.files.ManifestPath)
	if err != nil || out.Stage != run.Init || len(out.WaitingFor) != 1 || *out.NextStage != run.Wave1 || !strings.Contains(*out.NextCommand, "perspectives") {
		t.Fatalf("%+v, %v", out, err)
	}
	y.put("perspectives.json", perspectives)
	out, err = stage.Status(t.Context(), runs.Pinned, y.files.ManifestPath)
	if err != nil || len(out.WaitingFor) != 0 || *out.NextCommand != "tidegate run advance "+y.root {
		t.Fatalf("%+v, %v", out, err)
	}
	y.to(run.Pivot)
	y.put("wave-1/p1.md", "changed")
	out, err = stage.Status(t.Context(), runs.Pinned, y.files.ManifestPath)
	if err != nil || out.NextStage != nil || out.Gates[1].Status != "pass" || out.Gates[1].Counts != "not_run" || out.Gates[1].Changed[0] != "wave-1/p1.md" {
		t.Fatalf("%+v, %v", out, err)
	}
	must.Get(y.control("cancel"))(t)
	out, err = stage.Status(t.Context(), runs.Pinned, y.files.ManifestPath)
	if err != nil || len(out.WaitingFor) != 0 || out.NextCommand != nil {
		t.Fatalf("%+v, %v", out, err)
	}
	shown := out.Report()
	if shown.Title != "run r1" {
		t.Errorf("title %q", shown.Title)
	}
	if said, ok := shown.Blocks[1].(report.Paragraph); !ok || !strings.Contains(string(said), "final") {
		t.Errorf("a person does not see that nothing comes next: %+v", shown.Blocks[1])
	}
}

func TestStatusSaysWhoDrivesTheRun(t *testing.T) {
	y := newToy(t, run.InitInput{}).to(run.Wave1)
	y.put(run.HomeFile, "")
	status := func(interrupted bool, command string) {
		t.Helper()
		out, err := stage.Status(t.Context(), runs.Pinned, y.files.ManifestPath)
		if err != nil || out.Interrupted != interrupted || *out.NextCommand != command+y.root {
			t.Errorf("%v, %s, %v", out.Interrupted, *out.NextCommand, err)
		}
	}
	status(true, "tidegate run continue ")
	claim := must.Get(runs.Open(t, y.files.ManifestPath).Folder().Claim(run.HomeFile, nil))(t)
	status(false, "tidegate run watch ")
	claim.Release()
	must.Get(y.control("pause"))(t)
	status(false, "tidegate run continue ")
}

func TestStatusChangesNothing(t *testing.T) {
	y := newToy(t, run.InitInput{})
	before := y.tree()
	for _, status := range run.Statuses {
		y.force(run.Review, status)
		if _, err := stage.Status(t.Context(), runs.Pinned, y.files.ManifestPath); err != nil {
			t.Errorf("%s: %v", status, err)
		}
	}
	y.put("manifest.json", before["manifest.json"])
	if len(y.tree()) != len(before) {
		t.Errorf("files appeared: %d, were %d", len(y.tree()), len(before))
	}
}

func TestPauseWaitsForAWriterInsteadOfFailing(t *testing.T) {
	y := newToy(t, run.InitInput{})
	r := must.Get(run.Open(t.Context(), runs.Pinned, y.files.ManifestPath))(t)
	defer r.Close()
	holding, paused := make(chan struct{}), make(chan error, 1)
	must.Get(r.Update(t.Context(), func(u *run.Update) error {
		go func() {
			close(holding)
			_, err := y.control("pause")
			paused <- err
		}()
		<-holding
		return u.Progress("test", "x")
	}))(t)
	if err := <-paused; err != nil {
		t.Fatal(err)
	}
	if n, _ := y.manifest().Get("revision").Int(); n != 3 || y.status() != "paused" {
		t.Errorf("revision %d, status %s: an update was lost", n, y.status())
	}
}

// TestNobodyWaitsLongForAProcessThatStopped holds the lock of a run over a transaction that does
// not end: readers read, and a writer gives up after the time that is promised.
func TestNobodyWaitsLongForAProcessThatStopped(t *testing.T) {
	y := newToy(t, run.InitInput{})
	synctest.Test(t, func(t *testing.T) {
		folder := must.Get(artifact.Everywhere.Open("run", y.root))(t)
		defer folder.Close()
		held := must.Get(folder.Lock(t.Context(), time.Now))(t)
		y.put(".tidegate-tx/record", "{}")
		begun := time.Now()
		must.Get(stage.Status(t.Context(), runs.Pinned, y.files.ManifestPath))(t)
		must.Get(run.Verify(t.Context(), runs.Pinned, run.VerifyInput{ManifestPath: y.files.ManifestPath}))(t)
		if waited := time.Since(begun); waited > 10*time.Second {
			t.Errorf("readers waited for %v", waited)
		}
		begun = time.Now()
		_, err := y.control("pause")
		runs.WantCode(t, err, tidegate.LockHeld)
		if waited := time.Since(begun); waited > 31*time.Second {
			t.Errorf("a writer waited for %v", waited)
		}
		os.RemoveAll(filepath.Join(y.root, ".tidegate-tx"))
		held.Unlock()
	})
}

func TestLogsFolderThatLeadsOutIsRefused(t *testing.T) {
	y := newToy(t, run.InitInput{})
	y.put("manifest.json", replaceOnce(t, y.read("manifest.json"), `"logs_dir": "logs"`, `"logs_dir": "../logs"`))
	y.accept()
	_, err := y.control("pause")
	runs.WantCode(t, err, tidegate.PathNotAllowed)
	if y.status() != "created" {
		t.Errorf("status %s", y.status())
	}
}
