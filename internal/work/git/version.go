package git

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
	"maps"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/parallel"
	"github.com/tidegate/tidegate/internal/work/run"
)

// version is the files of a project at one time. Names are relative to it.
type version struct {
	files map[string]object
	read  func(ctx context.Context, names []string) (map[string][]byte, error) // their content
	begin func(ctx context.Context, name string) ([]byte, error)               // how a large one begins
	write func(ctx context.Context, dir string, names []string) error          // them into a folder
}

// beginning is how many bytes are read of a file that is too large to be shown.
const beginning = 64 << 10

// Gitlink is the mode by which git marks a submodule.
const Gitlink = "160000"

// symlink is the kind of a symbolic link, whose content is where it leads.
const symlink = "a link"

// submodule is the kind of a repository in the repository.
const submodule = "a submodule"

// object is one file of a version.
type object struct {
	id   string // git's, of its content
	size int64
	kind string // "" for a file that can be shown, otherwise what it is
	mode string // git's, "" where it is not known
}

// Checkout is the work tree in which a project lies, with its repository.
type Checkout struct {
	Dir    string // of its work tree
	Folder *artifact.Folder
	desk   run.Desk
	prefix string // of the project in it, with a slash at its end; "" where it is the whole

	mu    sync.Mutex
	known Origin // as soon as git was asked for it
}

// Origin is the repository of the checkout.
func (r *Checkout) origin(ctx context.Context) (Origin, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.known.Common != "" {
		return r.known, nil
	}
	var err error
	r.known, err = ReadOrigin(ctx, r.Dir)
	return r.known, err
}

// OpenCheckout opens the work tree in which a project lies.
func OpenCheckout(ctx context.Context, desk run.Desk, project string) (*Checkout, error) {
	r := &Checkout{desk: desk}
	prefix, err := Ask(ctx, project, "rev-parse", "--show-prefix")
	if err != nil {
		return nil, err
	}
	r.Dir, r.prefix = project, strings.TrimSuffix(string(prefix), "\n")
	if r.prefix != "" {
		top, err := Ask(ctx, project, "rev-parse", "--show-toplevel")
		if err != nil {
			return nil, err
		}
		r.Dir = filepath.FromSlash(strings.TrimSuffix(string(top), "\n"))
	}
	r.Folder, err = OpenProject(desk, r.Dir)
	return r, err
}

// inside are paths as the repository names them. It returns INVALID_ARGS for one
// outside.
func (r *Checkout) inside(paths []string) ([]string, error) {
	project := filepath.Join(r.Dir, filepath.FromSlash(r.prefix))
	var names []string
	for _, typed := range paths {
		name, err := filepath.Rel(project, typed)
		if err == nil && !filepath.IsLocal(name) {
			// It may be the same folder by another name.
			if real, linkErr := filepath.EvalSymlinks(typed); linkErr == nil {
				name, err = filepath.Rel(project, real)
			}
		}
		name = path.Join(r.prefix, filepath.ToSlash(name))
		if err != nil || !filepath.IsLocal(name) {
			return nil, tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("path", tidegate.Cut(typed)), "path must lie in the repository %s, got %q", r.Dir, tidegate.Cut(typed))
		}
		if name != "." {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// has reports whether a file is part of a version: all but those in the folders of
// changes of the project and of the whole repository.
func (r *Checkout) has(name string) bool {
	changes := ChangesDir(r.desk)
	_, ofProject := artifact.Inside(changes, name)
	_, ofAll := artifact.Inside(r.prefix+changes, name)
	return !ofProject && !ofAll
}

// committed is the version of a commit or a tree.
func (r *Checkout) committed(ctx context.Context, commit string) (version, error) {
	list, err := Ask(ctx, r.Dir, "ls-tree", "-r", "-z", "-l", commit)
	if err != nil {
		return version{}, err
	}
	v := version{files: map[string]object{}}
	for entry := range ZeroTerminated(list) {
		about, name, found := strings.Cut(string(entry), "\t")
		fields := strings.Fields(about) // mode, type, id, size
		if !found || len(fields) != 4 {
			return version{}, errors.New("git ls-tree gave an answer of another form")
		}
		if r.has(name) {
			o := objectOf(fields[0], fields[2])
			o.size, _ = strconv.ParseInt(fields[3], 10, 64) // of a submodule: none
			v.files[name] = o
		}
	}
	v.readObjects(r)
	return v, nil
}

// readObjects lets the version be read from the objects of the repository.
func (v *version) readObjects(r *Checkout) {
	dir, files := r.Dir, v.files
	v.read = func(ctx context.Context, names []string) (map[string][]byte, error) {
		return blobs(ctx, dir, files, names)
	}
	v.begin = func(ctx context.Context, name string) ([]byte, error) {
		return gitBegins(ctx, dir, beginning, "cat-file", "blob", files[name].id)
	}
	v.write = func(ctx context.Context, dir string, names []string) error { return r.checkOut(ctx, dir, files, names) }
}

// staged is the version of the index. It returns INVALID_STATE where a file is in
// conflict.
func (r *Checkout) staged(ctx context.Context, earlier version) (version, error) {
	v := version{files: map[string]object{}}
	err := r.index(ctx, indexOfHook(r.Dir), func(e indexed) error {
		if e.stage != "0" {
			return tidegate.Errorf(tidegate.InvalidState, tidegate.Pairs("file", tidegate.Cut(e.name)), "%s is in conflict: resolve it, and stage it", tidegate.Cut(e.name))
		}
		v.files[e.name] = e.object
		return nil
	})
	if err != nil {
		return version{}, err
	}
	v.readObjects(r)
	return v, v.measure(ctx, r.Dir, earlier)
}

// measure asks git for the sizes of the files that an earlier version does not have.
func (v version) measure(ctx context.Context, dir string, earlier version) error {
	var names []string
	var input bytes.Buffer
	for _, name := range v.names() {
		if o := v.files[name]; o.kind != submodule && o.id != earlier.files[name].id {
			names = append(names, name)
			input.WriteString(o.id + "\n")
		}
	}
	answer, err := AskWith(ctx, dir, input.Bytes(), "cat-file", "--batch-check=%(objectsize)")
	if err != nil {
		return err
	}
	sizes := strings.Fields(string(answer))
	if len(sizes) != len(names) {
		return errors.New("git does not have all that is staged")
	}
	for i, name := range names {
		o := v.files[name]
		if o.size, err = strconv.ParseInt(sizes[i], 10, 64); err != nil {
			return fmt.Errorf("git does not have %q", name)
		}
		v.files[name] = o
	}
	return nil
}

// indexed is one entry of the index.
type indexed struct {
	name, stage string
	absent      bool // the work tree is not meant to have it
	object
}

// indexOfHook is the variable by which git tells a hook the index of the commit that is
// being made, which is another for `git commit -a`.
func indexOfHook(dir string) []string {
	path := os.Getenv("GIT_INDEX_FILE")
	if path == "" {
		return nil
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	return []string{"GIT_INDEX_FILE=" + path}
}

// index calls do for each file of the index that is part of the versions.
func (r *Checkout) index(ctx context.Context, env []string, do func(indexed) error) error {
	list, err := Run(ctx, r.Dir, env, nil, "ls-files", "-z", "-t", "--cached", "--stage")
	if err != nil {
		return err
	}
	for entry := range ZeroTerminated(list) {
		about, name, found := strings.Cut(string(entry), "\t")
		fields := strings.Fields(about) // tag, mode, id, stage
		if !found || len(fields) != 4 {
			return errors.New("git ls-files gave an answer of another form")
		}
		if !r.has(name) {
			continue
		}
		if err := do(indexed{name, fields[3], fields[0] == "S", objectOf(fields[1], fields[2])}); err != nil {
			return err
		}
	}
	return nil
}

// objectOf is a file as git lists it.
func objectOf(mode, id string) object {
	o := object{id: id, mode: mode}
	switch mode {
	case "120000":
		o.kind = symlink
	case Gitlink:
		o.kind = submodule
	}
	return o
}

// blobs asks git for the contents of files, as they are in the repository. git does
// not look whether an object is the one that its id stands for; blobs does.
func blobs(ctx context.Context, dir string, files map[string]object, names []string) (map[string][]byte, error) {
	var input bytes.Buffer
	for _, name := range names {
		input.WriteString(files[name].id + "\n")
	}
	answer, err := AskWith(ctx, dir, input.Bytes(), "cat-file", "--batch")
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
			return nil, tidegate.Errorf(tidegate.InvalidState, tidegate.Pairs("file", name, "object", files[name].id),
				"the repository does not hold the content of %q: a partial clone gets it by `git fetch --refetch --no-filter`, `git fsck` looks for other damage", name)
		}
		contents[name], answer = rest[:size:size], rest[size+1:]
		if id := files[name].id; objectID(contents[name], id) != id {
			return nil, fmt.Errorf("git has something else under the id of %q", name)
		}
	}
	return contents, nil
}

// present is the version of the work tree: what git tracks, and what it does not
// ignore. A file that differs from the earlier version only in its line ends is the
// same where git would commit it with those of the earlier version.
func (r *Checkout) present(ctx context.Context, earlier version) (version, error) {
	reader := treeReader{ctx: ctx, desk: r.desk, folder: r.Folder, files: r.Folder.FS()}
	if err := reader.list(r.Dir); err != nil {
		return version{}, err
	}
	v := version{files: map[string]object{}}
	modes := map[string]string{} // as the index has them
	absent := map[string]object{}
	err := r.index(ctx, nil, func(e indexed) error {
		modes[e.name] = e.mode
		switch {
		case e.kind == submodule:
			e.id = r.checkedOut(ctx, e)
			v.files[e.name] = e.object
		case e.absent:
			absent[e.name] = e.object
		}
		return nil
	})
	if err != nil {
		return version{}, err
	}
	if r.modesKept(ctx) {
		clear(modes)
	}
	names := slices.DeleteFunc(reader.names, func(name string) bool { return !r.has(name) || v.inSubmodule(name) })
	objects := make([]object, len(names))
	changed := make([][]byte, len(names)) // the content of those that differ
	ends := make([]bool, len(names))      // they differ in line ends alone
	var total atomic.Int64
	err = parallel.Each(ctx, len(names), nil, func() func(int) error {
		return func(i int) error {
			before := earlier.files[names[i]]
			o, data, err := reader.object(names[i], before.id)
			if o.mode = cmp.Or(modes[names[i]], o.mode); o.id == "" {
				o = absent[names[i]] // a sparse work tree
			}
			if objects[i] = o; err != nil || o.id == before.id {
				return err
			}
			if ends[i] = differsInLineEnds(data, before.id); ends[i] {
				return nil
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
	var windows []string
	for i, name := range names {
		if ends[i] {
			windows = append(windows, name)
		}
	}
	converted, err := convertedEnds(ctx, r.Dir, windows)
	if err != nil {
		return version{}, err
	}
	kept := map[string][]byte{}
	for i, name := range names {
		if ends[i] && converted[name] {
			objects[i].id = earlier.files[name].id
		}
		if objects[i].id != "" {
			v.files[name] = objects[i]
		}
		if absent[name].id != objects[i].id {
			delete(absent, name) // it is there all the same
		}
		if changed[i] != nil {
			kept[name] = changed[i]
		}
	}
	v.read = func(ctx context.Context, names []string) (map[string][]byte, error) {
		contents := map[string][]byte{}
		var stored []string
		for _, name := range names {
			data, found := kept[name]
			if !found {
				reader := treeReader{ctx: ctx, folder: r.Folder, files: r.Folder.FS()}
				o, read, err := reader.object(name, "")
				if err != nil {
					return nil, err
				}
				if o.id == "" && absent[name].id != "" {
					stored = append(stored, name)
					continue
				}
				data = read
			}
			contents[name] = data
		}
		if len(stored) == 0 {
			return contents, nil
		}
		more, err := blobs(ctx, r.Dir, absent, stored)
		maps.Copy(contents, more)
		return contents, err
	}
	v.begin = func(ctx context.Context, name string) ([]byte, error) {
		if id := absent[name].id; id != "" {
			return gitBegins(ctx, r.Dir, beginning, "cat-file", "blob", id)
		}
		file, err := r.Folder.Open(name)
		if err != nil {
			return nil, err
		}
		defer file.Close()
		return io.ReadAll(io.LimitReader(artifact.Until(ctx, file), beginning))
	}
	v.write = func(ctx context.Context, dir string, names []string) error {
		return r.copyPresent(ctx, dir, absent, names)
	}
	return v, nil
}

// modesKept reports whether the modes of the work tree's files count.
func (r *Checkout) modesKept(ctx context.Context) bool {
	answer, err := Ask(ctx, r.Dir, "config", "--type=bool", "--get", "core.fileMode")
	return runtime.GOOS != "windows" && (err != nil || strings.TrimSpace(string(answer)) != "false")
}

// checkedOut is the commit of a submodule that is checked out; the one that the
// index has where there is none.
func (r *Checkout) checkedOut(ctx context.Context, e indexed) string {
	if _, err := fs.Lstat(r.Folder.FS(), e.name+"/.git"); err == nil {
		if commit, err := commitOf(ctx, filepath.Join(r.Dir, filepath.FromSlash(e.name)), "HEAD"); err == nil {
			return commit
		}
	}
	return e.id
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
		return object{id: objectID([]byte(target), before), kind: symlink, mode: "120000"}, []byte(target), err
	case !mode.IsRegular():
		return object{id: "none", kind: "not a file"}, nil, nil
	}
	mode := "100644"
	if info.Mode()&0o100 != 0 {
		mode = "100755"
	}
	file, err := r.folder.Open(name)
	if err != nil {
		return object{}, nil, err
	}
	defer file.Close()
	if info.Size() > maxShown {
		sum := newObjectID(before, info.Size())
		n, err := io.Copy(sum, artifact.Until(r.ctx, file))
		return object{id: hex.EncodeToString(sum.Sum(nil)), size: n, mode: mode}, nil, err
	}
	data, err := io.ReadAll(io.LimitReader(artifact.Until(r.ctx, file), maxShown))
	if err != nil {
		return object{}, nil, err
	}
	return object{id: objectID(data, before), size: int64(len(data)), mode: mode}, data, nil
}

// differsInLineEnds reports whether a text has the id before once its lines end with LF. What
// has other carriage returns, or zero bytes, git takes for no text.
func differsInLineEnds(data []byte, before string) bool {
	ends := bytes.Count(data, []byte("\r\n"))
	return before != "" && ends > 0 && bytes.Count(data, []byte("\r")) == ends && bytes.IndexByte(data, 0) < 0 &&
		objectID(bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n")), before) == before
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
