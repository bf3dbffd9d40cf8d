package sandbox

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/tidegate/tidegate/internal/agent/driver"
	"github.com/tidegate/tidegate/internal/test/must"
)

// TestACellHoldsNoRelativePath has a script name its interpreter from where it is started:
// whoever makes the cell is somewhere else, and would give the program that folder.
func TestACellHoldsNoRelativePath(t *testing.T) {
	script := filepath.Join(t.TempDir(), "agent")
	must.Do(t, os.WriteFile(script, []byte("#!.\n"), 0o700))
	machine := On(driver.Host{Temp: t.TempDir()}, nil)
	f := must.Get(makeFolder(machine.Temp, ""))(t)
	defer f.remove()
	policy := must.Get(machine.Policy(f, Program{Path: script, Access: driver.Access{Network: "none"}}, nil))(t)
	for _, path := range policy.Read {
		if !filepath.IsAbs(path) {
			t.Errorf("it may read %q", path)
		}
	}
}
