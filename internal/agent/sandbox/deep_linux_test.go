package sandbox

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidegate/tidegate/internal/test/full"
	"github.com/tidegate/tidegate/internal/test/must"
	"golang.org/x/sys/unix"
)

// TestAFolderDeeperThanFilesCanBeOpen removes folder in folder, as an agent can leave
// them, the last without the right to look into it.
func TestAFolderDeeperThanFilesCanBeOpen(t *testing.T) {
	t.Parallel()
	top := filepath.Join(t.TempDir(), "top")
	must.Do(t, os.Mkdir(top, 0o700))
	at, err := unix.Open(top, unix.O_DIRECTORY|unix.O_RDONLY|unix.O_CLOEXEC, 0)
	levels := 1000
	if full.Asked() {
		levels = 30_000 // more than most systems let a program open
	}
	for range levels {
		if err == nil {
			err = unix.Mkdirat(at, "d", 0o700)
		}
		if err != nil {
			t.Fatal(err)
		}
		var next int
		next, err = unix.Openat(at, "d", unix.O_DIRECTORY|unix.O_RDONLY|unix.O_CLOEXEC, 0)
		unix.Close(at)
		at = next
	}
	unix.Fchmod(at, 0)
	unix.Close(at)
	root := must.Get(os.OpenRoot(top))(t)
	flatten(root)
	if err := fs.WalkDir(root.FS(), ".", func(path string, _ fs.DirEntry, err error) error {
		if n := strings.Count(path, "/"); n > deepest+1 {
			t.Fatalf("one lies in %d others", n)
		}
		return err
	}); err != nil {
		t.Error(err)
	}
	root.Close()
	must.Do(t, removeTree(top))
	if _, err := os.Lstat(top); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("it is still there: %v", err)
	}
}
