// Package reviews keeps code reviews that belong to no change, in folders of a home: of what
// each was begun, and how it ended.
package reviews

import (
	"cmp"
	"encoding/json"
	"path/filepath"
	"slices"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/rule/evidence"
	"github.com/tidegate/tidegate/internal/work/change"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/store"
	"github.com/tidegate/tidegate/review"
)

// endedFile says how a review ended; it is written last.
const endedFile = "reviewed.json"

// Review is a review without a change of its own, as the home keeps it.
type Review struct {
	ID   string
	Path string // of its folder
	Begun
	Ended *Ended // nil while it goes on
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
	Subject       string   `json:"subject"` // the digest of the diff and of what the tests said
}

// Outcome is what counts of the answers of its reviewers.
type Outcome struct {
	Review   review.Payload   `json:"review"`
	Findings []review.Finding `json:"findings"` // the issues, in their order
	Dropped  []review.Dropped `json:"dropped"`
	Closed   []string         `json:"closed"`
	Warnings []string         `json:"warnings"`
}

// Second is who held the findings against the code.
type Second struct {
	By    string         `json:"by"` // the agents that were named for it
	Pairs evidence.Pairs `json:"pairs"`
	Why   string         `json:"why"` // findings have no verdict; "" where all were read
}

// Ended is how a review ended.
type Ended struct {
	Outcome
	Second       *Second             `json:"second_reader"` // nil where nobody was named
	Checked      []review.Checked    `json:"checked"`
	ForPerson    []review.Unanswered `json:"for_person"` // what no reviewer answers for
	Files        []string            `json:"files"`      // that the reviewers were shown
	Head         string              `json:"head"`       // the last commit of what was reviewed, "" before the first
	ReviewDigest string              `json:"review_digest"`
	Spent        run.Spent           `json:"spent"`
}

// Earlier is the review as the next one is shown it.
func (e Ended) Earlier() change.Earlier {
	return change.Earlier{Issues: e.Findings, Files: e.Files}
}

// Digest is that of a REVIEW.md without its warnings and what was decided since.
func Digest(p review.Payload) string { return codec.DigestBytes(review.Format(p, nil)) }

// All are the reviews that a home keeps, the oldest first. A folder that
// cannot be read is left out. It returns READ_FAILED.
func All(desk run.Desk, home string) ([]Review, error) {
	var records []Review
	err := store.Reviews.Each(desk.Reach, store.Reviews.Home(home), func(all *artifact.Folder, id string) {
		if r, err := Read(desk, filepath.Join(all.Path(), id)); err == nil {
			records = append(records, r)
		}
	})
	slices.SortStableFunc(records, func(a, b Review) int {
		return cmp.Or(cmp.Compare(a.CreatedAt, b.CreatedAt), cmp.Compare(a.ID, b.ID))
	})
	return records, err
}

// Last is the last review of a name in a project that has ended; nil where
// there is none.
func Last(desk run.Desk, home, project, name string) (*Review, error) {
	records, err := All(desk, home)
	for _, r := range slices.Backward(records) {
		if r.Ended != nil && r.Project == project && r.Name == name {
			return &r, err
		}
	}
	return nil, err
}

// List lists the reviews of a project that belong to no change and have ended, the
// oldest first. It returns READ_FAILED.
func List(desk run.Desk, home, project string) (change.ReviewList, error) {
	list := change.ReviewList{Reviews: []change.ReviewEntry{}}
	records, err := All(desk, home)
	for _, r := range records {
		if r.Ended == nil || r.Project != project {
			continue
		}
		shown, err := change.ShowReview(desk, filepath.Join(r.Path, store.Reviews.Last))
		if err != nil {
			return list, err
		}
		list.Reviews = append(list.Reviews, change.ReviewEntry{ID: r.ID, Number: len(list.Reviews) + 1, Name: r.Name,
			Commit: r.Ended.Head, CreatedAt: r.CreatedAt, Path: shown.ReviewPath, Verdict: shown.Verdict,
			AgentdVerdict: shown.AgentdVerdict, Complete: shown.Complete, Issues: shown.Counts})
	}
	return list, err
}

// Diff compares two reviews of a home by the ids of their findings, the earlier first;
// one is compared with the last before it of the same name. It returns INVALID_ARGS for
// more than two, NOT_FOUND and READ_FAILED.
func Diff(desk run.Desk, home string, ids []string) (change.DiffResult, error) {
	none := change.DiffResult{}
	records, err := All(desk, home)
	if err != nil {
		return none, err
	}
	at := func(id string) int {
		return slices.IndexFunc(records, func(r Review) bool { return r.ID == id && r.Ended != nil })
	}
	for _, id := range ids {
		if at(id) < 0 {
			return none, tidegate.Errorf(tidegate.FileNotFound, tidegate.Pairs("reviews", tidegate.Cut(id)),
				"the home keeps no review %q", tidegate.Cut(id))
		}
	}
	later := records[at(ids[len(ids)-1])]
	var earlier *Review
	switch len(ids) {
	case 1:
		for _, r := range slices.Backward(records[:at(later.ID)]) {
			if earlier == nil && r.Ended != nil && r.Project == later.Project && r.Name == later.Name {
				earlier = &r
			}
		}
	case 2:
		earlier = &records[at(ids[0])]
	default:
		return none, tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("reviews", ids),
			"two reviews are compared, got %d", len(ids))
	}
	out := change.DiffResult{Reviews: []string{later.ID}}
	var before []review.Finding
	if earlier != nil {
		out.Reviews, before = []string{earlier.ID, later.ID}, earlier.Ended.Findings
	}
	out.Difference = review.DiffOf(before, later.Ended.Findings)
	return out, nil
}

// Path is the REVIEW.md of a review that a home keeps, by the id of the review.
func Path(desk run.Desk, home, id string) (path string, ok bool) {
	if !review.ValidChangeID(id) {
		return "", false
	}
	r, err := Read(desk, filepath.Join(store.Reviews.Home(home), id))
	return filepath.Join(r.Path, store.Reviews.Last), err == nil && r.Ended != nil
}

// RemoveOld removes the reviews of a project that a home keeps, except the last
// one of each name and those that have not ended, and returns their ids. It returns
// READ_FAILED and WRITE_FAILED.
func RemoveOld(desk run.Desk, home, project string) ([]string, error) {
	records, err := All(desk, home)
	if err != nil || len(records) == 0 {
		return nil, err
	}
	all, err := desk.Reach.Open("home", store.Reviews.Home(home))
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

// Read reads the review in a folder. It returns NOT_FOUND and READ_FAILED.
func Read(desk run.Desk, path string) (Review, error) {
	r := Review{ID: filepath.Base(path), Path: path}
	folder, err := desk.Reach.Open("review", path)
	if err != nil {
		return r, err
	}
	defer folder.Close()
	if err := readInto(folder, store.Reviews.File, &r.Begun); err != nil {
		return r, err
	}
	var ended Ended
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

// End writes how a review ended. REVIEW.md comes first: what says that the
// review has ended comes last.
func End(folder *artifact.Folder, markdown []byte, ended Ended) error {
	ended.ReviewDigest = Digest(ended.Review)
	data, err := codec.MarshalFile(ended)
	if err != nil {
		return err
	}
	if err := folder.Write(store.Reviews.Last, markdown); err != nil {
		return err
	}
	return folder.Write(endedFile, data)
}
