package change

import (
	"context"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tidegate/tidegate/internal/test/scratch"
	"github.com/tidegate/tidegate/internal/work/run"
)

var gitEpoch = time.Unix(1, 0)

// repository is a git repository with a commit, a file that is not tracked, and
// one that is ignored.
func repository(t *testing.T) string {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git here")
	}
	t.Setenv("HOME", t.TempDir())
	t.Setenv("XDG_CONFIG_HOME", "")
	madeOnce.Do(func() {
		dir := t.TempDir()
		command(t, dir, "git", "init", "-q")
		for name, text := range map[string]string{
			"main.go": "package main\n", "lib/lib.go": "package lib\n", "run.sh": "#!/bin/sh\n", ".gitignore": "*.out\n/build/\n",
			"kept.out": "tracked all the same\n", "agentd/project.md": "p\n", "agentd/changes/c/proposal.md": "p\n",
		} {
			put(t, dir, name, text)
		}
		commit(t, dir)
		var err error
		madeOnce.files, err = scratch.Files(dir)
		must(t, err)
	})
	dir := t.TempDir()
	must(t, os.CopyFS(dir, madeOnce.files))
	put(t, dir, "new.go", "package main\n")
	put(t, dir, "prog.out", "binary\n")
	return dir
}

// madeOnce is the repository as git made it, once for all tests.
var madeOnce struct {
	sync.Once
	files fs.FS
}

func command(t *testing.T, dir string, command ...string) {
	t.Helper()
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_AUTHOR_NAME=n", "GIT_AUTHOR_EMAIL=e@example.org", "GIT_COMMITTER_NAME=n", "GIT_COMMITTER_EMAIL=e@example.org")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%q: %v\n%s", command, err, out)
	}
}

func commit(t *testing.T, dir string) {
	t.Helper()
	command(t, dir, "git", "add", "-A", "-f", ".")
	command(t, dir, "git", "commit", "-q", "--allow-empty", "-m", "m")
}

func put(t *testing.T, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func treeIn(t *testing.T, dir string) tree {
	t.Helper()
	got, err := readTree(t.Context(), always, dir, "")
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestTheTreeIsWhatAReviewerSees(t *testing.T) {
	for _, test := range []struct {
		name string
		edit func(t *testing.T, dir string)
		same bool
	}{
		{"nothing", func(*testing.T, string) {}, true},
		{"another commit", func(t *testing.T, dir string) { command(t, dir, "git", "commit", "-q", "--allow-empty", "-m", "m") }, true},
		{"the new file is added", func(t *testing.T, dir string) { command(t, dir, "git", "add", "new.go") }, true},
		{"the new file is committed", func(t *testing.T, dir string) {
			command(t, dir, "git", "add", "new.go")
			command(t, dir, "git", "commit", "-q", "-m", "m")
		}, true},
		{"times", func(t *testing.T, dir string) {
			must(t, os.Chtimes(filepath.Join(dir, "main.go"), gitEpoch, gitEpoch))
		}, true},
		{"an ignored file", func(t *testing.T, dir string) { put(t, dir, "build/x", "x"); put(t, dir, "prog.out", "y") }, true},
		{"a change", func(t *testing.T, dir string) {
			put(t, dir, "agentd/changes/c/REVIEW.md", "x")
			put(t, dir, "agentd/changes/d/STATE.yaml", "x")
			put(t, dir, "agentd/changes/c/proposal.md", "q\n")
		}, true},
		{"an empty folder", func(t *testing.T, dir string) { must(t, os.Mkdir(filepath.Join(dir, "empty"), 0o755)) }, true},
		{"a tracked file", func(t *testing.T, dir string) { put(t, dir, "lib/lib.go", "package other\n") }, false},
		{"a tracked file, committed", func(t *testing.T, dir string) { put(t, dir, "lib/lib.go", "package other\n"); commit(t, dir) }, false},
		{"a tracked file that is ignored", func(t *testing.T, dir string) { put(t, dir, "kept.out", "x") }, false},
		{"a tracked file that git is told not to look at", func(t *testing.T, dir string) {
			command(t, dir, "git", "update-index", "--assume-unchanged", "main.go")
			put(t, dir, "main.go", "package other\n")
		}, false},
		{"a tracked file that is skipped", func(t *testing.T, dir string) {
			command(t, dir, "git", "update-index", "--skip-worktree", "main.go")
			put(t, dir, "main.go", "package other\n")
		}, false},
		{"a file that is tracked no more, and ignored", func(t *testing.T, dir string) {
			command(t, dir, "git", "rm", "-q", "--cached", "main.go")
			put(t, dir, ".git/info/exclude", "main.go\n")
		}, false},
		{"the new file", func(t *testing.T, dir string) { put(t, dir, "new.go", "package other\n") }, false},
		{"one more file", func(t *testing.T, dir string) { put(t, dir, "more.go", "package main\n") }, false},
		{"a file less", func(t *testing.T, dir string) { must(t, os.Remove(filepath.Join(dir, "main.go"))) }, false},
		{"another name", func(t *testing.T, dir string) {
			must(t, os.Rename(filepath.Join(dir, "main.go"), filepath.Join(dir, "program.go")))
		}, false},
		{"what is ignored", func(t *testing.T, dir string) { put(t, dir, ".gitignore", "*.out\n/build/\nevil.go\n") }, false},
		{"who may sign", func(t *testing.T, dir string) { put(t, dir, "agentd/allowed_signers", "x\n") }, false},
		{"a file that becomes a program", func(t *testing.T, dir string) {
			if runtime.GOOS == "windows" {
				t.Skip("no such mode here")
			}
			must(t, os.Chmod(filepath.Join(dir, "run.sh"), 0o755))
		}, false},
		{"a link in place of a file", func(t *testing.T, dir string) {
			must(t, os.Rename(filepath.Join(dir, "main.go"), filepath.Join(dir, "prog.out")))
			must(t, os.Symlink("prog.out", filepath.Join(dir, "main.go")))
		}, false},
		{"a link in place of a folder", func(t *testing.T, dir string) {
			must(t, os.Rename(filepath.Join(dir, "lib"), filepath.Join(dir, "build")))
			must(t, os.Symlink("build", filepath.Join(dir, "lib")))
		}, false},
		{"a repository in the repository", func(t *testing.T, dir string) {
			put(t, dir, "vendor/x.go", "x")
			command(t, filepath.Join(dir, "vendor"), "git", "init", "-q")
		}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := repository(t)
			before := treeIn(t, dir)
			if before.digest == "" || before.problem != "" || len(before.commit) < 40 {
				t.Fatalf("tree %+v", before)
			}
			test.edit(t, dir)
			if got := treeIn(t, dir); got.problem != "" || (got.digest == before.digest) != test.same || (got.differs(before) == "") != test.same {
				t.Errorf("before %+v, after %+v; want the same: %v", before, got, test.same)
			}
		})
	}
}

// A file that was removed, a folder that became a link: committing it changes
// nothing more.
func TestACommitDoesNotChangeTheTree(t *testing.T) {
	dir := repository(t)
	must(t, os.Remove(filepath.Join(dir, "prog.out")))
	must(t, os.Remove(filepath.Join(dir, "main.go")))
	must(t, os.Rename(filepath.Join(dir, "lib"), filepath.Join(dir, "moved")))
	must(t, os.Symlink("moved", filepath.Join(dir, "lib")))
	put(t, dir, "name\nwith \"lines\"\tand 漢字", "x")
	put(t, dir, "-n", "x")
	put(t, dir, "new.go", "package new\n")
	before := treeIn(t, dir)
	commit(t, dir)
	if after := treeIn(t, dir); before.problem != "" || after.differs(before) != "" || after.commit == before.commit {
		t.Errorf("before %+v, after %+v", before, after)
	}
	clone := filepath.Join(t.TempDir(), "elsewhere")
	command(t, dir, "git", "clone", "-q", dir, clone)
	if after := treeIn(t, clone); after.differs(before) != "" {
		t.Errorf("a clone has %+v, want %+v", after, before)
	}
}

func TestSubmodulesArePartOfTheTree(t *testing.T) {
	module, dir := repository(t), repository(t)
	command(t, dir, "git", "-c", "protocol.file.allow=always", "submodule", "add", "-q", module, "sub")
	before := treeIn(t, dir)
	command(t, dir, "git", "commit", "-q", "-m", "m")
	if got := treeIn(t, dir); got.problem != "" || got.differs(before) != "" {
		t.Errorf("committed: %+v, want %+v", got, before)
	}
	put(t, dir, "sub/main.go", "package other\n")
	if got := treeIn(t, dir); got.problem != "" || got.digest == before.digest {
		t.Errorf("a file of the submodule was changed: %+v", got)
	}
}

func TestWhereThereIsNoTree(t *testing.T) {
	if got := treeIn(t, t.TempDir()); got != (tree{}) {
		t.Errorf("outside a repository: %+v", got)
	}
	dir := repository(t)
	put(t, dir, "part/x.go", "package x\n")
	part, err := readTree(t.Context(), always, filepath.Join(dir, "part"), "")
	if err != nil || part.digest == "" {
		t.Fatalf("a part of a repository: %+v, error %v", part, err)
	}
	put(t, dir, "main.go", "package other\n")
	if again, err := readTree(t.Context(), always, filepath.Join(dir, "part"), ""); err != nil || again.differs(part) != "" {
		t.Errorf("a part of a repository is about its own files: %+v, error %v", again, err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := readTree(ended, always, dir, ""); err == nil {
		t.Error("a call that has ended reads a tree")
	}

	for name, spoil := range map[string]func(t *testing.T, dir string){
		"the index is spoilt": func(t *testing.T, dir string) { put(t, dir, ".git/index", "no index") },
		"the repository is elsewhere": func(t *testing.T, dir string) {
			must(t, os.RemoveAll(filepath.Join(dir, ".git")))
			put(t, dir, ".git", "gitdir: /nowhere\n")
		},
		"the repository is empty": func(t *testing.T, dir string) {
			must(t, os.RemoveAll(filepath.Join(dir, ".git")))
			must(t, os.Mkdir(filepath.Join(dir, ".git"), 0o755))
		},
		"there is no git": func(t *testing.T, dir string) { t.Setenv("PATH", t.TempDir()) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := repository(t)
			reviewed := treeIn(t, dir)
			spoil(t, dir)
			if got := treeIn(t, dir); got.problem == "" || got.digest != "" || !strings.Contains(got.differs(reviewed), "the tree is not known") {
				t.Errorf("got %+v", got)
			}
		})
	}
	if why := (tree{}).differs(treeIn(t, dir)); why == "" {
		t.Error("a repository that is gone counts as the same")
	}
}

func TestTheWorktreeThatTheStateNames(t *testing.T) {
	dir := repository(t)
	command(t, dir, "git", "worktree", "add", "-q", filepath.Join(dir, "build", "work"))
	work, err := readTree(t.Context(), always, dir, "build/work")
	if err != nil || work.digest == "" {
		t.Fatalf("worktree %+v, error %v", work, err)
	}
	absolute, err := readTree(t.Context(), always, dir, filepath.Join(dir, "build", "work"))
	if err != nil || absolute.digest != work.digest {
		t.Errorf("by its absolute path: %+v, error %v", absolute, err)
	}
	put(t, dir, "main.go", "package other\n")
	if got, err := readTree(t.Context(), always, dir, "build/work"); err != nil || got.differs(work) != "" {
		t.Errorf("after a change of the project: %+v, error %v", got, err)
	}
	put(t, dir, "build/work/main.go", "package other\n")
	if got, err := readTree(t.Context(), always, dir, "build/work"); err != nil || got.differs(work) == "" {
		t.Errorf("after a change of the worktree: %+v, error %v", got, err)
	}
	// A copy of what was reviewed does not stand for it.
	command(t, dir, "git", "worktree", "add", "-q", "--detach", filepath.Join(dir, "build", "copy"))
	copied, err := readTree(t.Context(), always, dir, "build/copy")
	if err != nil || copied.digest != work.digest || copied.differs(work) != "another worktree was reviewed" {
		t.Errorf("a copy: %+v, error %v", copied, err)
	}
	if got, err := readTree(t.Context(), always, dir, "build/absent"); err != nil || got.problem == "" {
		t.Errorf("a worktree that is not there: %+v, error %v", got, err)
	}
	if got, err := readTree(t.Context(), always, t.TempDir(), t.TempDir()); err != nil || got.problem == "" {
		t.Errorf("a worktree that is no repository: %+v, error %v", got, err)
	}
}

// TestModesInARepository: in a repository, others with access to it can read the
// files of a change; elsewhere only their owner can. Locks are nobody else's.
func TestModesInARepository(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("modes of files are those of Unix")
	}
	for name, project := range map[string]string{"a repository": repository(t), "a folder": t.TempDir()} {
		_, err := Start(t.Context(), run.Desk{Now: func() time.Time { return gitEpoch }}, project, "c", nil)
		must(t, err)
		for file, shared := range map[string]bool{"STATE.yaml": true, "log.jsonl": true, ".": true, ".tidegate.lock": false} {
			info, err := os.Stat(filepath.Join(project, changesDir(always), "c", file))
			must(t, err)
			put(t, project, "by/another", "program\n") // it shows the umask
			other, err := os.Stat(filepath.Join(project, "by", "another"))
			must(t, err)
			want := os.FileMode(0o600)
			switch {
			case shared && name == "a repository" && info.IsDir():
				want = other.Mode().Perm() | other.Mode().Perm()&0o444>>2
			case shared && name == "a repository":
				want = other.Mode().Perm()
			case info.IsDir():
				want = 0o700
			}
			if got := info.Mode().Perm(); got != want {
				t.Errorf("%s in %s has mode %o, want %o", file, name, got, want)
			}
		}
	}
}
