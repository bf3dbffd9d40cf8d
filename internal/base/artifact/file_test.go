package artifact_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/artifact"
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
	sub, err := f.Folder("sub")
	if err != nil {
		t.Fatal(err)
	}
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
	if err := os.Mkdir(filepath.Join(dir, "empty"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(t.TempDir(), filepath.Join(dir, "out")); err != nil {
		t.Fatal(err)
	}
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
		if err := f.Write("deep/er/a.json", []byte(content)); err != nil {
			t.Fatal(err)
		}
		if err := artifact.Everywhere.WriteFile("report_path", filepath.Join(dir, "report.json"), []byte(content)); err != nil {
			t.Fatal(err)
		}
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
	if err := artifact.Everywhere.CreateFolder("root", path, draft); err != nil {
		t.Fatal(err)
	}
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
	if err := os.Mkdir(filepath.Join(dir, "empty"), 0o700); err != nil {
		t.Fatal(err)
	}
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
