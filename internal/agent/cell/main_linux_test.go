package cell_test

import (
	"os"
	"testing"

	_ "github.com/tidegate/tidegate/internal/test/scratch"
)

// What runs in a cell is this test binary, told by TRY what to try.
func TestMain(m *testing.M) {
	if what := os.Getenv("TRY"); what != "" {
		try(what)
		return
	}
	os.Exit(m.Run())
}
