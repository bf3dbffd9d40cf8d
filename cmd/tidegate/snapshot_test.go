package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/tidegate/tidegate/internal/test/must"
)

// snapshot is everything that is in a folder.
func snapshot(t *testing.T, folder string) map[string]string {
	t.Helper()
	found := map[string]string{}
	must.Do(t, filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		text := ""
		if entry.Type().IsRegular() {
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			text = string(data)
		}
		found[path] = fmt.Sprint(info.Mode(), info.ModTime(), text)
		return nil
	}))
	return found
}
