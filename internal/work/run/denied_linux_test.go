package run_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/test/runs"
	"github.com/tidegate/tidegate/internal/work/run"
)

// TestTheHomeOfAnotherUserIsNamedAsSuch has a home that the caller may not look
// into: that is neither a run that is missing nor a run that stands in the way.
func TestTheHomeOfAnotherUserIsNamedAsSuch(t *testing.T) {
	above, elsewhere := t.TempDir(), t.TempDir()
	home := filepath.Join(above, "home")
	must.Do(t, os.Chmod(above, 0o755))
	must.Get(run.Create(t.Context(), runs.Pinned, home, run.InitInput{Query: "tides", Mode: "standard", Sensitivity: "normal", RunID: "tides"}))(t)
	if os.Geteuid() == 0 {
		runtime.LockOSThread() // the thread ends with the test
		must.Do(t, syscall.Setfsuid(65534))
		t.Cleanup(func() { syscall.Setfsuid(0) })
	} else if err := os.Chmod(home, 0); err != nil {
		t.Fatal(err)
	} else {
		t.Cleanup(func() { os.Chmod(home, 0o700) })
	}
	for _, name := range []string{"tides", filepath.Join(home, "tides"), filepath.Join(home, "tides", run.ManifestFile)} {
		_, err := run.Find(runs.Pinned, home, elsewhere, name)
		if tidegate.CodeOf(err) != tidegate.ReadFailed || !strings.Contains(err.Error(), "permission denied") {
			t.Errorf("%s: %v, want READ_FAILED, permission denied", name, err)
		}
	}
	_, err := run.Create(t.Context(), runs.Pinned, home, run.InitInput{Query: "tides", Mode: "standard", Sensitivity: "normal", RunID: "other"})
	if tidegate.CodeOf(err) != tidegate.WriteFailed || !strings.Contains(err.Error(), "permission denied") {
		t.Errorf("a run there: %v, want WRITE_FAILED, permission denied", err)
	}
}
