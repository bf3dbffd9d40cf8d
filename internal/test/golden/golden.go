// Package golden compares what a test got with a file of its package's testdata, and
// rewrites the file where the test is run with -update.
package golden

import (
	"bytes"
	"flag"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tidegate/tidegate/internal/test/must"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// Check fails the test where the file has other bytes than it got.
func Check(t testing.TB, file string, got []byte) {
	t.Helper()
	if *update {
		must.Do(t, os.WriteFile(file, got, 0o644))
		return
	}
	want := must.Get(os.ReadFile(file))(t)
	if !bytes.Equal(got, want) {
		t.Errorf("%s (-want +got):\n%s", file, cmp.Diff(string(want), string(got)))
	}
}
