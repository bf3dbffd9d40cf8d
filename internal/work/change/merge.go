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
	"github.com/tidegate/tidegate/internal/work/run"
)

// Merge merges a complete change into the branch that the project has checked out: the
// commit that was reviewed and nothing else, with a commit that says what was approved.
// No hook runs. The change is archived then. One that was merged by other means is only
// archived. The author and the message are as for [Worktree.Commit]; {change} and
// {round} in the message stand for those.
//
// It returns the merge's commit; GATE_BLOCKED for an agent and for a change that is not
// complete; INVALID_STATE for one that has no branch, where the project has moved on
// since the change began, and where files of the project are in the way; TAMPERED where
// the branch is not what was reviewed; and otherwise what [Advance] returns.
func Merge(ctx context.Context, desk run.Desk, project, id, author, message string) (string, error) {
	if err := byPerson(ctx, id, "merges a change", "tidegate change merge "+id); err != nil {
		return "", err
	}
	folder, err := openToWrite(ctx, desk, project, id)
	if err != nil {
		return "", err
	}
	defer folder.Close()
	if _, err := readState(folder); err != nil {
		return "", err
	}
	v, err := enter(ctx, desk, folder, id, nil)
	if err != nil {
		return "", err
	}
	defer v.leave()
	if err := v.r.checkFiles(folder, id); err != nil {
		return "", err
	}
	w, err := v.approved()
	if err != nil {
		return "", err
	}
	w.project, w.id = project, id
	if err := w.Check(ctx); err != nil {
		return "", err
	}
	number := v.r.last().number
	text := strings.NewReplacer("{change}", id, "{round}", strconv.Itoa(number)).Replace(cmp.Or(message, "Merge change {change}"))
	text = fmt.Sprintf("%s\n\nReview %d approved %s.", strings.TrimRight(text, "\n"), number, w.head)
	commit, err := w.merge(ctx, desk, author, text)
	if err != nil {
		return "", err
	}
	m := newMove(v.s, v.r)
	m.phase, m.event, m.action = Archived, eventMerged, actionMerged
	m.edit(v.s)
	return commit, v.commit(ctx, m, "change_merge", judged{number: number}, tidegate.Pairs("commit", commit))
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
	beside, err := folder.Read(sidecarName(last.number))
	if err != nil {
		return "", err
	}
	reviewed, err := treeOf(beside)
	return reviewed.commit, err
}

// merge merges the last commit that was made here, and returns the project's commit
// that has it.
func (w *Worktree) merge(ctx context.Context, desk run.Desk, author, message string) (string, error) {
	onto, tree, err := w.onto(ctx)
	if err != nil || tree == "" {
		return onto, err
	}
	moved, err := w.moved(ctx, desk, onto)
	if err != nil {
		return "", err
	}
	if moved {
		return "", tidegate.Errorf(tidegate.InvalidState, tidegate.Pairs("base", w.Base, "head", onto, "next", "tidegate change run "+w.id),
			"the project has moved on from %.12s, where the change began, to %.12s, and what would be merged was not reviewed: `tidegate change run %s` rebases it and has it reviewed again", w.Base, onto, w.id)
	}
	commit, err := w.commitTree(ctx, desk, tree, author, message, onto, w.head)
	if err != nil {
		return "", tidegate.Errorf(tidegate.WriteFailed, tidegate.Pairs("branch", w.Branch), "the change cannot be merged: %w", err)
	}
	// Entries whose times alone differ are up to date; what else differs is told below.
	_, _ = git(ctx, w.project, "update-index", "-q", "--refresh")
	if _, err := git(ctx, w.project, "read-tree", "-m", "-u", onto, commit); err != nil {
		return "", tidegate.Errorf(tidegate.InvalidState, tidegate.Pairs("branch", w.Branch), "nothing was merged, because files of the project are in the way; commit or stash them: %w", err)
	}
	if _, err := git(ctx, w.project, "update-ref", "-m", "tidegate: merge "+w.Branch, "HEAD", commit, onto); err != nil {
		return "", tidegate.Errorf(tidegate.WriteFailed, tidegate.Pairs("branch", w.Branch), "the change is staged, but HEAD cannot be moved to its commit: %w", err)
	}
	return commit, nil
}

// onto is where the project stands, and the tree that it has once the last commit that
// was made here is merged; "" where it has that commit already. It returns INVALID_STATE
// with the files that both sides changed.
func (w *Worktree) onto(ctx context.Context) (head, tree string, err error) {
	answer, err := git(ctx, w.project, "rev-parse", "--verify", "--quiet", "HEAD^{commit}")
	if err != nil {
		return "", "", unread(ctx, err)
	}
	head = strings.TrimSpace(string(answer))
	if isAncestor(ctx, w.project, w.head, head) {
		return head, "", nil
	}
	o, err := readOrigin(ctx, w.project)
	if err != nil {
		return "", "", unread(ctx, err)
	}
	k, err := o.keep(ctx, w.project) // so that no merge driver of the repository runs
	if err != nil {
		return "", "", unread(ctx, err)
	}
	defer k.remove()
	said := &bounded{limit: maxAnswer}
	err = said.ask(ctx, k.dir, k.env, nil, slices.Concat(k.options, []string{"merge-tree", "--write-tree", "--name-only", "--no-messages", "-z", head, w.head})...)
	parts := slices.Collect(zeroTerminated(said.text))
	switch {
	case len(parts) == 0 && err != nil:
		return "", "", unread(ctx, err)
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
	prefix, err := git(ctx, w.project, "rev-parse", "--show-prefix")
	if err != nil {
		return false, unread(ctx, err)
	}
	names, err := git(ctx, w.project, "diff-tree", "-r", "-z", "--name-only", "--no-renames", "--no-ext-diff", w.Base, head)
	if err != nil {
		return false, unread(ctx, err)
	}
	changes := strings.TrimSuffix(string(prefix), "\n") + changesDir(desk) + "/"
	for name := range zeroTerminated(names) {
		if !strings.HasPrefix(string(name), changes) {
			return true, nil
		}
	}
	return false, nil
}

// isAncestor reports whether a commit is part of the history of another.
func isAncestor(ctx context.Context, project, commit, of string) bool {
	_, err := git(ctx, project, "merge-base", "--is-ancestor", commit, of)
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
	folder, err := openToWrite(ctx, desk, w.project, w.id)
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
