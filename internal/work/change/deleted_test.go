package change

import (
	"slices"
	"testing"

	"github.com/tidegate/tidegate/internal/work/git"
)

// TestTheTaskNamesWhatMayGo: a path, a name with an extension and a folder that is written
// as one name a file; a word of a sentence does not.
func TestTheTaskNamesWhatMayGo(t *testing.T) {
	task := []git.Document{{Text: "Delete `a/old.go`, ./b/two.go, three.go. Empty docs/ and lib/legacy; keep tests and the vendor folder."}}
	files := []string{"a/old.go", "b/two.go", "c/three.go", "docs/x/y.md", "lib/legacy/z.c", "lib/z.c", "tests/a.go", "b/old.go.bak", "x/keep", "a/one.go"}
	want := []string{"lib/z.c", "tests/a.go", "b/old.go.bak", "x/keep", "a/one.go"}
	if got := UnnamedIn(task, files); !slices.Equal(got, want) {
		t.Errorf("not named: %q, want %q", got, want)
	}
}
