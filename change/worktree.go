package change

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/artifact"
)

// Worktree is where agents implement a change: a git worktree outside the project's
// own files, with a branch of its own. The person's files stay as they are. The
// folder of changes is not part of it.
type Worktree struct {
	Path   string
	Branch string
	Base   string // the commit from which the branch began

	project, id string
	head        string // the last commit that was made here
}

// OpenWorktree opens the worktree of a change, and makes it below home where there
// is none yet; the log and STATE.yaml say where it lies.
//
// It returns NOT_FOUND outside a git repository and where the change has no
// STATE.yaml, INVALID_STATE for a repository without a commit and where the branch
// exists before the worktree does, TAMPERED also for a worktree with another .git, READ_FAILED and WRITE_FAILED.
func OpenWorktree(ctx context.Context, project string, clock Clock, home, id string) (*Worktree, error) {
	if err := inWorkTree(ctx, project); err != nil {
		return nil, tidegate.Errorf(tidegate.FileNotFound, tidegate.D("project", project), "a change is implemented in a git repository: %w", err)
	}
	folder, err := openToWrite(ctx, project, id)
	if err != nil {
		return nil, err
	}
	defer folder.Close()
	r, err := readToDecide(ctx, folder, clock, id)
	if err != nil {
		return nil, err
	}
	w := r.worktree
	if w == nil {
		if w, err = placeWorktree(ctx, project, home, id); err != nil {
			return nil, err
		}
		if err := recordWorktree(ctx, folder, clock, id, w); err != nil {
			return nil, err
		}
	}
	w.project, w.id = project, id
	if err := w.make(ctx); err != nil {
		return nil, unread(ctx, err)
	}
	return w, nil
}

// placeWorktree says where the worktree of a change will lie.
func placeWorktree(ctx context.Context, project, home, id string) (*Worktree, error) {
	base, err := git(ctx, project, "rev-parse", "--verify", "--quiet", "HEAD^{commit}")
	if err != nil {
		return nil, tidegate.Errorf(tidegate.InvalidState, tidegate.D("project", project), "the repository has no commit that a change could begin from")
	}
	sum := sha256.Sum256([]byte(project))
	w := &Worktree{
		Path: filepath.Join(home, "worktrees", id+"-"+hex.EncodeToString(sum[:4])), Branch: "tidegate/" + id, Base: strings.TrimSpace(string(base)),
	}
	if _, err := git(ctx, project, "rev-parse", "--verify", "--quiet", "refs/heads/"+w.Branch); err == nil {
		return nil, tidegate.Errorf(tidegate.InvalidState, tidegate.D("branch", w.Branch), "the branch %s exists already: rename or delete it", w.Branch)
	}
	return w, nil
}

// recordWorktree writes down where the worktree is.
func recordWorktree(ctx context.Context, folder *artifact.Folder, clock Clock, id string, w *Worktree) error {
	v, err := enter(ctx, folder, clock, id, nil)
	if err != nil {
		return err
	}
	defer v.leave()
	if err := v.r.checkFiles(folder, id); err != nil {
		return err
	}
	m := newMove(v.s, v.r)
	m.needsPerson, m.cause = cmp.Or(v.r.needsPerson, v.s.needsPerson), v.r.cause
	m.event, m.action = eventWorktree, v.s.lastAction
	m.edits = []edit{{key: keyWorktree, value: w.Path}}
	return v.commit(ctx, m, "change_run", judged{}, tidegate.D("worktree", w.Path, "branch", w.Branch, "base", w.Base))
}

// make makes the worktree as far as it is missing.
func (w *Worktree) make(ctx context.Context) error {
	if commit, err := git(ctx, w.project, "rev-parse", "--verify", "--quiet", "refs/heads/"+w.Branch); err == nil {
		w.head = strings.TrimSpace(string(commit))
	}
	if there, err := holdsRepository(ctx, w.Path); err == nil && there && w.head != "" {
		return w.intact(ctx)
	}
	if _, err := w.git(ctx, w.project, nil, "worktree", "prune"); err != nil {
		return err
	}
	args := []string{"worktree", "add", "--quiet", "--force", "-b", w.Branch, w.Path, w.Base}
	if w.head != "" {
		args = []string{"worktree", "add", "--quiet", "--force", w.Path, w.Branch}
	}
	if _, err := w.git(ctx, w.project, nil, args...); err != nil {
		return err
	}
	if w.head == "" {
		w.head = w.Base
	}
	return w.withoutChanges(ctx)
}

// intact returns TAMPERED unless the .git of the worktree leads to the project's
// repository. With one of its own in its place, an agent would choose what git reads
// there, and what is committed would not be on the person's branch.
func (w *Worktree) intact(ctx context.Context) error {
	answer, err := git(ctx, w.project, "rev-parse", "--path-format=absolute", "--git-common-dir")
	if err != nil {
		return err
	}
	common := filepath.FromSlash(strings.TrimSpace(string(answer)))
	folder, err := artifact.Open(ctx, "worktree", w.Path)
	if err != nil {
		return err
	}
	defer folder.Close()
	if info, err := fs.Lstat(folder.FS(), ".git"); err == nil && info.Mode().IsRegular() {
		if link, err := folder.Read(".git"); err == nil {
			to, found := strings.CutPrefix(strings.TrimSpace(string(link)), "gitdir: ")
			to = filepath.Clean(filepath.FromSlash(to))
			if found && filepath.Dir(to) == filepath.Join(common, "worktrees") && w.isAt(ctx, to) {
				return nil
			}
		}
	}
	return tidegate.Errorf(tidegate.Tampered, tidegate.D("path", filepath.Join(w.Path, ".git")),
		"the .git of the worktree does not lead to the project's repository any more: remove the folder %s, and the next `tidegate change run` makes it again", w.Path)
}

// isAt reports whether git keeps this worktree in the folder dir of the repository.
func (w *Worktree) isAt(ctx context.Context, dir string) bool {
	folder, err := artifact.Open(ctx, "worktree", dir)
	if err != nil {
		return false
	}
	defer folder.Close()
	back, err := folder.Read("gitdir")
	if err != nil {
		return false
	}
	place := filepath.Dir(filepath.FromSlash(strings.TrimSpace(string(back))))
	same := func(p string) string {
		if real, err := filepath.EvalSymlinks(p); err == nil {
			return real
		}
		return p
	}
	return same(place) == same(w.Path)
}

// withoutChanges removes the folder of changes from the worktree: agents have no
// business in it.
func (w *Worktree) withoutChanges(ctx context.Context) error {
	folder, err := artifact.Open(ctx, "worktree", w.Path)
	if err != nil {
		return err
	}
	defer folder.Close()
	entries, err := folder.List(changesDir(ctx))
	if err != nil || len(entries) == 0 {
		return err
	}
	return folder.RemoveFolder(changesDir(ctx))
}

// git asks git to write: without the filters that a configuration names, and with
// the environment that env adds.
func (w *Worktree) git(ctx context.Context, dir string, env []string, args ...string) ([]byte, error) {
	names, err := git(ctx, dir, "config", "-z", "--name-only", "--get-regexp", `^filter\.`)
	if err != nil {
		names = nil // none is configured
	}
	options := []string{"-c", "core.autocrlf=false", "-c", "advice.addEmbeddedRepo=false"}
	for key := range zeroTerminated(names) {
		filter := key[:max(0, bytes.LastIndexByte(key, '.'))]
		for _, setting := range []string{"smudge=", "clean=", "process=", "required=false"} {
			options = append(options, "-c", string(filter)+"."+setting)
		}
	}
	return runGit(ctx, dir, env, nil, append(options, args...)...)
}

// Work is what the files of a worktree differ in from its last commit.
type Work struct {
	Files []string // in byte order
	// Forbidden are those that no implementation may touch, with the reason.
	Forbidden []LeftOut

	tree string
}

// Look stages what was done in the worktree, in an index of its own, so that nothing
// an agent did to git's counts. It returns READ_FAILED.
func (w *Worktree) Look(ctx context.Context) (Work, error) {
	work, err := w.look(ctx)
	if err != nil {
		return Work{}, unread(ctx, err)
	}
	return work, nil
}

func (w *Worktree) look(ctx context.Context) (Work, error) {
	if err := w.intact(ctx); err != nil {
		return Work{}, err
	}
	scratch, remove, err := artifact.Scratch("tidegate-index-")
	if err != nil {
		return Work{}, err
	}
	defer remove()
	env := []string{"GIT_INDEX_FILE=" + filepath.Join(scratch, "index")}
	if _, err := w.git(ctx, w.Path, env, "read-tree", w.head); err != nil {
		return Work{}, err
	}
	if err := w.setAside(ctx, env); err != nil {
		return Work{}, err
	}
	if _, err := w.git(ctx, w.Path, env, "add", "--all", "--", "."); err != nil {
		return Work{}, err
	}
	tree, err := w.git(ctx, w.Path, env, "write-tree")
	if err != nil {
		return Work{}, err
	}
	raw, err := w.git(ctx, w.Path, nil, "diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-ext-diff", w.head, strings.TrimSpace(string(tree)))
	if err != nil {
		return Work{}, err
	}
	work := Work{tree: strings.TrimSpace(string(tree))}
	about := ""
	for part := range zeroTerminated(raw) {
		if about == "" {
			about = string(part)
			continue
		}
		work.add(ctx, string(part), strings.Fields(about))
		about = ""
	}
	there, err := w.hasChanges(ctx)
	if there && !slices.ContainsFunc(work.Forbidden, func(f LeftOut) bool { return strings.HasPrefix(f.File, changesDir(ctx)+"/") }) {
		work.Forbidden = append(work.Forbidden, LeftOut{changesDir(ctx), "it is the folder of changes"})
	}
	return work, err
}

// setAside keeps the tracked files of the folder of changes as they are in the last
// commit: they are not in the worktree.
func (w *Worktree) setAside(ctx context.Context, env []string) error {
	tracked, err := runGit(ctx, w.Path, env, nil, "ls-files", "-z", "--cached", "--", changesDir(ctx))
	if err != nil || len(tracked) == 0 {
		return err
	}
	_, err = runGit(ctx, w.Path, env, tracked, "update-index", "-z", "--skip-worktree", "--stdin")
	return err
}

func (w *Worktree) hasChanges(ctx context.Context) (bool, error) {
	folder, err := artifact.Open(ctx, "worktree", w.Path)
	if err != nil {
		return false, err
	}
	defer folder.Close()
	entries, err := folder.List(changesDir(ctx))
	if tidegate.CodeOf(err) == tidegate.PathNotAllowed {
		return true, nil // a link stands in its place
	}
	return len(entries) > 0, err
}

// add takes in one changed file: fields are the modes and ids before and after.
func (work *Work) add(ctx context.Context, name string, fields []string) {
	work.Files = append(work.Files, name)
	if why := forbidden(ctx, name); why != "" {
		work.Forbidden = append(work.Forbidden, LeftOut{name, why})
	} else if len(fields) > 1 && fields[1] == gitlink {
		work.Forbidden = append(work.Forbidden, LeftOut{name, "it is a repository of its own, whose files nobody would review"})
	}
}

// forbidden says why no implementation may touch a file, "" where it may.
func forbidden(ctx context.Context, name string) string {
	switch {
	case strings.HasPrefix(name, changesDir(ctx)+"/"):
		return "it lies in the folder of changes"
	case strings.HasPrefix(changesDir(ctx)+"/", name+"/"):
		return "it takes the place of the folder of changes"
	case name == tidegate.ChangesOf(ctx)+"/"+signersFile:
		return "it says whose signatures count"
	case path.Base(name) == "tidegate.toml":
		return "it says what tidegate may do"
	}
	return ""
}

// Protected are the places that no implementation may touch, as a prompt names
// them.
func Protected(ctx context.Context) []string {
	return []string{changesDir(ctx), tidegate.ChangesOf(ctx) + "/" + signersFile, "tidegate.toml"}
}

// Commit commits what was done to the branch of the change, on top of what was
// committed there before, whatever an agent did to the branch. It returns
// WRITE_FAILED.
func (w *Worktree) Commit(ctx context.Context, clock Clock, work Work, message string) (commit string, err error) {
	at := clock.Now().UTC().Format(time.RFC3339)
	identity := []string{"GIT_AUTHOR_NAME=tidegate", "GIT_AUTHOR_EMAIL=tidegate@localhost", "GIT_COMMITTER_NAME=tidegate", "GIT_COMMITTER_EMAIL=tidegate@localhost",
		"GIT_AUTHOR_DATE=" + at, "GIT_COMMITTER_DATE=" + at}
	made, err := runGit(ctx, w.Path, identity, nil, "commit-tree", "-p", w.head, "-m", message, work.tree)
	if err == nil {
		commit = strings.TrimSpace(string(made))
		if _, err = runGit(ctx, w.Path, identity, nil, "update-ref", "-m", message, "refs/heads/"+w.Branch, commit); err == nil {
			w.head = commit
			err = w.restore(ctx)
		}
	}
	if err != nil {
		return "", tidegate.Errorf(tidegate.WriteFailed, tidegate.D("worktree", w.Path), "the implementation cannot be committed: %w", err)
	}
	return commit, nil
}

// Check returns TAMPERED where the branch does not lead to the last commit that was
// made here: to merge it would be to merge something else than what was reviewed.
func (w *Worktree) Check(ctx context.Context) error {
	answer, err := git(ctx, w.project, "rev-parse", "--verify", "--quiet", "refs/heads/"+w.Branch)
	if at := strings.TrimSpace(string(answer)); err != nil || at != w.head {
		return tidegate.Errorf(tidegate.Tampered, tidegate.D("branch", w.Branch, "commit", at, "reviewed", w.head),
			"the branch %s does not lead to %.12s, which was reviewed: move it back with `git branch -f %s %.12s`", w.Branch, w.head, w.Branch, w.head)
	}
	return nil
}

// Restore makes the files those of the last commit again, without those that git
// ignores: what tests and agents left beside it is not part of the change, and
// nothing may depend on it. It returns TAMPERED and WRITE_FAILED.
func (w *Worktree) Restore(ctx context.Context) error {
	err := w.restore(ctx)
	if tidegate.CodeOf(err) == tidegate.Tampered {
		return err
	}
	if err != nil {
		return tidegate.Errorf(tidegate.WriteFailed, tidegate.D("worktree", w.Path), "the worktree cannot be restored: %w", err)
	}
	return nil
}

func (w *Worktree) restore(ctx context.Context) error {
	if err := w.intact(ctx); err != nil {
		return err
	}
	for _, args := range [][]string{
		{"symbolic-ref", "HEAD", "refs/heads/" + w.Branch},
		{"read-tree", "--reset", "-u", w.head},
		{"clean", "-ffdxq"},
	} {
		if _, err := w.git(ctx, w.Path, nil, args...); err != nil {
			return err
		}
	}
	return w.withoutChanges(ctx)
}
