package change

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/parallel"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/review"
)

// The limits of a diff.
const (
	maxShown    = 1 << 20  // bytes of a version of a file that is shown
	maxCompared = 64 << 20 // bytes of all that are
)

// Diff is what a project has changed since a base.
type Diff struct {
	Base    string        // the commit that it is compared with
	Files   []review.File // to be reviewed line by line, in byte order
	LeftOut []LeftOut     // changed as well, in byte order
	Commits []string      // the messages of the commits since the base, the oldest first

	later  version
	folder *artifact.Folder
}

// Close ends reading from the project.
func (d *Diff) Close() error { return d.folder.Close() }

// Lines is how many lines a file of the later version has, also one that did not
// change; ok is false for a name that is not a file of it, and for a file that has
// no lines, such as a link.
func (d *Diff) Lines(ctx context.Context, name string) (lines int, ok bool, err error) {
	o, found := d.later.files[name]
	if !found || o.kind != "" {
		return 0, false, nil
	}
	contents, err := d.later.read(ctx, []string{name})
	if err != nil {
		return 0, false, unread(ctx, err)
	}
	return review.CountLines(contents[name]), true, nil
}

// LeftOut is a file that changed and is not shown.
type LeftOut struct {
	File string `json:"file"`
	Why  string `json:"why"`
}

// DiffInput says what is compared.
type DiffInput struct {
	// Base is a revision; "" is where the branch left its upstream or, without one,
	// the main branch.
	Base string
	// Committed leaves out what is not committed yet.
	Committed bool
	// Head is the commit that counts as the last where Committed is set, by its id;
	// "" is the one that is checked out.
	Head string
}

// ReadDiff compares the files of a project, as they are or as they were last
// committed, with those of a base. Nothing of the repository is run, and the
// content of files is compared as it is: a file that a filter would change on
// its way into the repository counts as changed. The folder of changes is left
// out.
//
// The caller must close the diff. It returns NOT_FOUND outside a git repository,
// INVALID_ARGS for a base that does not exist, SIZE_CAP_EXCEEDED when too much has
// changed, READ_FAILED and CANCELLED.
func ReadDiff(ctx context.Context, desk run.Desk, project string, in DiffInput) (*Diff, error) {
	folder, err := openProject(desk, project)
	if err != nil {
		return nil, err
	}
	d := &Diff{folder: folder}
	if err := d.readAll(ctx, desk, project, in); err != nil {
		d.Close()
		return nil, unread(ctx, err)
	}
	return d, nil
}

func (d *Diff) readAll(ctx context.Context, desk run.Desk, project string, in DiffInput) error {
	if err := inWorkTree(ctx, project); err != nil {
		return tidegate.Errorf(tidegate.FileNotFound, tidegate.Pairs("project", project), "there are no versions to compare in %s: %w", project, err)
	}
	var err error
	if d.Base, err = baseCommit(ctx, project, in.Base); err != nil {
		return err
	}
	head := cmp.Or(in.Head, "HEAD")
	if d.Commits, err = messages(ctx, project, d.Base, head); err != nil {
		return err
	}
	earlier, err := committed(ctx, desk, project, d.Base)
	if err != nil {
		return err
	}
	if in.Committed {
		d.later, err = committed(ctx, desk, project, head)
	} else {
		d.later, err = present(ctx, desk, d.folder, earlier)
	}
	if err != nil {
		return err
	}
	return d.compare(ctx, earlier)
}

// unread gives an error of git, or of reading, its code.
func unread(ctx context.Context, err error) error {
	var coded *tidegate.Error
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, &coded):
		return err
	}
	return tidegate.Errorf(tidegate.ReadFailed, nil, "the versions cannot be compared: %w", err)
}

// mainBranches are the branches that a branch without upstream is assumed to have
// left.
var mainBranches = []string{"origin/HEAD", "main", "master"}

// baseCommit is the commit that a revision names; "" stands for where HEAD left
// its upstream or, without one, a main branch.
func baseCommit(ctx context.Context, dir, revision string) (string, error) {
	if revision != "" {
		commit, err := git(ctx, dir, "rev-parse", "--verify", "--quiet", "--end-of-options", revision+"^{commit}")
		if err != nil {
			return "", tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("base", tidegate.Cut(revision)), "base must name a commit, got %q", tidegate.Cut(revision))
		}
		return strings.TrimSpace(string(commit)), nil
	}
	for _, other := range append([]string{"@{upstream}"}, mainBranches...) {
		if commit, err := git(ctx, dir, "merge-base", "HEAD", other); err == nil {
			return strings.TrimSpace(string(commit)), nil
		}
	}
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	return "", tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("base", nil),
		"base is needed: the branch has no upstream, and there is no branch main or master that it left")
}

// HeadName is the name of the branch that is checked out, or of its commit where
// there is none. It returns NOT_FOUND outside a git repository.
func HeadName(ctx context.Context, project string) (string, error) {
	if err := inWorkTree(ctx, project); err != nil {
		return "", tidegate.Errorf(tidegate.FileNotFound, tidegate.Pairs("project", project), "there is nothing to review in %s: %w", project, err)
	}
	if branch, err := git(ctx, project, "symbolic-ref", "--quiet", "--short", "HEAD"); err == nil {
		return strings.TrimSpace(string(branch)), nil
	}
	commit, err := git(ctx, project, "rev-parse", "--short=12", "HEAD")
	if err != nil {
		return "", unread(ctx, err)
	}
	return strings.TrimSpace(string(commit)), nil
}

// maxMessages is how many commits of a change are asked for their messages.
const maxMessages = 200

// messages are those of the last commits from a base to head, the oldest first.
func messages(ctx context.Context, dir, base, head string) ([]string, error) {
	log, err := git(ctx, dir, "log", "-z", "--format=%B", "--no-show-signature", "--max-count="+strconv.Itoa(maxMessages), base+".."+head)
	if err != nil {
		return nil, err
	}
	var list []string
	for message := range zeroTerminated(log) {
		list = append(list, strings.ToValidUTF8(string(message), "\uFFFD"))
	}
	slices.Reverse(list)
	return list, nil
}

// version is the files of a project at one time. Names are relative to it.
type version struct {
	files map[string]object
	read  func(ctx context.Context, names []string) (map[string][]byte, error) // their content
}

// gitlink is the mode by which git marks a submodule.
const gitlink = "160000"

// link is the kind of a symbolic link, whose content is where it leads.
const link = "a link"

// object is one file of a version.
type object struct {
	id   string // git's, of its content
	size int64
	kind string // "" for a file that can be shown, otherwise what it is
	mode string // git's, "" where it is not known
}

// committed is the version of a commit.
func committed(ctx context.Context, desk run.Desk, dir, commit string) (version, error) {
	list, err := git(ctx, dir, "ls-tree", "-r", "-z", "-l", commit)
	if err != nil {
		return version{}, err
	}
	v := version{files: map[string]object{}}
	changes := changesDir(desk) + "/"
	for entry := range zeroTerminated(list) {
		about, name, found := strings.Cut(string(entry), "\t")
		fields := strings.Fields(about) // mode, type, id, size
		if !found || len(fields) != 4 {
			return version{}, errors.New("git ls-tree gave an answer of another form")
		}
		if strings.HasPrefix(name, changes) {
			continue
		}
		o := object{id: fields[2], mode: fields[0]}
		o.size, _ = strconv.ParseInt(fields[3], 10, 64) // of a submodule: none
		switch fields[0] {
		case "120000":
			o.kind = link
		case gitlink:
			o.kind = "a submodule"
		}
		v.files[name] = o
	}
	v.read = func(ctx context.Context, names []string) (map[string][]byte, error) {
		return blobs(ctx, dir, v.files, names)
	}
	return v, nil
}

// blobs asks git for the contents of files, as they are in the repository. git does
// not look whether an object is the one that its id stands for; blobs does.
func blobs(ctx context.Context, dir string, files map[string]object, names []string) (map[string][]byte, error) {
	var input bytes.Buffer
	for _, name := range names {
		input.WriteString(files[name].id + "\n")
	}
	answer, err := askGit(ctx, dir, input.Bytes(), "cat-file", "--batch")
	if err != nil {
		return nil, err
	}
	contents := map[string][]byte{}
	for _, name := range names {
		head, rest, _ := bytes.Cut(answer, []byte("\n"))
		fields := strings.Fields(string(head)) // id, type, size
		size := -1
		if len(fields) == 3 && fields[1] == "blob" {
			size, _ = strconv.Atoi(fields[2])
		}
		if size < 0 || size >= len(rest) {
			return nil, fmt.Errorf("git does not have %q", name)
		}
		contents[name], answer = rest[:size:size], rest[size+1:]
		if id := files[name].id; objectID(contents[name], id) != id {
			return nil, fmt.Errorf("git has something else under the id of %q", name)
		}
	}
	return contents, nil
}

// present is the version of the work tree: what git tracks, and what it does not
// ignore. A file that differs from the earlier version only in its line ends is
// taken to be the same.
func present(ctx context.Context, desk run.Desk, folder *artifact.Folder, earlier version) (version, error) {
	r := treeReader{ctx: ctx, desk: desk, folder: folder, files: folder.FS()}
	if err := r.list(folder.Path()); err != nil {
		return version{}, err
	}
	v := version{files: map[string]object{}}
	if err := v.addSubmodules(ctx, folder.Path()); err != nil {
		return version{}, err
	}
	r.names = slices.DeleteFunc(r.names, v.inSubmodule)
	objects := make([]object, len(r.names))
	changed := make([][]byte, len(r.names)) // the content of those that differ
	var total atomic.Int64
	err := parallel.Each(ctx, len(r.names), nil, func() func(int) error {
		return func(i int) error {
			before := earlier.files[r.names[i]]
			o, data, err := r.object(r.names[i], before.id)
			if objects[i] = o; err != nil || o.id == before.id {
				return err
			}
			if changed[i] = data; total.Add(int64(len(data))) > maxCompared {
				return tooMuch()
			}
			return nil
		}
	})
	if err != nil {
		return version{}, err
	}
	kept := map[string][]byte{}
	for i, name := range r.names {
		if objects[i].id != "" {
			v.files[name] = objects[i]
		}
		if changed[i] != nil {
			kept[name] = changed[i]
		}
	}
	v.read = func(ctx context.Context, names []string) (map[string][]byte, error) {
		contents := map[string][]byte{}
		for _, name := range names {
			data, found := kept[name]
			if !found {
				reader := treeReader{ctx: ctx, folder: folder, files: folder.FS()}
				var err error
				if _, data, err = reader.object(name, ""); err != nil {
					return nil, err
				}
			}
			contents[name] = data
		}
		return contents, nil
	}
	return v, nil
}

// addSubmodules adds the submodules that git tracks, by the commits that it has
// for them. Their files are those of another repository.
func (v version) addSubmodules(ctx context.Context, dir string) error {
	tracked, err := git(ctx, dir, "ls-files", "-z", "--cached", "--stage")
	if err != nil {
		return err
	}
	for entry := range zeroTerminated(tracked) {
		about, name, _ := strings.Cut(string(entry), "\t")
		if fields := strings.Fields(about); len(fields) == 3 && fields[0] == gitlink {
			v.files[name] = object{id: fields[1], kind: "a submodule"}
		}
	}
	return nil
}

// inSubmodule reports whether a file lies in one of the submodules.
func (v version) inSubmodule(name string) bool {
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		if v.files[dir].kind != "" {
			return true
		}
	}
	return false
}

func tooMuch() error {
	return tidegate.Errorf(tidegate.SizeCapExceeded, tidegate.Pairs("max_bytes", maxCompared), "more than %d MiB have changed: name a later base", maxCompared>>20)
}

// object reads a file of the work tree with the id that git would give it. Data
// is nil for what is not shown. The zero object is a file that is not there.
func (r *treeReader) object(name, before string) (object, []byte, error) {
	if !r.isPlain(path.Dir(name)) {
		return object{}, nil, nil
	}
	info, err := fs.Lstat(r.files, name)
	if errors.Is(err, fs.ErrNotExist) {
		return object{}, nil, nil
	}
	if err != nil {
		return object{}, nil, err
	}
	switch mode := info.Mode(); {
	case mode.IsDir():
		return object{}, nil, nil
	case mode&fs.ModeSymlink != 0:
		target, err := fs.ReadLink(r.files, name)
		return object{id: objectID([]byte(target), before), kind: link}, []byte(target), err
	case !mode.IsRegular():
		return object{id: "none", kind: "not a file"}, nil, nil
	}
	file, err := r.folder.Open(name)
	if err != nil {
		return object{}, nil, err
	}
	defer file.Close()
	if info.Size() > maxShown {
		sum := newObjectID(before, info.Size())
		n, err := io.Copy(sum, artifact.Until(r.ctx, file))
		return object{id: hex.EncodeToString(sum.Sum(nil)), size: n}, nil, err
	}
	data, err := io.ReadAll(io.LimitReader(artifact.Until(r.ctx, file), maxShown))
	if err != nil {
		return object{}, nil, err
	}
	id := objectID(data, before)
	if id != before && bytes.Contains(data, []byte("\r\n")) {
		if unix := objectID(bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n")), before); unix == before {
			id = before
		}
	}
	return object{id: id, size: int64(len(data))}, data, nil
}

// objectID is the id that git gives a content, by the function that made like.
func objectID(data []byte, like string) string {
	sum := newObjectID(like, int64(len(data)))
	sum.Write(data)
	return hex.EncodeToString(sum.Sum(nil))
}

func newObjectID(like string, size int64) hash.Hash {
	sum := sha1.New() // as git does
	if len(like) == 2*sha256.Size {
		sum = sha256.New()
	}
	fmt.Fprintf(sum, "blob %d\x00", size)
	return sum
}

// compare finds the files that differ and reads them.
func (d *Diff) compare(ctx context.Context, earlier version) error {
	var names []string
	gone := map[string]string{} // id → name of a file that the later version does not have
	for name, before := range earlier.files {
		after, there := d.later.files[name]
		switch {
		case !there:
			names = append(names, name)
			gone[before.id] = max(gone[before.id], name)
		case after.id != before.id || after.kind != before.kind:
			names = append(names, name)
		case before.mode != "" && after.mode != "" && before.mode != after.mode:
			d.LeftOut = append(d.LeftOut, LeftOut{name, fmt.Sprintf("its mode is %s, it was %s", after.mode, before.mode)})
		}
	}
	renamed := map[string]string{} // later name → earlier name
	for _, name := range d.later.names() {
		after := d.later.files[name]
		if _, there := earlier.files[name]; there {
			continue
		}
		names = append(names, name)
		if from := gone[after.id]; from != "" {
			renamed[name] = from
			delete(gone, after.id)
		}
	}
	slices.Sort(names)
	moved := map[string]bool{}
	for _, from := range renamed {
		moved[from] = true
	}
	names = slices.DeleteFunc(names, func(name string) bool { return moved[name] })
	return d.read(ctx, earlier, names, renamed)
}

func (v version) names() []string {
	names := make([]string, 0, len(v.files))
	for name := range v.files {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// read reads both versions of the files that can be shown.
func (d *Diff) read(ctx context.Context, earlier version, names []string, renamed map[string]string) error {
	var shown, before, after, links []string
	total := int64(0)
	for _, name := range names {
		from := cmp.Or(renamed[name], name)
		was, had := earlier.files[from]
		is, has := d.later.files[name]
		total += was.size + is.size
		switch why := cmp.Or(is.kind, was.kind); {
		case is.kind == link && is.size <= maxShown:
			links = append(links, name)
			continue
		case why != "":
			d.LeftOut = append(d.LeftOut, LeftOut{name, why})
			continue
		case max(was.size, is.size) > maxShown:
			d.LeftOut = append(d.LeftOut, LeftOut{name, "larger than 1 MiB"})
			total -= was.size + is.size
			continue
		case total > maxCompared:
			return tooMuch()
		}
		shown = append(shown, name)
		if had {
			before = append(before, from)
		}
		if has {
			after = append(after, name)
		}
	}
	was, err := earlier.read(ctx, before)
	if err != nil {
		return err
	}
	is, err := d.later.read(ctx, slices.Concat(after, links))
	if err != nil {
		return err
	}
	for _, name := range links {
		d.LeftOut = append(d.LeftOut, LeftOut{name, fmt.Sprintf("a link to %q", is[name])})
	}
	for _, name := range shown {
		f := review.File{Name: name, From: renamed[name], Before: was[cmp.Or(renamed[name], name)], After: is[name]}
		if why := f.LeftOut(); why != "" {
			d.LeftOut = append(d.LeftOut, LeftOut{name, why})
		} else {
			d.Files = append(d.Files, f)
		}
	}
	slices.SortFunc(d.LeftOut, func(a, b LeftOut) int { return cmp.Compare(a.File, b.File) })
	return nil
}
