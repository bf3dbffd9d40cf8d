package change

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/internal/work/git"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/review"
)

// CreateReview writes a review to the REVIEW.md of the change that the payload
// names, and keeps it, and every earlier one, under a number in reviews. What is
// kept decides: beside the review stands what it was about and on whose
// authority it came, and the log of the change has the digests of both. A
// missing change folder is made and named in a warning; in strict mode it is
// NOT_FOUND, and everything else that would be a warning is a violation.
//
// It returns INVALID_ARGS with details.violations for an invalid payload, and
// then nothing on the disk has changed; INVALID_ARGS for a project_path that is
// not the project; NOT_FOUND, PATH_NOT_ALLOWED, LOCK_HELD, CANCELLED,
// READ_FAILED and WRITE_FAILED.
func CreateReview(ctx context.Context, desk run.Desk, project string, payload *codec.Value, strict bool) (Created, error) {
	p, warnings, err := review.Parse(payload, strict)
	if err != nil {
		return Created{}, err
	}
	if err := checkProjectPath(desk, project, payload.Get("project_path")); err != nil {
		return Created{}, err
	}
	return keepReview(ctx, desk, project, p, warnings, Evidence{}, strict)
}

// KeepReview is [CreateReview] for a review that was judged already, with the
// warnings about it and what stands beside it.
func KeepReview(ctx context.Context, desk run.Desk, project string, p review.Payload, warnings []string, with Evidence) (Created, error) {
	return keepReview(ctx, desk, project, p, warnings, with, true)
}

func keepReview(ctx context.Context, desk run.Desk, project string, p review.Payload, warnings []string, with Evidence, strict bool) (Created, error) {
	folder, made, err := openForReview(ctx, desk, project, p.ChangeID, strict)
	if err != nil {
		return Created{}, err
	}
	defer folder.Close()
	about, err := reviewedTree(ctx, desk, project, folder)
	if err != nil {
		return Created{}, err
	}
	held, err := lock(ctx, desk, folder)
	if err != nil {
		return Created{}, err
	}
	defer held.Unlock()
	data := review.Format(p, warnings)
	if with.Findings != nil {
		data = review.FormatFindings(p, with.Findings, warnings)
	}
	if err := keep(ctx, desk, held, p, data, about, with); err != nil {
		return Created{}, err
	}
	place := git.ChangesDir(desk) + "/" + p.ChangeID
	if made {
		warnings = append(warnings, "change folder "+place+" did not exist and was created")
	}
	if about.Problem != "" {
		warnings = append(warnings, "the review cannot be bound to the files of the project: "+about.Problem)
	}
	if with.Findings == nil { // what we asked for ourselves was judged by it
		warnings = append(warnings, misplaced(ctx, desk, project, about, p)...)
	}
	counts := p.Counts()
	return Created{
		Message:    fmt.Sprintf("Review written to %s/%s: %s, %s", place, reviewFile, p.Verdict, report.Counted(counts.Total(), "issue")),
		ChangeID:   p.ChangeID,
		Verdict:    string(p.Verdict),
		ReviewPath: filepath.Join(folder.Path(), reviewFile),
		Issues:     counts,
		Warnings:   warnings,
	}, nil
}

// misplaced are warnings about issues in files that the change does not touch, and at lines
// that their files do not have. Where it is not known what the change is, there are none.
func misplaced(ctx context.Context, desk run.Desk, project string, about git.Tree, p review.Payload) []string {
	if about.Digest == "" {
		return nil
	}
	dir := project
	switch {
	case filepath.IsAbs(about.Worktree):
		dir = about.Worktree
	case about.Worktree != "":
		dir = filepath.Join(project, about.Worktree)
	}
	d, err := git.ReadDiff(ctx, desk, dir, git.DiffInput{})
	if err != nil {
		return nil
	}
	defer d.Close()
	known := !d.FromNothing() && len(d.Files)+len(d.LeftOut) > 0
	var warnings []string
	for i, issue := range p.Issues {
		name := filepath.ToSlash(issue.File)
		if text, ok, err := d.Text(ctx, name); ok && err == nil && issue.Line != nil {
			if n := review.CountLines(text); *issue.Line > int64(n) {
				warnings = append(warnings, fmt.Sprintf("issues[%d].line %d is beyond the end of %s, which has %s", i, *issue.Line, tidegate.Cut(name), report.Counted(n, "line")))
			}
		}
		if known && name != "" && !d.Touches(name) && !d.Touches(d.Prefix()+name) {
			warnings = append(warnings, fmt.Sprintf("issues[%d].file %q is not in the change, which is compared with %s",
				i, tidegate.Cut(issue.File), d.Since()))
		}
	}
	return warnings
}

func openForReview(ctx context.Context, desk run.Desk, project, id string, strict bool) (*artifact.Folder, bool, error) {
	if strict {
		folder, err := OpenFolder(ctx, desk, project, id)
		return folder, false, err
	}
	return openOrMake(ctx, desk, project, id)
}

// reviewedTree is the tree of the change as it is. A STATE.yaml that is missing,
// or cannot be read, names no place other than the project.
func reviewedTree(ctx context.Context, desk run.Desk, project string, folder *artifact.Folder) (git.Tree, error) {
	worktree := ""
	if s, err := readState(folder); err == nil {
		worktree = s.worktree
	}
	return git.ReadTree(ctx, desk, project, worktree)
}

// keep writes a review to REVIEW.md and to the history, together with a REVIEW.md
// that is not in the history yet, in one transaction. REVIEW.md comes last, so
// that any reader that sees it also finds it in the history.
func keep(ctx context.Context, desk run.Desk, held *artifact.Lock, p review.Payload, data []byte, about git.Tree, with Evidence) error {
	folder := held.Folder()
	numbers, err := history(folder)
	if err != nil {
		return err
	}
	current, err := readIfThere(folder, reviewFile)
	if err != nil {
		return err
	}
	r, err := readLocked(desk, held, p.ChangeID)
	if err != nil {
		r = newRecord() // the review is written, whatever became of the log
	}
	next := max(lastOf(numbers), r.newest()) + 1
	tx := held.Begin()
	if current != nil {
		var newest []byte
		if len(numbers) > 0 {
			if newest, err = folder.Read(historyName(lastOf(numbers))); err != nil {
				return err
			}
		}
		if len(numbers) == 0 || !bytes.Equal(current, newest) {
			if err := tx.Write(historyName(next), current); err != nil {
				return err
			}
			tx.Log(logFile, r.line(ctx, desk, p.ChangeID, "create_review", eventFound, tidegate.Pairs("review", next,
				"digests", tidegate.Pairs(historyName(next), codec.DigestBytes(current)))))
			next++
		}
	}
	beside, err := codec.MarshalFile(newSidecar(ctx, desk, p, next, data, about, with))
	if err != nil {
		return err
	}
	for _, file := range []struct {
		name string
		data []byte
	}{{historyName(next), data}, {sidecarName(next), beside}, {reviewFile, data}} {
		if err := tx.Write(file.name, file.data); err != nil {
			return err
		}
	}
	// The line is kept as well as it can be: a review that the log does not name
	// is written all the same, and decides nothing.
	tx.Log(logFile, r.line(ctx, desk, p.ChangeID, "create_review", eventKept, tidegate.Pairs("review", next, "verdict", p.Verdict,
		"digests", tidegate.Pairs(historyName(next), codec.DigestBytes(data), sidecarName(next), codec.DigestBytes(beside)),
		"tree_digest", orNull(about.Digest), "commit", orNull(about.Commit))))
	return tx.Commit()
}

// checkProjectPath accepts the argument of older callers when it names the
// project, by whatever path.
func checkProjectPath(desk run.Desk, project string, v *codec.Value) error {
	if v.Kind() == codec.Absent || v.Kind() == codec.Null {
		return nil
	}
	path := v.Str()
	if strings.TrimSpace(path) != "" {
		given := path
		if !filepath.IsAbs(given) {
			given = filepath.Join(project, given)
		}
		if filepath.Clean(given) == filepath.Clean(project) || sameFolder(desk, given, project) {
			return nil
		}
	}
	value := any(v)
	if v.Kind() == codec.String {
		value = tidegate.Cut(path)
	}
	return tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("project_path", value),
		"project_path must name the project folder %s", project)
}

func sameFolder(desk run.Desk, one, two string) bool {
	a, err := desk.Reach.Open("project_path", one)
	if err != nil {
		return false
	}
	defer a.Close()
	b, err := desk.Reach.Open("project", two)
	if err != nil {
		return false
	}
	defer b.Close()
	return a.Is(b)
}
