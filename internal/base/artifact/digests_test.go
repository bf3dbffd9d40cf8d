package artifact_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/codec"
)

// TestDigestsNoticeEveryChange changes a file in the ways that leave its size and
// its time of modification as they were.
func TestDigestsNoticeEveryChange(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a")
	folder, err := artifact.Everywhere.Open("path", dir)
	if err != nil {
		t.Fatal(err)
	}
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
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, old, old); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 50 {
		text := string(rune('a' + i%26))
		write(text)
		check("written in place", text)
	}
	if err := os.WriteFile(path+"2", []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(path+"2", old, old); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+"2", path); err != nil {
		t.Fatal(err)
	}
	check("replaced", "x")
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	check("removed", "")
}
