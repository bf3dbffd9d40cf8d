package git

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/tidegate/tidegate"
)

// mainBranches are the branches that a branch without upstream is assumed to have
// left.
var mainBranches = []string{"origin/HEAD", "main", "master"}

// span is the two versions that are compared.
type span struct {
	base string // a commit, or the empty tree
	head string // the last commit, "" before the first
	root bool   // the base is the empty tree
}

// spanOf finds the versions that are compared. A base is where the later version
// left it: what others have committed there since is not part of the change.
func spanOf(ctx context.Context, dir string, in DiffInput) (span, error) {
	head, err := commitOf(ctx, dir, cmp.Or(in.Head, "HEAD"))
	switch {
	case ctx.Err() != nil:
		return span{}, ctx.Err()
	case err != nil && in.Head != "":
		return span{}, noCommit(ctx, dir, "head", in.Head)
	case err != nil && in.Base != "":
		return span{}, tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("base", tidegate.Cut(in.Base)), "base cannot be compared with: the branch has no commit yet")
	case err != nil:
		head = ""
	}
	s := span{head: head}
	switch {
	case head == "":
		err = nil
	case in.Base != "":
		s.base, err = leftBase(ctx, dir, in.Base, head)
	case in.Staged:
		s.base = head
	default:
		s.base, err = leftMain(ctx, dir, in.Head, head)
	}
	if s.root = s.base == "" && err == nil; s.root {
		s.base, err = emptyTree(ctx, dir)
	}
	return s, err
}

// commitOf is the commit that a revision names.
func commitOf(ctx context.Context, dir, revision string) (string, error) {
	commit, err := Ask(ctx, dir, "rev-parse", "--verify", "--quiet", "--end-of-options", revision+"^{commit}")
	return strings.TrimSpace(string(commit)), err
}

// noCommit is INVALID_ARGS for a revision that names no commit.
func noCommit(ctx context.Context, dir, name, revision string) error {
	hint := ""
	if isShallow(ctx, dir) {
		hint = "; the clone is shallow, `git fetch --unshallow` gets the rest"
	}
	return tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs(name, tidegate.Cut(revision)), "%s must name a commit, got %q%s", name, tidegate.Cut(revision), hint)
}

// leftBase is where head left the revision base. It returns INVALID_ARGS and, where
// the clone does not reach so far, INVALID_STATE.
func leftBase(ctx context.Context, dir, base, head string) (string, error) {
	commit, err := commitOf(ctx, dir, base)
	if err != nil {
		return "", noCommit(ctx, dir, "base", base)
	}
	if left, err := Ask(ctx, dir, "merge-base", head, commit); err == nil {
		return strings.TrimSpace(string(left)), nil
	}
	if isShallow(ctx, dir) {
		return "", tooShallow("it does not reach the commit where the branch left " + tidegate.Cut(base))
	}
	return "", tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("base", tidegate.Cut(base)), "base has no commit in common with what is reviewed, got %q", tidegate.Cut(base))
}

// leftMain is where head left its upstream or, without one, a main branch. A named
// revision that those have already is compared with the commit before it, "" where there
// is none.
func leftMain(ctx context.Context, dir, named, head string) (string, error) {
	for _, other := range append([]string{cmp.Or(named, "HEAD") + "@{upstream}"}, mainBranches...) {
		other, err := commitOf(ctx, dir, other)
		if err != nil {
			continue
		}
		left, err := Ask(ctx, dir, "merge-base", head, other)
		if commit := strings.TrimSpace(string(left)); err == nil && (named == "" || commit != head) {
			return commit, nil
		}
	}
	switch {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case named != "":
		return parentOf(ctx, dir, head)
	case isShallow(ctx, dir):
		return "", tooShallow("it does not reach the commit where the branch began")
	}
	return "", tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("base", nil),
		"base is needed: the branch has no upstream, and there is no branch main or master that it left")
}

// parentOf is the first commit before a commit, "" where there is none.
func parentOf(ctx context.Context, dir, commit string) (string, error) {
	text, err := Ask(ctx, dir, "cat-file", "commit", commit)
	if err != nil {
		return "", err
	}
	header, _, _ := bytes.Cut(text, []byte("\n\n"))
	for line := range strings.Lines(string(header)) {
		parent, found := strings.CutPrefix(strings.TrimSpace(line), "parent ")
		if !found {
			continue
		}
		if _, err := commitOf(ctx, dir, parent); err != nil {
			return "", tooShallow("it does not have the commit before " + commit[:12])
		}
		return parent, nil
	}
	return "", nil
}

// emptyTree is the id of a tree without files.
func emptyTree(ctx context.Context, dir string) (string, error) {
	id, err := Ask(ctx, dir, "hash-object", "-t", "tree", "--stdin")
	return strings.TrimSpace(string(id)), err
}

func isShallow(ctx context.Context, dir string) bool {
	answer, err := Ask(ctx, dir, "rev-parse", "--is-shallow-repository")
	return err == nil && string(bytes.TrimSpace(answer)) == "true"
}

// tooShallow is INVALID_STATE with what to fetch.
func tooShallow(why string) error {
	return tidegate.Errorf(tidegate.InvalidState, tidegate.Pairs("help", "git fetch --unshallow"), "the clone is shallow: %s; `git fetch --unshallow` gets the rest", why)
}

// HeadName is the name of the branch that is checked out, or of its commit where
// there is none. It returns NOT_FOUND outside a git repository.
func HeadName(ctx context.Context, project string) (string, error) {
	if err := InWorkTree(ctx, project); err != nil {
		return "", tidegate.Errorf(tidegate.FileNotFound, tidegate.Pairs("project", project, "help", "go to a git repository, or name one with --project"), "there is nothing to review in %s: %w", project, err)
	}
	if branch, err := Ask(ctx, project, "symbolic-ref", "--quiet", "--short", "HEAD"); err == nil {
		return strings.TrimSpace(string(branch)), nil
	}
	commit, err := Ask(ctx, project, "rev-parse", "--short=12", "HEAD")
	if err != nil {
		return "", Unread(ctx, err)
	}
	return strings.TrimSpace(string(commit)), nil
}

// maxMessages is how many commits of a change are asked for their messages.
const maxMessages = 200

// messages are those of the last commits of a span, the oldest first.
func (s span) messages(ctx context.Context, dir string) ([]string, error) {
	if s.head == "" || s.head == s.base {
		return nil, nil
	}
	which := []string{s.head, "^" + s.base}
	if s.root {
		which = which[:1]
	}
	log, err := Ask(ctx, dir, append([]string{"log", "-z", "--format=%B", "--no-show-signature", "--max-count=" + strconv.Itoa(maxMessages)}, which...)...)
	if err != nil {
		return nil, err
	}
	var list []string
	for message := range ZeroTerminated(log) {
		list = append(list, strings.ToValidUTF8(string(message), "\uFFFD"))
	}
	slices.Reverse(list)
	return list, nil
}
