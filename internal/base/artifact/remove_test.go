package artifact_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/artifact"
)

func TestRemoveFolder(t *testing.T) {
	home := t.TempDir()
	for _, name := range []string{"one/a/b.txt", "one/c.txt", "two/d.txt", "file", ".tidegate.removed-BEFORE/e.txt"} {
		path := filepath.Join(home, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("12345"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("two", filepath.Join(home, "link")); err != nil {
		t.Skip(err)
	}
	folder, err := artifact.Everywhere.Open("home", home)
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	one, err := folder.Folder("one")
	if err != nil {
		t.Fatal(err)
	}
	files, bytes, err := one.Size()
	one.Close()
	if files != 2 || bytes != 10 || err != nil {
		t.Errorf("one has %d files of %d bytes, %v", files, bytes, err)
	}
	for name, want := range map[string]tidegate.Code{
		"one": "", "link": tidegate.PathNotAllowed, "file": tidegate.WriteFailed, "none": tidegate.FileNotFound, "../x": tidegate.PathNotAllowed,
	} {
		if got := tidegate.CodeOf(folder.RemoveFolder(name)); got != want {
			t.Errorf("removing %s: %q, want %q", name, got, want)
		}
	}
	entries, err := os.ReadDir(home)
	if err != nil || len(entries) != 3 {
		t.Errorf("what is left: %v, %v", entries, err)
	}
	if _, err := os.Stat(filepath.Join(home, "two", "d.txt")); err != nil {
		t.Error(err)
	}
}
