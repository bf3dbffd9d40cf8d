package artifact_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/test/must"
)

func TestAppendReplacesWhatFollows(t *testing.T) {
	dir := t.TempDir()
	lock := locked(t, open(t, dir))
	for _, step := range []struct {
		at         int64
		data, want string
	}{
		{0, "one", "one"},
		{3, " two", "one two"},
		{7, "", "one two"},
		{4, "three", "one three"}, // a torn record is cut
		{0, "x", "x"},
	} {
		must.Do(t, lock.Append("below/log", step.at, []byte(step.data)))
		if got := tree(t, dir)["below/log"]; got != step.want {
			t.Errorf("%q at %d: %q, want %q", step.data, step.at, got, step.want)
		}
	}
}

func TestAppendBehindTheEndIsRefused(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, map[string]string{"log": "one"})
	err := locked(t, open(t, dir)).Append("log", 4, []byte("two"))
	if tidegate.CodeOf(err) != tidegate.WriteFailed || !strings.Contains(err.Error(), "3 bytes") {
		t.Errorf("got %v", err)
	}
	if got := tree(t, dir)["log"]; got != "one" {
		t.Errorf("the file is %q now", got)
	}
}

func TestAppendStaysInItsFolder(t *testing.T) {
	dir, other := t.TempDir(), t.TempDir()
	put(t, other, map[string]string{"log": "one"})
	if err := os.Symlink(filepath.Join(other, "log"), filepath.Join(dir, "link")); err != nil {
		t.Skip(err)
	}
	if err := os.Link(filepath.Join(other, "log"), filepath.Join(dir, "hard")); err != nil {
		t.Skip(err)
	}
	lock := locked(t, open(t, dir))
	if err := lock.Append("link", 3, []byte("x")); tidegate.CodeOf(err) != tidegate.PathNotAllowed {
		t.Errorf("through a link: %v", err)
	}
	if err := lock.Append("../log", 0, []byte("x")); tidegate.CodeOf(err) != tidegate.PathNotAllowed {
		t.Errorf("by its name: %v", err)
	}
	if err := lock.Append("hard", 3, []byte("x")); err != nil || tree(t, dir)["hard"] != "onex" {
		t.Errorf("a file with a second name: %v", err)
	}
	if got := tree(t, other)["log"]; got != "one" {
		t.Errorf("the file elsewhere is %q", got)
	}
}
