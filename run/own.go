package run

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tidegate/tidegate"
)

// CheckReportPlace returns PATH_NOT_ALLOWED when a wave review at path would
// replace something else of a run, also by a link: one of its documents, or a
// file in the folders of its outputs, summaries and logs. The run is the nearest
// one whose folder holds the path; a path in no run is the caller's to choose.
func CheckReportPlace(ctx context.Context, arg, path string) error {
	given := path
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	} else if dir, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
		path = filepath.Join(dir, filepath.Base(path))
	}
	refused := func(name string) error {
		return tidegate.Errorf(tidegate.PathNotAllowed, tidegate.D(arg, given), "%s would replace %s, which belongs to a run", arg, name)
	}
	for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
		r, err := Open(ctx, filepath.Join(dir, ManifestFile))
		if err != nil {
			if dir == filepath.Dir(dir) {
				break
			}
			continue
		}
		defer r.Close()
		name := nameIn(r.Root(), path)
		switch {
		case name == r.layout.WaveReview, name == "":
			return nil
		case slices.Contains(r.DocumentsBeside("wave_review_report_file"), name):
			return refused(name)
		}
		for _, folder := range []string{r.layout.Wave1Dir, r.layout.Wave2Dir, r.layout.SummariesDir, r.layout.LogsDir} {
			if !strings.HasPrefix(name, folder+"/") {
				continue
			}
			if there, err := r.folder.Exists(name); err != nil || there {
				return refused(name)
			}
		}
		return nil
	}
	// The record of a run that cannot be opened must not be lost either.
	if name := filepath.Base(path); name == ManifestFile || name == layoutDefault("gates_file") || name == filepath.Base(AuditFile) {
		return refused(name)
	}
	return nil
}
