package change

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/text/link"
	"github.com/tidegate/tidegate/internal/work/git"
	"github.com/tidegate/tidegate/internal/work/run"
)

// Worktree is where agents implement a change: a git worktree outside the project's
// own files, with a branch of its own. The person's files stay as they are. The
// folder of changes is not part of it.
type Worktree struct {
	Path   string
	Branch string
	Base   string // the commit from which the branch began
	// Rebased is the review that counts no more, because the change was rebased after it;
	// 0 when there is none.
	Rebased int

	project, id string
	origin      git.Origin
	aside       func(name string) bool // of tracked files that are not in it
	head        string                 // the last commit that was made here
	reviewed    int                    // the review that approved it, 0 when there is none
}

// OpenWorktree opens the worktree of a change, and makes it below home where there
// is none yet; the log and STATE.yaml say where it lies. Tracked files whose names aside
// reports are left out of it, and stay as they are unless an agent writes one; nil: none.
//
// It returns NOT_FOUND outside a git repository and where the change has no
// STATE.yaml, INVALID_STATE for a repository without a commit and where the branch
// exists before the worktree does, TAMPERED also for a worktree with another .git, READ_FAILED and WRITE_FAILED.
func OpenWorktree(ctx context.Context, desk run.Desk, project string, home, id string, aside func(name string) bool) (*Worktree, error) {
	if err := git.InWorkTree(ctx, project); err != nil {
		return nil, tidegate.Errorf(tidegate.FileNotFound, tidegate.Pairs("project", project), "a change is implemented in a git repository: %w", err)
	}
	folder, err := OpenFolder(ctx, desk, project, id)
	if err != nil {
		return nil, err
	}
	defer folder.Close()
	r, err := readToDecide(ctx, desk, folder, id)
	if err != nil {
		return nil, err
	}
	w := r.worktree
	if w == nil {
		if w, err = newWorktree(ctx, project, home, id); err != nil {
			return nil, err
		}
		if err := recordWorktree(ctx, desk, project, id, w); err != nil {
			return nil, err
		}
	}
	w.project, w.id, w.aside = project, id, aside
	if err := w.make(ctx, desk, worktreePath(project, home, id)); err != nil {
		return nil, git.Unread(ctx, err)
	}
	if last := r.last(); last != nil && r.phase == Complete {
		commit, err := reviewedCommit(folder, r)
		if err != nil {
			return nil, git.Unread(ctx, err)
		}
		again, err := reopens(folder, r)
		if err != nil {
			return nil, err
		}
		w.head = cmp.Or(commit, w.head) // wherever the branch leads meanwhile
		if commit != "" && !again {
			w.reviewed = last.number
		}
	}
	return w, nil
}

// newWorktree says where the worktree of a change will lie, and from where it begins.
func newWorktree(ctx context.Context, project, home, id string) (*Worktree, error) {
	base, err := git.Ask(ctx, project, "rev-parse", "--verify", "--quiet", "HEAD^{commit}")
	if err != nil {
		return nil, tidegate.Errorf(tidegate.InvalidState, tidegate.Pairs("project", project), "the repository has no commit that a change could begin from")
	}
	w := &Worktree{Path: worktreePath(project, home, id), Branch: branchOf(id), Base: strings.TrimSpace(string(base))}
	if _, err := git.Ask(ctx, project, "rev-parse", "--verify", "--quiet", "refs/heads/"+w.Branch); err == nil {
		return nil, tidegate.Errorf(tidegate.InvalidState, tidegate.Pairs("branch", w.Branch), "the branch %s exists already: rename or delete it", w.Branch)
	}
	return w, nil
}

// worktreePath is where the worktree of a change is made.
func worktreePath(project, home, id string) string {
	sum := sha256.Sum256([]byte(project))
	return filepath.Join(home, "worktrees", id+"-"+hex.EncodeToString(sum[:4]))
}

func branchOf(id string) string { return "tidegate/" + id }

// recordWorktree writes down where the worktree is.
func recordWorktree(ctx context.Context, desk run.Desk, project, id string, w *Worktree) error {
	return moving(ctx, desk, project, id, func(v *visit) error {
		m := newMove(v.s, v.r)
		m.needsPerson, m.cause = cmp.Or(v.r.needsPerson, v.s.needsPerson), v.r.cause
		m.event, m.action = eventWorktree, v.s.lastAction
		m.edits = []edit{{key: keyWorktree, value: w.Path}}
		return v.commit(ctx, m, "change_run", judged{}, tidegate.Pairs("worktree", w.Path, "branch", w.Branch, "base", w.Base))
	})
}

// make makes the worktree, unless it is there and complete. What a killed process left
// of it counts for nothing: a file that is missing there would be taken for one that the
// change deletes. It is removed where it lies at ours, which is where this program makes
// worktrees; the log alone does not say what may be removed.
func (w *Worktree) make(ctx context.Context, desk run.Desk, ours string) error {
	if commit, err := git.Ask(ctx, w.project, "rev-parse", "--verify", "--quiet", "refs/heads/"+w.Branch); err == nil {
		w.head = strings.TrimSpace(string(commit))
	}
	there, err := w.isComplete(desk)
	if err != nil {
		return err
	}
	if there && w.head != "" {
		return w.intact(ctx, desk)
	}
	if err := w.removeRest(desk, ours); err != nil {
		return err
	}
	if _, err := git.Ask(ctx, w.project, "worktree", "prune"); err != nil {
		return err
	}
	// A killed git leaves the worktree registered and locked; the second --force is for that.
	add := []string{"-c", "worktree.useRelativePaths=false", "worktree", "add", "--quiet", "--force", "--force", "--no-checkout"}
	if w.head == "" {
		add, w.head = append(add, "-b", w.Branch, w.Path, w.Base), w.Base
	} else {
		add = append(add, w.Path, w.Branch)
	}
	if _, err := git.Ask(ctx, w.project, add...); err != nil {
		return err
	}
	return w.restore(ctx, desk)
}

// intact returns TAMPERED unless the worktree is a folder whose .git leads to the
// project's repository. With one of its own in its place, an agent would choose what
// is read there as the change. Git is asked once, before any agent works here.
func (w *Worktree) intact(ctx context.Context, desk run.Desk) error {
	if w.origin.Common == "" {
		var err error
		if w.origin, err = git.ReadOrigin(ctx, w.project); err != nil {
			return err
		}
	}
	if w.leadsTo(desk, w.origin.Common) {
		return nil
	}
	return tidegate.Errorf(tidegate.Tampered, tidegate.Pairs("path", filepath.Join(w.Path, ".git")),
		"the .git of the worktree does not lead to the project's repository any more: remove the folder %s, and the next `tidegate change run` makes it again", w.Path)
}

// leadsTo reports whether the worktree is one of the repository common: each of the
// two names the other, and no link stands between them.
func (w *Worktree) leadsTo(desk run.Desk, common string) bool {
	place, err := filepath.EvalSymlinks(filepath.Dir(w.Path))
	if err != nil {
		return false
	}
	place = filepath.Join(place, filepath.Base(w.Path))
	to, found := strings.CutPrefix(git.ReadLine(desk, place, ".git"), "gitdir: ")
	if !found {
		return false
	}
	to, err = filepath.EvalSymlinks(filepath.FromSlash(to))
	if err != nil || to != filepath.Join(common, "worktrees", filepath.Base(to)) || git.ReadLine(desk, to, "commondir") != "../.." {
		return false
	}
	back, err := filepath.EvalSymlinks(filepath.Dir(filepath.FromSlash(git.ReadLine(desk, to, "gitdir"))))
	return err == nil && back == place
}

// withoutChanges removes the folder of changes from the worktree: agents have no
// business in it.
func (w *Worktree) withoutChanges(desk run.Desk) error {
	folder, err := desk.Reach.Open("worktree", w.Path)
	if err != nil {
		return err
	}
	defer folder.Close()
	entries, err := folder.List(git.ChangesDir(desk))
	if err != nil || len(entries) == 0 {
		return err
	}
	return folder.RemoveFolder(git.ChangesDir(desk))
}

// keep makes the keeper of the worktree. The caller must remove it. It returns
// TAMPERED where the worktree is not the project's any more.
func (w *Worktree) keep(ctx context.Context, desk run.Desk) (*git.Keeper, error) {
	if err := w.intact(ctx, desk); err != nil {
		return nil, err
	}
	return w.origin.Keep(ctx, w.Path)
}

// Work is what the files of a worktree differ in from its last commit.
type Work struct {
	Files []string // in byte order
	// Forbidden are those that no implementation may touch, with the reason.
	Forbidden []Forbidden

	tree string
}

// Forbidden is a file that an implementation touched and may not, or that it may not
// hand in as it is, with the code of that.
type Forbidden struct {
	File, Why string
	Code      tidegate.Code
}

// Inspect stages what was done in the worktree, in an index of its own, so that nothing
// an agent did to git's counts. It returns TAMPERED and READ_FAILED.
func (w *Worktree) Inspect(ctx context.Context, desk run.Desk) (Work, error) {
	work, err := w.inspect(ctx, desk)
	if err != nil {
		return Work{}, git.Unread(ctx, err)
	}
	return work, nil
}

func (w *Worktree) inspect(ctx context.Context, desk run.Desk) (Work, error) {
	k, err := w.keep(ctx, desk)
	if err != nil {
		return Work{}, err
	}
	defer k.Remove()
	if _, err := k.Git(ctx, "read-tree", w.head); err != nil {
		return Work{}, err
	}
	tracked, err := k.Tracked(ctx)
	if err != nil {
		return Work{}, err
	}
	if filled, err := w.filled(desk, tracked); err != nil || len(filled) > 0 {
		return Work{Forbidden: filled}, err
	}
	if err := w.setAside(ctx, desk, k, tracked); err != nil {
		return Work{}, err
	}
	if _, err := k.Git(ctx, "add", "--all", "--", "."); ctx.Err() != nil {
		return Work{}, err
	} else if err != nil { // such as for a repository without a commit
		return Work{Forbidden: []Forbidden{{".", "it cannot be committed: " + err.Error(), tidegate.PathNotAllowed}}}, nil
	}
	tree, err := k.Git(ctx, "write-tree")
	if err != nil {
		return Work{}, err
	}
	raw, err := k.Git(ctx, "diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-ext-diff", "--ignore-submodules=none", w.head, strings.TrimSpace(string(tree)))
	if err != nil {
		return Work{}, err
	}
	work := Work{tree: strings.TrimSpace(string(tree))}
	for about, name := range git.Changed(raw) {
		work.add(desk, name, strings.Fields(about))
	}
	// What agents must not give away was masked when they ended. A file that is about the
	// mask, and has it before, may keep it.
	masked, err := k.Git(ctx, "diff-tree", "-r", "-z", "--name-only", "--no-renames", "--no-ext-diff", "--ignore-submodules=all", "--text", "-S"+link.SecretMask, w.head, work.tree)
	if err != nil {
		return Work{}, err
	}
	for name := range git.ZeroTerminated(masked) {
		work.addMasked(string(name))
	}
	there, err := w.hasChanges(desk)
	if there && !slices.ContainsFunc(work.Forbidden, func(f Forbidden) bool { return strings.HasPrefix(f.File, git.ChangesDir(desk)+"/") }) {
		work.Forbidden = append(work.Forbidden, Forbidden{git.ChangesDir(desk), "it is the folder of changes", tidegate.PathNotAllowed})
	}
	return work, err
}

// filled are the submodules in which something lies. Nobody has put it there but an agent,
// and git would start another git in it, which obeys the settings that it finds: filters
// are programs.
func (w *Worktree) filled(desk run.Desk, tracked []git.TrackedFile) ([]Forbidden, error) {
	folder, err := desk.Reach.Open("worktree", w.Path)
	if err != nil {
		return nil, err
	}
	defer folder.Close()
	var list []Forbidden
	for _, t := range tracked {
		if t.Mode != git.Gitlink {
			continue
		}
		info, err := fs.Lstat(folder.FS(), t.Name)
		if errors.Is(err, fs.ErrNotExist) || err == nil && !info.IsDir() {
			continue // git sees that it is gone
		}
		if entries, err := fs.ReadDir(folder.FS(), t.Name); err != nil || len(entries) > 0 {
			list = append(list, Forbidden{t.Name, ownRepository, tidegate.PathNotAllowed})
		}
	}
	return list, nil
}

// setAside keeps the tracked files that are not in the worktree as they are in the last
// commit: those of the folder of changes, and those of aside that no agent has written.
func (w *Worktree) setAside(ctx context.Context, desk run.Desk, k *git.Keeper, tracked []git.TrackedFile) error {
	folder, err := desk.Reach.Open("worktree", w.Path)
	if err != nil {
		return err
	}
	defer folder.Close()
	var names []string
	for _, t := range tracked {
		_, kept := artifact.Inside(git.ChangesDir(desk), t.Name)
		if !kept && w.aside != nil && w.aside(t.Name) {
			_, err := fs.Lstat(folder.FS(), t.Name)
			kept = errors.Is(err, fs.ErrNotExist)
		}
		if kept {
			names = append(names, t.Name)
		}
	}
	return k.UpdateIndex(ctx, "--skip-worktree", names)
}

// forget takes the files of aside out of the index of a keeper, so that git cleans them
// away.
func (w *Worktree) forget(ctx context.Context, k *git.Keeper) error {
	if w.aside == nil {
		return nil
	}
	tracked, err := k.Tracked(ctx)
	if err != nil {
		return err
	}
	var names []string
	for _, t := range tracked {
		if w.aside(t.Name) {
			names = append(names, t.Name)
		}
	}
	return k.UpdateIndex(ctx, "--force-remove", names)
}

func (w *Worktree) hasChanges(desk run.Desk) (bool, error) {
	folder, err := desk.Reach.Open("worktree", w.Path)
	if err != nil {
		return false, err
	}
	defer folder.Close()
	entries, err := folder.List(git.ChangesDir(desk))
	if tidegate.CodeOf(err) == tidegate.PathNotAllowed {
		return true, nil // a link stands in its place
	}
	return len(entries) > 0, err
}

const ownRepository = "it is a repository of its own, whose files nobody would review"

// add takes in one changed file: fields are the modes and ids before and after.
func (work *Work) add(desk run.Desk, name string, fields []string) {
	work.Files = append(work.Files, name)
	if why := forbidden(desk, name); why != "" {
		work.Forbidden = append(work.Forbidden, Forbidden{name, why, tidegate.PathNotAllowed})
	} else if strings.Contains(name, link.SecretMask) {
		work.addMasked(name)
	} else if len(fields) > 1 && fields[1] == git.Gitlink {
		work.Forbidden = append(work.Forbidden, Forbidden{name, ownRepository, tidegate.PathNotAllowed})
	}
}

// addMasked says that a token or key of the agent stood in a file.
func (work *Work) addMasked(name string) {
	work.Forbidden = append(work.Forbidden, Forbidden{name, "a token or key of the agent stands in it", tidegate.SecretInAnswer})
}

// forbidden says why no implementation may touch a file, "" where it may. The
// project can be a folder of its repository, and a system can take letters of
// another case for the same: the names count in any folder, in any case.
func forbidden(desk run.Desk, name string) string {
	at := "/" + strings.ToLower(name)
	base, changes := "/"+strings.ToLower(desk.ChangesFolder()), "/"+strings.ToLower(git.ChangesDir(desk))
	switch {
	case strings.Contains(at, changes+"/"):
		return "it lies in the folder of changes"
	case strings.HasSuffix(at, base), strings.HasSuffix(at, changes), strings.HasPrefix(changes, at+"/"):
		return "it takes the place of the folder of changes"
	case strings.HasSuffix(at, base+"/"+signersFile):
		return "it says whose signatures count"
	case strings.HasSuffix(at, base+"/"+git.DismissedFile):
		return "it says which findings count"
	case path.Base(at) == "tidegate.toml":
		return "it says what tidegate may do"
	}
	return ""
}

// Protected are the places that no implementation may touch, as a prompt names
// them.
func Protected(desk run.Desk) []string {
	return []string{git.ChangesDir(desk), desk.ChangesFolder() + "/" + signersFile, desk.ChangesFolder() + "/" + git.DismissedFile, "tidegate.toml"}
}

// ownName is the author of a commit where nobody says otherwise.
const ownName = "tidegate <tidegate@localhost>"

// Commit commits what was done to the branch of the change, on top of what was
// committed there before, whatever an agent did to the branch. The author is a name
// with an address, or "" for ours. It returns WRITE_FAILED.
func (w *Worktree) Commit(ctx context.Context, desk run.Desk, work Work, author, message string) (commit string, err error) {
	commit, err = w.commitTree(ctx, desk, work.tree, author, message, w.head)
	if err == nil {
		w.head = commit
		err = w.moveBranch(ctx) // first, so that no kill takes back what was implemented
	}
	if err == nil {
		err = w.restore(ctx, desk)
	}
	if err != nil {
		return "", tidegate.Errorf(tidegate.WriteFailed, tidegate.Pairs("worktree", w.Path), "the implementation cannot be committed: %w", err)
	}
	return commit, nil
}

// commitTree makes a commit of a tree, on no branch.
func (w *Worktree) commitTree(ctx context.Context, desk run.Desk, tree, author, message string, parents ...string) (string, error) {
	at := desk.Now().UTC().Format(time.RFC3339)
	name, address, _ := strings.Cut(cmp.Or(author, ownName), " <")
	identity := []string{"GIT_AUTHOR_NAME=" + name, "GIT_AUTHOR_EMAIL=" + strings.TrimSuffix(address, ">"), "GIT_COMMITTER_NAME=tidegate", "GIT_COMMITTER_EMAIL=tidegate@localhost",
		"GIT_AUTHOR_DATE=" + at, "GIT_COMMITTER_DATE=" + at}
	args := []string{"commit-tree", "-m", message, tree}
	for _, parent := range parents {
		args = append(args, "-p", parent)
	}
	made, err := git.Run(ctx, w.project, identity, nil, args...)
	return strings.TrimSpace(string(made)), err
}

// Head is the last commit that was made here.
func (w *Worktree) Head() string { return w.head }

// Objects is the folder of the project's objects, which agents may read, and Format
// the format of their names.
func (w *Worktree) Objects() string { return filepath.Join(w.origin.Common, "objects") }

// Format is the format of the names of the project's objects: sha1 or sha256.
func (w *Worktree) Format() string { return w.origin.Format }

// Check returns TAMPERED where the branch does not lead to the last commit that was
// made here, or where git takes something else for it, such as a tag of its name or
// another object: to merge it would be to merge something else than what was
// reviewed.
func (w *Worktree) Check(ctx context.Context) error {
	for _, name := range []string{"refs/heads/" + w.Branch, w.Branch} {
		answer, err := git.Ask(ctx, w.project, "rev-parse", "--verify", "--quiet", name)
		at := strings.TrimSpace(string(answer))
		switch {
		case err == nil && at == w.head:
			continue
		case name == w.Branch:
			return tidegate.Errorf(tidegate.Tampered, tidegate.Pairs("branch", w.Branch, "commit", at, "reviewed", w.head),
				"git takes %s for something else than the branch of that name, such as a tag: remove what `git show-ref %s` shows beside the branch", w.Branch, w.Branch)
		}
		return tidegate.Errorf(tidegate.Tampered, tidegate.Pairs("branch", w.Branch, "commit", at, "reviewed", w.head),
			"the branch %s does not lead to %.12s, which was reviewed: move it back with `git branch -f %s %.12s`", w.Branch, w.head, w.Branch, w.head)
	}
	return w.unreplaced(ctx)
}

// unreplaced returns TAMPERED where git would take another object for one of the
// last commit.
func (w *Worktree) unreplaced(ctx context.Context) error {
	refs, err := git.Ask(ctx, w.project, "for-each-ref", "--format=%(refname:lstrip=2)", "refs/replace/")
	if err != nil {
		return git.Unread(ctx, err)
	}
	replaced := strings.Fields(string(refs))
	if len(replaced) == 0 {
		return nil
	}
	objects, err := git.Ask(ctx, w.project, "rev-list", "--objects", "--no-walk", w.head)
	if err != nil {
		return git.Unread(ctx, err)
	}
	for line := range strings.Lines(string(objects)) {
		if id, _, _ := strings.Cut(strings.TrimSpace(line), " "); slices.Contains(replaced, id) {
			return tidegate.Errorf(tidegate.Tampered, tidegate.Pairs("branch", w.Branch, "object", id),
				"git takes another object for %.12s, which was reviewed: remove it with `git replace -d %s`", id, id)
		}
	}
	return nil
}

// Restore makes the files and the branch those of the last commit again, without the
// files that git ignores: what tests and agents left beside it is not part of the
// change, and nothing may depend on it. It returns TAMPERED and WRITE_FAILED.
func (w *Worktree) Restore(ctx context.Context, desk run.Desk) error {
	err := w.restore(ctx, desk)
	if tidegate.CodeOf(err) == tidegate.Tampered {
		return err
	}
	if err != nil {
		return tidegate.Errorf(tidegate.WriteFailed, tidegate.Pairs("worktree", w.Path), "the worktree cannot be restored: %w", err)
	}
	return nil
}

func (w *Worktree) restore(ctx context.Context, desk run.Desk) error {
	k, err := w.keep(ctx, desk)
	if err != nil {
		return err
	}
	defer k.Remove()
	if err := w.begin(desk); err != nil {
		return err
	}
	if _, err := k.Git(ctx, "read-tree", "--reset", "-u", w.head); err != nil {
		return err
	}
	if err := w.forget(ctx, k); err != nil {
		return err
	}
	if _, err := k.Git(ctx, "clean", "-ffdxq"); err != nil {
		return err
	}
	if err := w.moveBranch(ctx); err != nil {
		return err
	}
	// An agent that asks git what it did is answered by the same commit.
	for _, args := range [][]string{{"symbolic-ref", "HEAD", "refs/heads/" + w.Branch}, {"read-tree", "--reset", w.head}} {
		if _, err := git.Ask(ctx, w.Path, args...); err != nil {
			return err
		}
	}
	if err := w.withoutChanges(desk); err != nil {
		return err
	}
	return w.completed(desk)
}

// moveBranch makes the branch lead to the last commit. It is not a link to another one,
// whatever an agent made of it.
func (w *Worktree) moveBranch(ctx context.Context) error {
	_, err := git.Ask(ctx, w.project, "update-ref", "--no-deref", "refs/heads/"+w.Branch, w.head)
	return err
}

// Around is what the git of a person goes by when it merges a branch: hooks, settings,
// refs and the index of the repository, each by its name in words, with its digest. An
// agent without a cell can write to all of it.
type Around map[string]string

// settingFiles are files of a repository that change what git does, beside its config.
var settingFiles = []string{"info/attributes", "info/exclude", "info/grafts", "objects/info/alternates", "shallow"}

// LookAround reads what lies around the worktree. The branch of the change is no part of
// it. It returns READ_FAILED.
func (w *Worktree) LookAround(ctx context.Context, desk run.Desk) (Around, error) {
	a, err := w.lookAround(ctx, desk)
	if err != nil {
		return nil, git.Unread(ctx, err)
	}
	return a, nil
}

func (w *Worktree) lookAround(ctx context.Context, desk run.Desk) (Around, error) {
	a := Around{}
	for what, args := range map[string][]string{
		"setting": {"config", "--null", "--includes", "--list"},
		"ref":     {"for-each-ref", "--format=%(refname)%0a%(objectname) %(symref)%00"},
		"index":   {"ls-files", "-z", "--stage", "-v"},
		"HEAD":    {"rev-parse", "--symbolic-full-name", "HEAD"},
	} {
		said, err := git.Ask(ctx, w.project, args...)
		if err != nil {
			return nil, err
		}
		if what == "index" || what == "HEAD" {
			a["the "+what] = codec.DigestBytes(said)
			continue
		}
		for each := range git.ZeroTerminated(said) {
			name, value, _ := strings.Cut(strings.TrimPrefix(string(each), "\n"), "\n")
			if what != "ref" || name != "refs/heads/"+w.Branch {
				a["the "+what+" "+name] += codec.DigestBytes([]byte(value))
			}
		}
	}
	for _, name := range settingFiles {
		if text := git.ReadLine(desk, w.origin.Common, name); text != "" {
			a["the file .git/"+name] = codec.DigestBytes([]byte(text))
		}
	}
	for _, folder := range w.hookFolders(ctx) {
		a.addHooks(desk, folder)
	}
	return a, nil
}

// hookFolders are where the person's git looks for hooks.
func (w *Worktree) hookFolders(ctx context.Context) []string {
	list := []string{filepath.Join(w.origin.Common, "hooks")}
	for _, place := range []string{"--local", "--global"} {
		said, err := git.Ask(ctx, w.project, "config", place, "--type=path", "--get", "core.hooksPath")
		if folder := strings.TrimSpace(string(said)); err == nil && folder != "" {
			if !filepath.IsAbs(folder) {
				folder = filepath.Join(w.project, folder)
			}
			list = append(list, folder)
		}
	}
	return list
}

func (a Around) addHooks(desk run.Desk, path string) {
	folder, err := desk.Reach.Open("hooks", path)
	if err != nil {
		return
	}
	defer folder.Close()
	fs.WalkDir(folder.FS(), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || strings.HasSuffix(name, ".sample") {
			return nil
		}
		info, err := entry.Info()
		if err != nil {
			return nil
		}
		text, _ := folder.Read(name)
		a["the hook "+name] = codec.Digest([]string{path, info.Mode().String(), codec.DigestBytes(text)})
		return nil
	})
}

// Differences are the names of what is not as it was before, in byte order.
func (a Around) Differences(before Around) []string {
	var list []string
	for name, digest := range a {
		if before[name] != digest {
			list = append(list, name)
		}
	}
	for name := range before {
		if _, there := a[name]; !there {
			list = append(list, name)
		}
	}
	slices.Sort(list)
	return list
}
