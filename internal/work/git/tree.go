package git

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/parallel"
	"github.com/tidegate/tidegate/internal/work/run"
)

// The limits of a tree, so that neither a large file nor a slow disk delays a
// review. Beyond them the tree is not known, and a person is needed.
const (
	treeLimit    = 30 * time.Second
	maxTreeBytes = 8 << 30
	maxTreeFiles = 1_000_000
)

// Tree is what a review is about: the files of a git work tree as they are,
// those that git tracks and those that it does not ignore, without the folder of
// changes. Two commits with the same files are the same tree.
type Tree struct {
	Digest   string // "" outside a repository, and when it is not known
	Commit   string // that is checked out, for the record; "" before the first
	Worktree string // as STATE.yaml names it; "" for the project itself
	Problem  string // why the tree is not known
}

// ReadTree reads the tree of the work tree that STATE.yaml names, otherwise that
// of the project. What keeps it from being known is part of the answer; the error
// is that of a call that has ended.
func ReadTree(ctx context.Context, desk run.Desk, project, worktree string) (Tree, error) {
	t := Tree{Worktree: worktree}
	dir := project
	switch {
	case worktree == "":
		if !InRepository(ctx, desk, project) {
			return t, nil
		}
	case filepath.IsAbs(worktree):
		dir = filepath.Clean(worktree)
	default:
		dir = filepath.Join(project, worktree)
	}
	limited, cancel := context.WithTimeoutCause(ctx, treeLimit, fmt.Errorf("reading the files took more than %v", treeLimit))
	defer cancel()
	err := t.read(limited, desk, dir)
	if errors.Is(err, errNoRepository) && worktree == "" {
		if own, lookErr := HoldsRepository(desk, dir); lookErr == nil && !own {
			return Tree{}, nil // git does not accept what was found above as a repository
		}
	}
	if ctx.Err() != nil {
		return Tree{}, ctx.Err()
	}
	if err != nil {
		if limited.Err() != nil {
			err = context.Cause(limited)
		}
		t.Digest, t.Problem = "", tidegate.Cut(reason(err))
	}
	return t, nil
}

// reason is an error without its code.
func reason(err error) string {
	var e *tidegate.Error
	if errors.As(err, &e) {
		return e.Message
	}
	return err.Error()
}

func (t *Tree) read(ctx context.Context, desk run.Desk, dir string) error {
	folder, err := desk.Reach.Open("project", dir)
	if err != nil {
		return err
	}
	defer folder.Close()
	if err := InWorkTree(ctx, dir); err != nil {
		return err
	}
	r := treeReader{ctx: ctx, desk: desk, folder: folder, files: folder.FS()}
	if err := r.list(dir); err != nil {
		return err
	}
	if t.Digest, err = r.digest(); err != nil {
		return err
	}
	// Before the first commit there is no commit to name.
	if commit, err := Ask(ctx, dir, "rev-parse", "--verify", "--quiet", "HEAD"); err == nil {
		t.Commit = strings.TrimSpace(string(commit))
	}
	return nil
}

// treeReader reads the files that git names.
type treeReader struct {
	ctx    context.Context
	desk   run.Desk
	folder *artifact.Folder
	files  fs.FS
	names  []string
	size   atomic.Int64
	plain  sync.Map // folder → whether it is one, and is reached by no link
}

// list asks git for the names of the files. A folder that is a repository of its
// own, tracked or not, is taken with everything in it.
func (r *treeReader) list(dir string) error {
	listed, err := Ask(r.ctx, dir, "ls-files", "-z", "-t", "--cached", "--stage", "--others", "--exclude-standard")
	if err != nil {
		return err
	}
	for entry := range ZeroTerminated(listed) {
		name, untracked := strings.CutPrefix(string(entry), "? ")
		isFolder := false
		if untracked {
			name, isFolder = strings.CutSuffix(name, "/")
		} else {
			about, tracked, found := strings.Cut(name, "\t") // its tag, its mode, …
			if !found {
				return errors.New("git ls-files gave an answer of another form")
			}
			name, isFolder = tracked, strings.Contains(about, " "+Gitlink+" ")
		}
		if isFolder {
			err = r.walk(name)
		} else {
			err = r.add(name)
		}
		if err != nil {
			return err
		}
	}
	slices.Sort(r.names)
	r.names = slices.Compact(r.names) // a file in conflict is listed more than once
	return nil
}

// ZeroTerminated yields the parts of a text that end with a zero byte each.
func ZeroTerminated(text []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for part := range bytes.SplitSeq(text, []byte{0}) {
			if len(part) > 0 && !yield(part) {
				return
			}
		}
	}
}

// Changed yields what git says of each file in which two trees differ, and its name.
func Changed(listed []byte) iter.Seq2[string, string] {
	return func(yield func(about, name string) bool) {
		about := ""
		for part := range ZeroTerminated(listed) {
			if about == "" {
				about = string(part)
			} else if !yield(about, string(part)) {
				return
			} else {
				about = ""
			}
		}
	}
}

func (r *treeReader) add(name string) error {
	_, ofChanges := artifact.Inside(ChangesDir(r.desk), name)
	switch {
	case ofChanges:
		return nil
	case !utf8.ValidString(name):
		return fmt.Errorf("the name of the file %q is not UTF-8", name)
	case len(r.names) == maxTreeFiles:
		return fmt.Errorf("there are more than %d files", maxTreeFiles)
	}
	r.names = append(r.names, name)
	return nil
}

// walk adds everything in a folder but the repository that it is.
func (r *treeReader) walk(name string) error {
	return fs.WalkDir(r.files, name, func(name string, entry fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return err
		case entry.Name() == ".git" && entry.IsDir():
			return fs.SkipDir
		case entry.IsDir() || entry.Name() == ".git":
			return r.ctx.Err()
		}
		return r.add(name)
	})
}

// Digest is over the names of the files in byte order, each with its kind and
// the digest of its content. What is not there is left out, so that a removal is
// the same before and after its commit.
func (r *treeReader) digest() (string, error) {
	lines := make([]string, len(r.names))
	err := parallel.Each(r.ctx, len(r.names), nil, func() func(int) error {
		buffer := make([]byte, 64<<10)
		return func(i int) (err error) {
			lines[i], err = r.line(r.names[i], buffer)
			return err
		}
	})
	if err != nil {
		return "", err
	}
	sum := sha256.New()
	for _, line := range lines {
		sum.Write([]byte(line))
	}
	return codec.DigestOf(sum), nil
}

// line is what the digest covers of one file. A link counts as its own text, and
// is never followed, neither at the end of a name nor on the way.
func (r *treeReader) line(name string, buffer []byte) (string, error) {
	if !r.isPlain(path.Dir(name)) {
		return "", nil
	}
	info, err := fs.Lstat(r.files, name)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	kind, digest := "other", ""
	switch mode := info.Mode(); {
	case mode.IsDir():
		return "", nil // what is in it has names of its own
	case mode&fs.ModeSymlink != 0:
		target, err := fs.ReadLink(r.files, name)
		if err != nil {
			return "", err
		}
		kind, digest = "link", codec.DigestBytes([]byte(target))
	case mode.IsRegular():
		kind = "file"
		if mode&0o100 != 0 {
			kind = "program"
		}
		if r.size.Add(info.Size()) > maxTreeBytes {
			return "", fmt.Errorf("the files have more than %d GiB", maxTreeBytes>>30)
		}
		digest, err = r.content(name, buffer)
		if tidegate.CodeOf(err) == tidegate.FileNotFound {
			return "", nil
		}
		if err != nil {
			return "", err
		}
	}
	return kind + " " + digest + "\t" + name + "\x00", nil
}

// content is the digest of a file, which is read through the buffer.
func (r *treeReader) content(name string, buffer []byte) (string, error) {
	file, err := r.folder.Open(name)
	if err != nil {
		return "", err
	}
	defer file.Close()
	sum := sha256.New()
	if _, err := io.CopyBuffer(sum, artifact.Until(r.ctx, file), buffer); err != nil {
		return "", err
	}
	return codec.DigestOf(sum), nil
}

// isPlain reports whether a folder is a real one, and all above it are.
func (r *treeReader) isPlain(dir string) bool {
	if dir == "." {
		return true
	}
	if known, ok := r.plain.Load(dir); ok {
		return known.(bool)
	}
	info, err := fs.Lstat(r.files, dir)
	plain := err == nil && info.IsDir() && r.isPlain(path.Dir(dir))
	r.plain.Store(dir, plain)
	return plain
}

// Differs says how a tree differs from the one that was reviewed, "" when it does
// not.
func (t Tree) Differs(reviewed Tree) string {
	switch {
	case reviewed.Problem != "":
		return "the tree that was reviewed is not known (" + reviewed.Problem + ")"
	case t.Problem != "":
		return "the tree is not known (" + t.Problem + ")"
	case t.Worktree != reviewed.Worktree:
		return "another worktree was reviewed"
	case t.Digest != reviewed.Digest:
		return "the tree is not the one that was reviewed"
	}
	return ""
}
