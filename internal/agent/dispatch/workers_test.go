package dispatch

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/test/must"
)

// TestAHomeWithWorkersIsResumedWhereItWas: the command names the program, the server and the queue.
func TestAHomeWithWorkersIsResumedWhereItWas(t *testing.T) {
	workers := &Workers{Program: "far-program", Flags: func() string { return " --address HOST:1 --queue q" }}
	n := Commands{Workers: workers, Name: "harbour", Again: " --agent exec:x"}
	if got := n.Type("run continue", n.Again, "").Command; got != "far-program run continue harbour --agent exec:x --address HOST:1 --queue q" {
		t.Error(got)
	}
	if got := n.Type("report", "", "").Command; got != "tidegate report harbour" {
		t.Error(got)
	}
}

// TestCopyOfARunHasItsOwnTasks: a home that is started again in the same folder joins its
// tasks, by whatever path it was named, and one in a copy of the folder does not.
func TestCopyOfARunHasItsOwnTasks(t *testing.T) {
	e := &Env{ConfigDir: filepath.Join(t.TempDir(), "config")}
	dir := t.TempDir()
	original, link, copied := filepath.Join(dir, "original"), filepath.Join(dir, "link"), filepath.Join(dir, "copy")
	must.Do(t, os.Mkdir(original, 0o700))
	must.Do(t, os.WriteFile(filepath.Join(original, "manifest.json"), []byte("{}"), 0o600))
	must.Do(t, os.CopyFS(copied, os.DirFS(original)))
	if err := os.Symlink(original, link); err != nil {
		t.Skip(err)
	}
	idOf := func(path string) string {
		t.Helper()
		folder := must.Get(artifact.Everywhere.Open("run", path))(t)
		defer folder.Close()
		id, err := e.Copies()(folder)
		if err != nil || id == "" {
			t.Fatalf("%q, %v", id, err)
		}
		return id
	}
	if e.Copies() != nil {
		t.Error("a home on one machine keeps ids that it does not need")
	}
	e.Workers = &Workers{}
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
	must.Do(t, os.Rename(original, filepath.Join(dir, "moved")))
	must.Do(t, os.Rename(copied, original))
	if later := idOf(original); later == first {
		t.Error("a copy in the place of the original is taken for it")
	}
}
