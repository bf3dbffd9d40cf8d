package sandbox

import (
	"os"
	"path/filepath"
	"strings"
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

// TestNoPrivateKeyIsCommon: keys of the machine's servers lie beside the certificates that
// every program needs, and root, or a group of the person's, may read them.
func TestNoPrivateKeyIsCommon(t *testing.T) {
	for _, key := range []string{"/etc/ssl/private/server.key", "/etc/pki/tls/private/server.key", "/etc/pki/nssdb/key4.db", "/etc/pki/CA/private/ca.key", "/etc/letsencrypt/live/a/privkey.pem", "/etc/ssh/ssh_host_key"} {
		for _, path := range common()["read"] {
			if strings.HasPrefix(key, path+"/") {
				t.Errorf("every agent may read %s, and so %s", path, key)
			}
		}
	}
}
