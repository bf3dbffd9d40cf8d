//go:build unix

package change

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/review"
)

// hostileRepository is a repository that runs a program, which leaves a trace,
// whenever git can be made to run one.
func hostileRepository(t *testing.T) (dir, trace string) {
	t.Helper()
	dir = repository(t)
	trace = filepath.Join(t.TempDir(), "trace")
	evil := filepath.Join(t.TempDir(), "evil")
	must(t, os.WriteFile(evil, []byte("#!/bin/sh\necho ran >>"+trace+"\ncat\n"), 0o755))
	put(t, dir, ".gitattributes", "* filter=evil diff=evil merge=evil\n")
	must(t, os.RemoveAll(filepath.Join(dir, ".git", "hooks")))
	must(t, os.Mkdir(filepath.Join(dir, ".git", "hooks"), 0o755))
	for _, hook := range []string{"post-index-change", "fsmonitor-watchman", "pre-commit", "post-checkout", "reference-transaction", "pre-auto-gc"} {
		must(t, os.Symlink(evil, filepath.Join(dir, ".git", "hooks", hook)))
	}
	put(t, dir, ".git/more", "[alias]\n\tls-files = !"+evil+"\n\trev-parse = !"+evil+"\n")
	config, err := os.OpenFile(filepath.Join(dir, ".git", "config"), os.O_APPEND|os.O_WRONLY, 0)
	must(t, err)
	_, err = config.WriteString(strings.ReplaceAll(`
[core]
	fsmonitor = EVIL
	hooksPath = .git/hooks
	pager = EVIL
	editor = EVIL
	sshCommand = EVIL
	askPass = EVIL
	gitProxy = EVIL
	alternateRefsCommand = EVIL
	untrackedCache = true
[filter "evil"]
	clean = EVIL
	smudge = EVIL
	process = EVIL
	required = true
[diff]
	external = EVIL
[diff "evil"]
	textconv = EVIL
	command = EVIL
[merge "evil"]
	driver = EVIL
[credential]
	helper = EVIL
[gpg]
	program = EVIL
[uploadpack]
	packObjectsHook = EVIL
[remote "origin"]
	url = .
	uploadpack = EVIL
	promisor = true
	partialclonefilter = blob:none
[extensions]
	partialClone = origin
[include]
	path = more
`, "EVIL", evil))
	must(t, err)
	must(t, config.Close())
	return dir, trace
}

func TestAHostileRepositoryRunsNothing(t *testing.T) {
	dir, trace := hostileRepository(t)
	// The trap is set: git itself falls into it.
	plain := exec.Command("git", "status")
	plain.Dir = dir
	_ = plain.Run()
	if _, err := os.Stat(trace); err != nil {
		t.Fatalf("the repository does nothing hostile: %v", err)
	}
	must(t, os.Remove(trace))

	put(t, dir, "main.go", "package other\n")
	// A missing object would be fetched from wherever the repository says.
	objects, err := filepath.Glob(filepath.Join(dir, ".git", "objects", "??", "*"))
	must(t, err)
	for _, object := range objects {
		must(t, os.Remove(object))
	}
	person := tidegate.WithActor(t.Context(), tidegate.Actor{Kind: tidegate.Person})
	desk := run.Desk{Now: time.Now}
	_, err = Start(person, desk, dir, "c", nil)
	must(t, err)
	created, err := CreateReview(person, desk, dir, codec.Of(review.Payload{ChangeID: "c", Verdict: review.Approved, Summary: "s"}), false)
	must(t, err)
	if len(created.Warnings) > 0 {
		t.Errorf("warnings %q", created.Warnings)
	}
	advanced, err := Advance(person, desk, dir, "c")
	if err != nil || advanced.Phase != Complete {
		t.Errorf("advanced %+v, error %v", advanced, err)
	}
	// Where the roots hide what is above, git is asked more.
	desk.Reach = artifact.Within(filepath.Join(dir, "lib"))
	if _, err := CreateReview(person, desk, filepath.Join(dir, "lib"), codec.Of(review.Payload{ChangeID: "d", Verdict: review.Approved, Summary: "s"}), false); err != nil {
		t.Error(err)
	}
	if text, err := os.ReadFile(trace); err == nil {
		t.Errorf("the repository ran a program: %s", text)
	}
}

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
			must(t, os.Remove(filepath.Join(dir, "main.go")))
			must(t, syscall.Mkfifo(filepath.Join(dir, "main.go"), 0o600))
		}, true, false},
		{"a FIFO in place of what is ignored", func(t *testing.T, dir string) {
			must(t, os.Remove(filepath.Join(dir, ".gitignore")))
			must(t, syscall.Mkfifo(filepath.Join(dir, ".gitignore"), 0o600))
		}, false, true},
		{"a FIFO in the configuration", func(t *testing.T, dir string) {
			must(t, syscall.Mkfifo(filepath.Join(dir, ".git", "more"), 0o600))
			command(t, dir, "git", "config", "--file", filepath.Join(dir, ".git", "config"), "include.path", "more")
		}, false, true},
		{"a file without end", func(t *testing.T, dir string) {
			must(t, os.Truncate(filepath.Join(dir, "new.go"), 1<<40))
		}, false, false},
		{"a name that is not UTF-8", func(t *testing.T, dir string) { put(t, dir, "\xff", "x") }, false, false},
		{"a name of many folders", func(t *testing.T, dir string) { put(t, dir, strings.Repeat("folder/", 200)+"x", "x") }, false, false},
		{"a name of a lock", func(t *testing.T, dir string) { put(t, dir, ".tidegate.lock", "x") }, false, false},
		{"a link that leads out", func(t *testing.T, dir string) { must(t, os.Symlink(outside, filepath.Join(dir, "link"))) }, true, false},
		{"a link to itself", func(t *testing.T, dir string) { must(t, os.Symlink("link", filepath.Join(dir, "link"))) }, true, false},
		{"a folder that leads out", func(t *testing.T, dir string) {
			must(t, os.RemoveAll(filepath.Join(dir, "lib")))
			must(t, os.Symlink(filepath.Dir(outside), filepath.Join(dir, "lib")))
		}, true, false},
		{"a work tree that is elsewhere", func(t *testing.T, dir string) {
			command(t, dir, "git", "config", "core.worktree", t.TempDir())
		}, false, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			if test.hangs {
				defer func(limit time.Duration) { gitLimit = limit }(gitLimit)
				gitLimit = 100 * time.Millisecond
			}
			must(t, os.WriteFile(outside, []byte("secret"), 0o600))
			dir := repository(t)
			test.plant(t, dir)
			got := treeIn(t, dir)
			if (got.digest != "") != test.known || (got.problem == "") != test.known {
				t.Fatalf("got %+v, want it known: %v", got, test.known)
			}
			// What lies outside does not belong to the tree.
			must(t, os.WriteFile(outside, []byte("other"), 0o600))
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
	dir, other := repository(t), repository(t)
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

func TestATreeIsGivenUpWithItsCall(t *testing.T) {
	dir := repository(t)
	must(t, os.Remove(filepath.Join(dir, ".gitignore")))
	must(t, syscall.Mkfifo(filepath.Join(dir, ".gitignore"), 0o600))
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, cancel)
	_, err := CreateReview(ctx, run.Desk{Now: time.Now}, dir, codec.Of(review.Payload{ChangeID: "c", Verdict: review.Approved, Summary: "s"}), false)
	if tidegate.CodeOf(err) != tidegate.Cancelled {
		t.Errorf("got error %v, want CANCELLED", err)
	}
}
