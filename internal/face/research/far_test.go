package research

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidegate/tidegate/catalog"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/work/run"
)

// TestFarHomeIsResumedWhereItWas: the command names the program, the server and the queue.
func TestFarHomeIsResumedWhereItWas(t *testing.T) {
	far := &Far{Program: "far-program", Flags: func() string { return " --address HOST:1 --queue q" }}
	n := nextFor{far: far, name: "harbour", again: " --agent exec:x"}
	if got := n.step("run continue", n.again, "").Command; got != "far-program run continue harbour --agent exec:x --address HOST:1 --queue q" {
		t.Error(got)
	}
	if got := n.step("report", "", "").Command; got != "tidegate report harbour" {
		t.Error(got)
	}
	for _, hint := range (moment{far: far, name: "harbour", status: run.Running}).hints() {
		if strings.Contains(hint.Command, "run continue") && !strings.HasPrefix(hint.Command, "far-program ") {
			t.Error(hint.Command)
		}
	}
}

// TestCopyOfARunHasItsOwnTasks: a home that is started again in the same folder joins its
// tasks, by whatever path it was named, and one in a copy of the folder does not.
func TestCopyOfARunHasItsOwnTasks(t *testing.T) {
	e := &Env{Env: &catalog.Env{ConfigDir: filepath.Join(t.TempDir(), "config")}}
	dir := t.TempDir()
	original, link, copied := filepath.Join(dir, "original"), filepath.Join(dir, "link"), filepath.Join(dir, "copy")
	if err := os.Mkdir(original, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(original, "manifest.json"), []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(copied, os.DirFS(original)); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(original, link); err != nil {
		t.Skip(err)
	}
	idOf := func(path string) string {
		t.Helper()
		folder, err := artifact.Everywhere.Open("run", path)
		if err != nil {
			t.Fatal(err)
		}
		defer folder.Close()
		id, err := e.copies()(folder)
		if err != nil || id == "" {
			t.Fatalf("%q, %v", id, err)
		}
		return id
	}
	if e.copies() != nil {
		t.Error("a home on one machine keeps ids that it does not need")
	}
	e.Far = &Far{}
	first := idOf(original)
	if again := idOf(original); again != first {
		t.Errorf("the same folder is %s, then %s", first, again)
	}
	if linked := idOf(link); linked != first {
		t.Errorf("the same folder is %s, and by a link %s", first, linked)
	}
	if other := idOf(copied); other == first {
		t.Error("the copy is taken for the original")
	}
	// What comes later to the same place is another folder.
	if err := os.Rename(original, filepath.Join(dir, "moved")); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(copied, original); err != nil {
		t.Fatal(err)
	}
	if later := idOf(original); later == first {
		t.Error("a copy in the place of the original is taken for it")
	}
}
