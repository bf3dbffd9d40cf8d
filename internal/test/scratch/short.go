package scratch

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/tidegate/tidegate/internal/test/must"
)

// Short is a folder that does not exist yet, with a path that is short enough not to
// be cut in messages.
func Short(t testing.TB) string {
	t.Helper()
	parent := must.Get(os.MkdirTemp("", "tg"))(t)
	t.Cleanup(func() { os.RemoveAll(parent) })
	return filepath.Join(parent, "work")
}
