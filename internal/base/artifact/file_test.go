package artifact_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/test/must"
)

func TestReadingAnArgument(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, map[string]string{"a.md": "text\n", "empty.md": "", "large.md": strings.Repeat("x", 3<<20)})
	for _, name := range []string{"a.md", "empty.md", "large.md"} {
		data, err := artifact.Everywhere.ReadFile("markdown_path", filepath.Join(dir, name))
		if err != nil || string(data) != tree(t, dir)[name] {
			t.Errorf("%s: %d bytes, %v", name, len(data), err)
		}
	}
	for path, want := range map[string]tidegate.Code{
		filepath.Join(dir, "none.md"):          tidegate.FileNotFound,
		filepath.Join(dir, "none", "a.md"):     tidegate.FileNotFound,
		filepath.Join(dir, "a.md", "below.md"): tidegate.FileNotFound,
		dir:                                    tidegate.ReadFailed,
		os.DevNull:                             tidegate.ReadFailed,
	} {
		_, readErr := artifact.Everywhere.ReadFile("markdown_path", path)
		_, openErr := artifact.Everywhere.OpenFile("markdown_path", path)
		for call, err := range map[string]error{"ReadFile": readErr, "OpenFile": openErr} {
			if tidegate.CodeOf(err) != want {
				t.Errorf("%s %s: %v, want %s", call, path, err, want)
			} else if diff := cmp.Diff(tidegate.Pairs("markdown_path", path), tidegate.AsError(err).Details); diff != "" {
				t.Errorf("%s %s: details (-want +got):\n%s", call, path, diff)
			}
		}
	}
}

func TestReadingInAFolder(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, map[string]string{"sub/a.md": "text\n"})
	f := open(t, dir)
	for name, want := range map[string]tidegate.Code{"none": tidegate.FileNotFound, "sub/none": tidegate.FileNotFound, "sub/a.md/none": tidegate.FileNotFound, "sub": tidegate.ReadFailed, ".": tidegate.ReadFailed} {
		_, err := f.Read(name)
		if tidegate.CodeOf(err) != want {
			t.Errorf("%s: %v, want %s", name, err, want)
		} else if path, _ := tidegate.AsError(err).Details.Get("path"); path != filepath.Join(dir, name) {
			t.Errorf("%s: details name %v", name, path)
		}
		if there, err := f.Exists(name); there || err != nil {
			t.Errorf("%s exists: %v, %v", name, there, err)
		}
	}
	sub := must.Get(f.Folder("sub"))(t)
	defer sub.Close()
	if data, err := sub.Read("a.md"); err != nil || string(data) != "text\n" || sub.Path() != filepath.Join(dir, "sub") {
		t.Errorf("%q, %v in %s", data, err, sub.Path())
	}
	if there, err := sub.Exists("a.md"); !there || err != nil {
		t.Errorf("exists: %v, %v", there, err)
	}
	for _, name := range []string{"none", "sub/a.md"} {
		if _, err := f.Folder(name); tidegate.CodeOf(err) != tidegate.FileNotFound {
			t.Errorf("folder %s: %v, want NOT_FOUND", name, err)
		}
	}
	for _, path := range []string{"", filepath.Join(dir, "none"), filepath.Join(dir, "sub", "a.md")} {
		if _, err := artifact.Everywhere.Open("outputs_dir", path); tidegate.CodeOf(err) != tidegate.FileNotFound {
			t.Errorf("folder %q: %v, want NOT_FOUND", path, err)
		} else if got, _ := tidegate.AsError(err).Details.Get("outputs_dir"); got != path {
			t.Errorf("folder %q: details name %v", path, got)
		}
	}
}

func TestListingAFolder(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, map[string]string{"sub/b.md": "", "sub/B.md": "", "sub/a/x": "", "file": ""})
	must.Do(t, os.Mkdir(filepath.Join(dir, "empty"), 0o700))
	must.Do(t, os.Symlink(t.TempDir(), filepath.Join(dir, "out")))
	f := open(t, dir)
	names := func(name string) string {
		list, err := f.List(name)
		if err != nil {
			return string(tidegate.CodeOf(err))
		}
		if list == nil {
			return "none"
		}
		var all []string
		for _, entry := range list {
			all = append(all, entry.Name())
		}
		return strings.Join(all, " ")
	}
	for name, want := range map[string]string{
		"sub": "B.md a b.md", ".": "empty file out sub", "empty": "", "absent": "none", "file": "none", "file/below": "none",
		"out": "PATH_NOT_ALLOWED", "..": "PATH_NOT_ALLOWED",
	} {
		if got := names(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

func TestWriting(t *testing.T) {
	dir := t.TempDir()
	f := open(t, dir)
	for _, content := range []string{"first\n", "second\n", ""} {
		must.Do(t, f.Write("deep/er/a.json", []byte(content)))
		must.Do(t, artifact.Everywhere.WriteFile("report_path", filepath.Join(dir, "report.json"), []byte(content)))
		want := map[string]string{"deep": "folder", "deep/er": "folder", "deep/er/a.json": content, "report.json": content}
		if diff := cmp.Diff(want, tree(t, dir)); diff != "" {
			t.Errorf("files (-want +got):\n%s", diff)
		}
	}
}

func TestWritingWhereNoFileCanBe(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, map[string]string{"a": "old\n", "folder/b": "old\n"})
	before := tree(t, dir)
	for _, name := range []string{"folder", "a/below", "a/far/below", "."} {
		if err := open(t, dir).Write(name, []byte("new\n")); tidegate.CodeOf(err) != tidegate.WriteFailed {
			t.Errorf("Write %s: %v, want WRITE_FAILED", name, err)
		}
		if err := open(t, dir).MakeFolder(name); name != "folder" && name != "." && tidegate.CodeOf(err) != tidegate.WriteFailed {
			t.Errorf("MakeFolder %s: %v, want WRITE_FAILED", name, err)
		}
	}
	for _, path := range []string{dir, dir + "/", dir + "/.", dir + "/folder/..", filepath.Join(dir, "folder"), filepath.Join(dir, "none", "report.json"), filepath.Join(dir, "a", "report.json"), os.DevNull} {
		err := artifact.Everywhere.WriteFile("report_path", path, []byte("new\n"))
		if tidegate.CodeOf(err) != tidegate.WriteFailed {
			t.Errorf("WriteFile %s: %v, want WRITE_FAILED", path, err)
		} else if diff := cmp.Diff(tidegate.Pairs("report_path", path), tidegate.AsError(err).Details); diff != "" {
			t.Errorf("WriteFile %s: details (-want +got):\n%s", path, diff)
		}
	}
	if diff := cmp.Diff(before, tree(t, dir)); diff != "" {
		t.Errorf("files (-before +after):\n%s", diff)
	}
}

func TestWritersOfOneFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "report.json")
	want := map[string]bool{}
	var writers sync.WaitGroup
	for i := range 8 {
		content := strings.Repeat(string(rune('a'+i)), 100_000)
		want[content] = true
		writers.Go(func() {
			for range 20 {
				if err := artifact.Everywhere.WriteFile("report_path", path, []byte(content)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	writers.Wait()
	if state := tree(t, dir); len(state) != 1 || !want[state["report.json"]] {
		t.Errorf("%d files, report of %d bytes", len(state), len(state["report.json"]))
	}
}

func draft(d *artifact.Draft) error {
	return errors.Join(d.MakeFolder("wave-1"), d.MakeFolder("."), d.Write("operator/scope.json", []byte("{}\n")), d.Log("logs/audit.jsonl", event{N: 1}), d.Log("logs/audit.jsonl", event{N: 2}))
}

func TestCreatingAFolder(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "home", "runs", "r1")
	must.Do(t, artifact.Everywhere.CreateFolder("root", path, draft))
	made := tree(t, path)
	if report := verify(t, made["logs/audit.jsonl"]); report.Lines != 2 || report.Broken+report.Unchained > 0 {
		t.Errorf("%+v", report)
	}
	delete(made, "logs/audit.jsonl")
	want := map[string]string{".tidegate.lock": "", "wave-1": "folder", "operator": "folder", "operator/scope.json": "{}\n", "logs": "folder"}
	if diff := cmp.Diff(want, made); diff != "" {
		t.Errorf("folder (-want +got):\n%s", diff)
	}
	for _, name := range []string{"home", "home/runs", "home/runs/r1", "home/runs/r1/wave-1"} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("%s has mode %v (%v)", name, info.Mode(), err)
		}
	}
	locked(t, open(t, path)).Unlock()
}

func TestCreatingAFolderThatIsThere(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, map[string]string{"file": "x\n", "folder/x": "x\n", ".tidegate.lock": ""})
	must.Do(t, os.Mkdir(filepath.Join(dir, "empty"), 0o700))
	if err := os.Symlink("nowhere", filepath.Join(dir, "link")); err != nil {
		t.Logf("no symbolic links here: %v", err)
	}
	before := tree(t, dir)
	for name, content := range before {
		if strings.Contains(name, "/") || name == ".tidegate.lock" {
			continue
		}
		err := artifact.Everywhere.CreateFolder("root", filepath.Join(dir, name), func(*artifact.Draft) error { t.Errorf("%s was begun", name); return nil })
		if tidegate.CodeOf(err) != tidegate.AlreadyExistsConflict || !errors.Is(err, fs.ErrExist) {
			t.Errorf("%s (%q): %v, want ALREADY_EXISTS_CONFLICT", name, content, err)
		}
	}
	for _, path := range []string{filepath.Join(dir, ".."), filepath.Join(dir, ".tidegate.lock"), "/"} {
		if err := artifact.Everywhere.CreateFolder("root", path, draft); err == nil {
			t.Errorf("%s was made", path)
		}
	}
	if diff := cmp.Diff(before, tree(t, dir)); diff != "" {
		t.Errorf("files (-before +after):\n%s", diff)
	}
}

func TestCreatingAFolderThatFails(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, map[string]string{"file": "x\n"})
	before := tree(t, dir)
	refused := tidegate.Errorf(tidegate.InvalidArgs, nil, "refused")
	for what, attempt := range map[string]struct {
		path string
		fill func(*artifact.Draft) error
		want tidegate.Code
	}{
		"by its maker":            {"a/b/run", func(d *artifact.Draft) error { return errors.Join(draft(d), refused) }, tidegate.InvalidArgs},
		"by a name":               {"run", func(d *artifact.Draft) error { return d.Write("../x", nil) }, tidegate.PathNotAllowed},
		"by a folder's name":      {"run", func(d *artifact.Draft) error { return d.MakeFolder("/x") }, tidegate.PathNotAllowed},
		"by the name of a log":    {"run", func(d *artifact.Draft) error { return d.Log("../x", event{}) }, tidegate.PathNotAllowed},
		"by a file written twice": {"run", func(d *artifact.Draft) error { return errors.Join(d.Write("x", nil), d.Write("x", nil)) }, tidegate.WriteFailed},
		"by a file on its way":    {"file/run", draft, tidegate.WriteFailed},
	} {
		if err := artifact.Everywhere.CreateFolder("root", filepath.Join(dir, attempt.path), attempt.fill); tidegate.CodeOf(err) != attempt.want {
			t.Errorf("%s: %v, want %s", what, err, attempt.want)
		}
		if diff := cmp.Diff(before, tree(t, dir)); diff != "" {
			t.Errorf("%s: files (-before +after):\n%s", what, diff)
		}
	}
}

func TestOneOfSeveralMakesTheFolder(t *testing.T) {
	for range 10 {
		dir := t.TempDir()
		results := make(chan error)
		for range 8 {
			go func() { results <- artifact.Everywhere.CreateFolder("root", filepath.Join(dir, "runs", "r1"), draft) }()
		}
		won := 0
		for range 8 {
			if err := <-results; err == nil {
				won++
			} else if tidegate.CodeOf(err) != tidegate.AlreadyExistsConflict {
				t.Error(err)
			}
		}
		if made := tree(t, dir); won != 1 || len(made) != 8 {
			t.Errorf("%d made it: %v", won, made)
		}
	}
}

func TestReadingEndsWithTheContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	r := artifact.Until(ctx, strings.NewReader("tide"))
	first := make([]byte, 2)
	if n, err := r.Read(first); err != nil || string(first[:n]) != "ti" {
		t.Errorf("before: %q, %v", first[:n], err)
	}
	cancel()
	if n, err := r.Read(first); n != 0 || !errors.Is(err, context.Canceled) {
		t.Errorf("after: %d bytes, %v", n, err)
	}
}

// TestAReplicaStandsInForAnAbsolutePath: what is sealed is checked under such a path, and
// one without a drive is not absolute on every system.
func TestAReplicaStandsInForAnAbsolutePath(t *testing.T) {
	if path := artifact.NoPlace("sealed"); !filepath.IsAbs(path) {
		t.Errorf("%s is not absolute", path)
	}
}

// TestAFolderIsBeingWritten: a folder is being written while the record of a transaction stands,
// and not before and after.
func TestAFolderIsBeingWritten(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	f := open(t, dir)
	if f.Pending() {
		t.Error("a new folder is being written")
	}
	put(t, dir, map[string]string{".tidegate-tx/record": "{}"})
	if !f.Pending() {
		t.Error("a folder with the record of a transaction is not being written")
	}
}

func TestFileName(t *testing.T) {
	for id, want := range map[string]string{
		"wave1.grid":  "wave1.grid",
		"wave1.a:b":   "wave1.a%3Ab",
		"wave1.a%3Ab": "wave1.a%253Ab",
		"..":          "%2E%2E",
		"a/../b":      "a%2F..%2Fb",
		"wave1.x.":    "wave1.x%2E",
		"wave1.größe": "wave1.größe",
		"tab\tbed":    "tab%09bed",
	} {
		if got := artifact.FileName(id); got != want {
			t.Errorf("FileName(%q) = %q, want %q", id, got, want)
		}
	}
	one, other := artifact.FileName(strings.Repeat("?", 128)), artifact.FileName(strings.Repeat("?", 127)+"!")
	long := artifact.FileName(strings.Repeat("ö", 128))
	if one == other || len(one) > 255 || len(long) > 255 || !utf8.ValidString(long) {
		t.Errorf("long ids become %q, %q and %q", one, other, long)
	}
}

func TestRemoveFolder(t *testing.T) {
	home := t.TempDir()
	for _, name := range []string{"one/a/b.txt", "one/c.txt", "two/d.txt", "file", ".tidegate.removed-BEFORE/e.txt"} {
		path := filepath.Join(home, name)
		must.Write(t, path, "12345")
	}
	if err := os.Symlink("two", filepath.Join(home, "link")); err != nil {
		t.Skip(err)
	}
	folder := must.Get(artifact.Everywhere.Open("home", home))(t)
	defer folder.Close()
	one := must.Get(folder.Folder("one"))(t)
	files, bytes, err := one.Size()
	one.Close()
	if files != 2 || bytes != 10 || err != nil {
		t.Errorf("one has %d files of %d bytes, %v", files, bytes, err)
	}
	for name, want := range map[string]tidegate.Code{
		"one": "", "link": tidegate.PathNotAllowed, "file": tidegate.WriteFailed, "none": tidegate.FileNotFound, "../x": tidegate.PathNotAllowed,
	} {
		if got := tidegate.CodeOf(folder.RemoveFolder(name)); got != want {
			t.Errorf("removing %s: %q, want %q", name, got, want)
		}
	}
	entries, err := os.ReadDir(home)
	if err != nil || len(entries) != 3 {
		t.Errorf("what is left: %v, %v", entries, err)
	}
	if _, err := os.Stat(filepath.Join(home, "two", "d.txt")); err != nil {
		t.Error(err)
	}
}

// TestDigestsNoticeEveryChange changes a file in the ways that leave its size and
// its time of modification as they were.
func TestDigestsNoticeEveryChange(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a")
	folder := must.Get(artifact.Everywhere.Open("path", dir))(t)
	defer folder.Close()
	digests := folder.Digests()
	check := func(what, text string) {
		t.Helper()
		want := ""
		if text != "" {
			want = codec.DigestBytes([]byte(text))
		}
		for range 3 {
			if got, err := digests.Of("a"); err != nil || got != want {
				t.Errorf("%s: %s, %v, want %s", what, got, err, want)
			}
		}
	}
	check("no file", "")
	old := time.Now().Add(-time.Hour)
	write := func(text string) {
		t.Helper()
		must.Do(t, os.WriteFile(path, []byte(text), 0o600))
		must.Do(t, os.Chtimes(path, old, old))
	}
	for i := range 50 {
		text := string(rune('a' + i%26))
		write(text)
		check("written in place", text)
	}
	must.Do(t, os.WriteFile(path+"2", []byte("x"), 0o600))
	must.Do(t, os.Chtimes(path+"2", old, old))
	must.Do(t, os.Rename(path+"2", path))
	check("replaced", "x")
	must.Do(t, os.Remove(path))
	check("removed", "")
}

// TestWhatKilledProcessesLeftIsSwept: folders in the making, and temporary copies of others,
// go with the next call of any process; those that somebody is making stay.
func TestWhatKilledProcessesLeftIsSwept(t *testing.T) {
	dir, temp := t.TempDir(), t.TempDir()
	t.Setenv("TMPDIR", temp)
	const left, made = ".tidegate-0123456789ab-0.tmp", ".tidegate-ba9876543210-0.tmp"
	put(t, dir, map[string]string{left + "/.tidegate.lock": "", left + "/half": "x", made + "/.tidegate.lock": ""})
	defer locked(t, open(t, filepath.Join(dir, made))).Unlock()
	put(t, temp, map[string]string{"tidegate-replica-1/claim": `{"process":1,"since":1}`, "tidegate-replica-1/files/half": "x", "tidegate-replica-2/files/young": "x"})
	living, remove, err := artifact.Scratch("tidegate-replica-")
	if err != nil {
		t.Fatal(err)
	}
	defer remove()
	must.Do(t, artifact.Everywhere.CreateFolder("dir", filepath.Join(dir, "another"), func(d *artifact.Draft) error { return d.Write("x", nil) }))
	must.Get(artifact.NewReplica())(t).Close()
	for path, want := range map[string]bool{
		filepath.Join(dir, left): runtime.GOOS == "windows", filepath.Join(dir, made): true,
		filepath.Join(temp, "tidegate-replica-1"): false, filepath.Join(temp, "tidegate-replica-2"): true, living: true,
	} {
		if _, err := os.Stat(path); (err == nil) != want {
			t.Errorf("%s: %v", path, err)
		}
	}
}
