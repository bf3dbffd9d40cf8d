package step_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/test/runs"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/step"
)

// FuzzGates hands any bytes to the readers of gates.json and any update to its
// writer. What is refused stays as it was; what is written is a gates document
// of the next revision.
func FuzzGates(f *testing.F) {
	made, err := run.Create(f.Context(), runs.Pinned, f.TempDir(), run.InitInput{Query: "What moves the tide?", RunID: "r1"})
	if err != nil {
		f.Fatal(err)
	}
	manifest, err := os.ReadFile(made.ManifestPath)
	if err != nil {
		f.Fatal(err)
	}
	gates, err := os.ReadFile(made.GatesPath)
	if err != nil {
		f.Fatal(err)
	}
	for _, update := range []string{
		`{"B":{"status":"pass","checked_at":"2026-02-14T12:00:00Z","metrics":{"n":1},"warnings":["w"],"notes":"fine"}}`,
		`{"A":{"status":"pass","checked_at":"2026-02-14","artifacts":["manifest.json","wave-1","../x","/etc"]}}`,
		`{"B":{"status":"not_run"},"E":{"status":"warn","checked_at":"2026-02-14T12:00:00Z"}}`,
		`{"F":{"status":"fail","checked_at":"2026-02-14T12:00:00Z","metrics":{"bound":{"digest":"sha256:x","files":{"a":null}}}}}`,
		`{"Z":{}}`,
	} {
		f.Add(gates, []byte(update))
	}
	f.Add([]byte(`{"schema_version":"gates.v1","run_id":"r1","revision":1e300,"gates":{"A":[]}}`), []byte(`{"A":{"notes":""}}`))
	f.Fuzz(func(t *testing.T, document, update []byte) {
		root := t.TempDir()
		manifestPath, gatesPath := filepath.Join(root, "manifest.json"), filepath.Join(root, "gates.json")
		// The manifest names the folder that it was made in.
		own := bytes.ReplaceAll(manifest, []byte(made.Root), []byte(root))
		for path, data := range map[string][]byte{manifestPath: own, gatesPath: document} {
			if err := os.WriteFile(path, data, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		notInternal := func(err error) {
			t.Helper()
			if tidegate.CodeOf(err) == tidegate.Internal {
				t.Fatal(err)
			}
		}
		if _, err := run.Verify(t.Context(), runClock, run.VerifyInput{ManifestPath: manifestPath}); err != nil {
			notInternal(err)
		}
		before, readErr := runs.Open(t, manifestPath).Gates()
		notInternal(readErr)
		patch, err := codec.Parse(update)
		if err != nil {
			return
		}
		result, err := step.GatesWrite(t.Context(), runs.Pinned, step.GatesWriteInput{GatesPath: gatesPath, Update: patch, InputsDigest: "d", Reason: "test"})
		if err != nil {
			notInternal(err)
			if now := runs.Read(t, gatesPath); now != string(document) {
				t.Fatalf("refused with %v, yet the file is now\n%s", err, now)
			}
			return
		}
		after, err := codec.Parse([]byte(runs.Read(t, gatesPath)))
		if err == nil {
			err = run.CheckGates(after)
		}
		if err != nil {
			t.Fatalf("what was written is no gates document: %v", err)
		}
		if revision, _ := after.Get("revision").Int(); revision != result.NewRevision || readErr == nil && revision != before.Revision()+1 {
			t.Fatalf("revision %d follows %d, told %d", revision, before.Revision(), result.NewRevision)
		}
	})
}
