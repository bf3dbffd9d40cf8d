package engine

import (
	"context"
	"slices"

	"github.com/tidegate/tidegate/internal/agent/job"
	"github.com/tidegate/tidegate/internal/work/git"
	"github.com/tidegate/tidegate/review"
)

// Before is the review of a change at an earlier commit.
type Before struct {
	Base, Head string   // what was compared with, and the last commit of it
	Parts      []string // that it was limited to
	Review     review.Payload
	Findings   []review.Finding
	Checked    []review.Checked
}

// goOn lets the review be about what is new since the one before. That takes a change
// that has grown by commits: after a rebase, when its base has moved, or when the review
// was of other parts, all of it is reviewed, and so it is after MAJOR_ISSUES, which are
// about the whole. Findings in files
// that have not changed since are carried: nobody could close them. The others are for
// the reviewers to answer. It returns the errors of [git.ReadDiff].
func (r *CodeReview) goOn(ctx context.Context) (err error) {
	before := r.in.Before
	if before == nil {
		r.today, err = today(ctx, r.diff, r.in.Earlier.Issues, nil)
		return err
	}
	open := before.Findings
	grown, err := r.whole.GrownSince(ctx, before.Base, before.Head)
	if err != nil {
		return err
	}
	if grown && slices.Equal(before.Parts, r.whole.Parts) && before.Review.Verdict != review.MajorIssues {
		if r.diff, err = r.whole.NewAfter(ctx, r.desk, r.in.Project, before.Head, r.in.DiffInput); err != nil {
			r.diff = r.whole
			return err
		}
		open = nil
		for _, f := range before.Findings {
			if f.File == "" || r.diff.Changes(f.File) {
				open = append(open, f)
			} else {
				r.carried = append(r.carried, f)
			}
		}
	}
	r.in.Earlier.Issues = append(r.in.Earlier.Issues, review.IdentifiedOf(open)...)
	r.today, err = today(ctx, r.diff, r.in.Earlier.Issues, before.Findings)
	return err
}

// Unchanged is the review before, as it stands for a change that has nothing new that
// could be shown; ok is false where there is something to review, or nothing at all.
func (r *CodeReview) Unchanged() (out CodeReviewOutcome, ok bool) {
	if r.diff == r.whole || len(r.whole.Files) == 0 || len(r.diff.Files) > 0 {
		return out, false
	}
	before := r.in.Before
	out.WaitingFor = ForNothing
	out.CodeReviewed = job.CodeReviewed{Review: before.Review, Findings: before.Findings, Dropped: []review.Dropped{}, Closed: []string{},
		Warnings: append(touchesSettings(r.whole, r.in.Guidelines), notShown(r.whole)...)}
	out.Checked = before.Checked
	return out, true
}

// carry adds what was found before in files that have not changed since.
func (r *CodeReview) carry(out *CodeReviewOutcome) {
	if len(r.carried) == 0 {
		return
	}
	out.Review, out.Findings = review.Carry(out.Review, out.Findings, r.in.Before.Review.Verdict, r.carried)
	for _, c := range r.in.Before.Checked {
		if slices.ContainsFunc(r.carried, func(f review.Finding) bool { return f.ID == c.ID }) {
			out.Checked = append(out.Checked, c)
		}
	}
}

// maxToday is how many bytes of code around earlier issues a review has.
const maxToday = 96 << 10

// today is the code around earlier issues as a diff has it, by their ids: a reviewer says
// of each whether it is still there, also where the diff does not show it.
func today(
	ctx context.Context, d *git.Diff, earlier []review.Identified, known []review.Finding,
) (map[string]string, error) {
	code, room := map[string]string{}, maxToday
	for _, issue := range earlier {
		f := review.Finding{Identified: issue}
		if at := slices.IndexFunc(known, func(k review.Finding) bool { return k.ID == issue.ID }); at >= 0 {
			f.Quote = known[at].Quote
		}
		if issue.File == "" || issue.Line == nil {
			continue
		}
		text, there, err := d.Text(ctx, issue.File)
		if err != nil {
			return nil, err
		}
		if !there {
			continue
		}
		if shown := review.Today(f, text); len(shown) <= room {
			code[issue.ID], room = shown, room-len(shown)
		}
	}
	return code, nil
}

// codeOf is the code around the issues that a prompt asks about.
func codeOf(p review.Prompt, code map[string]string) (list []string) {
	for _, issue := range p.Earlier {
		if code[issue.ID] != "" {
			list = append(list, code[issue.ID])
		}
	}
	return list
}
