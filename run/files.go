package run

import (
	"errors"
	"io/fs"
	"strings"

	"github.com/tidegate/tidegate"
)

// Outputs lists the outputs in a folder of the run, in byte order, as names in
// the run: regular files <perspective id>.md. Plans, sidecars, folders and
// hidden files are none. A folder that is not there has none. It returns
// PATH_NOT_ALLOWED and READ_FAILED.
func (r *Run) Outputs(dir string) ([]string, error) {
	entries, err := r.entries(dir)
	if err != nil {
		return nil, err
	}
	var outputs []string
	for _, e := range entries {
		if e.Type().IsRegular() && strings.HasSuffix(e.Name(), ".md") && !strings.HasPrefix(e.Name(), ".") {
			outputs = append(outputs, dir+"/"+e.Name())
		}
	}
	return outputs, nil
}

// HasFolder reports whether the run has a folder of that name.
func (r *Run) HasFolder(name string) (bool, error) {
	entries, err := r.entries(name)
	return entries != nil, err
}

// entries lists a folder of the run, nil when there is none.
func (r *Run) entries(dir string) ([]fs.DirEntry, error) {
	folder, err := r.folder.Folder(dir)
	switch {
	case tidegate.CodeOf(err) == tidegate.FileNotFound:
		return nil, nil
	case err != nil:
		return nil, err
	}
	defer folder.Close()
	entries, err := fs.ReadDir(folder.FS(), ".")
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, tidegate.Errorf(tidegate.ReadFailed, tidegate.D("path", folder.Path()), "cannot read (%w): %s", err, folder.Path())
	case entries == nil:
		return []fs.DirEntry{}, nil
	}
	return entries, nil
}
