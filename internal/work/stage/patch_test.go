package stage_test

import (
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/test/runs"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/stage"
)

func TestPatchMovesStatusAlongTheTableAndNowhereElse(t *testing.T) {
	for _, from := range run.Statuses {
		for _, to := range run.Statuses {
			y := newToy(t, run.InitInput{})
			y.force(run.Wave1, from)
			err := y.patch(`{"status":"` + string(to) + `"}`)
			switch {
			case from == to || from == run.Created && to == run.Running:
				if err != nil || y.status() != string(to) {
					t.Errorf("%s to %s: %v, now %s", from, to, err, y.status())
				}
			case slices.Contains(byAPerson, string(from)+">"+string(to)):
				if tidegate.CodeOf(err) != tidegate.ImmutableField || y.status() != string(from) {
					t.Errorf("%s to %s: %v, now %s", from, to, err, y.status())
				}
			default:
				if tidegate.CodeOf(err) != tidegate.InvalidState || y.status() != string(from) {
					t.Errorf("%s to %s: %v, now %s", from, to, err, y.status())
				}
			}
		}
	}
}

func TestPatchDoesNotTouchWhatOtherToolsKeep(t *testing.T) {
	y := newToy(t, run.InitInput{})
	before := y.tree()
	for _, tt := range []struct{ name, patch, paths string }{
		{"schema version", `{"schema_version":"manifest.v2"}`, "$.schema_version"},
		{"run id", `{"run_id":"r2"}`, "$.run_id"},
		{"creation time", `{"created_at":"x"}`, "$.created_at"},
		{"update time", `{"updated_at":"x"}`, "$.updated_at"},
		{"revision", `{"revision":9}`, "$.revision"},
		{"stage", `{"stage":{"current":"review"}}`, "$.stage.current"},
		{"history", `{"stage":{"history":[1]}}`, "$.stage.history"},
		{"whole stage removed", `{"stage":null}`, "$.stage"},
		{"failures", `{"failures":[1]}`, "$.failures"},
		{"artifacts", `{"artifacts":{"root":"/"}}`, "$.artifacts.root"},
		{"artifacts emptied by an empty object", `{"artifacts":{"paths":{"wave1_dir":{}}}}`, "$.artifacts.paths.wave1_dir"},
		{"artifacts removed", `{"artifacts":null}`, "$.artifacts"},
		{"retry counts", `{"metrics":{"retry_counts":{"B":0}}}`, "$.metrics.retry_counts.B"},
		{"retry history", `{"metrics":{"retry_history":[]}}`, "$.metrics.retry_history"},
		{"all metrics removed", `{"metrics":null}`, "$.metrics"},
		{"several", `{"run_id":"x","mode":"deep","stage":{"current":"x"}}`, "$.run_id $.mode $.stage.current"},
		{"a cap raised", `{"limits":{"max_review_iterations":5}}`, "$.limits.max_review_iterations"},
		{"a cap lowered", `{"limits":{"max_review_iterations":0}}`, "$.limits.max_review_iterations"},
		{"the limits removed", `{"limits":null}`, "$.limits"},
		{"the sensitivity", `{"query":{"sensitivity":"no_web"}}`, "$.query.sensitivity"},
		{"caps raised", `{"limits":{"max_wave1_agents":50,"max_wave2_agents":7}}`, "$.limits.max_wave1_agents $.limits.max_wave2_agents"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e := runs.WantCode(t, y.patch(tt.patch), tidegate.ImmutableField)
			paths, _ := e.Details.Get("paths")
			if diff := cmp.Diff(tt.paths, strings.Join(paths.([]string), " ")); diff != "" {
				t.Error(diff)
			}
		})
	}
	after := y.tree()
	if diff := cmp.Diff(before, after); diff != "" {
		t.Error(diff)
	}
}

func TestPatchChangesTheRest(t *testing.T) {
	y := newToy(t, run.InitInput{})
	for _, patch := range []string{
		`{"stage":{"started_at":"2030-01-01","last_progress_at":"2030-01-01"}}`,
		`{"metrics":{"tokens":12,"nested":{"a":null,"b":[null]}},"unknown":{"kept":true}}`,
		`{"notes":"n","mode":"standard"}`,
		`{}`,
	} {
		if err := y.patch(patch); err != nil {
			t.Fatalf("%s: %v", patch, err)
		}
	}
	m := y.manifest()
	if n, _ := m.Get("revision").Int(); n != 5 || !m.Get("unknown").Get("kept").Bool() || m.Get("metrics").Get("nested").Get("a") != nil {
		t.Errorf("got %v", m)
	}
	runs.WantCode(t, y.patch(`{"status":"asleep"}`), tidegate.SchemaValidationFailed)
	runs.WantCode(t, y.patch(`[]`), tidegate.InvalidArgs)
}

func TestUnknownFieldsAndKeyOrderSurviveEveryWrite(t *testing.T) {
	y := newToy(t, run.InitInput{})
	m := y.manifest()
	odd := codec.NewObject()
	odd.Set("zeta", runs.Parse(t, `{"z":1.50,"a":[1e3,null]}`))
	for _, member := range m.Members() {
		odd.Set(member.Key, member.Value)
	}
	data, _ := codec.MarshalFile(odd)
	y.put("manifest.json", string(data))
	y.accept()
	y.put("perspectives.json", perspectives)
	y.mustAdvance("")
	if _, err := y.control("pause"); err != nil {
		t.Fatal(err)
	}
	after := y.read("manifest.json")
	if !strings.HasPrefix(after, "{\n  \"zeta\": {\n    \"z\": 1.50,\n    \"a\": [\n      1e3,\n      null\n    ]\n  },\n  \"schema_version\"") {
		t.Errorf("got %s", after[:200])
	}
}

func TestLostOptimisticCheckIsARevisionMismatch(t *testing.T) {
	y := newToy(t, run.InitInput{})
	one := int64(1)
	in := stage.ManifestWriteInput{ManifestPath: y.files.ManifestPath, Patch: runs.Parse(t, `{}`), ExpectedRevision: &one, Reason: "test"}
	if _, err := stage.ManifestWrite(t.Context(), runs.Pinned, in); err != nil {
		t.Fatal(err)
	}
	_, err := stage.ManifestWrite(t.Context(), runs.Pinned, in)
	e := runs.WantCode(t, err, tidegate.RevisionMismatch)
	if diff := cmp.Diff(tidegate.Pairs("expected", int64(1), "got", int64(2)), e.Details); diff != "" {
		t.Error(diff)
	}
	advance := y.advanceIn()
	advance.ExpectedManifestRevision = &one
	_, err = stage.Advance(t.Context(), runs.Pinned, advance)
	runs.WantCode(t, err, tidegate.RevisionMismatch)
}

func TestPatchDigestsAreThoseOfTheEarlierSystem(t *testing.T) {
	for patch, want := range map[string]string{
		`{"metrics":{"alpha":1,"beta":{"x":1,"y":2}}}`: "sha256:41b857f47ac327e600a7dcba283ca6c6904d68c5f46bdc24585cd71597a2a844",
	} {
		y := newToy(t, run.InitInput{})
		if err := y.patch(patch); err != nil {
			t.Fatal(err)
		}
		log, err := run.Log(t.Context(), runs.Pinned, run.LogInput{ManifestPath: y.files.ManifestPath, Last: 1})
		if err != nil || log.Entries[0].Entry.Get("patch_digest").Str() != want {
			t.Errorf("%s: %v, %v", patch, log.Entries[0].Entry.Get("patch_digest").Str(), err)
		}
	}
}

func TestEightProcessesTimesFiftyWritesLoseNoUpdate(t *testing.T) {
	y := newToy(t, run.InitInput{})
	var wait sync.WaitGroup
	outputs := make([]string, 8)
	for i := range outputs {
		cmd := self("write 50", y.root)
		wait.Go(func() {
			out, _ := cmd.CombinedOutput()
			outputs[i] = string(out)
		})
	}
	wait.Wait()
	for i, out := range outputs {
		if out != "done" {
			t.Errorf("process %d: %s", i, out)
		}
	}
	if n, _ := y.manifest().Get("revision").Int(); n != 401 {
		t.Errorf("revision %d, want 401", n)
	}
	v, err := run.Verify(t.Context(), runs.Pinned, run.VerifyInput{ManifestPath: y.files.ManifestPath, Follows: stage.Follows})
	if err != nil || !v.Pass || v.Log.Lines != 401 || v.Log.Unchained != 0 {
		t.Errorf("verify: %+v, %v", v, err)
	}
}
