package change

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/artifact"
	"github.com/tidegate/tidegate/codec"
	"github.com/tidegate/tidegate/report"
	"github.com/tidegate/tidegate/review"
)

// CreateReview writes a review to the REVIEW.md of the change that the payload
// names, and keeps it, and every earlier one, under a number in reviews. A
// missing change folder is made and named in a warning; in strict mode it is
// NOT_FOUND, and everything else that would be a warning is a violation.
//
// It returns INVALID_ARGS with details.violations for an invalid payload, and
// then nothing on the disk has changed; INVALID_ARGS for a project_path that is
// not the project; NOT_FOUND, PATH_NOT_ALLOWED, LOCK_HELD, CANCELLED,
// READ_FAILED and WRITE_FAILED.
func CreateReview(ctx context.Context, project string, now func() time.Time, payload *codec.Value, strict bool) (Created, error) {
	p, warnings, err := review.Parse(payload, strict)
	if err != nil {
		return Created{}, err
	}
	if err := checkProjectPath(ctx, project, payload.Get("project_path")); err != nil {
		return Created{}, err
	}
	data := review.Format(p, warnings)
	folder, made, err := openForReview(ctx, project, p.ChangeID, strict)
	if err != nil {
		return Created{}, err
	}
	defer folder.Close()
	lock, err := folder.Lock(ctx, now)
	if err != nil {
		return Created{}, err
	}
	defer lock.Unlock()
	if err := keep(lock, data); err != nil {
		return Created{}, err
	}
	place := changesDir + "/" + p.ChangeID
	if made {
		warnings = append(warnings, "change folder "+place+" did not exist and was made")
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

func openForReview(ctx context.Context, project, id string, strict bool) (*artifact.Folder, bool, error) {
	if strict {
		folder, err := open(ctx, project, id)
		return folder, false, err
	}
	return openOrMake(ctx, project, id)
}

// keep writes a review to REVIEW.md and to the history, together with a
// REVIEW.md that is not in the history yet, in one transaction. REVIEW.md comes
// last, so that whoever sees it finds it in the history too.
func keep(lock *artifact.Lock, data []byte) error {
	folder := lock.Folder()
	numbers, err := history(folder)
	if err != nil {
		return err
	}
	current, err := readIfThere(folder, reviewFile)
	if err != nil {
		return err
	}
	next := last(numbers) + 1
	tx := lock.Begin()
	if current != nil {
		var newest []byte
		if len(numbers) > 0 {
			if newest, err = folder.Read(historyName(last(numbers))); err != nil {
				return err
			}
		}
		if len(numbers) == 0 || !bytes.Equal(current, newest) {
			if err := tx.Write(historyName(next), current); err != nil {
				return err
			}
			next++
		}
	}
	if err := tx.Write(historyName(next), data); err != nil {
		return err
	}
	if err := tx.Write(reviewFile, data); err != nil {
		return err
	}
	return tx.Commit()
}

// checkProjectPath accepts the argument of older callers when it names the
// project, by whatever path.
func checkProjectPath(ctx context.Context, project string, v *codec.Value) error {
	if v.Kind() == codec.Absent || v.Kind() == codec.Null {
		return nil
	}
	path := v.Str()
	if strings.TrimSpace(path) != "" {
		given := path
		if !filepath.IsAbs(given) {
			given = filepath.Join(project, given)
		}
		if filepath.Clean(given) == filepath.Clean(project) || sameFolder(ctx, given, project) {
			return nil
		}
	}
	value := any(v)
	if v.Kind() == codec.String {
		value = tidegate.Cut(path)
	}
	return tidegate.Errorf(tidegate.InvalidArgs, tidegate.D("project_path", value),
		"project_path must name the project folder %s", project)
}

func sameFolder(ctx context.Context, one, two string) bool {
	a, err := artifact.Open(ctx, "project_path", one)
	if err != nil {
		return false
	}
	defer a.Close()
	b, err := artifact.Open(ctx, "project", two)
	if err != nil {
		return false
	}
	defer b.Close()
	return a.Is(b)
}
