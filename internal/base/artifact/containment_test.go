package artifact_test

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/test/full"
	"github.com/tidegate/tidegate/internal/test/must"
)

// use calls everything that takes a name in a folder.
func use(t *testing.T, f *artifact.Folder, name string) map[string]error {
	t.Helper()
	errs := map[string]error{}
	_, errs["Read"] = f.Read(name)
	_, errs["Open"] = f.Open(name)
	_, errs["Exists"] = f.Exists(name)
	_, errs["Folder"] = f.Folder(name)
	errs["MakeFolder"] = f.MakeFolder(name)
	errs["Write"] = f.Write(name, []byte("written\n"))
	l := locked(t, f)
	defer l.Unlock()
	tx := l.Begin()
	errs["Tx.Write"] = tx.Write(name, []byte("written\n"))
	tx.Rollback()
	tx = l.Begin()
	errs["Tx.Remove"] = tx.Remove(name)
	tx.Rollback()
	tx = l.Begin()
	tx.Log(name, map[string]int{"n": 1})
	if err := tx.Commit(); err != nil {
		t.Errorf("a commit failed because of its log: %v", err)
	}
	errs["Tx.Log"] = tx.LogError()
	return errs
}

func TestNamesThatAreNotAllowed(t *testing.T) {
	for what, name := range map[string]string{
		"empty":                        "",
		"the folder above":             "..",
		"a file above":                 "../secret",
		"out and in again":             "../folder/a",
		"out on the way":               "sub/../../secret",
		"absolute":                     "/etc/hostname",
		"the lock":                     ".tidegate.lock",
		"the lock in capitals":         ".Tidegate.LOCK",
		"the lock by a way round":      "sub/../.tidegate.lock",
		"the staging folder":           ".tidegate-tx",
		"a file of the staging folder": ".tidegate-tx/record",
		"with a zero byte":             "a\x00b",
		"not UTF-8":                    "a\xffb",
		"too deep":                     strings.Repeat("n/", 512) + "n",
	} {
		t.Run(what, func(t *testing.T) {
			above := t.TempDir()
			put(t, above, map[string]string{"secret": "secret\n", "folder/sub/a": "a\n"})
			before := tree(t, above)
			f := open(t, filepath.Join(above, "folder"))
			for call, err := range use(t, f, name) {
				if tidegate.CodeOf(err) != tidegate.PathNotAllowed {
					t.Errorf("%s: %v, want PATH_NOT_ALLOWED", call, err)
				}
			}
			before["folder/.tidegate.lock"] = ""
			if diff := cmp.Diff(before, tree(t, above)); diff != "" {
				t.Errorf("files changed (-before +after):\n%s", diff)
			}
		})
	}
}

func TestLinksThatLeadOutAreNotFollowed(t *testing.T) {
	above := t.TempDir()
	put(t, above, map[string]string{"outside/secret-name": "secret\n", "folder/sub/a": "a\n"})
	dir := filepath.Join(above, "folder")
	links := map[string]string{
		"to-file":       "../outside/secret-name",
		"to-file-abs":   filepath.Join(above, "outside", "secret-name"),
		"to-dir":        "../outside",
		"to-dir-abs":    filepath.Join(above, "outside"),
		"to-nothing":    "../outside/secret-name-2",
		"sub/up-twice":  "../../outside/secret-name",
		"chain":         "to-file",
		"chain-of-dirs": "to-dir",
	}
	for name, to := range links {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Skipf("no symbolic links here: %v", err)
		}
	}
	outside := tree(t, filepath.Join(above, "outside"))
	for _, name := range []string{"to-file", "to-file-abs", "to-nothing", "sub/up-twice", "chain",
		"to-dir/secret-name", "to-dir/made", "to-dir-abs/secret-name", "chain-of-dirs/secret-name", "to-dir/made/deeper"} {
		for call, err := range use(t, open(t, dir), name) {
			if tidegate.CodeOf(err) != tidegate.PathNotAllowed {
				t.Errorf("%s %s: %v, want PATH_NOT_ALLOWED", call, name, err)
			} else if strings.Contains(strings.ReplaceAll(err.Error(), name, ""), "secret") {
				t.Errorf("%s %s reveals what the link names: %v", call, name, err)
			}
		}
	}
	for _, name := range []string{"to-file", "to-file-abs", "to-nothing"} {
		if err := artifact.Everywhere.WriteFile("report_path", filepath.Join(dir, name), []byte("written\n")); tidegate.CodeOf(err) != tidegate.PathNotAllowed {
			t.Errorf("WriteFile %s: %v, want PATH_NOT_ALLOWED", name, err)
		}
	}
	if diff := cmp.Diff(outside, tree(t, filepath.Join(above, "outside"))); diff != "" {
		t.Errorf("outside changed (-before +after):\n%s", diff)
	}
}

func TestLinksThatStayInside(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, map[string]string{"real.json": "old\n", "sub/deep/real.json": "old\n", "other/x.json": "old\n"})
	for name, to := range map[string]string{"link.json": "real.json", "sub/link.json": "deep/real.json", "sub/up.json": "../other/x.json", "alias": "other", "loop": "loop"} {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Skipf("no symbolic links here: %v", err)
		}
	}
	f := open(t, dir)
	for _, name := range []string{"link.json", "sub/link.json", "sub/up.json", "alias/x.json"} {
		if data, err := f.Read(name); err != nil || string(data) != "old\n" {
			t.Errorf("Read %s: %q, %v", name, data, err)
		}
	}
	for _, name := range []string{"link.json", "sub/link.json", "alias/x.json"} {
		if err := f.Write(name, []byte("new\n")); err != nil {
			t.Errorf("Write %s: %v", name, err)
		}
	}
	if err := f.Write("sub/up.json", []byte("new\n")); tidegate.CodeOf(err) != tidegate.PathNotAllowed {
		t.Errorf("write through a link out of its own folder: %v, want PATH_NOT_ALLOWED", err)
	}
	for _, call := range []error{f.Write("loop", nil), second(f.Read("loop"))} {
		if code := tidegate.CodeOf(call); code != tidegate.WriteFailed && code != tidegate.ReadFailed {
			t.Errorf("link to itself: %v", call)
		}
	}
	want := map[string]string{"real.json": "new\n", "link.json": "link", "sub": "folder", "sub/deep": "folder", "sub/deep/real.json": "new\n",
		"sub/link.json": "link", "sub/up.json": "link", "other": "folder", "other/x.json": "new\n", "alias": "link", "loop": "link"}
	if diff := cmp.Diff(want, tree(t, dir)); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}

func second[T any](_ T, err error) error { return err }

// While writes are under way, the folder that they go to is swapped with a link
// that leads out.
func TestLinkSwappedInDuringWrites(t *testing.T) {
	above := t.TempDir()
	dir := filepath.Join(above, "folder")
	put(t, above, map[string]string{"folder/d/x": "x\n"})
	must.Do(t, os.Mkdir(filepath.Join(above, "outside"), 0o700))
	if err := os.Symlink("../outside", filepath.Join(dir, "evil")); err != nil {
		t.Skipf("no symbolic links here: %v", err)
	}
	stop := make(chan struct{})
	var swapper sync.WaitGroup
	swapper.Go(func() {
		d, real, evil := filepath.Join(dir, "d"), filepath.Join(dir, "real"), filepath.Join(dir, "evil")
		for {
			select {
			case <-stop:
				return
			default:
				os.Rename(d, real)
				os.Rename(evil, d)
				os.Rename(d, evil)
				os.Rename(real, d)
			}
		}
	})
	f := open(t, dir)
	l := locked(t, f)
	const rounds = 150
	for i := 0; i < rounds; i += full.Stride(rounds, 30) {
		f.Write("d/x", []byte("y\n"))
		f.Write("d/new/y", []byte("y\n"))
		tx := l.Begin()
		tx.Write("d/x", []byte("z\n"))
		tx.Write("d/z", []byte("z\n"))
		tx.Log("d/log", map[string]int{"n": 1})
		tx.Commit()
	}
	close(stop)
	swapper.Wait()
	if got := tree(t, filepath.Join(above, "outside")); len(got) > 0 {
		t.Errorf("written outside: %v", got)
	}
}

// A second name of a file outside does not allow writing there: files are replaced,
// never written into, and a log that has one is copied before it is added to.
func TestHardLinksAreNotWrittenThrough(t *testing.T) {
	above := t.TempDir()
	put(t, above, map[string]string{"outside": "secret\n", "folder/a": "a\n"})
	dir := filepath.Join(above, "folder")
	f := open(t, dir)
	must.Do(t, f.Write("b", []byte("b\n")))
	plant := func(name string) {
		t.Helper()
		os.Remove(filepath.Join(dir, name))
		if err := os.Link(filepath.Join(above, "outside"), filepath.Join(dir, name)); err != nil {
			t.Skipf("no hard links here: %v", err)
		}
	}
	plant("a")
	if err := f.Write("a", []byte("new\n")); err != nil {
		t.Error(err)
	}
	plant("a")
	l := locked(t, f)
	tx := l.Begin()
	tx.Write("a", []byte("new\n"))
	if err := tx.Commit(); err != nil {
		t.Error(err)
	}
	plant(".tidegate-ca978112ca1b-0.tmp") // where a write to "a" begins
	if err := f.Write("a", []byte("newer\n")); err != nil {
		t.Error(err)
	}
	plant("log")
	tx = l.Begin()
	tx.Log("log", map[string]int{"n": 1})
	if err := tx.Commit(); err != nil || tx.LogError() != nil {
		t.Error(err, tx.LogError())
	}
	want := map[string]string{"outside": "secret\n", "folder": "folder", "folder/a": "newer\n", "folder/b": "b\n", "folder/.tidegate.lock": "",
		"folder/log": "secret\n" + `{"n":1,"prev":"` + codec.DigestBytes([]byte("secret")) + `"}` + "\n"}
	if diff := cmp.Diff(want, tree(t, above)); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}

func TestLongNames(t *testing.T) {
	f := open(t, t.TempDir())
	longest := strings.Repeat("n", 255)
	if err := f.Write(longest, []byte("x\n")); err != nil {
		t.Errorf("the longest name that a folder takes: %v", err)
	}
	if data, err := f.Read(longest); err != nil || string(data) != "x\n" {
		t.Errorf("%q, %v", data, err)
	}
	for call, err := range use(t, f, longest+"n") {
		want := tidegate.WriteFailed
		switch call {
		case "Read", "Open", "Exists", "Folder":
			want = tidegate.ReadFailed
		}
		if tidegate.CodeOf(err) != want {
			t.Errorf("a byte longer: %s: %v, want %s", call, err, want)
		}
	}
	deepest := strings.Repeat("n/", 511) + "n"
	if err := f.Write(deepest, []byte("x\n")); err != nil {
		t.Errorf("the deepest name: %v", err)
	}
}
