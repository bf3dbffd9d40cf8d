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
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/test/repo"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/review"
)

// hostileRepository is a repository that runs a program, which leaves a trace,
// whenever git can be made to run one.
func hostileRepository(t *testing.T) (dir, trace string) {
	t.Helper()
	dir = repo.New(t)
	trace = filepath.Join(t.TempDir(), "trace")
	evil := filepath.Join(t.TempDir(), "evil")
	must.Do(t, os.WriteFile(evil, []byte("#!/bin/sh\necho ran >>"+trace+"\ncat\n"), 0o755))
	repo.Write(t, dir, ".gitattributes", "* filter=evil diff=evil merge=evil\n")
	must.Do(t, os.RemoveAll(filepath.Join(dir, ".git", "hooks")))
	must.Do(t, os.Mkdir(filepath.Join(dir, ".git", "hooks"), 0o755))
	for _, hook := range []string{"post-index-change", "fsmonitor-watchman", "pre-commit", "post-checkout", "reference-transaction", "pre-auto-gc"} {
		must.Do(t, os.Symlink(evil, filepath.Join(dir, ".git", "hooks", hook)))
	}
	repo.Write(t, dir, ".git/more", "[alias]\n\tls-files = !"+evil+"\n\trev-parse = !"+evil+"\n")
	config, err := os.OpenFile(filepath.Join(dir, ".git", "config"), os.O_APPEND|os.O_WRONLY, 0)
	must.Do(t, err)
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
	must.Do(t, err)
	must.Do(t, config.Close())
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
	must.Do(t, os.Remove(trace))

	repo.Write(t, dir, "main.go", "package other\n")
	// A missing object would be fetched from wherever the repository says.
	objects, err := filepath.Glob(filepath.Join(dir, ".git", "objects", "??", "*"))
	must.Do(t, err)
	for _, object := range objects {
		must.Do(t, os.Remove(object))
	}
	person := tidegate.WithActor(t.Context(), tidegate.Actor{Kind: tidegate.Person})
	desk := run.Desk{Now: time.Now}
	_, err = Start(person, desk, dir, "c", nil)
	must.Do(t, err)
	created, err := CreateReview(person, desk, dir, codec.Of(review.Payload{ChangeID: "c", Verdict: review.Approved, Summary: "s"}), false)
	must.Do(t, err)
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

func TestATreeIsGivenUpWithItsCall(t *testing.T) {
	dir := repo.New(t)
	must.Do(t, os.Remove(filepath.Join(dir, ".gitignore")))
	must.Do(t, syscall.Mkfifo(filepath.Join(dir, ".gitignore"), 0o600))
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, cancel)
	_, err := CreateReview(ctx, run.Desk{Now: time.Now}, dir, codec.Of(review.Payload{ChangeID: "c", Verdict: review.Approved, Summary: "s"}), false)
	if tidegate.CodeOf(err) != tidegate.Cancelled {
		t.Errorf("got error %v, want CANCELLED", err)
	}
}
