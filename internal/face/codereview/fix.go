package codereview

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/face/cli"
	"github.com/tidegate/tidegate/internal/work/change"
	"github.com/tidegate/tidegate/internal/work/git"
	"github.com/tidegate/tidegate/internal/work/reviews"
	"github.com/tidegate/tidegate/review"
	"github.com/tidegate/tidegate/tool"
)

func fixCommand(env commands) cli.Command {
	return cli.Command{
		Path:     "review fix",
		Operands: []tool.Operand{{Name: "FINDING", About: "its id; all that count when absent", Optional: true, Repeats: true}},
		Flags:    changeFlags,
		Run:      env.reviewFix,
	}
}

func (e commands) reviewFix(ctx context.Context, call cli.Invocation) error {
	return e.onCode(ctx, call, (*session).reviewFix)
}

func (s *session) reviewFix(ctx context.Context) (int, error) {
	name, err := s.reviewName(ctx)
	if err != nil {
		return 0, err
	}
	last, err := reviews.Last(s.OwnDesk(), s.Home, s.Project, name)
	if err != nil {
		return 0, err
	}
	if last == nil {
		return 0, tidegate.Errorf(tidegate.FileNotFound, tidegate.Pairs("name", name), "the home keeps no review of %s: `tidegate review run` makes one", name)
	}
	issues, err := s.toFix(ctx, *last)
	if err != nil {
		return 0, err
	}
	if len(issues) == 0 {
		s.Say("nothing to fix: review %s has no finding that counts", last.ID)
		return 0, nil
	}
	if err := s.committed(ctx, last.Ended.Files); err != nil {
		return 0, err
	}
	wanted := fmt.Sprintf("Fix review %s\n\nMend what the review of %s found, and nothing else:\n\n%s", last.ID, name, review.IssueList(issues))
	id, err := change.UnderWay(s.OwnDesk(), s.Project, wanted)
	if err != nil {
		return 0, err
	}
	if id == "" {
		started, made, err := change.New(ctx, s.OwnDesk(), s.Project, wanted)
		if err != nil {
			return 0, err
		}
		if id = started.ChangeID; made != "" {
			s.Say("%s", madeFolder(made))
		}
	}
	s.Say("%d of the findings of review %s are to be mended by change %s", len(issues), last.ID, id)
	return s.driveChange(ctx, id)
}

// toFix are the findings of a review that were named, or all that count. It returns
// NOT_FOUND for an id that the review does not have.
func (s *session) toFix(ctx context.Context, r reviews.Review) ([]review.Finding, error) {
	found := r.Ended.Earlier().Issues
	for _, id := range s.Call.Args {
		if !slices.ContainsFunc(found, func(i review.Finding) bool { return i.ID == id }) {
			return nil, tidegate.Errorf(tidegate.FileNotFound, tidegate.Pairs("ID", tidegate.Cut(id), "review", r.ID), "the last review has no finding %q", tidegate.Cut(id))
		}
	}
	spared := map[string]bool{}
	dismissed, err := change.Dismissed(ctx, s.OwnDesk(), s.Project, "")
	for _, d := range dismissed {
		spared[d.ID] = true
	}
	for _, c := range r.Ended.Checked {
		spared[c.ID] = spared[c.ID] || c.Verdict == review.Refuted
	}
	return slices.DeleteFunc(found, func(i review.Finding) bool {
		if len(s.Call.Args) > 0 {
			return !slices.Contains(s.Call.Args, i.ID)
		}
		return spared[i.ID]
	}), err
}

// committed returns INVALID_STATE where one of the files is not as it was committed.
func (s *session) committed(ctx context.Context, files []string) error {
	d, err := git.ReadDiff(ctx, s.OwnDesk(), s.Project, git.DiffInput{Base: "HEAD"})
	if err != nil {
		return err
	}
	defer d.Close()
	var open []string
	for _, f := range d.Files {
		if slices.Contains(files, f.Name) {
			open = append(open, f.Name)
		}
	}
	if len(open) == 0 {
		return nil
	}
	return tidegate.Errorf(tidegate.InvalidState, tidegate.Pairs("files", open), "commit what was reviewed first, because it is mended in a worktree that has nothing else: %s", tidegate.Cut(strings.Join(open, ", ")))
}
