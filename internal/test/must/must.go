// Package must ends a test where a step fails that is not what the test is about.
package must

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// Do ends the test with an error.
func Do(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Get is the value of a call: must.Get(os.ReadFile(path))(t).
func Get[V any](v V, err error) func(testing.TB) V {
	return func(t testing.TB) V {
		t.Helper()
		Do(t, err)
		return v
	}
}

// Both are the two values of a call.
func Both[V, W any](v V, w W, err error) func(testing.TB) (V, W) {
	return func(t testing.TB) (V, W) {
		t.Helper()
		Do(t, err)
		return v, w
	}
}

// Value is the value of a call where no test is at hand, and panics with its error.
func Value[V any](v V, err error) V {
	if err != nil {
		panic(err)
	}
	return v
}

// Read is the content of a file.
func Read(t testing.TB, path string) string {
	t.Helper()
	return string(Get(os.ReadFile(path))(t))
}

// Write writes a file, and makes the folders on its way.
func Write[C string | []byte](t testing.TB, path string, content C) {
	t.Helper()
	Do(t, os.MkdirAll(filepath.Dir(path), 0o700))
	Do(t, os.WriteFile(path, []byte(content), 0o600))
}

// Tree is all that is in a folder: the content of each file, "folder" for a folder.
func Tree(t testing.TB, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	Do(t, filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		name, _ := filepath.Rel(dir, path)
		if entry.IsDir() {
			all[name] = "folder"
			return nil
		}
		data, err := os.ReadFile(path)
		all[name] = string(data)
		return err
	}))
	return all
}
