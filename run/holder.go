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
	for dir := filepath.Dir(resolved(path)); ; dir = filepath.Dir(dir) {
		switch {
		case filepath.Base(dir) == "changes" && filepath.Base(filepath.Dir(dir)) == "agentd", holds(ctx, dir, "STATE.yaml"):
			return Holder{Changes: dir}
		case holds(ctx, dir, ManifestFile) && holds(ctx, dir, layoutDefault("gates_file")):
			return Holder{Run: dir}
		case dir == filepath.Dir(dir):
			return Holder{}
		}
	}
}

// resolved is path with the links in it followed, as far as it is there.
func resolved(path string) string {
	for there, rest := filepath.Clean(path), ""; ; {
		if real, err := filepath.EvalSymlinks(there); err == nil {
			return filepath.Join(real, rest)
		}
		if there == filepath.Dir(there) {
			return path
		}
		there, rest = filepath.Dir(there), filepath.Join(filepath.Base(there), rest)
	}
}

func holds(ctx context.Context, dir, name string) bool {
	file, err := artifact.OpenFile(ctx, "path", filepath.Join(dir, name))
	if err != nil {
		return tidegate.CodeOf(err) == tidegate.ReadFailed // it is there and cannot be opened
	}
	file.Close()
	return true
}
