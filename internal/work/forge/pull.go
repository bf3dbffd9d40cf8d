package forge

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"

	"github.com/tidegate/tidegate"
)

// Pull is a pull request.
type Pull struct {
	Number      int
	Head        string // the last commit
	Base        string // the last commit of the branch that it is to be merged into
	Author      string
	AuthorID    int64
	Association string // of the author with the repository, such as MEMBER
}

// members are the associations of those who may spend what a review costs.
var members = []string{"OWNER", "MEMBER", "COLLABORATOR"}

// ByMember reports whether the author belongs to the repository.
func (p Pull) ByMember() bool { return slices.Contains(members, p.Association) }

type pullAnswer struct {
	Number      int
	State       string
	User        user
	Association string `json:"author_association"`
	Head, Base  struct{ SHA, Ref string }
}

// Pull looks a pull request up. Its base is where its branch stands now: the one that
// the pull request names may be older than what was merged into it. It returns
// NOT_FOUND and INVALID_STATE.
func (f *Forge) Pull(ctx context.Context, number int) (Pull, error) {
	var answer pullAnswer
	if err := f.do(ctx, "GET", fmt.Sprintf("/pulls/%d", number), nil, &answer); err != nil {
		return Pull{}, err
	}
	p := Pull{Number: number, Head: answer.Head.SHA, Base: answer.Base.SHA, Author: answer.User.Login,
		AuthorID: answer.User.ID, Association: answer.Association}
	var branch struct{ Object struct{ SHA string } }
	err := f.do(ctx, "GET", "/git/ref/heads/"+(&url.URL{Path: answer.Base.Ref}).EscapedPath(), nil, &branch)
	if err == nil {
		p.Base = branch.Object.SHA
	} else if tidegate.CodeOf(err) != tidegate.FileNotFound { // the branch may be gone
		return p, err
	}
	if answer.Number != number || !IsCommit(p.Head) || !IsCommit(p.Base) {
		return p, tidegate.Errorf(tidegate.InvalidState, nil, "the forge's answer about pull request %d names no commits", number)
	}
	return p, nil
}

// Event is what a job was started by, as far as it is about a pull request.
type Event struct {
	Number  int    // of the pull request, 0 where it is not known
	Head    string // its last commit then
	Labeled string // the label that somebody has just put on it
	owner   string // of the repository that the commit comes from
	branch  string
}

// ReadEvent reads the event of a job from its JSON. It returns INVALID_ARGS.
func ReadEvent(data []byte) (Event, error) {
	var in struct {
		Action string
		Number int
		Label  struct{ Name string }
		Pull   struct {
			Number int
			Head   struct{ SHA string }
		} `json:"pull_request"`
		Run struct {
			SHA        string               `json:"head_sha"`
			Branch     string               `json:"head_branch"`
			Repository struct{ Owner user } `json:"head_repository"`
		} `json:"workflow_run"`
	}
	if err := json.Unmarshal(data, &in); err != nil {
		return Event{}, tidegate.Errorf(tidegate.InvalidArgs, nil, "the event of the job cannot be read: %v", err)
	}
	e := Event{Number: in.Pull.Number, Head: in.Pull.Head.SHA, owner: in.Run.Repository.Owner.Login, branch: in.Run.Branch}
	if in.Run.SHA != "" {
		e.Head = in.Run.SHA
	}
	if in.Action == "labeled" {
		e.Labeled = in.Label.Name
	}
	return e, nil
}

// NumberOf is the number of the pull request that an event is about. Where the event is
// the end of another workflow, it is the open one of the branch whose last commit that
// workflow ran for. It returns NOT_FOUND and INVALID_STATE.
func (f *Forge) NumberOf(ctx context.Context, e Event) (int, error) {
	if e.Number > 0 {
		return e.Number, nil
	}
	number := 0
	if e.owner != "" && e.branch != "" {
		path := "/pulls?state=open&head=" + url.QueryEscape(e.owner+":"+e.branch)
		if err := each(ctx, f.do, path, func(p pullAnswer) {
			if p.Head.SHA == e.Head {
				number = p.Number
			}
		}); err != nil {
			return 0, err
		}
	}
	if number == 0 {
		return 0, tidegate.Errorf(tidegate.FileNotFound, nil, "the job is about no open pull request")
	}
	return number, nil
}
