package step

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/wave"
)

// Review is the tool deep_research_wave_review: [wave.Review], with its report
// in an allowed place. In a run that is the run's own wave review, and the
// log records it. Elsewhere it is a file that is new or already a wave review.
//
// It returns the errors of [wave.Review]; PATH_NOT_ALLOWED for another place in
// a run or in a folder of code changes, and WRITE_FAILED for a file that holds
// something else. In a run it also returns INVALID_STATE (it is final), TAMPERED
// and LOCK_HELD.
func Review(ctx context.Context, clock run.Clock, req wave.ReviewInput) (wave.ReviewResult, error) {
	if req.ReportPath == "" {
		return wave.Review(ctx, req)
	}
	holder := run.HolderOf(ctx, req.ReportPath)
	if holder.Run == "" {
		if err := freeForReport(ctx, holder, req.ReportPath); err != nil {
			return wave.ReviewResult{}, err
		}
		return wave.Review(ctx, req)
	}
	r, err := run.Open(ctx, filepath.Join(holder.Run, run.ManifestFile))
	if err != nil {
		return wave.ReviewResult{}, err
	}
	defer r.Close()
	name := r.Layout().WaveReview
	if given, err := r.Name("report_path", req.ReportPath); err != nil || given != name {
		return wave.ReviewResult{}, notForReport(req.ReportPath, "the run keeps its wave review in "+name)
	}
	path := req.ReportPath
	if err := wave.CheckReportPath(ctx, req); err != nil {
		return wave.ReviewResult{}, err
	}
	req.ReportPath = ""
	result, err := wave.Review(ctx, req)
	if err != nil {
		return wave.ReviewResult{}, err
	}
	result.ReportPath = &path
	_, err = r.UpdateBeside(ctx, clock, func(u *run.Update) error {
		if err := u.NotFinal(); err != nil {
			return err
		}
		u.Log(run.EventReviewed, "wave_review", tidegate.D("pass", result.Pass, "validated", result.Validated, "failed", result.Failed))
		return u.WriteJSON(name, result)
	})
	if err != nil {
		return wave.ReviewResult{}, err
	}
	return result, nil
}

// othersNames are names of files that give the folder in which they lie a meaning,
// or decide about it. They are refused because an agent chooses the path of a
// report, and some of its content.
var othersNames = []string{run.ManifestFile, "gates.json", "STATE.yaml", "REVIEW.md", "allowed_signers", "tidegate.toml"}

func freeForReport(ctx context.Context, holder run.Holder, path string) error {
	if holder.Changes != "" {
		return notForReport(path, "it lies in a folder of code changes")
	}
	if name := filepath.Base(path); strings.HasPrefix(name, ".") || slices.Contains(othersNames, name) {
		return tidegate.Errorf(tidegate.WriteFailed, tidegate.D("report_path", path), "a report cannot have a name that means something else to a program: %s", path)
	}
	data, err := artifact.ReadDocument(ctx, "report_path", path)
	if err != nil && tidegate.CodeOf(err) != tidegate.InvalidJSON {
		return nil // new, or for the write to refuse with its reason
	}
	if doc, err := codec.Parse(data); err == nil && doc.Get("results").Kind() == codec.Array && doc.Get("retry_directives").Kind() == codec.Array {
		return nil
	}
	return tidegate.Errorf(tidegate.WriteFailed, tidegate.D("report_path", path), "the file that is there holds something other than a wave review: %s", path)
}

func notForReport(path, problem string) error {
	return tidegate.Errorf(tidegate.PathNotAllowed, tidegate.D("report_path", path), "report_path cannot be %s: %s", path, problem)
}
