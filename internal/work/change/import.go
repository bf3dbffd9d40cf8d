package change

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/internal/work/git"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/review"
)

// maxImported is how many bytes a file of another tool may have.
const maxImported = 64 << 20

// ImportInput names what is imported.
type ImportInput struct {
	Files    []string `json:"files" path:"absolute" minitems:"1" jsonschema:"absolute paths of SARIF 2.1.0 or rdjson files, as linters and scanners write them"`
	ChangeID string   `json:"change_id,omitzero" writes:"true" jsonschema:"add the issues to the review of this change and write it; without it nothing is written"`
}

// ImportReview makes a review of what other tools found in the project. With a
// change, that is merged with the review that was kept last, and kept as the next
// one; it is about the same files, so they must not have changed since. Tools
// alone approve nothing: without a review to add to, only a review that demands
// fixes is written.
//
// It returns INVALID_JSON and SCHEMA_VALIDATION_FAILED for a file in neither of
// the two formats, SIZE_CAP_EXCEEDED for one that is too large, GATE_BLOCKED when
// the findings cannot be added to the review of the change, and the errors of
// [CreateReview].
func ImportReview(ctx context.Context, desk run.Desk, project string, in ImportInput) (review.Imported, error) {
	roots, err := projectRoots(desk, project)
	if err != nil {
		return review.Imported{}, err
	}
	var all review.Foreign
	reviews := []review.Payload{}
	for _, path := range in.Files {
		f, err := readForeign(ctx, desk, path, roots)
		if err != nil {
			return review.Imported{}, err
		}
		reviews = append(reviews, f.Payload())
		for _, tool := range f.Tools {
			if !slices.Contains(all.Tools, tool) {
				all.Tools = append(all.Tools, tool)
			}
		}
		for _, what := range f.LeftOut {
			all.LeftOut = append(all.LeftOut, filepath.Base(path)+": "+what)
		}
	}
	p := review.Merge(reviews...)
	if in.ChangeID == "" {
		return review.NewImported(p, all), nil
	}
	p.ChangeID = in.ChangeID
	return addToReview(ctx, desk, project, p, all)
}

// ReadForeign reads what other tools found in the repository in which a project lies,
// from their SARIF or rdjson. It returns the errors of [ImportReview].
func ReadForeign(ctx context.Context, desk run.Desk, project string, files []string) ([]review.Foreign, error) {
	if len(files) == 0 {
		return nil, nil
	}
	r, err := git.OpenCheckout(ctx, desk, project)
	if err != nil {
		return nil, git.Unread(ctx, err)
	}
	r.Folder.Close()
	roots, err := projectRoots(desk, r.Dir)
	if err != nil {
		return nil, err
	}
	var all []review.Foreign
	for _, path := range files {
		f, err := readForeign(ctx, desk, path, roots)
		if err != nil {
			return nil, err
		}
		all = append(all, f)
	}
	return all, nil
}

// projectRoots are the paths by which tools may know the project.
func projectRoots(desk run.Desk, project string) ([]string, error) {
	root, err := git.OpenProject(desk, project)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	roots := []string{filepath.Clean(project)}
	if real, err := filepath.EvalSymlinks(project); err == nil && real != roots[0] {
		roots = append(roots, real)
	}
	return roots, nil
}

func readForeign(ctx context.Context, desk run.Desk, path string, roots []string) (review.Foreign, error) {
	file, err := desk.Reach.OpenFile("files", path)
	if err != nil {
		return review.Foreign{}, err
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(artifact.Until(ctx, file), maxImported+1))
	switch {
	case err != nil && ctx.Err() != nil:
		return review.Foreign{}, ctx.Err()
	case err != nil:
		return review.Foreign{}, tidegate.Errorf(tidegate.ReadFailed, tidegate.Pairs("files", path), "%s cannot be read: %w", path, err)
	case len(data) > maxImported:
		return review.Foreign{}, tidegate.Errorf(tidegate.SizeCapExceeded, tidegate.Pairs("files", path, "max_bytes", maxImported),
			"%s has more than %d bytes", filepath.Base(path), maxImported)
	}
	doc, err := codec.ParseFile("files", path, data)
	if err != nil {
		return review.Foreign{}, err
	}
	return review.ReadForeign(path, doc, roots)
}

// addToReview keeps p together with the review that was kept last.
func addToReview(ctx context.Context, desk run.Desk, project string, p review.Payload, f review.Foreign) (review.Imported, error) {
	folder, err := OpenFolder(ctx, desk, project, p.ChangeID)
	if err != nil {
		return review.Imported{}, err
	}
	defer folder.Close()
	about, err := reviewedTree(ctx, desk, project, folder)
	if err != nil {
		return review.Imported{}, err
	}
	held, err := lock(ctx, desk, folder)
	if err != nil {
		return review.Imported{}, err
	}
	defer held.Unlock()
	last, warnings, err := reviewToAddTo(ctx, desk, held, p.ChangeID, about)
	switch {
	case err != nil:
		return review.Imported{}, err
	case last != nil:
		p = review.Merge(*last, p)
	case p.Verdict == review.Approved:
		return review.Imported{}, tidegate.Errorf(tidegate.GateBlocked, tidegate.Pairs("change_id", p.ChangeID),
			"change %s has no review to add to, and tools alone approve nothing: hand in a review first with `tidegate review create`", p.ChangeID)
	}
	if err := keep(ctx, desk, held, p, review.Format(p, warnings), about, Evidence{}); err != nil {
		return review.Imported{}, err
	}
	imported := review.NewImported(p, f)
	imported.ReviewPath = filepath.Join(folder.Path(), reviewFile)
	imported.Message = fmt.Sprintf("Review written to %s/%s/%s: %s, %s", git.ChangesDir(desk), p.ChangeID, reviewFile, p.Verdict,
		report.Counted(len(p.Issues), "issue"))
	return imported, nil
}

// reviewToAddTo is the review that was kept last, with its warnings, nil when the
// change has none. It returns GATE_BLOCKED when REVIEW.md is another one, and when
// the files are not those that were reviewed: an approval of other files would
// become an approval of these.
func reviewToAddTo(ctx context.Context, desk run.Desk, held *artifact.Lock, id string, about git.Tree) (*review.Payload, []string, error) {
	folder := held.Folder()
	r, err := readLocked(desk, held, id)
	if err == nil {
		err = r.checkFiles(folder, id)
	}
	if err != nil {
		return nil, nil, err
	}
	current, err := readIfThere(folder, reviewFile)
	if err != nil || current == nil && r.last() == nil {
		return nil, nil, err
	}
	j, err := judge(ctx, folder, r, id)
	if err != nil {
		return nil, nil, err
	}
	reading := review.Read(current)
	blocked := ""
	switch {
	case !j.kept() || !reading.Complete:
		blocked = "REVIEW.md was not handed in by `tidegate review create`"
	case about.Differs(j.tree) != "":
		blocked = about.Differs(j.tree)
	default:
		return &reading.Payload, reading.Warnings, nil
	}
	return nil, nil, tidegate.Errorf(tidegate.GateBlocked, tidegate.Pairs("change_id", id, "review_path", filepath.Join(folder.Path(), reviewFile)),
		"nothing can be added to the review: %s; hand in another review first", blocked)
}
