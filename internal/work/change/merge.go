package change

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
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
	var merged Merged
	err := moving(ctx, desk, project, id, func(v *visit) error {
		w, err := v.approved()
		if err != nil {
			return err
		}
		w.project, w.id = project, id
		if err := w.Check(ctx); err != nil {
			return err
		}
		number := v.r.last().number
		text := strings.NewReplacer("{change}", id, "{round}", strconv.Itoa(number)).Replace(cmp.Or(message, "Merge change {change}"))
		text = fmt.Sprintf("%s\n\nReview %d approved %s.", strings.TrimRight(text, "\n"), number, w.head)
		if squash {
			about, err := v.squashed(number)
			if err != nil {
				return err
			}
			text += about
		}
		merged, err = w.merge(ctx, desk, author, text, squash)
		if err != nil {
			return err
		}
		m := newMove(v.s, v.r)
		m.phase, m.event, m.action = Archived, eventMerged, actionMerged
		m.edit(v.s)
		return v.commit(ctx, m, "change_merge", judged{number: number}, tidegate.Pairs("commit", merged.Commit))
	})
	return merged, err
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
	return onto, moving(ctx, desk, w.project, w.id, func(v *visit) error {
		m := newMove(v.s, v.r)
		m.phase, m.event, m.action = Implementing, eventRebased, actionRebased
		m.edit(v.s)
		w.Rebased, w.reviewed = w.reviewed, 0
		return v.commit(ctx, m, "change_run", judged{number: w.Rebased}, tidegate.Pairs("worktree", w.Path, "branch", w.Branch, "base", w.Base))
	})
}

// Abandon ends a change that has not ended: it becomes rejected. Its worktree and its
// branch stay until [Clean]. It is a person's decision.
//
// It returns GATE_BLOCKED for an agent and for a change that has ended, and otherwise
// what [Resume] returns.
func Abandon(ctx context.Context, desk run.Desk, project, id string) error {
	if err := byPerson(ctx, id, "abandons a change", "tidegate change abandon "+id); err != nil {
		return err
	}
	folder, err := OpenFolder(ctx, desk, project, id)
	if err != nil {
		return err
	}
	defer folder.Close()
	v, d, signature, err := enterToDecide(ctx, desk, folder, id, "change_abandon", func(*decision) {})
	if err != nil {
		return err
	}
	defer v.leave()
	if slices.Contains(endedPhases, v.s.phase) {
		return blocked(id, v.s, "has ended already", nil)
	}
	if err := v.r.admits(d); err != nil {
		return err
	}
	if err := v.r.checkFiles(folder, id); err != nil {
		return err
	}
	m := newMove(v.s, v.r)
	m.phase, m.event, m.action = Rejected, eventAbandoned, actionAbandon
	m.edit(v.s)
	return v.commit(ctx, m, "change_abandon", judged{}, d.details(signature))
}

// Removed is what [Clean] removed of a change.
type Removed struct {
	ChangeID string
	Branch   string
	Commit   string // to which the branch led
	Worktree string
}

// Clean removes the worktrees and branches of changes that have ended: those that were
// abandoned or merged, by whatever means. A worktree that is not the project's any more
// and a branch that leads elsewhere than to our last commit stay.
//
// It returns GATE_BLOCKED for an agent, INVALID_ARGS, NOT_FOUND, READ_FAILED and
// WRITE_FAILED.
func Clean(ctx context.Context, desk run.Desk, project string) ([]Removed, error) {
	if err := byPerson(ctx, "", "removes worktrees and branches", "tidegate change clean"); err != nil {
		return nil, err
	}
	list, err := All(desk, project)
	if err != nil {
		return nil, err
	}
	var removed []Removed
	for _, entry := range list.Changes {
		if entry.Problem != "" || entry.Phase != Complete && !slices.Contains(endedPhases, entry.Phase) {
			continue
		}
		one, err := clean(ctx, desk, project, entry)
		if err != nil {
			return removed, err
		}
		if one != nil {
			removed = append(removed, *one)
		}
	}
	return removed, nil
}

// clean removes the worktree and the branch of one change, nil where there is nothing
// to remove.
func clean(ctx context.Context, desk run.Desk, project string, entry ListEntry) (*Removed, error) {
	folder, err := open(desk, project, entry.ChangeID)
	if err != nil {
		return nil, err
	}
	defer folder.Close()
	r, err := readRecord(desk, folder, entry.ChangeID)
	if err != nil {
		return nil, err
	}
	w := r.worktree
	if w == nil || w.Branch != branchOf(entry.ChangeID) {
		return nil, nil
	}
	w.project = project
	answer, err := git.Ask(ctx, project, "rev-parse", "--verify", "--quiet", "refs/heads/"+w.Branch)
	if err != nil {
		return nil, nil // it is gone already
	}
	at := strings.TrimSpace(string(answer))
	if entry.Phase != Rejected {
		reviewed, err := reviewedCommit(folder, r)
		if err != nil {
			return nil, err
		}
		merged := r.phase == Archived // the log says so: squashed, it has no commit of the branch
		if at != reviewed || !merged && !isAncestor(ctx, project, at, "HEAD") {
			return nil, nil
		}
	}
	if there, err := git.HoldsRepository(desk, w.Path); err == nil && there {
		if err := w.intact(ctx, desk); err != nil {
			return nil, err
		}
		if _, err := git.Ask(ctx, project, "worktree", "remove", "--force", w.Path); err != nil {
			return nil, notRemoved(w, err)
		}
		if err := w.begin(desk); err != nil {
			return nil, err
		}
	}
	if _, err := git.Ask(ctx, project, "worktree", "prune"); err != nil {
		return nil, notRemoved(w, err)
	}
	if _, err := git.Ask(ctx, project, "branch", "--quiet", "-D", "--", w.Branch); err != nil {
		return nil, notRemoved(w, err)
	}
	return &Removed{entry.ChangeID, w.Branch, at, filepath.Clean(w.Path)}, nil
}

func notRemoved(w *Worktree, err error) error {
	return tidegate.Errorf(tidegate.WriteFailed, tidegate.Pairs("worktree", w.Path, "branch", w.Branch), "what is left of the branch %s cannot be removed: %w", cmp.Or(w.Branch, w.Path), err)
}

// A worktree counts only while a file beside it says that it is complete. The file goes
// before anything of the worktree is written by this program and comes back when that is
// done, so that no kill leaves half a worktree that is taken for a whole one.
const completeSuffix = ".complete"

// beside does something in the folder in which the worktree lies, where it has that name.
func (w *Worktree) beside(desk run.Desk, do func(folder *artifact.Folder, name string) error) error {
	folder, err := desk.Reach.Open("worktrees", filepath.Dir(w.Path))
	if err != nil {
		return err
	}
	defer folder.Close()
	return do(folder, filepath.Base(w.Path))
}

// isComplete reports whether the worktree is there and complete.
func (w *Worktree) isComplete(desk run.Desk) (complete bool, err error) {
	err = w.beside(desk, func(folder *artifact.Folder, name string) (err error) {
		if complete, err = folder.Exists(name + completeSuffix); complete {
			_, missing := fs.Lstat(folder.FS(), name)
			complete = missing == nil
		}
		return err
	})
	return complete, artifact.UnlessMissing(err)
}

// begin says that the worktree is not complete from here on.
func (w *Worktree) begin(desk run.Desk) error {
	return w.beside(desk, func(folder *artifact.Folder, name string) error { return folder.Remove(name + completeSuffix) })
}

// completed says that the worktree is complete, once that is durable.
func (w *Worktree) completed(desk run.Desk) error {
	return w.beside(desk, func(folder *artifact.Folder, name string) error {
		if err := folder.SyncAll(); err != nil {
			return err
		}
		return folder.Write(name+completeSuffix, []byte(w.head+"\n"))
	})
}

// removeRest removes a worktree that is not complete. It returns INVALID_STATE for one
// that lies elsewhere than at ours.
func (w *Worktree) removeRest(desk run.Desk, ours string) error {
	return artifact.UnlessMissing(w.beside(desk, func(folder *artifact.Folder, name string) error {
		if err := folder.Remove(name + completeSuffix); err != nil {
			return err
		}
		if _, err := fs.Lstat(folder.FS(), name); errors.Is(err, fs.ErrNotExist) {
			return folder.SweepRemoved()
		}
		if w.Path != ours {
			return tidegate.Errorf(tidegate.InvalidState, tidegate.Pairs("worktree", w.Path, "expected", ours),
				"the worktree %s is not complete, and this home makes it at %s: remove the folder, and the next `tidegate change run` makes it again", w.Path, ours)
		}
		if err := folder.RemoveFolder(name); err != nil {
			if _, still := fs.Lstat(folder.FS(), name); still == nil {
				return err
			}
		}
		return nil // what could not be removed yet lies aside, and is swept another time
	}))
}
