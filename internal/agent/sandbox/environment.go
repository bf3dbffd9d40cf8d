package sandbox

import (
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/tidegate/tidegate/internal/agent/driver"
)

// passed lists the variables that every agent gets from the person's
// environment. A name that ends in * stands for all that begin with it.
var passed = []string{
	"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "LC_*", "TZ", "TERM",
	"XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR",
	"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "all_proxy", "no_proxy",
	"SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS",
	// What a program on Windows cannot do without.
	"SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC", "PATHEXT", "USERPROFILE", "USERNAME", "HOMEDRIVE", "HOMEPATH",
	"APPDATA", "LOCALAPPDATA", "PROGRAMDATA", "PROGRAMFILES", "PROGRAMFILES(X86)",
}

// never lists what no agent gets, even where it is named: with these an agent could
// sign a person's decisions.
var never = []string{"SSH_AUTH_SOCK", "SSH_ASKPASS", "SSH_ASKPASS_REQUIRE", "TIDEGATE_SIGN_KEY"}

// environment is what an agent gets of environ: what every agent gets, what
// named adds, and then the variables of own, which win; one without a value is taken
// away.
func environment(environ, named, own []string) []string {
	var env []string
	replaced := map[string]bool{}
	for _, variable := range own {
		name, _, _ := strings.Cut(variable, "=")
		replaced[name] = true
	}
	for _, variable := range environ {
		name, _, _ := strings.Cut(variable, "=")
		if !replaced[name] && (allows(passed, name) || allows(named, name)) {
			env = append(env, variable)
		}
	}
	env = append(env, own...)
	return slices.DeleteFunc(env, func(variable string) bool {
		name, value, _ := strings.Cut(variable, "=")
		return allows(never, name) || replaced[name] && value == ""
	})
}

func allows(list []string, name string) bool {
	if runtime.GOOS == "windows" {
		name = strings.ToUpper(name)
	}
	return name != "" && slices.ContainsFunc(list, func(allowed string) bool {
		prefix, open := strings.CutSuffix(allowed, "*")
		return name == allowed || open && strings.HasPrefix(name, prefix)
	})
}

// Find is the path of a program: as it was named where that is a path, otherwise
// the first in the PATH of environ.
func Find(environ []string, program string) (string, error) {
	if strings.ContainsAny(program, `/\`) {
		path, err := exec.LookPath(program)
		if err != nil {
			return "", err
		}
		return filepath.Abs(path)
	}
	for _, folder := range filepath.SplitList(driver.Variable(environ, "PATH")) {
		if !filepath.IsAbs(folder) {
			continue // a program is never taken from the folder that somebody happens to be in
		}
		if path, err := exec.LookPath(filepath.Join(folder, program)); err == nil {
			return path, nil
		}
	}
	return "", exec.ErrNotFound
}
