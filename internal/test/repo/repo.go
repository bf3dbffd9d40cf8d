// Package repo makes git repositories for tests.
package repo

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/test/scratch"
)

// New is a git repository with a commit, a file that is not tracked, and
// one that is ignored.
func New(t *testing.T) string {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git here")
	}
	t.Setenv("HOME", t.TempDir())
	t.Setenv("XDG_CONFIG_HOME", "")
	madeOnce.Do(func() {
		dir := t.TempDir()
		Run(t, dir, "git", "init", "-q")
		for name, text := range map[string]string{
			"main.go": "package main\n", "lib/lib.go": "package lib\n", "run.sh": "#!/bin/sh\n", ".gitignore": "*.out\n/build/\n",
			"kept.out": "tracked all the same\n", "agentd/project.md": "p\n", "agentd/changes/c/proposal.md": "p\n",
		} {
			Write(t, dir, name, text)
		}
		Commit(t, dir)
		var err error
		madeOnce.files, err = scratch.Files(dir)
		must.Do(t, err)
	})
	dir := t.TempDir()
	must.Do(t, os.CopyFS(dir, madeOnce.files))
	Write(t, dir, "new.go", "package main\n")
	Write(t, dir, "prog.out", "binary\n")
	return dir
}

// madeOnce is the repository as git made it, once for all tests.
var madeOnce struct {
	sync.Once
	files fs.FS
}

// Run runs a command in dir, as an author of commits.
func Run(t *testing.T, dir string, command ...string) {
	t.Helper()
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_AUTHOR_NAME=n", "GIT_AUTHOR_EMAIL=e@example.org", "GIT_COMMITTER_NAME=n", "GIT_COMMITTER_EMAIL=e@example.org")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%q: %v\n%s", command, err, out)
	}
}

// Commit commits every file of dir.
func Commit(t *testing.T, dir string) {
	t.Helper()
	Run(t, dir, "git", "add", "-A", "-f", ".")
	Run(t, dir, "git", "commit", "-q", "--allow-empty", "-m", "m")
}

// Write writes a file of dir with the modes that programs commonly give.
func Write(t *testing.T, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, filepath.FromSlash(name))
	must.Do(t, os.MkdirAll(filepath.Dir(path), 0o755))
	must.Do(t, os.WriteFile(path, []byte(text), 0o644))
}

// WriteAll writes files of dir.
func WriteAll(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		Write(t, dir, name, text)
	}
}
