package change

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/test/repo"
	"github.com/tidegate/tidegate/internal/text/link"
	"github.com/tidegate/tidegate/internal/work/git"
	"github.com/tidegate/tidegate/internal/work/run"
)

var always = run.Desk{Now: time.Now}

// TestWorktreeStaysOutOfSubmodules has an agent fill a submodule with a repository of its
// own, at the commit that the project names, whose settings name programs. git would
// start another git there to see whether the submodule changed.
func TestWorktreeStaysOutOfSubmodules(t *testing.T) {
	dir := repo.New(t)
	trap := filepath.Join(t.TempDir(), "ran")
	module := filepath.Join(dir, "sub")
	must.Do(t, os.Mkdir(module, 0o755))
	repo.Run(t, module, "git", "init", "-q")
	must.Do(t, os.WriteFile(filepath.Join(module, "file"), []byte("one\n"), 0o644))
	repo.Run(t, module, "git", "add", ".")
	repo.Run(t, module, "git", "commit", "-q", "-m", "file")
	repo.Run(t, dir, "git", "-c", "advice.addEmbeddedRepo=false", "add", "sub")
	repo.Run(t, dir, "git", "commit", "-q", "-m", "sub")
	ctx := tidegate.WithActor(t.Context(), tidegate.Actor{Kind: tidegate.Person})
	must.Get(Start(ctx, always, dir, "c", nil))(t)
	w := must.Get(OpenWorktree(ctx, always, dir, t.TempDir(), "c", nil))(t)
	must.Do(t, os.WriteFile(filepath.Join(w.Path, "a.txt"), []byte("two\n"), 0o644))
	if work, err := w.Inspect(ctx, always); err != nil || !slices.Equal(work.Files, []string{"a.txt"}) || len(work.Forbidden) != 0 {
		t.Fatalf("an empty submodule: got %+v and %v", work, err)
	}
	filled := filepath.Join(w.Path, "sub")
	repo.Run(t, dir, "cp", "-r", module+"/.", filled)
	program := filepath.Join(filled, ".git", "trap")
	for name, text := range map[string]string{
		program: "#!/bin/sh\ntouch " + trap + "\ncat\n",
		filepath.Join(filled, ".git/info/attributes"): "* filter=evil\n",
		filepath.Join(filled, "file"):                 "two\n", // as long as before: git has to read it
	} {
		must.Do(t, os.WriteFile(name, []byte(text), 0o755))
	}
	for _, key := range []string{"filter.evil.clean", "filter.evil.process", "core.fsmonitor"} {
		repo.Run(t, filled, "git", "config", key, program)
	}
	must.Do(t, os.Chtimes(filepath.Join(filled, "file"), time.Unix(1e9, 0), time.Unix(1e9, 0)))
	work, err := w.Inspect(ctx, always)
	if err != nil || len(work.Forbidden) != 1 || work.Forbidden[0].File != "sub" || work.Forbidden[0].Code != tidegate.PathNotAllowed {
		t.Errorf("got %+v and %v", work, err)
	}
	if _, err := os.Stat(trap); err == nil {
		t.Error("a program of the agent's was run")
	}
}

// TestWorktreeTakesOddModules has an agent write settings of submodules that git refuses.
func TestWorktreeTakesOddModules(t *testing.T) {
	dir := repo.New(t)
	ctx := tidegate.WithActor(t.Context(), tidegate.Actor{Kind: tidegate.Person})
	must.Get(Start(ctx, always, dir, "c", nil))(t)
	w := must.Get(OpenWorktree(ctx, always, dir, t.TempDir(), "c", nil))(t)
	must.Do(t, os.Mkdir(filepath.Join(w.Path, "sub"), 0o755))
	repo.Run(t, filepath.Join(w.Path, "sub"), "git", "init", "-q")
	repo.Run(t, filepath.Join(w.Path, "sub"), "git", "commit", "-q", "--allow-empty", "-m", "empty")
	must.Do(t, os.WriteFile(filepath.Join(w.Path, ".gitmodules"), []byte("[submodule \"sub\"]\n\tpath = sub\n\turl = ./sub\n\tupdate = !touch owned\n"), 0o644))
	if work, err := w.Inspect(ctx, always); err != nil || len(work.Forbidden) != 1 || work.Forbidden[0].File != "sub" {
		t.Errorf("got %+v and %v", work, err)
	}
}

// TestWorktreeRunsNothing opens a worktree of a repository whose configuration,
// attributes and hooks name programs, and commits in it: none of them is run.
func TestWorktreeRunsNothing(t *testing.T) {
	dir := repo.New(t)
	trap := filepath.Join(t.TempDir(), "ran")
	program := filepath.Join(t.TempDir(), "trap")
	for name, text := range map[string]string{
		program:                              "#!/bin/sh\ntouch " + trap + "\ncat\n",
		filepath.Join(dir, ".gitattributes"): "* filter=evil diff=evil\n",
		filepath.Join(dir, "a.txt"):          "one\n",
	} {
		must.Do(t, os.WriteFile(name, []byte(text), 0o755))
	}
	repo.Run(t, dir, "git", "add", ".")
	repo.Run(t, dir, "git", "commit", "-q", "-m", "files")
	for _, key := range []string{"filter.evil.smudge", "filter.evil.clean", "filter.evil.process", "diff.evil.textconv", "diff.evil.command", "core.fsmonitor", "diff.external", "core.editor", "gpg.program"} {
		repo.Run(t, dir, "git", "config", key, program)
	}
	repo.Run(t, dir, "git", "config", "filter.evil.required", "true")
	repo.Run(t, dir, "git", "config", "commit.gpgSign", "true")
	for _, hook := range []string{"post-checkout", "pre-commit", "post-commit", "reference-transaction", "post-index-change"} {
		path := filepath.Join(dir, ".git", "hooks", hook)
		must.Do(t, os.MkdirAll(filepath.Dir(path), 0o755))
		must.Do(t, os.WriteFile(path, []byte("#!/bin/sh\ntouch "+trap+"\n"), 0o755))
	}
	ctx := tidegate.WithActor(t.Context(), tidegate.Actor{Kind: tidegate.Person})
	must.Get(Start(ctx, always, dir, "c", nil))(t)
	home := t.TempDir()
	w := must.Get(OpenWorktree(ctx, always, dir, home, "c", nil))(t)
	for name, text := range map[string]string{"a.txt": "two\n", "b.txt": "new\n"} {
		must.Do(t, os.WriteFile(filepath.Join(w.Path, name), []byte(text), 0o644))
	}
	work, err := w.Inspect(ctx, always)
	if err != nil || !slices.Equal(work.Files, []string{"a.txt", "b.txt"}) || len(work.Forbidden) != 0 {
		t.Fatalf("got %+v and %v", work, err)
	}
	must.Get(w.Commit(ctx, always, work, "", "c: round 1"))(t)
	must.Do(t, os.WriteFile(filepath.Join(w.Path, "a.txt"), []byte("three\n"), 0o644))
	must.Do(t, w.Restore(ctx, always))
	if data, err := os.ReadFile(filepath.Join(w.Path, "a.txt")); err != nil || string(data) != "two\n" {
		t.Errorf("a.txt is %q: %v", data, err)
	}
	if _, err := os.Stat(trap); err == nil {
		t.Error("a program of the repository was run")
	}
	// It is found again, also after a person has removed its folder.
	must.Do(t, os.RemoveAll(w.Path))
	again, err := OpenWorktree(ctx, always, dir, home, "c", nil)
	if err != nil || again.Path != w.Path || again.Base != w.Base {
		t.Fatalf("got %+v and %v", again, err)
	}
	if data, err := os.ReadFile(filepath.Join(w.Path, "b.txt")); err != nil || string(data) != "new\n" {
		t.Errorf("b.txt is %q: %v", data, err)
	}
}

// TestWorktreeForbids is about what no implementation may touch, however it does.
func TestWorktreeForbids(t *testing.T) {
	dir := repo.New(t)
	for name, text := range map[string]string{"tidegate.toml": "\n", "agentd/allowed_signers": "\n", "agentd/changes/old/REVIEW.md": "kept\n", "sub/x.txt": "x\n"} {
		must.Write(t, filepath.Join(dir, name), text)
	}
	repo.Run(t, dir, "git", "add", "-f", ".")
	repo.Run(t, dir, "git", "commit", "-q", "-m", "files")
	os.Remove(filepath.Join(dir, "agentd/allowed_signers")) // decisions of this test are not signed
	ctx := tidegate.WithActor(t.Context(), tidegate.Actor{Kind: tidegate.Person})
	must.Get(Start(ctx, always, dir, "c", nil))(t)
	w := must.Get(OpenWorktree(ctx, always, dir, t.TempDir(), "c", nil))(t)
	if work, err := w.Inspect(ctx, always); err != nil || len(work.Files) != 0 || len(work.Forbidden) != 0 {
		t.Fatalf("a fresh worktree: %+v and %v", work, err)
	}
	type edit struct{ what, file string }
	for _, edits := range [][]edit{
		{{"changed", "tidegate.toml"}, {"changed", "sub/tidegate.toml"}, {"changed", "agentd/allowed_signers"}, {"changed", "agentd/changes/c/STATE.yaml"},
			{"changed", "sub/agentd/changes/c/STATE.yaml"}, {"changed", "sub/agentd/allowed_signers"}, {"changed", "agentd/dismissed.json"},
			{"masked", "main.go"}, {"masked", "fresh.go"}, {"changed", "sub/" + link.SecretMask}},
		{{"changed", "sub/Tidegate.TOML"}, {"changed", "Agentd/Changes/c/STATE.yaml"}},
		{{"changed", "agentd/changes/old/REVIEW.md"}},
		{{"removed", "tidegate.toml"}, {"removed", "agentd/allowed_signers"}},
		{{"repository", "hidden"}}, {{"empty repository", "hidden"}}, {{"link", "agentd/changes"}}, {{"link", "agentd"}, {"link", "sub/agentd"}},
	} {
		for _, tt := range edits {
			path := filepath.Join(w.Path, tt.file)
			os.MkdirAll(filepath.Dir(path), 0o755)
			switch tt.what {
			case "changed":
				os.WriteFile(path, []byte("mine\n"), 0o644)
			case "masked": // as package driver leaves what an agent logs in with
				os.WriteFile(path, []byte("var key = `"+link.SecretMask+"`\n"), 0o644)
			case "removed":
				os.Remove(path)
			case "link":
				os.RemoveAll(path)
				must.Do(t, os.Symlink("/", path))
			case "empty repository":
				repo.Run(t, w.Path, "git", "init", "-q", tt.file)
				os.WriteFile(filepath.Join(path, "x"), nil, 0o644)
			case "repository":
				os.MkdirAll(path, 0o755)
				repo.Run(t, path, "git", "init", "-q")
				os.WriteFile(filepath.Join(path, "x"), nil, 0o644)
				repo.Run(t, path, "git", "add", ".")
				repo.Run(t, path, "git", "commit", "-q", "-m", "hidden")
			}
		}
		work := must.Get(w.Inspect(ctx, always))(t)
		for _, tt := range edits {
			want := tidegate.PathNotAllowed
			if tt.what == "masked" || strings.Contains(tt.file, link.SecretMask) {
				want = tidegate.SecretInAnswer
			}
			if !slices.ContainsFunc(work.Forbidden, func(f Forbidden) bool {
				return f.Code == want && (f.File == "." || f.File == tt.file || strings.HasPrefix(tt.file, f.File+"/"))
			}) {
				t.Errorf("%s %s: %+v", tt.file, tt.what, work)
			}
			os.RemoveAll(filepath.Join(w.Path, tt.file))
		}
		must.Do(t, w.Restore(ctx, always))
	}
}

// TestWorktreeSetsAside: what configures a client is not in the worktree and stays as it
// is, in any round; what an agent writes under such a name is its work.
func TestWorktreeSetsAside(t *testing.T) {
	dir := repo.New(t)
	for name, text := range map[string]string{"CLAUDE.md": "old\n", "sub/.claude/settings.json": "{}\n", "sub/x.txt": "x\n"} {
		must.Write(t, filepath.Join(dir, name), text)
	}
	repo.Run(t, dir, "git", "add", "-f", ".")
	repo.Run(t, dir, "git", "commit", "-q", "-m", "files")
	ctx := tidegate.WithActor(t.Context(), tidegate.Actor{Kind: tidegate.Person})
	must.Get(Start(ctx, always, dir, "c", nil))(t)
	aside := func(name string) bool { return name == "CLAUDE.md" || strings.Contains(name, ".claude/") }
	w := must.Get(OpenWorktree(ctx, always, dir, t.TempDir(), "c", aside))(t)
	for round, edit := range []struct {
		file string
		want []string
	}{{"sub/x.txt", []string{"sub/x.txt"}}, {"CLAUDE.md", []string{"CLAUDE.md"}}, {"sub/x.txt", []string{"sub/x.txt"}}, {"sub/.claude/hook", []string{"sub/.claude/hook"}}} {
		for _, name := range []string{"CLAUDE.md", "sub/.claude/settings.json"} {
			if _, err := os.Lstat(filepath.Join(w.Path, name)); err == nil {
				t.Errorf("round %d: %s is in the worktree", round, name)
			}
		}
		path := filepath.Join(w.Path, edit.file)
		os.MkdirAll(filepath.Dir(path), 0o755)
		must.Do(t, os.WriteFile(path, fmt.Appendf(nil, "round %d\n", round), 0o644))
		work, err := w.Inspect(ctx, always)
		if err != nil || !slices.Equal(work.Files, edit.want) || len(work.Forbidden) != 0 {
			t.Fatalf("round %d: %+v, %v", round, work, err)
		}
		must.Get(w.Commit(ctx, always, work, "", "round"))(t)
	}
	for _, name := range []string{"CLAUDE.md", "sub/.claude/settings.json", "sub/.claude/hook"} {
		repo.Run(t, dir, "git", "cat-file", "-e", w.Branch+":"+name)
	}
}

// TestWorktreeKeepsItsRepository: an agent that puts a repository of its own in the
// place of the project's ends the work, whatever it calls it.
func TestWorktreeKeepsItsRepository(t *testing.T) {
	dir := repo.New(t)
	repo.Run(t, dir, "git", "commit", "-q", "--allow-empty", "-m", "first")
	ctx := tidegate.WithActor(t.Context(), tidegate.Actor{Kind: tidegate.Person})
	must.Get(Start(ctx, always, dir, "c", nil))(t)
	home := t.TempDir()
	w := must.Get(OpenWorktree(ctx, always, dir, home, "c", nil))(t)
	link := filepath.Join(w.Path, ".git")
	own := filepath.Join(t.TempDir(), "own")
	repo.Run(t, dir, "git", "clone", "-q", dir, own)
	for name, replace := range map[string]func() error{
		"a repository":      func() error { return os.Rename(own, link) },
		"a link":            func() error { return os.Symlink(filepath.Join(dir, ".git"), link) },
		"the project's own": func() error { return os.WriteFile(link, []byte("gitdir: "+filepath.Join(dir, ".git")+"\n"), 0o644) },
		"a folder beside the others": func() error {
			return os.WriteFile(link, []byte("gitdir: "+filepath.Join(dir, ".git/worktrees/x")+"\n"), 0o644)
		},
		"nothing": func() error { return nil },
	} {
		must.Do(t, os.RemoveAll(link))
		must.Do(t, replace())
		if _, err := w.Inspect(ctx, always); tidegate.CodeOf(err) != tidegate.Tampered {
			t.Errorf("%s: Look returns %v, want TAMPERED", name, err)
		}
		if err := w.Restore(ctx, always); tidegate.CodeOf(err) != tidegate.Tampered {
			t.Errorf("%s: Restore returns %v, want TAMPERED", name, err)
		}
	}
	must.Do(t, os.RemoveAll(w.Path))
	again, err := OpenWorktree(ctx, always, dir, home, "c", nil)
	if err != nil {
		t.Fatalf("once the folder is removed: %v", err)
	}
	if _, err := again.Inspect(ctx, always); err != nil {
		t.Errorf("once the folder is removed: %v", err)
	}
}

// TestWorktreeHoldsWhatIsCommitted: tests run on nothing but the commit, and the
// branch is merged only as it was reviewed.
func TestWorktreeHoldsWhatIsCommitted(t *testing.T) {
	dir, w := started(t, nil)
	ctx := tidegate.WithActor(t.Context(), tidegate.Actor{Kind: tidegate.Person})
	repo.WriteAll(t, w.Path, map[string]string{".gitignore": "hidden\n", "hidden": "tests rest on it\n", "a.txt": "one\n"})
	work := must.Get(w.Inspect(ctx, always))(t)
	must.Get(w.Commit(ctx, always, work, "", "c: round 1"))(t)
	if _, err := os.Stat(filepath.Join(w.Path, "hidden")); !os.IsNotExist(err) {
		t.Errorf("a file that git ignores is still there: %v", err)
	}
	if err := w.Check(ctx); err != nil {
		t.Errorf("the branch as it was committed: %v", err)
	}
	repo.Run(t, dir, "git", "update-ref", "refs/heads/"+w.Branch, w.Base)
	if err := w.Check(ctx); tidegate.CodeOf(err) != tidegate.Tampered {
		t.Errorf("a branch that was moved: %v, want TAMPERED", err)
	}
}

// TestWorktreeHoldsTheBytesThatAreReviewed: no attribute that an agent writes makes the
// files that are tested and merged other than those that a reviewer is shown. The line
// ends of the project's own attributes are kept.
func TestWorktreeHoldsTheBytesThatAreReviewed(t *testing.T) {
	const script = "#!/bin/sh\necho \u00a3 $Id: kept$\n"
	ctx := tidegate.WithActor(t.Context(), tidegate.Actor{Kind: tidegate.Person})
	dir, w := started(t, map[string]string{".gitattributes": "* text=auto\n*.bat eol=crlf\n", "a.bat": "one\n", "a.txt": "one\n"})
	repo.WriteAll(t, w.Path, map[string]string{
		"sub/.gitattributes": "*.sh working-tree-encoding=UTF-16BE\n*.sh ident\n", "sub/gen.sh": script, "a.bat": "two\r\n", "a.txt": "two\r\n",
	})
	work := must.Get(w.Inspect(ctx, always))(t)
	must.Get(w.Commit(ctx, always, work, "", "c: round 1"))(t)
	d := must.Get(git.ReadDiff(ctx, always, dir, git.DiffInput{Base: w.Base, Head: w.Head()}))(t)
	defer d.Close()
	for name, want := range map[string][2]string{"sub/gen.sh": {script, script}, "a.bat": {"two\n", "two\r\n"}, "a.txt": {"two\n", "two\n"}} {
		shown, _, err := d.Text(ctx, name)
		there, readErr := os.ReadFile(filepath.Join(w.Path, name))
		if err != nil || readErr != nil || [2]string{string(shown), string(there)} != want {
			t.Errorf("%s: %q is shown and %q tested, want %q; %v, %v", name, shown, there, want, err, readErr)
		}
	}
	if got := d.Converted(); len(got) != 1 || got[0] != (git.Converted{File: "sub/.gitattributes", Line: "*.sh working-tree-encoding=UTF-16BE"}) {
		t.Errorf("what converts files is %+v", got)
	}
	// So does the folder in which a reviewer reads, and tests of a review run.
	to := t.TempDir()
	must.Do(t, d.Copy(ctx, to, nil))
	if data, err := os.ReadFile(filepath.Join(to, "sub/gen.sh")); err != nil || string(data) != script {
		t.Errorf("the copy has %q, %v", data, err)
	}
}

// started is a change c of a repository with the given files, and its worktree.
func started(t *testing.T, files map[string]string) (dir string, w *Worktree) {
	t.Helper()
	dir = repo.New(t)
	repo.WriteAll(t, dir, files)
	repo.Run(t, dir, "git", "add", "-f", ".")
	repo.Run(t, dir, "git", "commit", "-q", "--allow-empty", "-m", "first")
	ctx := tidegate.WithActor(t.Context(), tidegate.Actor{Kind: tidegate.Person})
	must.Get(Start(ctx, always, dir, "c", nil))(t)
	w = must.Get(OpenWorktree(ctx, always, dir, t.TempDir(), "c", nil))(t)
	return dir, w
}

// TestWorktreeIgnoresTheRepositorysSettings: an agent can write to the project's
// repository. Nothing that it writes there runs a program, keeps a file away from
// the tests, or lets a repository into the commit.
func TestWorktreeIgnoresTheRepositorysSettings(t *testing.T) {
	trap := filepath.Join(t.TempDir(), "ran")
	for name, tt := range map[string]struct {
		config    string
		info      map[string]string // files of the folder info of the repository
		files     map[string]string // that the agent writes
		forbidden bool
	}{
		"a filter with a name that -c cannot say": {
			config: "[filter \"a=b\"]\n\tclean = touch " + trap + "; cat\n\tsmudge = touch " + trap + "; cat\n",
			files:  map[string]string{".gitattributes": "* filter=a=b\n"},
		},
		"a filter beside the work tree's attributes": {
			config: "[filter \"x\"]\n\tclean = touch " + trap + "; cat\n\tsmudge = touch " + trap + "; cat\n",
			info:   map[string]string{"attributes": "* filter=x\n"},
		},
		"a sparse work tree":     {config: "[core]\n\tsparseCheckout = true\n", info: map[string]string{"sparse-checkout": "/*\n!/fails.sh\n"}},
		"another encoding":       {info: map[string]string{"attributes": "fails.sh text working-tree-encoding=UTF-16\n"}},
		"a repository not shown": {config: "[diff]\n\tignoreSubmodules = all\n", files: map[string]string{".gitmodules": "[submodule \"sub\"]\n\tpath = sub\n\turl = x\n\tignore = all\n"}, forbidden: true},
	} {
		t.Run(name, func(t *testing.T) {
			ctx := tidegate.WithActor(t.Context(), tidegate.Actor{Kind: tidegate.Person})
			dir, w := started(t, map[string]string{"a.txt": "one\n", "fails.sh": "exit 1\n"})
			config := must.Get(os.ReadFile(filepath.Join(dir, ".git/config")))(t)
			repo.WriteAll(t, dir, map[string]string{".git/config": string(config) + tt.config})
			own := strings.TrimPrefix(strings.TrimSpace(git.ReadLine(always, w.Path, ".git")), "gitdir: ")
			for _, info := range []string{filepath.Join(dir, ".git/info"), filepath.Join(own, "info")} {
				repo.WriteAll(t, info, tt.info)
			}
			repo.WriteAll(t, w.Path, tt.files)
			repo.WriteAll(t, w.Path, map[string]string{"a.txt": "two\n"})
			if tt.forbidden {
				sub := filepath.Join(w.Path, "sub")
				repo.Run(t, w.Path, "git", "init", "-q", "sub")
				repo.Run(t, sub, "git", "commit", "-q", "--allow-empty", "-m", "hidden")
			}
			work, err := w.Inspect(ctx, always)
			if err != nil || len(work.Forbidden) > 0 != tt.forbidden {
				t.Fatalf("got %+v and %v", work, err)
			}
			must.Get(w.Commit(ctx, always, work, "", "c: round 1"))(t)
			must.Do(t, os.RemoveAll(w.Path))
			must.Get(OpenWorktree(ctx, always, dir, t.TempDir(), "c", nil))(t)
			if data, err := os.ReadFile(filepath.Join(w.Path, "fails.sh")); err != nil || string(data) != "exit 1\n" {
				t.Errorf("fails.sh is %q: %v", data, err)
			}
			if _, err := os.Stat(trap); err == nil {
				t.Error("a program of the repository was run")
			}
		})
	}
}

// TestWorktreeLeadsNowhereElse: no link and no other repository stands between the
// worktree and the project's repository.
func TestWorktreeLeadsNowhereElse(t *testing.T) {
	for name, lead := range map[string]func(t *testing.T, dir, path, own string){
		"another repository behind the worktree's": func(t *testing.T, dir, path, own string) {
			other := filepath.Join(t.TempDir(), "other")
			repo.Run(t, dir, "git", "clone", "-q", "--bare", dir, other)
			repo.WriteAll(t, own, map[string]string{"commondir": other + "\n"})
		},
		"a link in the place of the worktree's": func(t *testing.T, dir, path, own string) {
			other := filepath.Join(t.TempDir(), "worktrees", "c")
			must.Do(t, os.MkdirAll(filepath.Dir(other), 0o755))
			must.Do(t, os.Rename(own, other))
			must.Do(t, os.Symlink(other, own))
		},
		"a worktree of the person's": func(t *testing.T, dir, path, own string) {
			other := filepath.Join(t.TempDir(), "mine")
			repo.Run(t, dir, "git", "worktree", "add", "-q", "--detach", other)
			must.Do(t, os.RemoveAll(path))
			must.Do(t, os.Symlink(other, path))
		},
	} {
		t.Run(name, func(t *testing.T) {
			ctx := tidegate.WithActor(t.Context(), tidegate.Actor{Kind: tidegate.Person})
			dir, w := started(t, map[string]string{"a.txt": "one\n"})
			lead(t, dir, w.Path, strings.TrimPrefix(git.ReadLine(always, w.Path, ".git"), "gitdir: "))
			if _, err := w.Inspect(ctx, always); tidegate.CodeOf(err) != tidegate.Tampered {
				t.Errorf("Look returns %v, want TAMPERED", err)
			}
			if err := w.Restore(ctx, always); tidegate.CodeOf(err) != tidegate.Tampered {
				t.Errorf("Restore returns %v, want TAMPERED", err)
			}
		})
	}
}

// TestBranchIsTheReviewedCommit: tests that move the branch change nothing, and a
// name that git takes for something else is not merged.
func TestBranchIsTheReviewedCommit(t *testing.T) {
	ctx := tidegate.WithActor(t.Context(), tidegate.Actor{Kind: tidegate.Person})
	dir, w := started(t, map[string]string{"a.txt": "one\n"})
	repo.WriteAll(t, w.Path, map[string]string{"a.txt": "two\n"})
	work := must.Get(w.Inspect(ctx, always))(t)
	commit := must.Get(w.Commit(ctx, always, work, "", "c: round 1"))(t)
	shown := func() string {
		d := must.Get(git.ReadDiff(ctx, always, w.Path, git.DiffInput{Base: w.Base, Committed: true, Head: w.Head()}))(t)
		defer d.Close()
		if len(d.Files) != 1 {
			t.Fatalf("%d files differ", len(d.Files))
		}
		return string(d.Files[0].After)
	}
	branch := "refs/heads/" + w.Branch
	repo.Run(t, dir, "git", "update-ref", branch, w.Base)
	if got := shown(); got != "two\n" {
		t.Errorf("a branch that was moved: a.txt is shown as %q", got)
	}
	for name, move := range map[string][]string{"moved": {"update-ref", branch, w.Base}, "a link": {"symbolic-ref", branch, "refs/heads/other"}} {
		repo.Run(t, dir, append([]string{"git"}, move...)...)
		must.Do(t, w.Restore(ctx, always))
		if err := w.Check(ctx); err != nil {
			t.Errorf("a branch that was %s, restored: %v", name, err)
		}
	}
	if _, err := git.Ask(ctx, dir, "rev-parse", "--verify", "--quiet", "refs/heads/other"); err == nil {
		t.Error("another branch was written through a link")
	}
	repo.Run(t, dir, "git", "tag", w.Branch, w.Base)
	if err := w.Check(ctx); tidegate.CodeOf(err) != tidegate.Tampered {
		t.Errorf("a tag of the same name: %v, want TAMPERED", err)
	}
	repo.Run(t, dir, "git", "tag", "-d", w.Branch)
	for _, object := range []string{"", ":a.txt"} {
		repo.Run(t, dir, "git", "replace", w.Branch+object, w.Base+object)
		if err := w.Check(ctx); tidegate.CodeOf(err) != tidegate.Tampered {
			t.Errorf("another object for %q: %v, want TAMPERED", object, err)
		}
		repo.Run(t, dir, "sh", "-c", "git replace -d $(git replace -l)")
	}
	if err := w.Check(ctx); err != nil {
		t.Errorf("commit %s: %v", commit, err)
	}
}

// TestModesInARepository: in a repository, others with access to it can read the
// files of a change; elsewhere only their owner can. Locks are nobody else's.
func TestModesInARepository(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("modes of files are those of Unix")
	}
	for name, project := range map[string]string{"a repository": repo.New(t), "a folder": t.TempDir()} {
		_, err := Start(t.Context(), run.Desk{Now: func() time.Time { return time.Unix(1, 0) }}, project, "c", nil)
		must.Do(t, err)
		for file, shared := range map[string]bool{"STATE.yaml": true, "log.jsonl": true, ".": true, ".tidegate.lock": false} {
			info, err := os.Stat(filepath.Join(project, git.ChangesDir(always), "c", file))
			must.Do(t, err)
			umask := filepath.Join(project, "by", "another")
			must.Do(t, os.MkdirAll(filepath.Dir(umask), 0o755))
			must.Do(t, os.WriteFile(umask, nil, 0o644))
			other, err := os.Stat(umask)
			must.Do(t, err)
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
