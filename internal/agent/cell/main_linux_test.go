package cell_test

import (
	"os"
	"runtime"
	"testing"

	_ "github.com/tidegate/tidegate/internal/test/scratch"
)

func init() {
	if os.Getenv("TRY") != "" {
		// What a process is given at its start belongs to its first thread, which runs this.
		runtime.LockOSThread()
	}
}

// What runs in a cell is this test binary, told by TRY what to try.
func TestMain(m *testing.M) {
	if what := os.Getenv("TRY"); what != "" {
		try(what)
		return
	}
	os.Exit(m.Run())
}
