package git

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/test/repo"
	"github.com/tidegate/tidegate/internal/work/run"
)

var gitEpoch = time.Unix(1, 0)

var always = run.Desk{Now: time.Now}

func treeIn(t *testing.T, dir string) Tree {
	t.Helper()
	got := must.Get(ReadTree(t.Context(), always, dir, ""))(t)
	return got
}

func TestTheTreeIsWhatAReviewerSees(t *testing.T) {
	for _, test := range []struct {
		name string
		edit func(t *testing.T, dir string)
		same bool
	}{
		{"nothing", func(*testing.T, string) {}, true},
		{"another commit", func(t *testing.T, dir string) { repo.Run(t, dir, "git", "commit", "-q", "--allow-empty", "-m", "m") }, true},
		{"the new file is added", func(t *testing.T, dir string) { repo.Run(t, dir, "git", "add", "new.go") }, true},
		{"the new file is committed", func(t *testing.T, dir string) {
			repo.Run(t, dir, "git", "add", "new.go")
			repo.Run(t, dir, "git", "commit", "-q", "-m", "m")
		}, true},
		{"times", func(t *testing.T, dir string) {
			must.Do(t, os.Chtimes(filepath.Join(dir, "main.go"), gitEpoch, gitEpoch))
		}, true},
		{"an ignored file", func(t *testing.T, dir string) {
			repo.Write(t, dir, "build/x", "x")
			repo.Write(t, dir, "prog.out", "y")
		}, true},
		{"a change", func(t *testing.T, dir string) {
			repo.Write(t, dir, "agentd/changes/c/REVIEW.md", "x")
			repo.Write(t, dir, "agentd/changes/d/STATE.yaml", "x")
			repo.Write(t, dir, "agentd/changes/c/proposal.md", "q\n")
		}, true},
		{"an empty folder", func(t *testing.T, dir string) { must.Do(t, os.Mkdir(filepath.Join(dir, "empty"), 0o755)) }, true},
		{"a tracked file", func(t *testing.T, dir string) { repo.Write(t, dir, "lib/lib.go", "package other\n") }, false},
		{"a tracked file, committed", func(t *testing.T, dir string) {
			repo.Write(t, dir, "lib/lib.go", "package other\n")
			repo.Commit(t, dir)
		}, false},
		{"a tracked file that is ignored", func(t *testing.T, dir string) { repo.Write(t, dir, "kept.out", "x") }, false},
		{"a tracked file that git is told not to look at", func(t *testing.T, dir string) {
			repo.Run(t, dir, "git", "update-index", "--assume-unchanged", "main.go")
			repo.Write(t, dir, "main.go", "package other\n")
		}, false},
		{"a tracked file that is skipped", func(t *testing.T, dir string) {
			repo.Run(t, dir, "git", "update-index", "--skip-worktree", "main.go")
			repo.Write(t, dir, "main.go", "package other\n")
		}, false},
		{"a file that is tracked no more, and ignored", func(t *testing.T, dir string) {
			repo.Run(t, dir, "git", "rm", "-q", "--cached", "main.go")
			repo.Write(t, dir, ".git/info/exclude", "main.go\n")
		}, false},
		{"the new file", func(t *testing.T, dir string) { repo.Write(t, dir, "new.go", "package other\n") }, false},
		{"one more file", func(t *testing.T, dir string) { repo.Write(t, dir, "more.go", "package main\n") }, false},
		{"a file less", func(t *testing.T, dir string) { must.Do(t, os.Remove(filepath.Join(dir, "main.go"))) }, false},
		{"another name", func(t *testing.T, dir string) {
			must.Do(t, os.Rename(filepath.Join(dir, "main.go"), filepath.Join(dir, "program.go")))
		}, false},
		{"what is ignored", func(t *testing.T, dir string) { repo.Write(t, dir, ".gitignore", "*.out\n/build/\nevil.go\n") }, false},
		{"who may sign", func(t *testing.T, dir string) { repo.Write(t, dir, "agentd/allowed_signers", "x\n") }, false},
		{"a file that becomes a program", func(t *testing.T, dir string) {
			if runtime.GOOS == "windows" {
				t.Skip("no such mode here")
			}
			must.Do(t, os.Chmod(filepath.Join(dir, "run.sh"), 0o755))
		}, false},
		{"a link in place of a file", func(t *testing.T, dir string) {
			must.Do(t, os.Rename(filepath.Join(dir, "main.go"), filepath.Join(dir, "prog.out")))
			must.Do(t, os.Symlink("prog.out", filepath.Join(dir, "main.go")))
		}, false},
		{"a link in place of a folder", func(t *testing.T, dir string) {
			must.Do(t, os.Rename(filepath.Join(dir, "lib"), filepath.Join(dir, "build")))
			must.Do(t, os.Symlink("build", filepath.Join(dir, "lib")))
		}, false},
		{"a repository in the repository", func(t *testing.T, dir string) {
			repo.Write(t, dir, "vendor/x.go", "x")
			repo.Run(t, filepath.Join(dir, "vendor"), "git", "init", "-q")
		}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := repo.New(t)
			before := treeIn(t, dir)
			if before.Digest == "" || before.Problem != "" || len(before.Commit) < 40 {
				t.Fatalf("tree %+v", before)
			}
			test.edit(t, dir)
			if got := treeIn(t, dir); got.Problem != "" || (got.Digest == before.Digest) != test.same || (got.Differs(before) == "") != test.same {
				t.Errorf("before %+v, after %+v; want the same: %v", before, got, test.same)
			}
		})
	}
}

// A file that was removed, a folder that became a link: committing it changes
// nothing more.
func TestACommitDoesNotChangeTheTree(t *testing.T) {
	dir := repo.New(t)
	must.Do(t, os.Remove(filepath.Join(dir, "prog.out")))
	must.Do(t, os.Remove(filepath.Join(dir, "main.go")))
	must.Do(t, os.Rename(filepath.Join(dir, "lib"), filepath.Join(dir, "moved")))
	must.Do(t, os.Symlink("moved", filepath.Join(dir, "lib")))
	repo.Write(t, dir, "name\nwith \"lines\"\tand 漢字", "x")
	repo.Write(t, dir, "-n", "x")
	repo.Write(t, dir, "new.go", "package new\n")
	before := treeIn(t, dir)
	repo.Commit(t, dir)
	if after := treeIn(t, dir); before.Problem != "" || after.Differs(before) != "" || after.Commit == before.Commit {
		t.Errorf("before %+v, after %+v", before, after)
	}
	clone := filepath.Join(t.TempDir(), "elsewhere")
	repo.Run(t, dir, "git", "clone", "-q", dir, clone)
	if after := treeIn(t, clone); after.Differs(before) != "" {
		t.Errorf("a clone has %+v, want %+v", after, before)
	}
}

func TestSubmodulesArePartOfTheTree(t *testing.T) {
	module, dir := repo.New(t), repo.New(t)
	repo.Run(t, dir, "git", "-c", "protocol.file.allow=always", "submodule", "add", "-q", module, "sub")
	before := treeIn(t, dir)
	repo.Run(t, dir, "git", "commit", "-q", "-m", "m")
	if got := treeIn(t, dir); got.Problem != "" || got.Differs(before) != "" {
		t.Errorf("committed: %+v, want %+v", got, before)
	}
	repo.Write(t, dir, "sub/main.go", "package other\n")
	if got := treeIn(t, dir); got.Problem != "" || got.Digest == before.Digest {
		t.Errorf("a file of the submodule was changed: %+v", got)
	}
}

func TestWhereThereIsNoTree(t *testing.T) {
	if got := treeIn(t, t.TempDir()); got != (Tree{}) {
		t.Errorf("outside a repository: %+v", got)
	}
	dir := repo.New(t)
	repo.Write(t, dir, "part/x.go", "package x\n")
	part, err := ReadTree(t.Context(), always, filepath.Join(dir, "part"), "")
	if err != nil || part.Digest == "" {
		t.Fatalf("a part of a repository: %+v, error %v", part, err)
	}
	repo.Write(t, dir, "main.go", "package other\n")
	if again, err := ReadTree(t.Context(), always, filepath.Join(dir, "part"), ""); err != nil || again.Differs(part) != "" {
		t.Errorf("a part of a repository is about its own files: %+v, error %v", again, err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := ReadTree(ended, always, dir, ""); err == nil {
		t.Error("a call that has ended reads a tree")
	}

	for name, spoil := range map[string]func(t *testing.T, dir string){
		"the index is spoilt": func(t *testing.T, dir string) { repo.Write(t, dir, ".git/index", "no index") },
		"the repository is elsewhere": func(t *testing.T, dir string) {
			must.Do(t, os.RemoveAll(filepath.Join(dir, ".git")))
			repo.Write(t, dir, ".git", "gitdir: /nowhere\n")
		},
		"the repository is empty": func(t *testing.T, dir string) {
			must.Do(t, os.RemoveAll(filepath.Join(dir, ".git")))
			must.Do(t, os.Mkdir(filepath.Join(dir, ".git"), 0o755))
		},
		"there is no git": func(t *testing.T, dir string) { t.Setenv("PATH", t.TempDir()) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := repo.New(t)
			reviewed := treeIn(t, dir)
			spoil(t, dir)
			if got := treeIn(t, dir); got.Problem == "" || got.Digest != "" || !strings.Contains(got.Differs(reviewed), "the tree is not known") {
				t.Errorf("got %+v", got)
			}
		})
	}
	if why := (Tree{}).Differs(treeIn(t, dir)); why == "" {
		t.Error("a repository that is gone counts as the same")
	}
}

func TestTheWorktreeThatTheStateNames(t *testing.T) {
	dir := repo.New(t)
	repo.Run(t, dir, "git", "worktree", "add", "-q", filepath.Join(dir, "build", "work"))
	work, err := ReadTree(t.Context(), always, dir, "build/work")
	if err != nil || work.Digest == "" {
		t.Fatalf("worktree %+v, error %v", work, err)
	}
	absolute, err := ReadTree(t.Context(), always, dir, filepath.Join(dir, "build", "work"))
	if err != nil || absolute.Digest != work.Digest {
		t.Errorf("by its absolute path: %+v, error %v", absolute, err)
	}
	repo.Write(t, dir, "main.go", "package other\n")
	if got, err := ReadTree(t.Context(), always, dir, "build/work"); err != nil || got.Differs(work) != "" {
		t.Errorf("after a change of the project: %+v, error %v", got, err)
	}
	repo.Write(t, dir, "build/work/main.go", "package other\n")
	if got, err := ReadTree(t.Context(), always, dir, "build/work"); err != nil || got.Differs(work) == "" {
		t.Errorf("after a change of the worktree: %+v, error %v", got, err)
	}
	// A copy of what was reviewed does not stand for it.
	repo.Run(t, dir, "git", "worktree", "add", "-q", "--detach", filepath.Join(dir, "build", "copy"))
	copied, err := ReadTree(t.Context(), always, dir, "build/copy")
	if err != nil || copied.Digest != work.Digest || copied.Differs(work) != "another worktree was reviewed" {
		t.Errorf("a copy: %+v, error %v", copied, err)
	}
	if got, err := ReadTree(t.Context(), always, dir, "build/absent"); err != nil || got.Problem == "" {
		t.Errorf("a worktree that is not there: %+v, error %v", got, err)
	}
	if got, err := ReadTree(t.Context(), always, t.TempDir(), t.TempDir()); err != nil || got.Problem == "" {
		t.Errorf("a worktree that is no repository: %+v, error %v", got, err)
	}
}
