package run_test

import (
	"os"
	"testing"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/test/runs"
	"github.com/tidegate/tidegate/internal/work/run"
)

func TestARunThatIsDrivenIsNotDeleted(t *testing.T) {
	out := runs.Create(t, run.InitInput{Query: "Why do tides turn?"})
	r := runs.Open(t, out.ManifestPath)
	claim := must.Get(r.Folder().Claim(run.HomeFile, nil))(t)
	in := run.DeleteInput{ManifestPath: out.ManifestPath}
	if _, err := run.Delete(t.Context(), runs.Pinned, in); tidegate.CodeOf(err) != tidegate.LockHeld {
		t.Errorf("got %v, want LOCK_HELD", err)
	}
	must.Get(os.Stat(out.ManifestPath))(t)
	claim.Release()
	deleted, err := run.Delete(t.Context(), runs.Pinned, in)
	if err != nil || deleted.Files == 0 || deleted.Bytes == 0 {
		t.Errorf("%+v, %v", deleted, err)
	}
	if _, err := os.Stat(out.Root); !os.IsNotExist(err) {
		t.Errorf("the folder is still there: %v", err)
	}
}
