package forge

import (
	"archive/zip"
	"bytes"
	"context"
	"fmt"
	"io"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"sync"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/archive"
	"github.com/tidegate/tidegate/internal/base/codec"
)

// State is an artifact with the review of a pull request at a commit.
type State struct {
	ID     int64
	Digest string // sha256:… of its archive
}

var externalID = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^([1-9][0-9]{0,17})@(sha256:[0-9a-f]{64})$`) })

// ParseState reads what [State.String] writes.
func ParseState(text string) (State, bool) {
	m := externalID().FindStringSubmatch(text)
	if m == nil {
		return State{}, false
	}
	id, err := strconv.ParseInt(m[1], 10, 64)
	return State{id, m[2]}, err == nil
}

func (s State) String() string { return fmt.Sprintf("%d@%s", s.ID, s.Digest) }

// ArtifactName is the name of the artifact with a review: that of one pull request, or
// of another commit, is another one.
func ArtifactName(review string, number int, head string) string {
	return fmt.Sprintf("tidegate-%s-%d-%s", review, number, head)
}

// CheckName is the name of the check of a review.
func CheckName(review string) string { return "tidegate " + review }

// byDefinition are the events for which a workflow runs as the default branch has it,
// whatever a pull request makes of it.
var byDefinition = []string{"pull_request_target", "workflow_run"}

// StateAt is the state that the check of a review of a pull request at a commit names.
// It counts only if the run that made it is of the same workflow as the given one, where
// one is given, and ran as the default branch has it. Why says why there is none. It returns the errors of
// asking the forge.
func (f *Forge) StateAt(ctx context.Context, review string, number int, head, run string) (state State, why string, err error) {
	var checks struct {
		Runs []struct {
			ExternalID string `json:"external_id"`
			App        struct{ Slug string }
		} `json:"check_runs"`
	}
	err = f.do(ctx, "GET", fmt.Sprintf("/commits/%s/check-runs?check_name=%s&filter=latest&per_page=%d", head, url.QueryEscape(CheckName(review)), perPage), nil, &checks)
	if err != nil {
		return state, "", err
	}
	why = "the commit has no check of this review"
	for _, c := range checks.Runs {
		s, ok := ParseState(c.ExternalID)
		if !ok {
			continue
		}
		if why, err = f.distrust(ctx, s, ArtifactName(review, number, head), run); err != nil || why == "" {
			return s, why, err
		}
	}
	return State{}, why, nil
}

type workflowRun struct {
	ID       int64
	Event    string
	Workflow int64 `json:"workflow_id"`
}

// distrust says why a state does not count, "" where it does.
func (f *Forge) distrust(ctx context.Context, s State, name, run string) (string, error) {
	var artifact struct {
		Name, Digest string
		Expired      bool
		Run          struct{ ID int64 } `json:"workflow_run"`
	}
	err := f.do(ctx, "GET", fmt.Sprintf("/actions/artifacts/%d", s.ID), nil, &artifact)
	switch {
	case tidegate.CodeOf(err) == tidegate.FileNotFound:
		return "its artifact is gone", nil
	case err != nil:
		return "", err
	case artifact.Expired:
		return "its artifact has expired", nil
	case artifact.Name != name:
		return "its artifact is of another review", nil
	case artifact.Digest != s.Digest:
		return "its artifact has another digest", nil
	}
	var made, own workflowRun
	if err = f.do(ctx, "GET", fmt.Sprintf("/actions/runs/%d", artifact.Run.ID), nil, &made); err == nil && run != "" {
		err = f.do(ctx, "GET", "/actions/runs/"+url.PathEscape(run), nil, &own)
	}
	switch {
	case err != nil:
		return "", err
	case made.Workflow == 0 || run != "" && made.Workflow != own.Workflow:
		return "another workflow made its artifact", nil
	case !slices.Contains(byDefinition, made.Event):
		return "its workflow ran as the pull request has it", nil
	}
	return "", nil
}

// ReadState is a file of the artifact of a state, whose digest must be the one of its
// archive. It returns NOT_FOUND and INVALID_STATE.
func (f *Forge) ReadState(ctx context.Context, s State, file string) ([]byte, error) {
	address := fmt.Sprintf("%s/repos/%s/actions/artifacts/%d/zip", f.API, f.Repository, s.ID)
	c, err := f.Call(ctx, "forge", f.request("GET", address))
	if err == nil && c.Last().Status >= 300 && c.Last().Status < 400 {
		// It lies with another host, which gets no token.
		c, err = f.Call(ctx, "forge", archive.Request{Method: "GET", URL: c.Last().Get("Location"), Named: true})
	}
	switch last := c.Last(); {
	case err != nil:
		return nil, tidegate.Errorf(tidegate.Cancelled, nil, "stopped while asking the forge: %w", err)
	case c.Kind != archive.Responded || last.Status != 200:
		return nil, refused("GET", "the artifact of the review", c)
	case codec.DigestBytes(last.Body) != s.Digest:
		return nil, tidegate.Errorf(tidegate.InvalidState, nil, "the artifact of the review has another digest")
	}
	data := c.Last().Body
	archived, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, tidegate.Errorf(tidegate.InvalidState, nil, "the artifact of the review is no archive: %v", err)
	}
	in, err := archived.Open(file)
	if err != nil {
		return nil, tidegate.Errorf(tidegate.FileNotFound, tidegate.Pairs("file", file),
			"the artifact of the review has no %s", file)
	}
	defer in.Close()
	text, err := io.ReadAll(io.LimitReader(in, maxState))
	if err != nil {
		return nil, tidegate.Errorf(tidegate.InvalidState, nil, "the artifact of the review cannot be read: %v", err)
	}
	return text, nil
}

// maxState is how many bytes of a file of an artifact are read.
const maxState = 16 << 20
