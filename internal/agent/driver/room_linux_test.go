package driver

import (
	"os"
	"path/filepath"
	"testing"
)

// TestACellHoldsNoRelativePath has a script name its interpreter from where it is started:
// whoever makes the cell is somewhere else, and would give the program that folder.
func TestACellHoldsNoRelativePath(t *testing.T) {
	script := filepath.Join(t.TempDir(), "agent")
	if err := os.WriteFile(script, []byte("#!.\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	host := Host{Temp: t.TempDir()}.filled()
	f, err := makeFolder(host.Temp, "")
	if err != nil {
		t.Fatal(err)
	}
	defer f.remove()
	policy, err := host.cell(f, tenant{path: script, Access: Access{Network: "none"}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range policy.Read {
		if !filepath.IsAbs(path) {
			t.Errorf("it may read %q", path)
		}
	}
}
