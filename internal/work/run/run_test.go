package run_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
	_ "github.com/tidegate/tidegate/internal/test/scratch"
	"github.com/tidegate/tidegate/internal/work/run"
)

// pinned is a clock that stands still.
var pinned = run.Clock{Pinned: true, Now: func() time.Time { return time.Date(2026, 2, 14, 12, 0, 0, 0, time.UTC) }}

func create(t *testing.T, in run.InitInput) run.InitResult {
	t.Helper()
	if in.Query == "" {
		in.Query = "What moves the tide?"
	}
	if in.RunID == "" {
		in.RunID = "r1"
	}
	out, err := run.Create(t.Context(), pinned, t.TempDir(), in)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func open(t *testing.T, manifestPath string) *run.Run {
	t.Helper()
	r, err := run.Open(t.Context(), manifestPath)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

func parse(t *testing.T, text string) *codec.Value {
	t.Helper()
	v, err := codec.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func wantCode(t *testing.T, err error, code tidegate.Code) *tidegate.Error {
	t.Helper()
	if tidegate.CodeOf(err) != code {
		t.Fatalf("got %v, want %s", err, code)
	}
	return tidegate.AsError(err)
}

func TestUpdateWritesFilesAndAuditLineTogether(t *testing.T) {
	out := create(t, run.InitInput{})
	r := open(t, out.ManifestPath)
	before := read(t, filepath.Join(out.Root, run.AuditFile))

	_, err := r.Update(t.Context(), pinned, func(u *run.Update) error {
		u.Log(run.EventPatched, "toy", tidegate.D("reason", "none"))
		if err := u.Write("deep/er/file.txt", []byte("x")); err != nil {
			return err
		}
		return context.Canceled
	})
	if err != context.Canceled {
		t.Fatalf("got %v", err)
	}
	if _, err := os.Stat(filepath.Join(out.Root, "deep")); !os.IsNotExist(err) {
		t.Errorf("a failed update left a folder: %v", err)
	}
	if diff := cmp.Diff(before, read(t, filepath.Join(out.Root, run.AuditFile))); diff != "" {
		t.Errorf("a failed update logged:\n%s", diff)
	}

	audit, err := r.Update(t.Context(), pinned, func(u *run.Update) error {
		u.Log(run.EventPatched, "toy", tidegate.D("reason", "some"))
		return u.WriteJSON("deep/er/file.json", tidegate.D("a", 1))
	})
	if err != nil || !audit.Written {
		t.Fatalf("got %+v, %v", audit, err)
	}
	if got := read(t, filepath.Join(out.Root, "deep/er/file.json")); got != "{\n  \"a\": 1\n}\n" {
		t.Errorf("got %q", got)
	}
}

// put writes a file of a run behind its back.
func put(t *testing.T, root, name, content string) {
	t.Helper()
	path := filepath.Join(root, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}
