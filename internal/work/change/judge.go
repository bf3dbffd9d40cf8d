package change

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/internal/work/git"
	"github.com/tidegate/tidegate/review"
)

// judged is what the review of a change says.
type judged struct {
	verdict  review.Verdict
	number   int      // of the review; 0 when none was kept
	identity string   // distinguishes this review from every other
	doubts   []string // what speaks against an approval
	tree     git.Tree // that was reviewed
	setAside string   // why a person decides because of findings that did not hold
}

// kept reports whether the review is one that was kept.
func (j judged) kept() bool { return j.number > 0 }

// needsTree reports whether the files must be those that were reviewed.
func (j judged) needsTree() bool { return j.kept() && j.verdict == review.Approved }

// judge reads REVIEW.md, which must be the review that was kept last. A verdict
// that is not clear, that Agentd reads differently, or that belongs to another
// change is GATE_BLOCKED, and so is an agent's call where no review was kept.
func judge(ctx context.Context, folder *artifact.Folder, r *record, id string) (judged, error) {
	path := filepath.Join(folder.Path(), reviewFile)
	data, err := readIfThere(folder, reviewFile)
	if err != nil {
		return judged{}, err
	}
	if data == nil {
		return judged{}, tidegate.Errorf(tidegate.FileNotFound, tidegate.Pairs("review_path", path), "the change has no REVIEW.md: %s", path)
	}
	last := r.last()
	if last != nil {
		if err := lastKept(folder, r, last.number, data); err != nil {
			return judged{}, err
		}
	}
	shown := review.Show(path, data)
	unclear := func(reason string) error {
		return tidegate.Errorf(tidegate.GateBlocked, tidegate.Pairs("review_path", path, "verdict", shown.Verdict,
			"agentd_verdict", shown.AgentdVerdict, "problems", shown.Problems, "allowed", review.Verdicts), "%s", reason)
	}
	reading := review.Read(data)
	switch {
	case reading.Verdict == "":
		return judged{}, unclear("REVIEW.md states no clear verdict: " + shown.Problems[0])
	case !shown.Agree:
		return judged{}, unclear(fmt.Sprintf("REVIEW.md says %s, but Agentd reads %s", shown.Verdict, shown.AgentdVerdict))
	case reading.Complete && reading.Payload.ChangeID != id:
		return judged{}, unclear(fmt.Sprintf("REVIEW.md is a review of change %s", reading.Payload.ChangeID))
	}
	if last == nil {
		numbers, err := history(folder)
		if err == nil {
			err = byPerson(ctx, id, "advances a change whose review was not handed in by `tidegate review create`", "tidegate change advance "+id)
		}
		return judged{verdict: reading.Verdict, identity: identity(lastOf(numbers), data)}, err
	}
	j := judged{verdict: reading.Verdict, number: last.number, identity: identity(last.number, data)}
	beside, err := readSidecar(folder, last.number)
	j.doubts, j.tree, j.setAside = doubts(reading.Payload, beside.FailedNew), beside.tree(), beside.NeedsPerson
	return j, err
}

// identity is the number of a review and its digest: the same words once more
// are another review.
func identity(number int, data []byte) string {
	return fmt.Sprintf("%d %s", number, codec.DigestBytes(data))
}

// doubts are what the review itself says against an approval. A test that failed before the
// change, too, is none of the reviewer's, but to mend it may have been the change's task.
func doubts(p review.Payload, failedNew *int64) []string {
	var doubts []string
	if high := p.Counts().High; high > 0 {
		doubts = append(doubts, "it names "+report.Counted(high, "issue")+" of severity High")
	}
	if failed := p.TestResults.FailedTests(); failed != 0 {
		said := report.Counted(int(failed), "test") + " failed"
		if failedNew != nil && *failedNew == 0 {
			said += ", as without the change"
		}
		doubts = append(doubts, said)
	}
	return doubts
}

// lastKept returns GATE_BLOCKED, naming both, when REVIEW.md is not the review
// that was kept last, and when there is a later one that the log does not have.
func lastKept(folder *artifact.Folder, r *record, number int, current []byte) error {
	kept, err := folder.Read(historyName(number))
	if err != nil {
		return err
	}
	numbers, err := history(folder)
	if err != nil {
		return err
	}
	later := lastOf(numbers)
	same := bytes.Equal(kept, current)
	if same && later <= r.newest() {
		return nil
	}
	path, keptPath := filepath.Join(folder.Path(), reviewFile), filepath.Join(folder.Path(), filepath.FromSlash(historyName(number)))
	now, then := review.Read(current).Verdict, review.Read(kept).Verdict
	details := tidegate.Pairs("review_path", path, "verdict", now.String(), "kept_path", keptPath, "kept_verdict", then.String(), "allowed", review.Verdicts)
	if same {
		return tidegate.Errorf(tidegate.GateBlocked, details, "%s is later than %s, the last review that the log has: hand in another review", historyName(later), historyName(number))
	}
	return tidegate.Errorf(tidegate.GateBlocked, details, "REVIEW.md (%s) is not %s (%s), the review that was kept last: put that back, or hand in another review", now, historyName(number), then)
}
