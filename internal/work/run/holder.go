package run

import (
	"path/filepath"
	"strings"

	"github.com/tidegate/tidegate"
)

// Holder is the run or folder of code changes that a path lies in.
type Holder struct {
	Run     string // the root of the nearest run, "" when the path lies in none
	Changes string // the nearest folder of code changes, "" when the path lies in none
}

// Free reports whether a path lies in neither, so that its owner decides what
// stands there.
func (h Holder) Free() bool { return h.Run == "" && h.Changes == "" }

// HolderOf finds out what a path lies in, links followed, from the contents of the
// folders above it. A folder with manifest.json and gates.json is a run; agentd/changes,
// or what stands in its place, and a folder with a STATE.yaml, hold code changes.
// Folders that the caller may not look into hold nothing of his.
func HolderOf(desk Desk, path string) Holder {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	dir := filepath.Dir(path)
	// Folders that do not exist yet hold nothing, however many they are.
	for {
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			dir = real
			break
		}
		parent := filepath.Dir(dir)
		switch {
		case isChanges(desk, dir):
			return Holder{Changes: dir}
		case dir == parent:
			return Holder{}
		}
		dir = parent
	}
	for ; ; dir = filepath.Dir(dir) {
		switch {
		case isChanges(desk, dir), holds(desk, dir, "STATE.yaml"):
			return Holder{Changes: dir}
		case holds(desk, dir, ManifestFile) && holds(desk, dir, layoutDefault("gates_file")):
			return Holder{Run: dir}
		case dir == filepath.Dir(dir):
			return Holder{}
		}
	}
}

func isChanges(desk Desk, dir string) bool {
	path := filepath.ToSlash(dir)
	return strings.HasSuffix(path, "/"+defaultChanges+"/changes") || strings.HasSuffix(path, "/"+desk.ChangesFolder()+"/changes")
}

func holds(desk Desk, dir, name string) bool {
	path := filepath.Join(dir, name)
	file, err := desk.Reach.OpenFile("path", path)
	if tidegate.CodeOf(err) == tidegate.ReadFailed {
		_, err := filepath.EvalSymlinks(path)
		return err == nil // it is there and cannot be opened
	}
	if err != nil {
		return false
	}
	file.Close()
	return true
}
