package codereview

import (
	"context"
	"fmt"
	"slices"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/internal/face/cli"
	"github.com/tidegate/tidegate/internal/work/git"
	"github.com/tidegate/tidegate/review"
	"github.com/tidegate/tidegate/tool"
)

func applyCommand(env commands) cli.Command {
	return cli.Command{
		Path: "review apply", Operands: []tool.Operand{findingOperand},
		Flags: []tool.Flag{{Name: "from", About: "the `FILE` with the review", Kind: tool.PathFlag}},
		Run:   env.reviewApply,
	}
}

// reviewApply is the command review apply.
func (e commands) reviewApply(ctx context.Context, call cli.Invocation) error {
	f, err := e.found(ctx, call.Args[0], call.Flag("from"))
	if err != nil {
		return err
	}
	r, err := git.OpenCheckout(ctx, e.OwnDesk(), e.Project)
	if err != nil {
		return git.Unread(ctx, err)
	}
	defer r.Folder.Close()
	text, err := r.Folder.Read(f.File)
	if err != nil {
		return err
	}
	applied, why := f.Apply(text)
	if why != "" {
		return tidegate.Errorf(tidegate.InvalidState, tidegate.Pairs("file", f.File, "finding", f.ID, "help", "`tidegate review list` has the reviews; `tidegate review show ID` prints what is suggested"),
			"nothing is written to %s: %s", f.File, why)
	}
	r.Folder.Share()
	if err := r.Folder.Write(f.File, applied); err != nil {
		return err
	}
	return call.Render(report.Report{Name: "review_apply", Title: "Applied",
		Summary: fmt.Sprintf("%s: the suggestion of %s %q", f.File, f.ID, f.Title)})
}

// found is a finding by its id, in a file or in the reviews of the project that the home
// keeps.
func (e commands) found(ctx context.Context, id, from string) (review.Finding, error) {
	kept, missing, err := e.keptFrom(ctx, from)
	if err != nil {
		return review.Finding{}, err
	}
	for _, r := range kept {
		if at := slices.IndexFunc(r.Findings, func(f review.Finding) bool { return f.ID == id }); at >= 0 {
			return r.Findings[at], nil
		}
	}
	return review.Finding{}, missing(id)
}
