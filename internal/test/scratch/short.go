package scratch

import (
	"os"
	"path/filepath"
	"testing"
)

// Short is a folder that does not exist yet, with a path that is short enough not to
// be cut in messages.
func Short(t testing.TB) string {
	t.Helper()
	parent, err := os.MkdirTemp("", "tg")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(parent) })
	return filepath.Join(parent, "work")
}
