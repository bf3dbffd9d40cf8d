package replay_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/agent/driver"
	"github.com/tidegate/tidegate/internal/agent/replay"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/test/full"
	"github.com/tidegate/tidegate/internal/test/runs"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/stage"
	"github.com/tidegate/tidegate/internal/work/step"
)

// TestNotesOfAnAgentAreReplayed: what an agent may write into manifest and gates, while
// the run goes on, does not change what comes out again. The short form has all notes in
// one run.
func TestNotesOfAnAgentAreReplayed(t *testing.T) {
	long := strings.Repeat("x", 5000) // the log keeps its digest only
	short := []string{`{"notes":"one","gates":{},"policy":{"grounding":"off"}}`, `{"notes":null,"__proto__":{"a":[1.50,2E2]},"metrics":{"a":1e308,"b":-0.0}}`,
		`{"notes":{"two":2},"stage":{"last_progress_at":"2030-01-01T00:00:00Z","started_at":"2020-01-01T00:00:00Z"},"metrics":{"a":null}}`}
	for name, patches := range full.Some(map[string][]string{
		"all":   append(slices.Clone(short), `{"notes":"`+long+`"}`, `{"notes":"y`+long+`"}`, `{"notes":"short"}`, `{"more":"`+long+`"}`),
		"short": short,
	}, 1) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, n, k := t.TempDir(), 0, kinds[0]
			k.agent = func(task driver.Task) string {
				ctx := tidegate.WithActor(t.Context(), tidegate.Actor{Kind: tidegate.Agent})
				desk := run.Desk{Pinned: true, Now: func() time.Time { return time.Date(2026, 2, 14, 13, 0, 0, n, time.UTC) }}
				_, err := stage.ManifestWrite(ctx, desk, stage.ManifestWriteInput{ManifestPath: filepath.Join(dir, k.name, run.ManifestFile),
					Patch: runs.Parse(t, []byte(patches[n%len(patches)])), Reason: "note"})
				if err != nil {
					t.Error(err)
				}
				_, err = step.GatesWrite(ctx, desk, step.GatesWriteInput{GatesPath: filepath.Join(dir, k.name, "gates.json"), InputsDigest: "sha256:x", Reason: "note",
					Update: codec.Of(tidegate.Pairs("F", tidegate.Pairs("status", "fail", "checked_at", "2026-02-14T12:00:00Z", "notes", patches[n%len(patches)])))})
				if err != nil {
					t.Error(err)
				}
				n++
				return kinds[0].agent(task)
			}
			result, err := replay.Run(t.Context(), open(t, drive(t, dir, k)), "")
			if err != nil || !result.Pass {
				t.Errorf("%s %v", differences(result), err)
			}
			if name == "all" != (len(result.Left) > 0) {
				t.Errorf("not compared: %q", result.Left)
			}
			if n < len(patches) {
				t.Errorf("%d of %d notes were written", n, len(patches))
			}
		})
	}
}
