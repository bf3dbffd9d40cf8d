package change

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/internal/base/seal"
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
	current, err := folder.ReadIfThere(reviewFile)
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

const dismissedSchema = "dismissed.v1"

type dismissedFile struct {
	Schema    string            `json:"schema_version"`
	Dismissed review.Dismissals `json:"dismissed"`
}

// Dismissed is what a person dismissed: as the project's file has them
// or, with a commit, as it had them there. Where decisions are
// signed, one without a signature that counts does not count. It returns READ_FAILED,
// and SCHEMA_VALIDATION_FAILED for a file that is something else.
func Dismissed(ctx context.Context, desk run.Desk, project, commit string) (review.Dismissals, error) {
	file, text, found, err := fileOf(ctx, desk, project, commit, git.DismissedFile)
	if err != nil || !found {
		return nil, err
	}
	list, err := parseDismissed(file, text)
	if err != nil {
		return nil, err
	}
	var signers *seal.Signers
	if _, text, found, err := fileOf(ctx, desk, project, commit, signersFile); err != nil {
		return nil, err
	} else if found {
		if signers, err = seal.ParseSigners(text); err != nil {
			return nil, err
		}
	}
	return slices.DeleteFunc(list, func(d review.Dismissal) bool { return !signedBy(d, signers) }), nil
}

// SignsDismissals reports whether dismissals count only where they are signed: as the
// project has it or, with a commit, as it had it there. It returns READ_FAILED.
func SignsDismissals(ctx context.Context, desk run.Desk, project, commit string) (bool, error) {
	_, _, found, err := fileOf(ctx, desk, project, commit, signersFile)
	return found, err
}

// fileOf reads a file beside the folder of changes: as the project has it or, with a commit,
// as it had it there.
func fileOf(ctx context.Context, desk run.Desk, project, commit, name string) (path string, text []byte, found bool, err error) {
	path = filepath.Join(project, filepath.FromSlash(desk.ChangesFolder()), name)
	if commit != "" {
		text, found, err = git.FileAt(ctx, desk, project, commit, path)
		return path, text, found, err
	}
	text, err = desk.Reach.ReadDocument("project", path)
	found = err == nil
	return path, text, found, artifact.UnlessMissing(err)
}

// signedBy reports whether the signature that a dismissal needs is there.
func signedBy(d review.Dismissal, signers *seal.Signers) bool {
	signature := d.Signature
	d.Signature = ""
	return signers == nil || signers.Signed(d, signature, d.At)
}

func parseDismissed(path string, text []byte) (review.Dismissals, error) {
	doc, err := codec.ParseFile("dismissed", path, text)
	if err != nil {
		return nil, err
	}
	if doc.Get("schema_version").Str() != dismissedSchema || doc.Get("dismissed").Kind() != codec.Array {
		return nil, tidegate.Errorf(tidegate.SchemaValidationFailed, tidegate.Pairs("dismissed", path), "%s is not a list of dismissed findings (%s)", path, dismissedSchema)
	}
	var file dismissedFile
	if err := json.Unmarshal(text, &file); err != nil {
		return nil, tidegate.Errorf(tidegate.SchemaValidationFailed, tidegate.Pairs("dismissed", path), "%s: %w", path, err)
	}
	return file.Dismissed, nil
}

// Dismiss writes down that something does not count any more, as [review.Dismissible] has
// it. What was dismissed before gets the new reason. It returns GATE_BLOCKED for anybody
// but a person, INVALID_ARGS for a reason that says nothing and for a missing signature,
// the errors of [Dismissed], and WRITE_FAILED.
func Dismiss(ctx context.Context, desk run.Desk, project string, what []review.Dismissal,
	reason string) (path string, err error) {
	if err := byPerson(ctx, what[0].ID, "dismisses a finding", "tidegate review dismiss "+what[0].ID); err != nil {
		return "", err
	}
	if err := checkReason(reason); err != nil {
		return "", err
	}
	root, err := git.OpenProject(desk, project)
	if err != nil {
		return "", err
	}
	defer root.Close()
	if git.InRepository(ctx, desk, project) {
		root.Share()
	}
	name := desk.ChangesFolder() + "/" + git.DismissedFile
	path = filepath.Join(root.Path(), filepath.FromSlash(name))
	text, err := root.ReadIfThere(name)
	if err != nil {
		return "", err
	}
	var list review.Dismissals
	if text != nil {
		if list, err = parseDismissed(path, text); err != nil {
			return "", err
		}
	}
	for _, d := range what {
		d.Reason, d.At = reason, tidegate.Stamp(desk.Now())
		d.Signature = "" // which is over the rest
		if d.Signature, err = sign(ctx, desk, filepath.Join(root.Path(), filepath.FromSlash(desk.ChangesFolder()), signersFile), d); err != nil {
			return "", err
		}
		list = append(slices.DeleteFunc(list, func(was review.Dismissal) bool { return was.ID == d.ID }), d)
	}
	data, err := codec.MarshalFile(dismissedFile{dismissedSchema, list})
	if err != nil {
		return "", err
	}
	return path, root.Write(name, data)
}
