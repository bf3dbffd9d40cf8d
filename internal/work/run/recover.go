package run

import (
	"context"

	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/report"
)

// RecoverResult is the result of [Recover].
type RecoverResult struct {
	OK               codec.True `json:"ok"`
	RunID            string     `json:"run_id"`
	Root             string     `json:"root"`
	Interrupted      bool       `json:"interrupted"` // a write had been cut short
	RevisionBefore   int64      `json:"revision_before"`
	ManifestRevision int64      `json:"manifest_revision"`
}

// Recover ends what a killed process left undone: a write whose record was whole
// is finished, any other is undone and cleared away. Every tool does the same
// before it writes; this is for a person who wants it done now. It returns the
// errors of [Open], LOCK_HELD and CANCELLED.
func Recover(ctx context.Context, desk Desk, manifestPath string) (RecoverResult, error) {
	r, err := Open(ctx, desk, manifestPath)
	if err != nil {
		return RecoverResult{}, err
	}
	defer r.Close()
	out := RecoverResult{RunID: r.ID(), Root: r.Root(), RevisionBefore: r.found, Interrupted: r.finished || r.folder.Interrupted()}
	lock, err := r.folder.Lock(ctx, desk.Now)
	if err != nil {
		return RecoverResult{}, err
	}
	defer lock.Unlock()
	data, err := desk.Reach.ReadDocument("manifest_path", r.path)
	if err == nil {
		err = r.takeManifest(data)
	}
	out.ManifestRevision = r.manifest.Revision()
	return out, err
}

// Report shows the result to a person.
func (r RecoverResult) Report() report.Report {
	out := report.Report{Name: "run_recover", Title: "run " + r.RunID, Summary: "nothing was interrupted"}
	switch {
	case r.Interrupted && r.ManifestRevision > r.RevisionBefore:
		out.Summary = "an interrupted write was finished"
	case r.Interrupted:
		out.Summary = "an interrupted write was cleared away"
	}
	out.Add(report.Fields{{Name: "folder", Value: r.Root}})
	return out
}
