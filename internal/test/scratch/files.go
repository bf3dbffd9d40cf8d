package scratch

import (
	"io/fs"
	"os"
	"testing/fstest"
)

// Files is what a folder has in it, in memory. A folder that takes long to make is
// made once, and [os.CopyFS] writes it for each test.
func Files(dir string) (fs.FS, error) {
	files, from := fstest.MapFS{}, os.DirFS(dir)
	err := fs.WalkDir(from, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || name == "." {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		file := &fstest.MapFile{Mode: info.Mode()}
		if !entry.IsDir() {
			file.Data, err = fs.ReadFile(from, name)
		}
		files[name] = file
		return err
	})
	return files, err
}
