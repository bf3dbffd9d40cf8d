package artifact_test

import (
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/test/must"
)

// confined is a folder with two roots, inside and other, and with a secret
// outside them to which all kinds of links lead.
func confined(t *testing.T) (dir, inside, other string) {
	t.Helper()
	dir = t.TempDir()
	inside, other = filepath.Join(dir, "inside"), filepath.Join(dir, "other")
	put := func(name, text string) {
		path := filepath.Join(dir, name)
		must.Write(t, path, text)
	}
	put("inside/file", "in")
	put("inside/deep/er/file", "deep")
	put("other/file", "other")
	put("secret/file", "secret")
	put("inside2/file", "secret")
	for link, target := range map[string]string{
		"inside/link-in":         "deep/er/file",
		"inside/link-in-abs":     filepath.Join(inside, "file"),
		"inside/link-other":      filepath.Join(other, "file"),
		"inside/link-other-rel":  "../other/file",
		"inside/link-out":        filepath.Join(dir, "secret", "file"),
		"inside/link-out-rel":    "../secret/file",
		"inside/dir-out":         filepath.Join(dir, "secret"),
		"inside/dir-in":          "deep",
		"inside/chain":           "chain2",
		"inside/chain2":          "dir-in/er/../../link-out",
		"inside/loop":            "loop",
		"inside/dangling":        filepath.Join(inside, "absent"),
		"inside/dangling-out":    filepath.Join(dir, "absent"),
		"alias":                  inside,
		"inside/deep/up":         "..",
		"inside/through-another": filepath.Join(other, "back"),
		"other/back":             "../inside/file",
	} {
		if err := os.Symlink(target, filepath.Join(dir, link)); err != nil {
			t.Skipf("no symbolic links here: %v", err)
		}
	}
	return dir, inside, other
}

func TestReadingStaysInTheRoots(t *testing.T) {
	dir, inside, other := confined(t)
	reach := artifact.Within(inside, other, filepath.Join(dir, "not-yet"))
	for name, want := range map[string]string{
		"inside/file":                   "in",
		"inside/deep/er/file":           "deep",
		"inside/link-in":                "deep",
		"inside/link-in-abs":            "in",
		"inside/link-other":             "other",
		"inside/link-other-rel":         "other",
		"inside/dir-in/er/file":         "deep",
		"inside/deep/up/file":           "in",
		"inside/through-another":        "in",
		"inside/deep/../file":           "in",
		"inside/../inside/file":         "in",
		"other/file":                    "other",
		"inside/absent":                 string(tidegate.FileNotFound),
		"inside/absent/more":            string(tidegate.FileNotFound),
		"inside/file/more":              string(tidegate.FileNotFound),
		"inside/dangling":               string(tidegate.FileNotFound),
		"not-yet/file":                  string(tidegate.FileNotFound),
		"inside/deep":                   string(tidegate.ReadFailed),
		"inside":                        string(tidegate.ReadFailed),
		"inside/link-out":               string(tidegate.PathNotAllowed),
		"inside/link-out-rel":           string(tidegate.PathNotAllowed),
		"inside/dir-out/file":           string(tidegate.PathNotAllowed),
		"inside/dir-out/absent":         string(tidegate.PathNotAllowed),
		"inside/chain":                  string(tidegate.PathNotAllowed),
		"inside/dangling-out":           string(tidegate.PathNotAllowed),
		"inside/../secret/file":         string(tidegate.PathNotAllowed),
		"inside/deep/../../secret/file": string(tidegate.PathNotAllowed),
		"inside2/file":                  string(tidegate.PathNotAllowed),
		"secret/file":                   string(tidegate.PathNotAllowed),
		"secret/absent":                 string(tidegate.PathNotAllowed),
		"alias/file":                    string(tidegate.PathNotAllowed),
		".":                             string(tidegate.PathNotAllowed),
	} {
		t.Run(name, func(t *testing.T) {
			path := dir + string(filepath.Separator) + filepath.FromSlash(name)
			got, err := reach.ReadFile("path", path)
			if err != nil {
				got = []byte(tidegate.CodeOf(err))
			}
			if string(got) != want {
				t.Errorf("got %q (%v), want %q", got, err, want)
			}
			// The answer beforehand agrees with what happens.
			asked := tidegate.CodeOf(reach.Allowed("path", path)) == tidegate.PathNotAllowed
			if asked != (want == string(tidegate.PathNotAllowed)) {
				t.Errorf("Allowed refuses: %v", asked)
			}
			if err != nil && strings.Contains(err.Error(), "secret") && !strings.Contains(name, "secret") {
				t.Errorf("the message says where a link leads: %v", err)
			}
		})
	}
	if _, err := reach.ReadFile("path", filepath.Join(inside, "loop")); err == nil {
		t.Error("a link to itself was read")
	}
}

func TestRootsAreKnownByTheirRealPathToo(t *testing.T) {
	dir, inside, _ := confined(t)
	reach := artifact.Within(filepath.Join(dir, "alias"))
	for _, path := range []string{filepath.Join(dir, "alias", "file"), filepath.Join(inside, "file")} {
		if _, err := reach.ReadFile("path", path); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
}

func TestWithoutAnyRootNothingIsAllowed(t *testing.T) {
	_, inside, _ := confined(t)
	reach := artifact.Within()
	if _, err := reach.ReadFile("path", filepath.Join(inside, "file")); tidegate.CodeOf(err) != tidegate.PathNotAllowed {
		t.Errorf("got %v", err)
	}
}

func TestWritingStaysInTheRoots(t *testing.T) {
	dir, inside, other := confined(t)
	reach := artifact.Within(inside, other)
	for name, want := range map[string]tidegate.Code{
		"inside/new":          "",
		"inside/file":         "",
		"inside/dir-in/new":   "",
		"inside/link-in":      "",
		"inside/absent/new":   tidegate.WriteFailed,
		"inside/link-out":     tidegate.PathNotAllowed,
		"inside/dir-out/file": tidegate.PathNotAllowed,
		"inside/dir-out/new":  tidegate.PathNotAllowed,
		"inside/../new":       tidegate.PathNotAllowed,
		"secret/file":         tidegate.PathNotAllowed,
	} {
		err := reach.WriteFile("path", dir+"/"+name, []byte("new"))
		if code := tidegate.CodeOf(err); err == nil && want != "" || err != nil && code != want {
			t.Errorf("%s: got %v, want %q", name, err, want)
		}
	}
	if secret, err := os.ReadFile(filepath.Join(dir, "secret", "file")); err != nil || string(secret) != "secret" {
		t.Errorf("the secret is %q by now (%v)", secret, err)
	}
	if entries, err := os.ReadDir(filepath.Join(dir, "secret")); err != nil || len(entries) != 1 {
		t.Errorf("something was written outside: %v %v", entries, err)
	}
}

func TestFoldersAreOpenedAndMadeInTheRoots(t *testing.T) {
	dir, inside, other := confined(t)
	home := filepath.Join(dir, "data", "runs") // not there yet
	reach := artifact.Within(inside, other, home)
	fill := func(d *artifact.Draft) error { return d.Write("manifest.json", []byte("{}")) }
	for name, want := range map[string]tidegate.Code{
		"inside/r1":           "",
		"inside/a/b/r1":       "",
		"inside/dir-in/x/r1":  "",
		"data/runs/r1":        "",
		"inside/dir-out/r1":   tidegate.PathNotAllowed,
		"inside/dir-out/x/r1": tidegate.PathNotAllowed,
		"secret/r1":           tidegate.PathNotAllowed,
		"data/r1":             tidegate.PathNotAllowed,
	} {
		path := filepath.Join(dir, name)
		err := reach.CreateFolder("root", path, fill)
		if code := tidegate.CodeOf(err); err == nil && want != "" || err != nil && code != want {
			t.Errorf("create %s: got %v, want %q", name, err, want)
		}
		folder, err := reach.Open("root", path)
		if want == "" {
			if err != nil {
				t.Errorf("open %s: %v", name, err)
				continue
			}
			if _, err := folder.Read("manifest.json"); err != nil {
				t.Error(err)
			}
			folder.Close()
		} else if tidegate.CodeOf(err) != want {
			t.Errorf("open %s: got %v, want %q", name, err, want)
		}
	}
	if entries, err := os.ReadDir(filepath.Join(dir, "secret")); err != nil || len(entries) != 1 {
		t.Errorf("something was written outside: %v %v", entries, err)
	}
}

func TestFailedCreationLeavesNoFolderInTheRoots(t *testing.T) {
	dir := t.TempDir()
	home := filepath.Join(dir, "data", "runs")
	reach := artifact.Within(home)
	err := reach.CreateFolder("root", filepath.Join(home, "a", "r1"), func(*artifact.Draft) error {
		return tidegate.Errorf(tidegate.InvalidArgs, nil, "no")
	})
	if tidegate.CodeOf(err) != tidegate.InvalidArgs {
		t.Fatal(err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 0 {
		t.Errorf("left behind: %v %v", entries, err)
	}
}

// TestLinkSwappedWhileReading turns a folder into a link to the secret and back
// as fast as it can. No reader may ever see the secret.
func TestLinkSwappedWhileReading(t *testing.T) {
	dir, inside, _ := confined(t)
	reach := artifact.Within(inside)
	real, swapped := filepath.Join(inside, "deep", "er"), filepath.Join(inside, "swapped")
	var stop atomic.Bool
	done := make(chan struct{})
	go func() {
		defer close(done)
		for !stop.Load() {
			for _, target := range []string{real, filepath.Join(dir, "secret")} {
				temp := swapped + ".tmp"
				os.Remove(temp)
				if os.Symlink(target, temp) == nil {
					os.Rename(temp, swapped)
				}
			}
		}
	}()
	seen := map[string]int{}
	// Both states have to be met, however the two sides are scheduled.
	for reads := 0; reads < 3000 || reads < 300_000 && (seen["deep"] == 0 || seen[string(tidegate.PathNotAllowed)] == 0); reads++ {
		data, err := reach.ReadFile("path", filepath.Join(swapped, "file"))
		if err != nil {
			data = []byte(tidegate.CodeOf(err))
		}
		seen[string(data)]++
	}
	stop.Store(true)
	<-done
	if seen["secret"] > 0 || seen["deep"] == 0 {
		t.Errorf("read %v", seen)
	}
}

func TestTooManyFoldersAreNotMade(t *testing.T) {
	_, inside, _ := confined(t)
	deep := filepath.Join(inside, strings.Repeat("n/", 600), "r1")
	err := artifact.Within(inside).CreateFolder("root", deep, func(*artifact.Draft) error { return nil })
	if tidegate.CodeOf(err) != tidegate.PathNotAllowed {
		t.Errorf("got %v", err)
	}
	if _, err := os.Lstat(filepath.Join(inside, "n")); !os.IsNotExist(err) {
		t.Errorf("something was made: %v", err)
	}
}
