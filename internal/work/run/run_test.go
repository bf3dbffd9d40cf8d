package run_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/test/runs"
	"github.com/tidegate/tidegate/internal/work/run"
)

func TestUpdateWritesFilesAndAuditLineTogether(t *testing.T) {
	out := runs.Create(t, run.InitInput{})
	r := runs.Open(t, out.ManifestPath)
	before := must.Read(t, filepath.Join(out.Root, run.LogFile))

	_, err := r.Update(t.Context(), func(u *run.Update) error {
		u.Log(run.EventProgress, "toy", tidegate.Pairs("reason", "none"))
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
	if diff := cmp.Diff(before, must.Read(t, filepath.Join(out.Root, run.LogFile))); diff != "" {
		t.Errorf("a failed update logged:\n%s", diff)
	}

	audit, err := r.Update(t.Context(), func(u *run.Update) error {
		u.Log(run.EventProgress, "toy", tidegate.Pairs("reason", "some"))
		return u.WriteJSON("deep/er/file.json", tidegate.Pairs("a", 1))
	})
	if err != nil || !audit.Written {
		t.Fatalf("got %+v, %v", audit, err)
	}
	if got := must.Read(t, filepath.Join(out.Root, "deep/er/file.json")); got != "{\n  \"a\": 1\n}\n" {
		t.Errorf("got %q", got)
	}
}
