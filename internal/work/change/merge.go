package change

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/text/markdown"
	"github.com/tidegate/tidegate/internal/work/git"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/review"
)

// Merge merges a complete change into the branch that the project has checked out: the
// commit that was reviewed and nothing else, with a commit that says what was approved.
// No hook runs. With squash the change becomes one commit without the branch in its history,
// whose message has the note of the implementer. The change is archived then. One that was merged by other means is only
// archived. The author and the message are as for [Worktree.Commit]; {change} and
// {round} in the message stand for those.
//
// It returns the merge's commit and what it does to the files; GATE_BLOCKED for an agent and for a change that is not
// complete; INVALID_STATE for one that has no branch, where the project has moved on
// since the change began, and where files of the project are in the way; TAMPERED where
// the branch is not what was reviewed; and otherwise what [Advance] returns.
func Merge(ctx context.Context, desk run.Desk, project, id, author, message string, squash bool) (Merged, error) {
	if err := byPerson(ctx, id, "merges a change", "tidegate change merge "+id); err != nil {
		return Merged{}, err
	}
	folder, err := OpenFolder(ctx, desk, project, id)
	if err != nil {
		return Merged{}, err
	}
	defer folder.Close()
	if _, err := readState(folder); err != nil {
		return Merged{}, err
	}
	v, err := enter(ctx, desk, folder, id, nil)
	if err != nil {
		return Merged{}, err
	}
	defer v.leave()
	if err := v.r.checkFiles(folder, id); err != nil {
		return Merged{}, err
	}
	w, err := v.approved()
	if err != nil {
		return Merged{}, err
	}
	w.project, w.id = project, id
	if err := w.Check(ctx); err != nil {
		return Merged{}, err
	}
	number := v.r.last().number
	text := strings.NewReplacer("{change}", id, "{round}", strconv.Itoa(number)).Replace(cmp.Or(message, "Merge change {change}"))
	text = fmt.Sprintf("%s\n\nReview %d approved %s.", strings.TrimRight(text, "\n"), number, w.head)
	if squash {
		about, err := v.squashed(number)
		if err != nil {
			return Merged{}, err
		}
		text += about
	}
	merged, err := w.merge(ctx, desk, author, text, squash)
	if err != nil {
		return Merged{}, err
	}
	m := newMove(v.s, v.r)
	m.phase, m.event, m.action = Archived, eventMerged, actionMerged
	m.edit(v.s)
	return merged, v.commit(ctx, m, "change_merge", judged{number: number}, tidegate.Pairs("commit", merged.Commit))
}

// longestNote is how many bytes of an implementer's note a message has.
const longestNote = 4 << 10

// squashed is what the message of a squashed change says besides: what was reviewed, and
// what the implementer says of it, indented, so that no line of it is a trailer.
func (v *visit) squashed(number int) (string, error) {
	data, err := v.folder.Read(historyName(number))
	if err != nil {
		return "", err
	}
	beside, err := readSidecar(v.folder, number)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	indented := func(heading, text string) {
		if text = strings.TrimSpace(text); text == "" {
			return
		}
		if len(text) > longestNote {
			text = strings.ToValidUTF8(text[:longestNote], "") + " […]"
		}
		b.WriteString("\n\n" + heading + "\n")
		for line := range strings.SplitSeq(text, "\n") {
			b.WriteString("\n    " + markdown.Show(line))
		}
	}
	indented("What was reviewed:", strings.Join(beside.Files, "\n"))
	indented("The reviewers:", review.Read(data).Payload.Summary)
	indented("The implementer:", beside.Note)
	return b.String(), nil
}

// approved is the worktree of a complete change, at the commit that was reviewed.
func (v *visit) approved() (*Worktree, error) {
	again, err := reopens(v.folder, v.r)
	switch {
	case err != nil:
		return nil, err
	case slices.Contains(endedPhases, v.s.phase):
		return nil, blocked(v.id, v.s, "has ended already", nil)
	case v.s.phase != Complete || v.r.phase != Complete || again:
		return nil, blocked(v.id, v.s, fmt.Sprintf("is merged only when it is %s: `tidegate change run %s` resumes it", Complete, v.id), []string{Complete})
	case v.r.worktree == nil || v.r.last() == nil:
		return nil, tidegate.Errorf(tidegate.InvalidState, tidegate.Pairs("change_id", v.id), "change %s has no branch of ours: `tidegate change run` did not implement it", v.id)
	}
	w := v.r.worktree
	w.head, err = reviewedCommit(v.folder, v.r)
	return w, err
}

// reviewedCommit is the commit that the last review is about, "" where it names none.
func reviewedCommit(folder *artifact.Folder, r *record) (string, error) {
	last := r.last()
	if last == nil {
		return "", nil
	}
	beside, err := readSidecar(folder, last.number)
	return textOf(beside.Commit), err
}

// merge merges the last commit that was made here.
func (w *Worktree) merge(ctx context.Context, desk run.Desk, author, message string, squash bool) (Merged, error) {
	onto, tree, err := w.onto(ctx)
	if err != nil {
		return Merged{}, err
	}
	if tree == "" {
		merged, err := w.counted(ctx, w.Base, w.head)
		merged.Commit = onto
		return merged, err
	}
	moved, err := w.moved(ctx, desk, onto)
	if err != nil {
		return Merged{}, err
	}
	if moved {
		return Merged{}, tidegate.Errorf(tidegate.InvalidState, tidegate.Pairs("base", w.Base, "head", onto, "next", "tidegate change run "+w.id),
			"the project has moved on from %.12s, where the change began, to %.12s, and what would be merged was not reviewed: `tidegate change run %s` rebases it and has it reviewed again", w.Base, onto, w.id)
	}
	parents := []string{onto, w.head}
	if squash {
		parents = parents[:1]
	}
	commit, err := w.commitTree(ctx, desk, tree, author, message, parents...)
	if err != nil {
		return Merged{}, tidegate.Errorf(tidegate.WriteFailed, tidegate.Pairs("branch", w.Branch), "the change cannot be merged: %w", err)
	}
	merged, err := w.counted(ctx, onto, commit)
	if err != nil {
		return Merged{}, err
	}
	ctx = context.WithoutCancel(ctx) // a git that is killed leaves half of the files
	// Entries whose times alone differ are up to date; what else differs is told below.
	_, _ = git.Ask(ctx, w.project, "update-index", "-q", "--refresh")
	if _, err := git.Ask(ctx, w.project, "read-tree", "-m", "-u", onto, commit); err != nil {
		return Merged{}, tidegate.Errorf(tidegate.InvalidState, tidegate.Pairs("branch", w.Branch), "nothing was merged, because files of the project are in the way; commit or stash them: %w", err)
	}
	if _, err := git.Ask(ctx, w.project, "update-ref", "-m", "tidegate: merge "+w.Branch, "HEAD", commit, onto); err != nil {
		return Merged{}, tidegate.Errorf(tidegate.WriteFailed, tidegate.Pairs("branch", w.Branch), "the change is staged, but HEAD cannot be moved to its commit: %w", err)
	}
	return merged, nil
}

// Merged is what [Merge] did.
type Merged struct {
	Commit                  string
	Added, Changed, Deleted int // files
}

// counted counts the files in which two commits differ.
func (w *Worktree) counted(ctx context.Context, before, after string) (Merged, error) {
	names, err := git.Ask(ctx, w.project, "diff-tree", "-r", "-z", "--name-status", "--no-renames", "--no-ext-diff", before, after)
	if err != nil {
		return Merged{}, git.Unread(ctx, err)
	}
	merged := Merged{Commit: after}
	for status := range git.Changed(names) {
		switch status {
		case "A":
			merged.Added++
		case "D":
			merged.Deleted++
		default:
			merged.Changed++
		}
	}
	return merged, nil
}

// onto is where the project stands, and the tree that it has once the last commit that
// was made here is merged; "" where it has that commit already. It returns INVALID_STATE
// with the files that both sides changed.
func (w *Worktree) onto(ctx context.Context) (head, tree string, err error) {
	answer, err := git.Ask(ctx, w.project, "rev-parse", "--verify", "--quiet", "HEAD^{commit}")
	if err != nil {
		return "", "", git.Unread(ctx, err)
	}
	head = strings.TrimSpace(string(answer))
	if isAncestor(ctx, w.project, w.head, head) {
		return head, "", nil
	}
	o, err := git.ReadOrigin(ctx, w.project)
	if err != nil {
		return "", "", git.Unread(ctx, err)
	}
	k, err := o.Keep(ctx, w.project) // so that no merge driver of the repository runs
	if err != nil {
		return "", "", git.Unread(ctx, err)
	}
	defer k.Remove()
	said, err := k.AskAnyway(ctx, "merge-tree", "--write-tree", "--name-only", "--no-messages", "-z", head, w.head)
	parts := slices.Collect(git.ZeroTerminated(said))
	switch {
	case len(parts) == 0 && err != nil:
		return "", "", git.Unread(ctx, err)
	case err != nil:
		var files []string
		for _, name := range parts[1:] {
			files = append(files, string(name))
		}
		return "", "", tidegate.Errorf(tidegate.InvalidState, tidegate.Pairs("branch", w.Branch, "files", files),
			"the change and the project since %.12s changed the same lines (%s): merge %s by hand, or abandon the change and begin it again", w.Base, strings.Join(files, ", "), w.Branch)
	}
	return head, string(parts[0]), nil
}

// moved reports whether the project has other files at head than where the change
// began, those of the folder of changes aside: they are no part of any change.
func (w *Worktree) moved(ctx context.Context, desk run.Desk, head string) (bool, error) {
	prefix, err := git.Ask(ctx, w.project, "rev-parse", "--show-prefix")
	if err != nil {
		return false, git.Unread(ctx, err)
	}
	names, err := git.Ask(ctx, w.project, "diff-tree", "-r", "-z", "--name-only", "--no-renames", "--no-ext-diff", w.Base, head)
	if err != nil {
		return false, git.Unread(ctx, err)
	}
	changes := strings.TrimSuffix(string(prefix), "\n") + git.ChangesDir(desk) + "/"
	for name := range git.ZeroTerminated(names) {
		if !strings.HasPrefix(string(name), changes) {
			return true, nil
		}
	}
	return false, nil
}

// isAncestor reports whether a commit is part of the history of another.
func isAncestor(ctx context.Context, project, commit, of string) bool {
	_, err := git.Ask(ctx, project, "merge-base", "--is-ancestor", commit, of)
	return err == nil
}

// Rebase puts a complete change on top of where the project stands, if that has moved on
// since the change began; then it has to be reviewed again, and Rebase returns the
// commit that the change now begins from, otherwise "". Author and message are those of
// the one commit that the change becomes.
//
// It returns INVALID_STATE with the files that both sides changed, and what
// [OpenWorktree] returns.
func (w *Worktree) Rebase(ctx context.Context, desk run.Desk, author, message string) (string, error) {
	if w.reviewed == 0 {
		return "", nil
	}
	onto, tree, err := w.onto(ctx)
	if err != nil || tree == "" {
		return "", err
	}
	if moved, err := w.moved(ctx, desk, onto); err != nil || !moved {
		return "", err
	}
	commit, err := w.commitTree(ctx, desk, tree, author, message, onto)
	if err != nil {
		return "", tidegate.Errorf(tidegate.WriteFailed, tidegate.Pairs("branch", w.Branch), "the change cannot be rebased: %w", err)
	}
	// Until the log has it, the reviewed commit counts, and is rebased again.
	w.head, w.Base = commit, onto
	if err := w.Restore(ctx, desk); err != nil {
		return "", err
	}
	folder, err := OpenFolder(ctx, desk, w.project, w.id)
	if err != nil {
		return "", err
	}
	defer folder.Close()
	v, err := enter(ctx, desk, folder, w.id, nil)
	if err != nil {
		return "", err
	}
	defer v.leave()
	if err := v.r.checkFiles(folder, w.id); err != nil {
		return "", err
	}
	m := newMove(v.s, v.r)
	m.phase, m.event, m.action = Implementing, eventRebased, actionRebased
	m.edit(v.s)
	w.Rebased, w.reviewed = w.reviewed, 0
	return onto, v.commit(ctx, m, "change_run", judged{number: w.Rebased}, tidegate.Pairs("worktree", w.Path, "branch", w.Branch, "base", w.Base))
}
