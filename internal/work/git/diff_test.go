package git

import (
	"bytes"
	"compress/zlib"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/test/repo"
	"github.com/tidegate/tidegate/review"
)

func readDiff(t *testing.T, dir string, in DiffInput) *Diff {
	t.Helper()
	d := must.Get(ReadDiff(t.Context(), always, dir, in))(t)
	t.Cleanup(func() { d.Close() })
	return d
}

// statuses is what became of each file, as one line each.
func statuses(d *Diff) []string {
	var list []string
	for _, f := range d.Files {
		list = append(list, f.Name+": "+f.Status())
	}
	for _, f := range d.LeftOut {
		line := f.File + " left out: " + f.Why
		if f.Unseen {
			line += " (unseen)"
		}
		list = append(list, line)
	}
	return list
}

// linesOf is how many lines a file of the later version has.
func linesOf(t *testing.T, d *Diff, name string) (int, bool, error) {
	text, ok, err := d.Text(t.Context(), name)
	return review.CountLines(text), ok, err
}

func TestDiffOfTheWorkTree(t *testing.T) {
	dir := repo.New(t)
	repo.Write(t, dir, "main.go", "package main\n\nfunc main() {}\n")
	repo.Write(t, dir, "moved.sh", "#!/bin/sh\n")
	for _, name := range []string{"run.sh", "kept.out"} {
		must.Do(t, os.Remove(filepath.Join(dir, name)))
	}
	repo.Write(t, dir, "vendor/x/x.go", "package x\n")
	repo.Write(t, dir, "image.png", "\x89PNG\x00\x00")
	repo.Write(t, dir, "large.txt", strings.Repeat("x\n", 1<<20))
	repo.Write(t, dir, "empty", "")
	repo.Write(t, dir, "agentd/changes/c/REVIEW.md", "# Verdict: APPROVED\n")
	if err := os.Symlink("/etc/passwd", filepath.Join(dir, "link")); err != nil && runtime.GOOS != "windows" {
		t.Fatal(err)
	}
	d := readDiff(t, dir, DiffInput{Base: "HEAD"})
	want := []string{
		"empty: added", "kept.out: deleted", "main.go: changed", "moved.sh: renamed from run.sh", "new.go: added",
		"image.png left out: binary", "large.txt left out: larger than 1 MiB (unseen)", `link left out: a link to "/etc/passwd"`, "vendor/x/x.go left out: vendored (unseen)",
	}
	if diff := cmp.Diff(want, statuses(d)); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	for name, want := range map[string]int{"main.go": 3, "lib/lib.go": 1, "moved.sh": 1, "empty": 0, ".gitignore": 2} {
		if lines, ok, err := linesOf(t, d, name); lines != want || !ok || err != nil {
			t.Errorf("%s has %d lines, %v, %v; want %d", name, lines, ok, err, want)
		}
	}
	for _, name := range []string{"link", "run.sh", "prog.out", "../etc/passwd", "agentd/changes/c/REVIEW.md", "/etc/passwd", ""} {
		if _, ok, err := linesOf(t, d, name); ok || err != nil {
			t.Errorf("%q is a file of the tree (%v)", name, err)
		}
	}
}

func TestDiffOfCommits(t *testing.T) {
	dir := repo.New(t)
	repo.Run(t, dir, "git", "branch", "-M", "main")
	repo.Run(t, dir, "git", "checkout", "-q", "-b", "topic")
	repo.Write(t, dir, "main.go", "package main\n\nfunc main() {}\n")
	repo.Commit(t, dir)
	repo.Write(t, dir, "main.go", "not committed\n")
	d := readDiff(t, dir, DiffInput{Committed: true})
	// The base is where the branch left main; new.go and prog.out were committed with it.
	if diff := cmp.Diff([]string{"main.go: changed", "new.go: added", "prog.out: added"}, statuses(d)); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	if got := string(d.Files[0].After); got != "package main\n\nfunc main() {}\n" {
		t.Errorf("main.go is %q", got)
	}
	if lines, ok, err := linesOf(t, d, "lib/lib.go"); lines != 1 || !ok || err != nil {
		t.Errorf("lib/lib.go has %d lines, %v, %v", lines, ok, err)
	}
	if d := readDiff(t, dir, DiffInput{Committed: true, Base: "HEAD"}); len(d.Files) != 0 {
		t.Errorf("HEAD differs from itself: %q", statuses(d))
	}
	if d := readDiff(t, dir, DiffInput{}); string(d.Files[0].After) != "not committed\n" {
		t.Errorf("main.go is %q", d.Files[0].After)
	}
}

// TestDiffIsOfTheWholeRepository reads it from a folder, and limited to a part.
func TestDiffIsOfTheWholeRepository(t *testing.T) {
	dir := repo.New(t)
	repo.Write(t, dir, "lib/lib.go", "package other\n")
	repo.Write(t, dir, "lib/agentd/changes/c/proposal.md", "p\n")
	lib := filepath.Join(dir, "lib")
	for _, tt := range []struct {
		project string
		paths   []string
		want    []string
	}{
		{dir, nil, []string{"lib/agentd/changes/c/proposal.md: added", "lib/lib.go: changed", "new.go: added"}},
		{lib, nil, []string{"lib/lib.go: changed", "new.go: added"}},
		{lib, []string{lib}, []string{"lib/lib.go: changed"}},
		{lib, []string{filepath.Join(dir, "new.go"), filepath.Join(dir, "gone")}, []string{"new.go: added"}},
		{lib, []string{dir}, []string{"lib/lib.go: changed", "new.go: added"}},
	} {
		for _, in := range []DiffInput{{Base: "HEAD", Paths: tt.paths}, {Paths: tt.paths, Staged: true}} {
			if in.Staged {
				repo.Run(t, dir, "git", "add", ".")
			}
			if diff := cmp.Diff(tt.want, statuses(readDiff(t, tt.project, in))); diff != "" {
				t.Errorf("%s %v (-want +got):\n%s", tt.project, in, diff)
			}
			repo.Run(t, dir, "git", "reset", "-q")
		}
	}
	if _, err := ReadDiff(t.Context(), always, lib, DiffInput{Base: "HEAD", Paths: []string{t.TempDir()}}); tidegate.CodeOf(err) != tidegate.InvalidArgs {
		t.Errorf("a path outside: %v, want INVALID_ARGS", err)
	}
}

// TestDiffLeavesOutWhatOthersDid is about a base that has moved on: what was committed
// there is not shown, neither forwards nor reversed.
func TestDiffLeavesOutWhatOthersDid(t *testing.T) {
	dir := repo.New(t)
	repo.Run(t, dir, "git", "branch", "-M", "main")
	repo.Run(t, dir, "git", "checkout", "-q", "-b", "topic")
	repo.Write(t, dir, "mine.go", "package mine\n")
	repo.Commit(t, dir)
	repo.Run(t, dir, "git", "checkout", "-q", "main")
	repo.Write(t, dir, "main.go", "package main\n\nfunc guard() {}\n")
	repo.Commit(t, dir)
	repo.Run(t, dir, "git", "checkout", "-q", "topic")
	want := []string{"mine.go: added", "new.go: added", "prog.out: added"}
	for _, in := range []DiffInput{{Base: "main"}, {Base: "main", Committed: true}, {}, {Base: "main", Head: "topic"}, {Head: "topic"}} {
		if diff := cmp.Diff(want, statuses(readDiff(t, dir, in))); diff != "" {
			t.Errorf("%+v (-want +got):\n%s", in, diff)
		}
	}
	// A commit that main has is compared with the one before it, the first with nothing.
	if diff := cmp.Diff([]string{"main.go: changed"}, statuses(readDiff(t, dir, DiffInput{Head: "main"}))); diff != "" {
		t.Errorf("the last of main (-want +got):\n%s", diff)
	}
	first := readDiff(t, dir, DiffInput{Head: "main~1"})
	if len(first.Files) != 6 || first.Since() != "the empty tree" || len(first.Commits) != 1 {
		t.Errorf("the first commit: %q since %s, %q", statuses(first), first.Since(), first.Commits)
	}
}

// TestDiffBeforeTheFirstCommit compares with nothing.
func TestDiffBeforeTheFirstCommit(t *testing.T) {
	repo.New(t) // its environment
	dir := t.TempDir()
	repo.Run(t, dir, "git", "init", "-q")
	repo.Write(t, dir, "main.go", "package main\n")
	repo.Run(t, dir, "git", "add", ".")
	repo.Write(t, dir, "later.go", "package later\n")
	for _, tt := range []struct {
		in   DiffInput
		want []string
	}{
		{DiffInput{}, []string{"later.go: added", "main.go: added"}},
		{DiffInput{Staged: true}, []string{"main.go: added"}},
		{DiffInput{Committed: true}, nil},
	} {
		if diff := cmp.Diff(tt.want, statuses(readDiff(t, dir, tt.in))); diff != "" {
			t.Errorf("%+v (-want +got):\n%s", tt.in, diff)
		}
	}
	for _, in := range []DiffInput{{Base: "main"}, {Head: "HEAD"}} {
		if _, err := ReadDiff(t.Context(), always, dir, in); tidegate.CodeOf(err) != tidegate.InvalidArgs {
			t.Errorf("%+v: %v, want INVALID_ARGS", in, err)
		}
	}
}

// TestDiffOfWhatIsStaged: the bytes that a commit would have, not those of the files.
func TestDiffOfWhatIsStaged(t *testing.T) {
	dir := repo.New(t)
	repo.Write(t, dir, "main.go", "package staged\n")
	repo.Run(t, dir, "git", "add", "main.go")
	repo.Write(t, dir, "main.go", "package later\n")
	d := readDiff(t, dir, DiffInput{Staged: true})
	if diff := cmp.Diff([]string{"main.go: changed"}, statuses(d)); diff != "" || string(d.Files[0].After) != "package staged\n" {
		t.Errorf("got %+v (-want +got):\n%s", d.Files, diff)
	}
	repo.Commit(t, dir)
	repo.Run(t, dir, "git", "checkout", "-q", "-b", "other", "HEAD~1")
	repo.Write(t, dir, "main.go", "package other\n")
	repo.Commit(t, dir)
	repo.Run(t, dir, "sh", "-c", "! git merge -q -m m @{-1}")
	if _, err := ReadDiff(t.Context(), always, dir, DiffInput{Staged: true}); tidegate.CodeOf(err) != tidegate.InvalidState {
		t.Errorf("in conflict: %v, want INVALID_STATE", err)
	}
}

// TestDiffShowsRenamesAndModes: a file that was moved and edited is one file, and its
// mode is shown wherever it changed.
func TestDiffShowsRenamesAndModes(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("files have no modes here")
	}
	dir := repo.New(t)
	text := strings.Repeat("a line that stays\n", 20)
	repo.WriteAll(t, dir, map[string]string{"old.sh": text, "code.go": "package code\n" + text, "plain.sh": "exit\n"})
	repo.Commit(t, dir)
	for from, to := range map[string]string{"old.sh": "bin/moved.sh", "code.go": "third_party/code.go"} {
		repo.WriteAll(t, dir, map[string]string{to: "first\n" + text})
		must.Do(t, os.Remove(filepath.Join(dir, from)))
	}
	repo.Write(t, dir, "main.go", "package changed\n")
	repo.Write(t, dir, "tool.sh", "exit\n")
	for _, name := range []string{"bin/moved.sh", "main.go", "plain.sh", "tool.sh"} {
		must.Do(t, os.Chmod(filepath.Join(dir, name), 0o755))
	}
	want := []string{
		"bin/moved.sh: renamed from old.sh, mode 100644 → 100755", "main.go: changed, mode 100644 → 100755", "tool.sh: added, mode 100755",
		"plain.sh left out: its mode is 100755, it was 100644", "third_party/code.go left out: vendored, renamed from code.go (unseen)",
	}
	if diff := cmp.Diff(want, statuses(readDiff(t, dir, DiffInput{Base: "HEAD"}))); diff != "" {
		t.Errorf("the work tree (-want +got):\n%s", diff)
	}
	repo.Run(t, dir, "git", "add", ".")
	if diff := cmp.Diff(want, statuses(readDiff(t, dir, DiffInput{Staged: true}))); diff != "" {
		t.Errorf("staged (-want +got):\n%s", diff)
	}
	// Where the repository says that modes do not count, those of the index do.
	repo.Run(t, dir, "git", "config", "core.fileMode", "false")
	must.Do(t, os.Chmod(filepath.Join(dir, "main.go"), 0o644))
	if diff := cmp.Diff(want, statuses(readDiff(t, dir, DiffInput{Base: "HEAD"}))); diff != "" {
		t.Errorf("without modes (-want +got):\n%s", diff)
	}
}

// TestDiffOfAShallowClone says what to fetch where the commit that is needed is not
// there.
func TestDiffOfAShallowClone(t *testing.T) {
	dir := repo.New(t)
	repo.Run(t, dir, "git", "branch", "-M", "main")
	repo.Run(t, dir, "git", "checkout", "-q", "-b", "topic")
	repo.Commit(t, dir)
	repo.Write(t, dir, "main.go", "package topic\n")
	repo.Commit(t, dir)
	clone := t.TempDir()
	repo.Run(t, dir, "git", "clone", "-q", "--depth=1", "--no-single-branch", "file://"+dir, clone)
	for _, in := range []DiffInput{{Base: "origin/main"}, {Base: "origin/main", Committed: true}, {Head: "HEAD"}} {
		_, err := ReadDiff(t.Context(), always, clone, in)
		if tidegate.CodeOf(err) != tidegate.InvalidState || !strings.Contains(err.Error(), "git fetch --unshallow") {
			t.Errorf("%+v: %v, want INVALID_STATE and what to fetch", in, err)
		}
	}
	if _, err := ReadDiff(t.Context(), always, clone, DiffInput{Base: "HEAD~1"}); tidegate.CodeOf(err) != tidegate.InvalidArgs || !strings.Contains(err.Error(), "shallow") {
		t.Errorf("a commit that is not there: %v", err)
	}
	repo.Run(t, clone, "git", "fetch", "-q", "--unshallow")
	if diff := cmp.Diff([]string{"main.go: changed", "new.go: added", "prog.out: added"}, statuses(readDiff(t, clone, DiffInput{Base: "origin/main"}))); diff != "" {
		t.Errorf("after fetching (-want +got):\n%s", diff)
	}
}

// TestDiffOfASparseWorkTree: files that are not meant to be there are not deleted.
func TestDiffOfASparseWorkTree(t *testing.T) {
	dir := repo.New(t)
	repo.Run(t, dir, "git", "update-index", "--skip-worktree", "lib/lib.go")
	must.Do(t, os.Remove(filepath.Join(dir, "lib/lib.go")))
	d := readDiff(t, dir, DiffInput{Base: "HEAD"})
	if diff := cmp.Diff([]string{"new.go: added"}, statuses(d)); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	if lines, ok, err := linesOf(t, d, "lib/lib.go"); lines != 1 || !ok || err != nil {
		t.Errorf("lib/lib.go has %d lines, %v, %v", lines, ok, err)
	}
}

// TestDiffNamesSubmodules changes the commit of a submodule, and its files: those
// belong to another repository.
func TestDiffNamesSubmodules(t *testing.T) {
	dir := repo.New(t)
	gitlink := func(digit string) {
		repo.Run(t, dir, "git", "update-index", "--add", "--cacheinfo", "160000,"+strings.Repeat(digit, 40)+",sub/module")
	}
	gitlink("1")
	repo.Run(t, dir, "git", "-c", "user.name=n", "-c", "user.email=e@example.org", "commit", "-q", "-m", "m")
	repo.Write(t, dir, "sub/module/inner.go", "package inner\n")
	repo.Write(t, dir, "sub/outer.go", "package outer\n")
	want := []string{"new.go: added", "sub/outer.go: added"}
	if diff := cmp.Diff(want, statuses(readDiff(t, dir, DiffInput{Base: "HEAD"}))); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	gitlink("2")
	if diff := cmp.Diff(append(want, "sub/module left out: a submodule at 222222222222, it was at 111111111111"), statuses(readDiff(t, dir, DiffInput{Base: "HEAD"}))); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}

func TestDiffRefuses(t *testing.T) {
	dir := repo.New(t)
	for _, base := range []string{"nowhere", "--help", "-h", "HEAD:main.go", "HEAD\nHEAD"} {
		if _, err := ReadDiff(t.Context(), always, dir, DiffInput{Base: base}); tidegate.CodeOf(err) != tidegate.InvalidArgs {
			t.Errorf("base %q: %v, want INVALID_ARGS", base, err)
		}
	}
	if _, err := ReadDiff(t.Context(), always, t.TempDir(), DiffInput{}); tidegate.CodeOf(err) != tidegate.FileNotFound {
		t.Errorf("outside a repository: %v, want NOT_FOUND", err)
	}
}

// TestDiffRunsNothingOfTheRepository has a repository that is configured to run a
// program wherever git can run one.
func TestDiffRunsNothingOfTheRepository(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no shell script runs here")
	}
	dir := repo.New(t)
	ran := filepath.Join(t.TempDir(), "ran")
	script := filepath.Join(t.TempDir(), "script")
	must.Do(t, os.WriteFile(script, []byte("#!/bin/sh\necho ran >>"+ran+"\ncat\n"), 0o755))
	repo.Write(t, dir, ".gitattributes", "* filter=evil diff=evil text eol=lf\n")
	repo.Commit(t, dir)
	repo.Write(t, dir, "main.go", "package main // changed\n")
	for _, setting := range []string{
		"filter.evil.clean", "filter.evil.smudge", "filter.evil.process", "diff.evil.command", "diff.evil.textconv", "diff.external",
		"core.fsmonitor", "core.pager", "core.sshCommand", "core.editor", "credential.helper", "core.askPass",
	} {
		repo.Run(t, dir, "git", "config", setting, script)
	}
	for _, hook := range []string{"post-checkout", "post-index-change", "fsmonitor-watchman", "reference-transaction"} {
		must.Do(t, os.Symlink(script, filepath.Join(dir, ".git", "hooks", hook)))
	}
	for _, in := range []DiffInput{{Base: "HEAD"}, {Base: "HEAD", Committed: true}} {
		d := readDiff(t, dir, in)
		if changed := slices.ContainsFunc(d.Files, func(f review.File) bool { return f.Name == "main.go" }); changed == in.Committed {
			t.Errorf("%+v: %q", in, statuses(d))
		}
	}
	if text, err := os.ReadFile(ran); err == nil {
		t.Errorf("the repository ran a program:\n%s", text)
	}
}

// TestDiffShowsWhatHasNoLines: what changes about a file without its content is
// named.
func TestDiffShowsWhatHasNoLines(t *testing.T) {
	dir := repo.New(t)
	repo.WriteAll(t, dir, map[string]string{"run.sh": "exit\n", "place": "/etc/passwd"})
	repo.Run(t, dir, "git", "add", ".")
	repo.Run(t, dir, "git", "commit", "-q", "-m", "files")
	must.Do(t, os.Remove(filepath.Join(dir, "place")))
	must.Do(t, os.Symlink("/etc/passwd", filepath.Join(dir, "place")))
	repo.Run(t, dir, "git", "add", ".")
	repo.Run(t, dir, "git", "update-index", "--chmod=+x", "run.sh")
	repo.Run(t, dir, "git", "commit", "-q", "-m", "others")
	d := must.Get(ReadDiff(t.Context(), always, dir, DiffInput{Base: "HEAD~1", Committed: true}))(t)
	defer d.Close()
	want := []LeftOut{{File: "place", Why: `a link to "/etc/passwd"`}, {File: "run.sh", Why: "its mode is 100755, it was 100644"}}
	if !slices.Equal(d.LeftOut, want) || len(d.Files) != 0 {
		t.Errorf("got %+v and %+v, want %+v", d.LeftOut, d.Files, want)
	}
}

// TestAttributesThatConvertAreNamed: a change is for a person where files are checked out
// otherwise because of it.
func TestAttributesThatConvertAreNamed(t *testing.T) {
	const base = "* text=auto\n*.bat eol=crlf\n*.png -text\n"
	for name, tt := range map[string]struct{ file, text, want string }{
		"an encoding":         {".gitattributes", base + "*.sh working-tree-encoding=UTF-16BE\n", "*.sh working-tree-encoding=UTF-16BE"},
		"in a folder":         {"sub/.GitAttributes", "#\n *.sh\ttext eol=crlf\r\n", "*.sh text eol=crlf"},
		"among other words":   {".gitattributes", base + "*.go diff=go ident\n", "*.go diff=go ident"},
		"a macro":             {".gitattributes", base + "[attr]plain -text\n", "[attr]plain -text"},
		"a macro of the base": {".gitattributes", base + "*.sh plain\n", "*.sh plain"},
		"one less":            {".gitattributes", strings.Replace(base, "*.png -text\n", "", 1), "*.png -text"},
		"another order":       {".gitattributes", "*.png -text\n*.bat eol=crlf\n* text=auto\n", "*.bat eol=crlf"},
		"none any more":       {".gitattributes", "", "* text=auto"},
		"among controls":      {".gitattributes", base + "#" + strings.Repeat("\x01", 200) + "\n*.sh filter=x\n", "*.sh filter=x"},
		"what turns them off": {".gitattributes", base + "*.sh -text !eol\n*.jpg binary\n", ""},
		"what is another":     {".gitattributes", "# *.sh ident\n" + base + "*.gen linguist-generated -diff merge=union\nx\n", ""},
		"another file":        {"attributes", "*.sh ident\n", ""},
	} {
		dir := repo.New(t)
		repo.Write(t, dir, ".gitattributes", base)
		repo.Commit(t, dir)
		repo.Write(t, dir, tt.file, tt.text)
		repo.Commit(t, dir)
		var want []Converted
		if tt.want != "" {
			want = []Converted{{tt.file, tt.want}}
		}
		if got := readDiff(t, dir, DiffInput{Base: "HEAD~1", Committed: true}).Converted(); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

// TestLineEndsAreShown: a file of other line ends is another file, to the shell too, unless
// git would commit it as it was.
func TestLineEndsAreShown(t *testing.T) {
	for name, tt := range map[string]struct{ attributes, setting, is, want string }{
		"nothing converts":        {"", "false", "#!/bin/sh\r\nrun\r\n", "run.sh: changed, every line ends in CR LF and did not before"},
		"another file's":          {"*.bat text\n", "false", "#!/bin/sh\r\nrun\r\n", "run.sh: changed, every line ends in CR LF and did not before"},
		"turned off":              {"*.sh -text eol=crlf\n", "true", "#!/bin/sh\r\nrun\r\n", "run.sh: changed, every line ends in CR LF and did not before"},
		"a carriage return alone": {"* text=auto\n", "true", "#!/bin/sh\r\nr\run\r\n", "run.sh: changed, every line ends in CR LF and did not before"},
		"by attributes":           {"*.sh text\n", "false", "#!/bin/sh\r\nrun\r\n", ""},
		"by all attributes":       {"* text=auto\n", "false", "#!/bin/sh\r\nrun\r\n", ""},
		"by their ends":           {"*.sh eol=lf\n", "false", "#!/bin/sh\r\nrun\r\n", ""},
		"by a setting":            {"", "input", "#!/bin/sh\r\nrun\r\n", ""},
		"one line of two":         {"", "true", "#!/bin/sh\r\nrun\n", ""},
		"one line, kept":          {"", "false", "#!/bin/sh\r\nrun\n", "run.sh: changed"},
	} {
		dir := repo.New(t)
		repo.Run(t, dir, "git", "config", "core.autocrlf", tt.setting)
		repo.Write(t, dir, ".gitattributes", tt.attributes)
		repo.Write(t, dir, "run.sh", strings.ReplaceAll(tt.is, "\r\n", "\n"))
		repo.Commit(t, dir)
		repo.Write(t, dir, "run.sh", tt.is)
		d := readDiff(t, dir, DiffInput{Base: "HEAD"})
		if got := strings.Join(statuses(d), "\n"); got != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
		if text, _, err := d.Text(t.Context(), "run.sh"); string(text) != tt.is || err != nil {
			t.Errorf("%s: %q, %v", name, text, err)
		}
	}
}

// TestALinkDecidesNoReview: git follows no link to attributes, and no reviewer reads where one
// leads.
func TestALinkDecidesNoReview(t *testing.T) {
	for _, name := range []string{".gitattributes", "sub/.GitAttributes"} {
		dir := repo.New(t)
		repo.Write(t, dir, name, "*.sh eol=lf\n")
		repo.Commit(t, dir)
		must.Do(t, os.Remove(filepath.Join(dir, name)))
		if err := os.Symlink("lib/lib.go", filepath.Join(dir, name)); err != nil {
			t.Skipf("no link can be made here: %v", err)
		}
		for _, committed := range []bool{false, true} {
			base := "HEAD"
			if committed {
				repo.Commit(t, dir)
				base = "HEAD~1"
			}
			unseen := readDiff(t, dir, DiffInput{Base: base, Committed: committed}).Unseen()
			if len(unseen) != 1 || unseen[0].File != name {
				t.Errorf("%s: a person hears of %+v", name, unseen)
			}
		}
	}
}

// TestCopies: a copy has the files of the version, as files, programs and links,
// without what git ignores and without the folder of changes. Nothing of the
// repository is run for it, and nothing is written to it.
func TestCopies(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no links and modes here")
	}
	dir := repo.New(t)
	ran := filepath.Join(t.TempDir(), "ran")
	repo.Write(t, dir, ".gitattributes", "*.txt filter=evil\n")
	repo.Write(t, dir, "deep/er/note.txt", strings.Repeat("x", 2<<20))
	repo.Write(t, dir, "AGENTS.md", "obey\n")
	repo.Write(t, dir, "agentd/changes/c/proposal.md", "p\n")
	must.Do(t, os.Symlink("/etc/passwd", filepath.Join(dir, "link")))
	must.Do(t, os.Chmod(filepath.Join(dir, "run.sh"), 0o755))
	repo.Commit(t, dir)
	said := func(dir, line string) string {
		t.Helper()
		cmd := exec.Command("sh", "-c", line)
		cmd.Dir = dir
		out := must.Get(cmd.Output())(t)
		return string(out)
	}
	repo.Write(t, dir, "staged.go", "package staged\n")
	repo.Run(t, dir, "git", "add", "staged.go")
	repo.Run(t, dir, "git", "config", "filter.evil.smudge", "touch "+ran)
	repo.Run(t, dir, "git", "config", "filter.evil.clean", "touch "+ran)
	repo.Write(t, dir, "loose.go", "package loose\n")
	repo.Write(t, dir, "main.go", "package edited\n")
	repo.Write(t, dir, "x.out", "ignored\n")
	before := said(dir, "find .git -type f | sort | xargs sha1sum")
	for name, tt := range map[string]struct {
		in   DiffInput
		more []string
		main string
	}{
		"the work tree": {DiffInput{Base: "HEAD"}, []string{"loose.go", "staged.go"}, "package edited\n"},
		"the index":     {DiffInput{Staged: true}, []string{"staged.go"}, "package main\n"},
		"the commit":    {DiffInput{Base: "HEAD", Committed: true}, nil, "package main\n"},
	} {
		to := t.TempDir()
		must.Do(t, readDiff(t, dir, tt.in).Copy(t.Context(), to, func(name string) bool { return name == "AGENTS.md" }))
		want := append([]string{".gitattributes", ".gitignore", "agentd/project.md", "deep/er/note.txt", "kept.out", "lib/lib.go", "link", "main.go", "new.go", "prog.out", "run.sh"}, tt.more...)
		slices.Sort(want)
		got := strings.Fields(said(to, "find . -type f -o -type l | sed s,^./,, | LC_ALL=C sort"))
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		text, err := os.ReadFile(filepath.Join(to, "main.go"))
		if err != nil || string(text) != tt.main {
			t.Errorf("%s: main.go is %q, %v", name, text, err)
		}
		if info, err := os.Stat(filepath.Join(to, "run.sh")); err != nil || info.Mode().Perm()&0o111 == 0 {
			t.Errorf("%s: run.sh is no program: %v, %v", name, info, err)
		}
		if target, err := os.Readlink(filepath.Join(to, "link")); err != nil || target != "/etc/passwd" {
			t.Errorf("%s: link leads to %q, %v", name, target, err)
		}
		if info, err := os.Stat(filepath.Join(to, "deep/er/note.txt")); err != nil || info.Size() != 2<<20 {
			t.Errorf("%s: note.txt: %v, %v", name, info, err)
		}
	}
	if _, err := os.Lstat(ran); err == nil {
		t.Error("a filter of the repository ran")
	}
	if after := said(dir, "find .git -type f | sort | xargs sha1sum"); after != before {
		t.Errorf("the repository is another:\n%s\n%s", before, after)
	}
}

// TestUnseen: text that no reviewer is shown is told from what a rule leaves out and
// from what is no text, in the files as they are, staged and committed.
func TestUnseen(t *testing.T) {
	dir := repo.New(t)
	repo.Write(t, dir, ".gitattributes", "data/** linguist-generated\n")
	repo.Write(t, dir, "third_party/gone.go", "package gone\n")
	repo.Commit(t, dir)
	long := strings.Repeat("one more line\n", 1<<17)
	repo.WriteAll(t, dir, map[string]string{
		".gitattributes": "data/** linguist-generated\nhidden.go linguist-generated\n", "hidden.go": "package hidden\n", "data/long.txt": long,
		"long.sql": long, "photo.jpg": "\xff\xd8\xff\xe0\x00\x10JFIF\x00" + strings.Repeat("\x00\x01\xff", 1<<19), "wide.py": "\xff\xfep\x00a\x00s\x00s\x00",
		"third_party/lib.go": "package lib\n", "vendor/ours.go": "package ours\n", "go.sum": "x\n", "long.gen": long,
	})
	must.Do(t, os.Remove(filepath.Join(dir, "third_party/gone.go")))
	want := []string{
		".gitattributes: changed",
		"data/long.txt left out: generated, says .gitattributes", "go.sum left out: a lock file",
		"hidden.go left out: generated, says .gitattributes, which the base does not say (unseen)", `long.gen left out: ignored by "*.gen" of tidegate.toml`,
		"long.sql left out: larger than 1 MiB (unseen)", "photo.jpg left out: binary", "third_party/gone.go left out: vendored",
		"third_party/lib.go left out: vendored (unseen)", `vendor/ours.go left out: ignored by "vendor/**" of tidegate.toml`, "wide.py left out: a program that is not UTF-8 (unseen)",
	}
	in := DiffInput{Base: "HEAD", Settings: Settings{Ignore: []string{"vendor/**", "*.gen"}, IgnoreBefore: []string{"*.gen", "vendor/**"}}}
	if diff := cmp.Diff(want, statuses(readDiff(t, dir, in))); diff != "" {
		t.Errorf("the work tree (-want +got):\n%s", diff)
	}
	repo.Run(t, dir, "git", "add", "--all")
	if diff := cmp.Diff(want, statuses(readDiff(t, dir, DiffInput{Staged: true, Settings: in.Settings}))); diff != "" {
		t.Errorf("the index (-want +got):\n%s", diff)
	}
	repo.Commit(t, dir)
	if diff := cmp.Diff(want, statuses(readDiff(t, dir, DiffInput{Base: "HEAD~1", Head: "HEAD", Settings: in.Settings}))); diff != "" {
		t.Errorf("the commit (-want +got):\n%s", diff)
	}
}

// TestDiffLeavesOutWhatSettingsName: globs and attributes, as they are or as a commit
// has them.
func TestDiffLeavesOutWhatSettingsName(t *testing.T) {
	dir := repo.New(t)
	repo.Write(t, dir, ".gitattributes", "*.gen linguist-generated\nkept.gen -linguist-generated\nother/** linguist-vendored=true\nvendor/ours/** -linguist-vendored\n")
	repo.Write(t, dir, "tidegate.toml", "[review]\n")
	repo.Commit(t, dir)
	repo.WriteAll(t, dir, map[string]string{"api.gen": "x\n", "kept.gen": "x\n", "other/a/b.go": "x\n", "docs/api/deep/x.md": "x\n", "docs/x.md": "x\n", "lib/a.pb.go": "x\n", "hidden.go": "x\n", "vendor/ours/a.go": "x\n", "vendor/theirs/a.go": "x\n"})
	globs := []string{"docs/api/**", "*.pb.go", "[", "nothing/*"}
	settings := Settings{Ignore: append(globs, "hidden.go"), IgnoreBefore: globs}
	want := []string{
		"docs/x.md: added", "kept.gen: added", "vendor/ours/a.go: added", "api.gen left out: generated, says .gitattributes", `docs/api/deep/x.md left out: ignored by "docs/api/**" of tidegate.toml`,
		`hidden.go left out: ignored by "hidden.go" of tidegate.toml, which the base does not say (unseen)`, `lib/a.pb.go left out: ignored by "*.pb.go" of tidegate.toml`, "other/a/b.go left out: vendored, says .gitattributes",
		"vendor/theirs/a.go left out: vendored (unseen)",
	}
	if diff := cmp.Diff(want, statuses(readDiff(t, dir, DiffInput{Base: "HEAD", Settings: settings}))); diff != "" {
		t.Errorf("the work tree (-want +got):\n%s", diff)
	}
	// The change marks everything as generated; with the attributes of the base that
	// counts for nothing.
	repo.Write(t, dir, ".gitattributes", "* linguist-generated\n")
	repo.Write(t, dir, "tidegate.toml", "[review]\nignore = [\"**\"]\n")
	settings = Settings{Ignore: globs, At: "HEAD"}
	want = slices.Insert(slices.DeleteFunc(want, func(line string) bool { return strings.HasPrefix(line, "hidden.go") }), 1, "hidden.go: added")
	want = append([]string{".gitattributes: changed"}, want...)
	want = slices.Insert(want, 4, "tidegate.toml: changed")
	if diff := cmp.Diff(want, statuses(readDiff(t, dir, DiffInput{Base: "HEAD", Settings: settings}))); diff != "" {
		t.Errorf("as of the base (-want +got):\n%s", diff)
	}
	text, found, err := FileAt(t.Context(), always, filepath.Join(dir, "lib"), "HEAD", filepath.Join(dir, "tidegate.toml"))
	if string(text) != "[review]\n" || !found || err != nil {
		t.Errorf("tidegate.toml of the base is %q, %v, %v", text, found, err)
	}
	for _, name := range []string{"nothing", "lib", "../above"} {
		if _, found, err := FileAt(t.Context(), always, dir, "HEAD", filepath.Join(dir, name)); found || err != nil {
			t.Errorf("%s: %v, %v", name, found, err)
		}
	}
}

// TestObjectsAreWhatTheirIDsSay: a file is not shown from an object that somebody
// wrote under the id of another.
func TestObjectsAreWhatTheirIDsSay(t *testing.T) {
	dir := repo.New(t)
	repo.Run(t, dir, "git", "commit", "-q", "--allow-empty", "-m", "first")
	repo.WriteAll(t, dir, map[string]string{"a.txt": "evil\n"})
	repo.Run(t, dir, "git", "add", "a.txt")
	repo.Run(t, dir, "git", "commit", "-q", "-m", "second")
	id := objectID([]byte("evil\n"), "")
	path := filepath.Join(dir, ".git/objects", id[:2], id[2:])
	must.Do(t, os.Remove(path))
	var planted bytes.Buffer
	z := zlib.NewWriter(&planted)
	io.WriteString(z, "blob 5\x00good\n")
	z.Close()
	must.Do(t, os.WriteFile(path, planted.Bytes(), 0o444))
	d, err := ReadDiff(t.Context(), always, dir, DiffInput{Base: "HEAD~1", Committed: true})
	if tidegate.CodeOf(err) != tidegate.ReadFailed {
		t.Errorf("got %+v and %v, want READ_FAILED", d, err)
	}
}
