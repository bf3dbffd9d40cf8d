package change

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/review"
)

func readDiff(t *testing.T, dir string, in DiffInput) *Diff {
	t.Helper()
	d, err := ReadDiff(t.Context(), always, dir, in)
	if err != nil {
		t.Fatal(err)
	}
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
		list = append(list, f.File+" left out: "+f.Why)
	}
	return list
}

func TestDiffOfTheWorkTree(t *testing.T) {
	dir := repository(t)
	put(t, dir, "main.go", "package main\n\nfunc main() {}\n")
	put(t, dir, "moved.sh", "#!/bin/sh\n")
	for _, name := range []string{"run.sh", "kept.out"} {
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	put(t, dir, "lib/lib.go", "package lib\r\n") // only its line ends
	put(t, dir, "vendor/x/x.go", "package x\n")
	put(t, dir, "image.png", "\x89PNG\x00\x00")
	put(t, dir, "large.txt", strings.Repeat("x\n", 1<<20))
	put(t, dir, "empty", "")
	put(t, dir, "agentd/changes/c/REVIEW.md", "# Verdict: APPROVED\n")
	if err := os.Symlink("/etc/passwd", filepath.Join(dir, "link")); err != nil && runtime.GOOS != "windows" {
		t.Fatal(err)
	}
	d := readDiff(t, dir, DiffInput{Base: "HEAD"})
	want := []string{
		"empty: added", "kept.out: deleted", "main.go: changed", "moved.sh: renamed from run.sh", "new.go: added",
		"image.png left out: binary", "large.txt left out: larger than 1 MiB", `link left out: a link to "/etc/passwd"`, "vendor/x/x.go left out: vendored",
	}
	if diff := cmp.Diff(want, statuses(d)); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	for name, want := range map[string]int{"main.go": 3, "lib/lib.go": 1, "moved.sh": 1, "empty": 0, ".gitignore": 2} {
		if lines, ok, err := d.Lines(t.Context(), name); lines != want || !ok || err != nil {
			t.Errorf("%s has %d lines, %v, %v; want %d", name, lines, ok, err, want)
		}
	}
	for _, name := range []string{"link", "run.sh", "prog.out", "../etc/passwd", "agentd/changes/c/REVIEW.md", "/etc/passwd", ""} {
		if _, ok, err := d.Lines(t.Context(), name); ok || err != nil {
			t.Errorf("%q is a file of the tree (%v)", name, err)
		}
	}
}

func TestDiffOfCommits(t *testing.T) {
	dir := repository(t)
	command(t, dir, "git", "branch", "-M", "main")
	command(t, dir, "git", "checkout", "-q", "-b", "topic")
	put(t, dir, "main.go", "package main\n\nfunc main() {}\n")
	commit(t, dir)
	put(t, dir, "main.go", "not committed\n")
	d := readDiff(t, dir, DiffInput{Committed: true})
	// The base is where the branch left main; new.go and prog.out were committed with it.
	if diff := cmp.Diff([]string{"main.go: changed", "new.go: added", "prog.out: added"}, statuses(d)); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	if got := string(d.Files[0].After); got != "package main\n\nfunc main() {}\n" {
		t.Errorf("main.go is %q", got)
	}
	if lines, ok, err := d.Lines(t.Context(), "lib/lib.go"); lines != 1 || !ok || err != nil {
		t.Errorf("lib/lib.go has %d lines, %v, %v", lines, ok, err)
	}
	if d := readDiff(t, dir, DiffInput{Committed: true, Base: "HEAD"}); len(d.Files) != 0 {
		t.Errorf("HEAD differs from itself: %q", statuses(d))
	}
	if d := readDiff(t, dir, DiffInput{}); string(d.Files[0].After) != "not committed\n" {
		t.Errorf("main.go is %q", d.Files[0].After)
	}
}

func TestDiffOfAFolderInARepository(t *testing.T) {
	dir := repository(t)
	put(t, dir, "lib/lib.go", "package other\n")
	d := readDiff(t, filepath.Join(dir, "lib"), DiffInput{Base: "HEAD"})
	if diff := cmp.Diff([]string{"lib.go: changed"}, statuses(d)); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}

// TestDiffNamesSubmodules changes the commit of a submodule, and its files: those
// belong to another repository.
func TestDiffNamesSubmodules(t *testing.T) {
	dir := repository(t)
	gitlink := func(digit string) {
		command(t, dir, "git", "update-index", "--add", "--cacheinfo", "160000,"+strings.Repeat(digit, 40)+",sub/module")
	}
	gitlink("1")
	command(t, dir, "git", "-c", "user.name=n", "-c", "user.email=e@example.org", "commit", "-q", "-m", "m")
	put(t, dir, "sub/module/inner.go", "package inner\n")
	put(t, dir, "sub/outer.go", "package outer\n")
	want := []string{"new.go: added", "sub/outer.go: added"}
	if diff := cmp.Diff(want, statuses(readDiff(t, dir, DiffInput{Base: "HEAD"}))); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	gitlink("2")
	if diff := cmp.Diff(append(want, "sub/module left out: a submodule"), statuses(readDiff(t, dir, DiffInput{Base: "HEAD"}))); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}

func TestDiffRefuses(t *testing.T) {
	dir := repository(t)
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
	dir := repository(t)
	ran := filepath.Join(t.TempDir(), "ran")
	script := filepath.Join(t.TempDir(), "script")
	if err := os.WriteFile(script, []byte("#!/bin/sh\necho ran >>"+ran+"\ncat\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	put(t, dir, ".gitattributes", "* filter=evil diff=evil text eol=lf\n")
	commit(t, dir)
	put(t, dir, "main.go", "package main // changed\n")
	for _, setting := range []string{
		"filter.evil.clean", "filter.evil.smudge", "filter.evil.process", "diff.evil.command", "diff.evil.textconv", "diff.external",
		"core.fsmonitor", "core.pager", "core.sshCommand", "core.editor", "credential.helper", "core.askPass",
	} {
		command(t, dir, "git", "config", setting, script)
	}
	for _, hook := range []string{"post-checkout", "post-index-change", "fsmonitor-watchman", "reference-transaction"} {
		if err := os.Symlink(script, filepath.Join(dir, ".git", "hooks", hook)); err != nil {
			t.Fatal(err)
		}
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
	dir := repository(t)
	writeAll(t, dir, map[string]string{"run.sh": "exit\n", "place": "/etc/passwd"})
	command(t, dir, "git", "add", ".")
	command(t, dir, "git", "commit", "-q", "-m", "files")
	if err := os.Remove(filepath.Join(dir, "place")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/etc/passwd", filepath.Join(dir, "place")); err != nil {
		t.Fatal(err)
	}
	command(t, dir, "git", "add", ".")
	command(t, dir, "git", "update-index", "--chmod=+x", "run.sh")
	command(t, dir, "git", "commit", "-q", "-m", "others")
	d, err := ReadDiff(t.Context(), always, dir, DiffInput{Base: "HEAD~1", Committed: true})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	want := []LeftOut{{"place", `a link to "/etc/passwd"`}, {"run.sh", "its mode is 100755, it was 100644"}}
	if !slices.Equal(d.LeftOut, want) || len(d.Files) != 0 {
		t.Errorf("got %+v and %+v, want %+v", d.LeftOut, d.Files, want)
	}
}
