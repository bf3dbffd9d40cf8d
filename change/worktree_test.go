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
