//go:build unix

package git

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/test/repo"
)

// What is not a regular file, not small or not readable neither hangs nor leads
// out.
func TestHostileFiles(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "secret")
	for _, test := range []struct {
		name  string
		plant func(t *testing.T, dir string)
		known bool
		hangs bool // git does, until it is stopped
	}{
		{"a FIFO in place of a file", func(t *testing.T, dir string) {
			must.Do(t, os.Remove(filepath.Join(dir, "main.go")))
			must.Do(t, syscall.Mkfifo(filepath.Join(dir, "main.go"), 0o600))
		}, true, false},
		{"a FIFO in place of what is ignored", func(t *testing.T, dir string) {
			must.Do(t, os.Remove(filepath.Join(dir, ".gitignore")))
			must.Do(t, syscall.Mkfifo(filepath.Join(dir, ".gitignore"), 0o600))
		}, false, true},
		{"a FIFO in the configuration", func(t *testing.T, dir string) {
			must.Do(t, syscall.Mkfifo(filepath.Join(dir, ".git", "more"), 0o600))
			repo.Run(t, dir, "git", "config", "--file", filepath.Join(dir, ".git", "config"), "include.path", "more")
		}, false, true},
		{"a file without end", func(t *testing.T, dir string) {
			must.Do(t, os.Truncate(filepath.Join(dir, "new.go"), 1<<40))
		}, false, false},
		{"a name that is not UTF-8", func(t *testing.T, dir string) { repo.Write(t, dir, "\xff", "x") }, false, false},
		{"a name of many folders", func(t *testing.T, dir string) { repo.Write(t, dir, strings.Repeat("folder/", 200)+"x", "x") }, false, false},
		{"a name of a lock", func(t *testing.T, dir string) { repo.Write(t, dir, ".tidegate.lock", "x") }, false, false},
		{"a link that leads out", func(t *testing.T, dir string) { must.Do(t, os.Symlink(outside, filepath.Join(dir, "link"))) }, true, false},
		{"a link to itself", func(t *testing.T, dir string) { must.Do(t, os.Symlink("link", filepath.Join(dir, "link"))) }, true, false},
		{"a folder that leads out", func(t *testing.T, dir string) {
			must.Do(t, os.RemoveAll(filepath.Join(dir, "lib")))
			must.Do(t, os.Symlink(filepath.Dir(outside), filepath.Join(dir, "lib")))
		}, true, false},
		{"a work tree that is elsewhere", func(t *testing.T, dir string) {
			repo.Run(t, dir, "git", "config", "core.worktree", t.TempDir())
		}, false, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			if test.hangs {
				defer func(limit time.Duration) { gitLimit = limit }(gitLimit)
				gitLimit = 100 * time.Millisecond
			}
			must.Do(t, os.WriteFile(outside, []byte("secret"), 0o600))
			dir := repo.New(t)
			test.plant(t, dir)
			got := treeIn(t, dir)
			if (got.Digest != "") != test.known || (got.Problem == "") != test.known {
				t.Fatalf("got %+v, want it known: %v", got, test.known)
			}
			// What lies outside does not belong to the tree.
			must.Do(t, os.WriteFile(outside, []byte("other"), 0o600))
			if !test.known {
				return
			}
			if again := treeIn(t, dir); again != got {
				t.Errorf("got %+v, and then %+v", got, again)
			}
		})
	}
}

// The caller's environment does not lead git to another repository.
func TestTheEnvironmentDoesNotLeadElsewhere(t *testing.T) {
	dir, other := repo.New(t), repo.New(t)
	want := treeIn(t, dir)
	for name, value := range map[string]string{
		"GIT_DIR": filepath.Join(other, ".git"), "GIT_WORK_TREE": other, "GIT_INDEX_FILE": filepath.Join(other, ".git", "index"),
		"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "core.excludesFile", "GIT_CONFIG_VALUE_0": filepath.Join(dir, "new.go"),
		"GIT_EXTERNAL_DIFF": "false", "GIT_CEILING_DIRECTORIES": filepath.Dir(dir), "GIT_LITERAL_PATHSPECS": "0",
	} {
		t.Setenv(name, value)
	}
	if got := treeIn(t, dir); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// TestNoProgramOfAProjectIsTakenForGit: a search path that names the present folder, and variables
// by which git starts programs or writes files, are those of a hostile environment.
func TestNoProgramOfAProjectIsTakenForGit(t *testing.T) {
	dir := repo.New(t)
	want := treeIn(t, dir)
	marker := filepath.Join(t.TempDir(), "ran")
	for _, name := range []string{"git", "git-ls-files", "editor"} {
		must.Do(t, os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\necho >> '"+marker+"'\n"), 0o700))
	}
	repo.Write(t, dir, ".git/info/exclude", "git\ngit-*\neditor\n")
	t.Chdir(dir)
	for _, program := range []string{"GIT_EXTERNAL_DIFF", "GIT_SSH_COMMAND", "GIT_EDITOR", "GIT_PAGER", "GIT_ASKPASS", "GIT_PROXY_COMMAND"} {
		t.Setenv(program, filepath.Join(dir, "editor"))
	}
	for _, file := range []string{"GIT_TRACE", "GIT_TRACE2", "GIT_TRACE_PACKET", "GIT_TRACE_SETUP", "GIT_REDIRECT_STDOUT"} {
		t.Setenv(file, marker)
	}
	t.Setenv("GIT_EXEC_PATH", dir)
	t.Setenv("GIT_CONFIG_PARAMETERS", "'core.fsmonitor="+filepath.Join(dir, "editor")+"'")
	if got := treeIn(t, dir); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	path := os.Getenv("PATH")
	for _, first := range []string{".", "", "./"} {
		t.Setenv("PATH", first+string(filepath.ListSeparator)+path)
		if got := treeIn(t, dir); got != want && got.Problem == "" {
			t.Errorf("%q first: %+v", first, got)
		}
	}
	if _, err := os.Stat(marker); err == nil {
		t.Error("a program of the project ran, or git wrote where a variable says")
	}
}
