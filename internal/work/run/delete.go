package run

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/report"
)

// DeleteInput are the arguments of [Delete].
type DeleteInput struct {
	ManifestPath string `json:"manifest_path" path:"absolute" jsonschema:"absolute path of the run's manifest.json"`
}

// DeleteResult is the result of [Delete].
type DeleteResult struct {
	OK    codec.True `json:"ok"`
	RunID string     `json:"run_id"`
	Root  string     `json:"root" jsonschema:"the folder that was deleted"`
	Files int64      `json:"files"`
	Bytes int64      `json:"bytes"`
}

// Delete deletes a run: its folder, with everything in it. It is a person's
// decision, and must be signed in a run whose decisions are; nothing brings the
// run back. Its line in the ledger of its home stays.
//
// It returns the errors of [Open], INVALID_ARGS where a signature is needed and
// does not count, LOCK_HELD while a process drives the run, PATH_NOT_ALLOWED for
// a link to a run, NOT_FOUND for a folder without gates.json, and WRITE_FAILED.
func Delete(ctx context.Context, desk Desk, in DeleteInput) (DeleteResult, error) {
	r, err := Open(ctx, desk, in.ManifestPath)
	if err != nil {
		return DeleteResult{}, err
	}
	out, err := r.deletable()
	if err == nil {
		err = r.yield(ctx, desk)
	}
	r.Close() // some systems do not move a folder while something in it is open
	if err != nil {
		return DeleteResult{}, err
	}
	home, err := desk.Reach.Open("manifest_path", filepath.Dir(out.Root))
	if err != nil {
		return DeleteResult{}, err
	}
	defer home.Close()
	return out, home.RemoveFolder(filepath.Base(out.Root))
}

// Deletable is what [Delete] would delete. It returns the errors of [Open], and
// NOT_FOUND for a folder without gates.json: a manifest.json alone is not a run.
func Deletable(ctx context.Context, desk Desk, manifestPath string) (DeleteResult, error) {
	return With(ctx, desk, manifestPath, func(r *Run, out *DeleteResult) (err error) {
		*out, err = r.deletable()
		return err
	})
}

func (r *Run) deletable() (DeleteResult, error) {
	if _, err := r.Gates(); err != nil {
		return DeleteResult{}, err
	}
	files, bytes, err := r.folder.Size()
	return DeleteResult{RunID: r.ID(), Root: r.Root(), Files: files, Bytes: bytes}, err
}

// yield makes sure that the person may delete the run and that no process is at
// work in it.
func (r *Run) yield(ctx context.Context, desk Desk) error {
	signed, err := r.sign(ctx, Decision{What: "delete"})
	if err != nil {
		return err
	}
	if signed != nil {
		signers, err := r.signers()
		if err != nil {
			return err
		}
		if _, err := signed.verify(signers, desk); err != nil {
			return err
		}
	}
	claim, err := r.folder.Claim(HomeFile, nil)
	if err != nil {
		return err
	}
	defer claim.Release()
	lock, err := r.folder.Lock(ctx, desk.Now)
	if err != nil {
		return err
	}
	lock.Unlock()
	return nil
}

// Report shows the result to a person.
func (d DeleteResult) Report() report.Report {
	return report.Report{Name: "run_delete", Title: "run " + d.RunID, Summary: "deleted " + d.Root + ", " + d.Size()}
}

// Size says how much is deleted.
func (d DeleteResult) Size() string {
	size, unit := float64(d.Bytes)/(1<<10), "KiB"
	if size >= 1<<10 {
		size, unit = size/(1<<10), "MiB"
	}
	return fmt.Sprintf("%s, %.1f %s", report.Counted(int(d.Files), "file"), size, unit)
}
