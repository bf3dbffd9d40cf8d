package stage_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidegate/tidegate/internal/test/must"
)

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	data := must.Get(os.ReadFile(from))(t)
	must.Do(t, os.WriteFile(to, data, 0o600))
}

// callers lists the files of this module, except tests, that contain text.
func callers(t *testing.T, text string) []string {
	t.Helper()
	var found []string
	files := 0
	err := filepath.WalkDir("..", func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		files++
		data, err := os.ReadFile(path)
		if strings.Contains(string(data), text) {
			found = append(found, path)
		}
		return err
	})
	if err != nil || files < 20 {
		t.Fatalf("looked at %d files: %v", files, err)
	}
	return found
}
