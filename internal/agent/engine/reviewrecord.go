package engine

import (
	"cmp"
	"encoding/json"
	"path/filepath"
	"slices"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/agent/job"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/work/change"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/review"
)

// The files in the folder of a review: of what it was begun, and how it ended.
const (
	begunFile  = "review.json"
	reviewFile = "REVIEW.md"
	endedFile  = "reviewed.json"
)

// ReviewRecord is a review without a change of its own, as the home keeps it.
type ReviewRecord struct {
	ID   string
	Path string // of its folder
	Begun
	Ended *EndedReview // nil while it goes on
}

// Begun says when a review was begun, and of what.
type Begun struct {
	SchemaVersion string   `json:"schema_version"`
	CreatedAt     string   `json:"created_at"`
	Project       string   `json:"project"`
	Base          string   `json:"base"`
	Name          string   `json:"name"`
	Reviewers     []string `json:"reviewers"`
	Verifier      string   `json:"verifier,omitempty"`
	Seed          string   `json:"control_seed"` // by which controls are planted among the findings
	Subject       string   `json:"subject"`      // the digest of the diff and of what the tests said
}

// EndedReview is how a review ended.
type EndedReview struct {
	job.CodeReviewed
	Checked      []review.Checked `json:"checked"`
	Files        []string         `json:"files"` // that the reviewers were shown
	ReviewDigest string           `json:"review_digest"`
	Spent        job.Spent        `json:"spent"`
}

// Earlier is the review as the next one is shown it.
func (e EndedReview) Earlier() change.Earlier {
	return change.Earlier{Issues: review.IdentifiedOf(e.Findings), Files: e.Files}
}

// ReviewRecords are the reviews that a home keeps, the oldest first. A folder that
// cannot be read is left out. It returns READ_FAILED.
func ReviewRecords(desk run.Desk, home string) ([]ReviewRecord, error) {
	all, err := desk.Reach.Open("home", filepath.Join(home, "reviews"))
	if tidegate.CodeOf(err) == tidegate.FileNotFound {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer all.Close()
	entries, err := all.List(".")
	if err != nil {
		return nil, err
	}
	var records []ReviewRecord
	for _, e := range entries {
		if r, err := readReview(desk, filepath.Join(all.Path(), e.Name())); err == nil {
			records = append(records, r)
		}
	}
	slices.SortStableFunc(records, func(a, b ReviewRecord) int {
		return cmp.Or(cmp.Compare(a.CreatedAt, b.CreatedAt), cmp.Compare(a.ID, b.ID))
	})
	return records, nil
}

// LastReview is the last review of a name in a project that has ended; nil where
// there is none.
func LastReview(desk run.Desk, home, project, name string) (*ReviewRecord, error) {
	records, err := ReviewRecords(desk, home)
	for _, r := range slices.Backward(records) {
		if r.Ended != nil && r.Project == project && r.Name == name {
			return &r, err
		}
	}
	return nil, err
}

// Reviews lists the reviews of a project that belong to no change and have ended, the
// oldest first. It returns READ_FAILED.
func Reviews(desk run.Desk, home, project string) (change.ReviewList, error) {
	list := change.ReviewList{Reviews: []change.ReviewEntry{}}
	records, err := ReviewRecords(desk, home)
	for _, r := range records {
		if r.Ended == nil || r.Project != project {
			continue
		}
		shown, err := change.ShowReview(desk, filepath.Join(r.Path, reviewFile))
		if err != nil {
			return list, err
		}
		list.Reviews = append(list.Reviews, change.ReviewEntry{ID: r.ID, Number: len(list.Reviews) + 1, Path: shown.ReviewPath, Verdict: shown.Verdict,
			AgentdVerdict: shown.AgentdVerdict, Complete: shown.Complete, Issues: shown.Counts})
	}
	return list, err
}

// ReviewPath is the REVIEW.md of a review that a home keeps, by the id of the review.
func ReviewPath(desk run.Desk, home, id string) (path string, ok bool) {
	if !review.ValidChangeID(id) {
		return "", false
	}
	r, err := readReview(desk, filepath.Join(home, "reviews", id))
	return filepath.Join(r.Path, reviewFile), err == nil && r.Ended != nil
}

// RemoveReviews removes the reviews of a project that a home keeps, except the last
// one of each name and those that have not ended, and returns their ids. It returns
// READ_FAILED and WRITE_FAILED.
func RemoveReviews(desk run.Desk, home, project string) ([]string, error) {
	records, err := ReviewRecords(desk, home)
	if err != nil || len(records) == 0 {
		return nil, err
	}
	all, err := desk.Reach.Open("home", filepath.Join(home, "reviews"))
	if err != nil {
		return nil, err
	}
	defer all.Close()
	last := map[string]bool{}
	var removed []string
	for _, r := range slices.Backward(records) {
		if r.Ended == nil || r.Project != project {
			continue
		}
		if !last[r.Name] {
			last[r.Name] = true
			continue
		}
		if err := all.RemoveFolder(r.ID); err != nil {
			return removed, err
		}
		removed = append(removed, r.ID)
	}
	slices.Reverse(removed)
	return removed, nil
}

func readReview(desk run.Desk, path string) (ReviewRecord, error) {
	r := ReviewRecord{ID: filepath.Base(path), Path: path}
	folder, err := desk.Reach.Open("review", path)
	if err != nil {
		return r, err
	}
	defer folder.Close()
	if err := readInto(folder, begunFile, &r.Begun); err != nil {
		return r, err
	}
	var ended EndedReview
	switch err := readInto(folder, endedFile, &ended); {
	case err == nil:
		r.Ended = &ended
	case tidegate.CodeOf(err) != tidegate.FileNotFound:
		return r, err
	}
	return r, nil
}

func readInto(folder *artifact.Folder, name string, v any) error {
	data, err := folder.Read(name)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, v); err != nil {
		return tidegate.Errorf(tidegate.ReadFailed, tidegate.Pairs("path", filepath.Join(folder.Path(), name)), "%s cannot be read: %w", name, err)
	}
	return nil
}

// writeEnded writes how a review ended. REVIEW.md comes first: what says that the
// review has ended comes last.
func writeEnded(folder *artifact.Folder, markdown []byte, ended EndedReview) error {
	ended.ReviewDigest = codec.DigestBytes(markdown)
	data, err := codec.MarshalFile(ended)
	if err != nil {
		return err
	}
	if err := folder.Write(reviewFile, markdown); err != nil {
		return err
	}
	return folder.Write(endedFile, data)
}
