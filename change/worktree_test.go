package change

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tidegate/tidegate"
)

var always = Clock{Now: time.Now}

// TestWorktreeRunsNothing opens a worktree of a repository whose configuration,
// attributes and hooks name programs, and commits in it: none of them is run.
func TestWorktreeRunsNothing(t *testing.T) {
	dir := repository(t)
	trap := filepath.Join(t.TempDir(), "ran")
	program := filepath.Join(t.TempDir(), "trap")
	for name, text := range map[string]string{
		program:                              "#!/bin/sh\ntouch " + trap + "\ncat\n",
		filepath.Join(dir, ".gitattributes"): "* filter=evil diff=evil\n",
		filepath.Join(dir, "a.txt"):          "one\n",
	} {
		if err := os.WriteFile(name, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	run(t, dir, "git", "add", ".")
	run(t, dir, "git", "commit", "-q", "-m", "files")
	for _, key := range []string{"filter.evil.smudge", "filter.evil.clean", "filter.evil.process", "diff.evil.textconv", "diff.evil.command", "core.fsmonitor", "diff.external", "core.editor", "gpg.program"} {
		run(t, dir, "git", "config", key, program)
	}
	run(t, dir, "git", "config", "filter.evil.required", "true")
	run(t, dir, "git", "config", "commit.gpgSign", "true")
	for _, hook := range []string{"post-checkout", "pre-commit", "post-commit", "reference-transaction", "post-index-change"} {
		path := filepath.Join(dir, ".git", "hooks", hook)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("#!/bin/sh\ntouch "+trap+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	ctx := tidegate.WithActor(t.Context(), tidegate.Person)
	if _, err := Start(ctx, dir, always, "c", nil); err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	w, err := OpenWorktree(ctx, dir, always, home, "c")
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"a.txt": "two\n", "b.txt": "new\n"} {
		if err := os.WriteFile(filepath.Join(w.Path, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	work, err := w.Look(ctx)
	if err != nil || !slices.Equal(work.Files, []string{"a.txt", "b.txt"}) || len(work.Forbidden) != 0 {
		t.Fatalf("got %+v and %v", work, err)
	}
	if _, err := w.Commit(ctx, always, work, "c: round 1"); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(w.Path, "a.txt"), []byte("three\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := w.Restore(ctx); err != nil {
		t.Fatal(err)
	}
	if data, err := os.ReadFile(filepath.Join(w.Path, "a.txt")); err != nil || string(data) != "two\n" {
		t.Errorf("a.txt is %q: %v", data, err)
	}
	if _, err := os.Stat(trap); err == nil {
		t.Error("a program of the repository was run")
	}
	// It is found again, also after a person has removed its folder.
	if err := os.RemoveAll(w.Path); err != nil {
		t.Fatal(err)
	}
	again, err := OpenWorktree(ctx, dir, always, home, "c")
	if err != nil || again.Path != w.Path || again.Base != w.Base {
		t.Fatalf("got %+v and %v", again, err)
	}
	if data, err := os.ReadFile(filepath.Join(w.Path, "b.txt")); err != nil || string(data) != "new\n" {
		t.Errorf("b.txt is %q: %v", data, err)
	}
}

// TestWorktreeForbids is about what no implementation may touch, however it does.
func TestWorktreeForbids(t *testing.T) {
	dir := repository(t)
	for name, text := range map[string]string{"tidegate.toml": "\n", "agentd/allowed_signers": "\n", "agentd/changes/old/REVIEW.md": "kept\n", "sub/x.txt": "x\n"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	run(t, dir, "git", "add", "-f", ".")
	run(t, dir, "git", "commit", "-q", "-m", "files")
	os.Remove(filepath.Join(dir, "agentd/allowed_signers")) // decisions of this test are not signed
	ctx := tidegate.WithActor(t.Context(), tidegate.Person)
	if _, err := Start(ctx, dir, always, "c", nil); err != nil {
		t.Fatal(err)
	}
	w, err := OpenWorktree(ctx, dir, always, t.TempDir(), "c")
	if err != nil {
		t.Fatal(err)
	}
	if work, err := w.Look(ctx); err != nil || len(work.Files) != 0 || len(work.Forbidden) != 0 {
		t.Fatalf("a fresh worktree: %+v and %v", work, err)
	}
	for _, tt := range []struct{ what, file string }{
		{"changed", "tidegate.toml"}, {"removed", "tidegate.toml"}, {"changed", "sub/tidegate.toml"}, {"changed", "agentd/allowed_signers"}, {"removed", "agentd/allowed_signers"},
		{"changed", "agentd/changes/old/REVIEW.md"}, {"changed", "agentd/changes/c/STATE.yaml"}, {"repository", "hidden"}, {"link", "agentd/changes"}, {"link", "agentd"},
	} {
		path := filepath.Join(w.Path, tt.file)
		os.MkdirAll(filepath.Dir(path), 0o755)
		switch tt.what {
		case "changed":
			os.WriteFile(path, []byte("mine\n"), 0o644)
		case "removed":
			os.Remove(path)
		case "link":
			os.RemoveAll(path)
			if err := os.Symlink("/", path); err != nil {
				t.Fatal(err)
			}
		case "repository":
			os.MkdirAll(path, 0o755)
			run(t, path, "git", "init", "-q")
			os.WriteFile(filepath.Join(path, "x"), nil, 0o644)
			run(t, path, "git", "add", ".")
			run(t, path, "git", "commit", "-q", "-m", "hidden")
		}
		work, err := w.Look(ctx)
		if err != nil || len(work.Forbidden) == 0 || !strings.HasPrefix(tt.file, work.Forbidden[0].File) {
			t.Errorf("%s %s: %+v and %v", tt.file, tt.what, work, err)
		}
		os.RemoveAll(path)
		if err := w.Restore(ctx); err != nil {
			t.Fatal(err)
		}
	}
}

// TestWorktreeKeepsItsRepository: an agent that puts a repository of its own in the
// place of the project's ends the work, whatever it calls it.
func TestWorktreeKeepsItsRepository(t *testing.T) {
	dir := repository(t)
	run(t, dir, "git", "commit", "-q", "--allow-empty", "-m", "first")
	ctx := tidegate.WithActor(t.Context(), tidegate.Person)
	if _, err := Start(ctx, dir, always, "c", nil); err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	w, err := OpenWorktree(ctx, dir, always, home, "c")
	if err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(w.Path, ".git")
	own := filepath.Join(t.TempDir(), "own")
	run(t, dir, "git", "clone", "-q", dir, own)
	for name, replace := range map[string]func() error{
		"a repository":               func() error { return os.Rename(own, link) },
		"a link":                     func() error { return os.Symlink(filepath.Join(dir, ".git"), link) },
		"the project's own":          func() error { return os.WriteFile(link, []byte("gitdir: "+filepath.Join(dir, ".git")+"\n"), 0o644) },
		"a folder beside the others": func() error { return os.WriteFile(link, []byte("gitdir: "+filepath.Join(dir, ".git/worktrees/x")+"\n"), 0o644) },
		"nothing":                    func() error { return nil },
	} {
		if err := os.RemoveAll(link); err != nil {
			t.Fatal(err)
		}
		if err := replace(); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Look(ctx); tidegate.CodeOf(err) != tidegate.Tampered {
			t.Errorf("%s: Look returns %v, want TAMPERED", name, err)
		}
		if err := w.Restore(ctx); tidegate.CodeOf(err) != tidegate.Tampered {
			t.Errorf("%s: Restore returns %v, want TAMPERED", name, err)
		}
	}
	if err := os.RemoveAll(w.Path); err != nil {
		t.Fatal(err)
	}
	again, err := OpenWorktree(ctx, dir, always, home, "c")
	if err != nil {
		t.Fatalf("once the folder is removed: %v", err)
	}
	if _, err := again.Look(ctx); err != nil {
		t.Errorf("once the folder is removed: %v", err)
	}
}

// TestWorktreeHoldsWhatIsCommitted: tests run on nothing but the commit, and the
// branch is merged only as it was reviewed.
func TestWorktreeHoldsWhatIsCommitted(t *testing.T) {
	dir := repository(t)
	run(t, dir, "git", "commit", "-q", "--allow-empty", "-m", "first")
	ctx := tidegate.WithActor(t.Context(), tidegate.Person)
	if _, err := Start(ctx, dir, always, "c", nil); err != nil {
		t.Fatal(err)
	}
	w, err := OpenWorktree(ctx, dir, always, t.TempDir(), "c")
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{".gitignore": "hidden\n", "hidden": "tests rest on it\n", "a.txt": "one\n"} {
		if err := os.WriteFile(filepath.Join(w.Path, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	work, err := w.Look(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Commit(ctx, always, work, "c: round 1"); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(w.Path, "hidden")); !os.IsNotExist(err) {
		t.Errorf("a file that git ignores is still there: %v", err)
	}
	if err := w.Check(ctx); err != nil {
		t.Errorf("the branch as it was committed: %v", err)
	}
	run(t, dir, "git", "update-ref", "refs/heads/"+w.Branch, w.Base)
	if err := w.Check(ctx); tidegate.CodeOf(err) != tidegate.Tampered {
		t.Errorf("a branch that was moved: %v, want TAMPERED", err)
	}
}
