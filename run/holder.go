package run

import (
	"context"
	"path/filepath"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/artifact"
)

// Holder is what a path lies in.
type Holder struct {
	Run     string // the root of the nearest run, "" when it lies in none
	Changes string // the nearest folder of code changes, "" when it lies in none
}

// Free reports whether a path lies in neither, so that its owner decides what
// stands there.
func (h Holder) Free() bool { return h.Run == "" && h.Changes == "" }

// HolderOf finds out what a path lies in, links followed, by what stands in the
// folders above it. A folder that holds manifest.json and gates.json is a run;
// agentd/changes, and a folder with a STATE.yaml, hold code changes. Folders
// that the caller may not look into hold nothing of his.
func HolderOf(ctx context.Context, path string) Holder {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	dir := filepath.Dir(path)
	// Nothing stands in folders that are not there yet, however many they are.
	for {
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			dir = real
			break
		}
		switch {
		case isChanges(dir):
			return Holder{Changes: dir}
		case dir == filepath.Dir(dir):
			return Holder{}
		}
		dir = filepath.Dir(dir)
	}
	for ; ; dir = filepath.Dir(dir) {
		switch {
		case isChanges(dir), holds(ctx, dir, "STATE.yaml"):
			return Holder{Changes: dir}
		case holds(ctx, dir, ManifestFile) && holds(ctx, dir, layoutDefault("gates_file")):
			return Holder{Run: dir}
		case dir == filepath.Dir(dir):
			return Holder{}
		}
	}
}

func isChanges(dir string) bool {
	return filepath.Base(dir) == "changes" && filepath.Base(filepath.Dir(dir)) == "agentd"
}

func holds(ctx context.Context, dir, name string) bool {
	file, err := artifact.OpenFile(ctx, "path", filepath.Join(dir, name))
	if err != nil {
		return tidegate.CodeOf(err) == tidegate.ReadFailed // it is there and cannot be opened
	}
	file.Close()
	return true
}
