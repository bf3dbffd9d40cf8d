//go:build unix

package step_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/work/step"
)

func TestValidateWithoutAFile(t *testing.T) {
	dir := t.TempDir()
	perspectives := filepath.Join(dir, "perspectives.json")
	writeFile(t, perspectives, wellFormed)
	fifo := filepath.Join(dir, "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Skipf("no FIFO can be made here: %v", err)
	}
	locked := filepath.Join(dir, "locked")
	writeFile(t, locked, "x")
	must.Do(t, os.Chmod(locked, 0))
	loop := filepath.Join(dir, "loop")
	must.Do(t, os.Symlink(loop, loop))
	tests := []struct {
		name, path string
		code       tidegate.Code
	}{
		{"a folder", dir, tidegate.ReadFailed},
		{"a FIFO", fifo, tidegate.ReadFailed},
		{"a device", "/dev/null", tidegate.ReadFailed},
		{"a file without permission", locked, tidegate.ReadFailed},
		{"a path through a file", perspectives + "/p1.md", tidegate.FileNotFound},
		{"a link to itself", loop, tidegate.ReadFailed},
		{"a name that is too long", filepath.Join(dir, strings.Repeat("x", 4096)), tidegate.ReadFailed},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if test.path == locked && os.Getuid() == 0 {
				t.Skip("root may read everything")
			}
			_, err := step.Validate(t.Context(), runClock, step.ValidateInput{PerspectivesPath: perspectives, PerspectiveID: "p1", MarkdownPath: test.path})
			if got := tidegate.CodeOf(err); got != test.code {
				t.Errorf("as markdown_path: code %s, want %s (%v)", got, test.code, err)
			}
			_, err = step.Validate(t.Context(), runClock, step.ValidateInput{PerspectivesPath: test.path, PerspectiveID: "p1", MarkdownPath: perspectives})
			if got := tidegate.CodeOf(err); got != test.code {
				t.Errorf("as perspectives_path: code %s, want %s (%v)", got, test.code, err)
			}
		})
	}
}
