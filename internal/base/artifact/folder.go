package artifact

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
)

const (
	lockName   = ".tidegate.lock"
	stagingDir = ".tidegate-tx"

	fileMode   fs.FileMode = 0o600
	folderMode fs.FileMode = 0o700

	sharedFileMode   fs.FileMode = 0o666
	sharedFolderMode fs.FileMode = 0o777
)

// Folder is an open folder that access cannot leave. Names are relative to it
// and separated by slashes. A name that is absolute, leads out by ".." or by a
// symbolic link, is not UTF-8, is longer than 1024 bytes, or belongs to this
// package is PATH_NOT_ALLOWED in every method. Links that stay inside are
// followed on reading; absolute ones are taken to lead out.
//
// A Folder may be used by several goroutines.
type Folder struct {
	root   *os.Root
	path   string
	shared bool
}

// Open opens the folder at path, which the caller was given as the argument
// arg. It returns NOT_FOUND when there is no folder, and READ_FAILED when it
// cannot be opened. It returns PATH_NOT_ALLOWED outside the folders of
// [Within].
func (r Reach) Open(arg, path string) (*Folder, error) {
	p := place{arg, path}
	root, err := r.openFolder(p, path)
	if err != nil {
		return nil, p.unreadable(err)
	}
	return &Folder{root: root, path: filepath.Clean(path)}, nil
}

// openRoot opens a folder. The dot after the path makes it fail for anything that
// is not a folder, where os.OpenRoot would wait for the other end of a FIFO.
func openRoot(path string) (*os.Root, error) {
	if path == "" {
		return nil, fs.ErrNotExist
	}
	return os.OpenRoot(path + string(filepath.Separator) + ".")
}

// Path is the path by which the folder was opened, cleaned.
func (f *Folder) Path() string { return f.path }

// Share gives what is made in f from now on, and in folders opened through it,
// the modes that other programs give: 0666 and 0777 less the umask. It is for a
// folder of a project that others read too, and is called before f is used.
func (f *Folder) Share() { f.shared = true }

func (f *Folder) newFileMode() fs.FileMode {
	if f.shared {
		return sharedFileMode
	}
	return fileMode
}

func (f *Folder) newFolderMode() fs.FileMode {
	if f.shared {
		return sharedFolderMode
	}
	return folderMode
}

// Close closes the folder. Files opened through it stay open.
func (f *Folder) Close() error { return f.root.Close() }

// FS is what lies in the folder, for walking and listing it. It is valid until
// the folder is closed.
func (f *Folder) FS() fs.FS { return f.root.FS() }

// Is reports whether f and other are the same folder, by whatever path they
// were opened.
func (f *Folder) Is(other *Folder) bool {
	one, errOne := f.root.Stat(".")
	two, errTwo := other.root.Stat(".")
	return errOne == nil && errTwo == nil && os.SameFile(one, two)
}

// Folder opens a folder in f. It returns NOT_FOUND when there is none.
func (f *Folder) Folder(name string) (*Folder, error) {
	local, err := f.local(name)
	if err != nil {
		return nil, err
	}
	root, err := f.root.OpenRoot(local + "/.")
	if err != nil {
		return nil, f.place(name).unreadable(err)
	}
	return &Folder{root: root, path: f.place(name).path, shared: f.shared}, nil
}

// List lists a folder in f, in byte order; nil when there is none. It returns
// READ_FAILED.
func (f *Folder) List(name string) ([]fs.DirEntry, error) {
	folder, err := f.Folder(name)
	if err != nil {
		return nil, UnlessMissing(err)
	}
	defer folder.Close()
	list, err := fs.ReadDir(folder.FS(), ".")
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, folder.place(".").unreadable(err)
	case list == nil:
		list = []fs.DirEntry{}
	}
	return list, nil
}

// MakeFolder makes a folder in f, and those above it, durably. A folder that
// is there already is left as it is. It returns WRITE_FAILED.
func (f *Folder) MakeFolder(name string) error {
	return f.writing(name, func(local string) error {
		made, err := f.makeMissing(local)
		if err != nil {
			removeFolders(f.root, made)
		}
		return err
	})
}

// Read reads a file. It returns NOT_FOUND and READ_FAILED as [Reach.ReadFile] does.
func (f *Folder) Read(name string) ([]byte, error) {
	file, err := f.Open(name)
	return f.place(name).readAll(file, err, math.MaxInt64)
}

// ReadIfThere is [Folder.Read], and nil for a file that is not there.
func (f *Folder) ReadIfThere(name string) ([]byte, error) {
	data, err := f.Read(name)
	return data, UnlessMissing(err)
}

// ReadDocument reads a JSON document. It returns INVALID_JSON as the function
// [ReadDocument] does, NOT_FOUND and READ_FAILED.
func (f *Folder) ReadDocument(name string) ([]byte, error) {
	file, err := f.Open(name)
	return f.place(name).readAll(file, err, MaxDocument)
}

// Open opens a file for reading. It returns NOT_FOUND and READ_FAILED as
// [Reach.ReadFile] does.
func (f *Folder) Open(name string) (*os.File, error) {
	local, err := f.local(name)
	if err != nil {
		return nil, err
	}
	file, err := openRegular(f.root, local, os.O_RDONLY)
	if err != nil {
		return nil, f.place(name).unreadable(err)
	}
	return file, nil
}

// Digest is the digest of a file's bytes, "" when there is no file. It returns
// READ_FAILED.
func (f *Folder) Digest(name string) (string, error) {
	file, err := f.Open(name)
	if err != nil {
		return "", UnlessMissing(err)
	}
	defer file.Close()
	digest, err := codec.DigestReader(file)
	return digest, f.place(name).unreadable(err)
}

// Exists reports whether a regular file of that name is there. It returns
// READ_FAILED when that cannot be found out.
func (f *Folder) Exists(name string) (bool, error) {
	info, err := f.info(name, f.root.Stat)
	return info != nil && info.Mode().IsRegular(), err
}

// IsLink reports whether name itself is a symbolic link, and false when nothing is
// there. It returns PATH_NOT_ALLOWED and READ_FAILED.
func (f *Folder) IsLink(name string) (bool, error) {
	info, err := f.info(name, f.root.Lstat)
	return info != nil && info.Mode()&fs.ModeSymlink != 0, err
}

// info is what stat says of a name, nil where nothing is there.
func (f *Folder) info(name string, stat func(string) (fs.FileInfo, error)) (fs.FileInfo, error) {
	local, err := f.local(name)
	if err != nil {
		return nil, err
	}
	info, err := stat(local)
	if err == nil {
		return info, nil
	}
	return nil, UnlessMissing(f.place(name).unreadable(err))
}

// openRegular opens a file in root and fails when it is not a regular one.
func openRegular(root *os.Root, name string, flag int) (*os.File, error) {
	return openOrCreate(root, name, flag, fileMode)
}

// openOrCreate is openRegular with the mode of a file that it makes.
func openOrCreate(root *os.Root, name string, flag int, mode fs.FileMode) (*os.File, error) {
	f, err := root.OpenFile(name, flag|nonblock, mode)
	if err == nil {
		err = regular(f)
	}
	if err != nil {
		return nil, err
	}
	return f, nil
}

func (f *Folder) place(name string) place {
	return place{"path", filepath.Join(f.path, filepath.FromSlash(name))}
}

// local is the cleaned form of a name that a caller gave.
func (f *Folder) local(name string) (string, error) {
	return localName(name, place{"path", name})
}

// writing does what changes the file or folder of a name that a caller gave.
func (f *Folder) writing(name string, do func(local string) error) error {
	local, err := f.local(name)
	if err != nil {
		return err
	}
	return f.place(name).unwritable(do(local))
}

// target is where a write to a name goes; see writeTarget.
func (f *Folder) target(name string) (string, fs.FileInfo, error) {
	local, err := f.local(name)
	if err != nil {
		return "", nil, err
	}
	return writeTarget(f.root, local, f.place(name))
}

// Identity is a digest of where the folder is: its path without links, its device and its
// number there. A copy has another one, and so has a folder that was moved. It returns
// READ_FAILED.
func (f *Folder) Identity() (string, error) {
	at := f.place(".")
	path, err := filepath.EvalSymlinks(f.path)
	if err != nil {
		return "", at.unreadable(err)
	}
	open, err := f.root.Open(".")
	if err != nil {
		return "", at.unreadable(err)
	}
	defer open.Close()
	device, number, err := numbersOf(open)
	if err != nil {
		return "", at.unreadable(err)
	}
	return codec.DigestBytes(fmt.Appendf(nil, "%d %d %s", device, number, path)), nil
}

// missingFolders lists what has to be made for the folder dir to exist in
// root, the outermost first.
func missingFolders(root *os.Root, dir string) ([]string, error) {
	var missing []string
	for ; dir != "."; dir = path.Dir(dir) {
		info, err := root.Stat(dir)
		if err == nil && !info.IsDir() {
			return nil, errNoFolder
		}
		if err == nil {
			break
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		missing = append(missing, dir)
	}
	slices.Reverse(missing)
	return missing, nil
}

// makeMissing makes the folder dir and those above it as far as they are missing,
// durably, and returns those that were.
func (f *Folder) makeMissing(dir string) ([]string, error) {
	missing, err := missingFolders(f.root, dir)
	if err == nil {
		err = makeFolders(f.root, missing, f.newFolderMode())
	}
	return missing, err
}

// makeFolders makes the folders in order, durably. One that exists by then is
// fine.
func makeFolders(root *os.Root, dirs []string, mode fs.FileMode) error {
	for _, dir := range dirs {
		if err := root.Mkdir(dir, mode); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
		if err := syncFolder(root, path.Dir(dir)); err != nil {
			return err
		}
	}
	return nil
}

// removeFolders takes back what makeFolders made, as far as it is there and
// empty.
func removeFolders(root *os.Root, dirs []string) error {
	for _, dir := range slices.Backward(dirs) {
		// A folder that is not empty fails with ErrExist.
		if err := root.Remove(dir); err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	return nil
}

// makeAbove makes a folder and those above it as far as they are missing,
// durably, and returns those that it made.
func makeAbove(dir string) ([]string, error) {
	var missing []string
	for {
		if _, err := os.Stat(dir); err == nil || !errors.Is(err, fs.ErrNotExist) || dir == filepath.Dir(dir) {
			break
		}
		missing = append(missing, dir)
		dir = filepath.Dir(dir)
	}
	slices.Reverse(missing)
	for i, dir := range missing {
		err := os.Mkdir(dir, folderMode)
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return missing[:i], err
		}
		if err := syncPath(filepath.Dir(dir)); err != nil {
			return missing[:i+1], err
		}
	}
	return missing, nil
}

// removeAbove takes back what makeAbove made, as far as nobody uses it by now.
func removeAbove(made []string, failed bool) {
	if failed {
		for _, dir := range slices.Backward(made) {
			os.Remove(dir)
		}
	}
}

// CopyTo copies files of f into a folder for another program, where they need not
// outlive a crash. Links stay links, programs stay programs, and what is not there,
// or is neither file nor link, is left out. It returns READ_FAILED and WRITE_FAILED.
func (f *Folder) CopyTo(ctx context.Context, dir string, names []string) error {
	to, err := os.OpenRoot(dir)
	if err != nil {
		return tidegate.Errorf(tidegate.WriteFailed, tidegate.Pairs("path", dir), "%s cannot be written to: %w", dir, err)
	}
	defer to.Close()
	for _, name := range names {
		if err := f.copyOne(ctx, to, filepath.FromSlash(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			return tidegate.Errorf(tidegate.WriteFailed, tidegate.Pairs("path", name), "%s cannot be copied: %w", name, err)
		}
	}
	return nil
}

func (f *Folder) copyOne(ctx context.Context, to *os.Root, name string) error {
	info, err := f.root.Lstat(name)
	if err != nil {
		return err
	}
	if err := to.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	switch mode := info.Mode(); {
	case mode&fs.ModeSymlink != 0:
		target, err := f.root.Readlink(name)
		if err != nil {
			return err
		}
		return to.Symlink(target, name)
	case !mode.IsRegular():
		return nil
	}
	from, err := openRegular(f.root, name, os.O_RDONLY)
	if err != nil {
		return err
	}
	defer from.Close()
	made, err := to.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, info.Mode().Perm()|0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(made, Until(ctx, from))
	return errors.Join(err, made.Close())
}

// ReadFile reads the file at path, which the caller was given as the argument
// arg. It follows symbolic links and never waits for a FIFO.
//
// It returns NOT_FOUND when nothing is there or the path leads through
// something that is not a folder, and READ_FAILED for a folder, a FIFO, a device,
// a socket, or lack of permission. It returns PATH_NOT_ALLOWED outside the
// folders of [Within].
func (r Reach) ReadFile(arg, path string) ([]byte, error) {
	f, err := r.OpenFile(arg, path)
	return place{arg, path}.readAll(f, err, math.MaxInt64)
}

// MaxDocument is how many bytes a JSON document may have: far more than any useful
// one has, and few enough for the memory of every machine.
const MaxDocument = 64 << 20

// ReadDocument is [Reach.ReadFile] for a JSON document. One of more than 64 MiB is
// INVALID_JSON, and not read.
func (r Reach) ReadDocument(arg, path string) ([]byte, error) {
	f, err := r.OpenFile(arg, path)
	return place{arg, path}.readAll(f, err, MaxDocument)
}

// readAll reads a file that was opened, unless err says that it was not, and closes it. It
// returns INVALID_JSON for one of more bytes than a document may have.
func (p place) readAll(f *os.File, err error, most int64) ([]byte, error) {
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.Size() > most {
		return nil, tidegate.Errorf(tidegate.InvalidJSON, p.details(),
			"%s has %d MiB, and a JSON document may have %d", filepath.Base(p.path), info.Size()>>20, MaxDocument>>20)
	}
	data, err := readAll(f)
	return data, p.unreadable(err)
}

// ReadJSON reads the JSON document at path as [Reach.ReadDocument] does. It also returns
// INVALID_JSON for what is not JSON.
func (r Reach) ReadJSON(arg, path string) (*codec.Value, error) {
	data, err := r.ReadDocument(arg, path)
	if err != nil {
		return nil, err
	}
	return codec.ParseFile(arg, path, data)
}

// OpenFile opens what [Reach.ReadFile] reads, for a caller that reads in pieces. It
// returns the same errors.
func (r Reach) OpenFile(arg, path string) (*os.File, error) {
	p := place{arg, path}
	f, err := r.openPath(p)
	if err != nil {
		return nil, p.unreadable(err)
	}
	return f, nil
}

// Until is r as long as ctx lasts. Then reading ends with the error of ctx, so
// that a long file does not delay a call that nobody waits for any more.
func Until(ctx context.Context, r io.Reader) io.Reader { return &untilReader{ctx, r} }

type untilReader struct {
	ctx context.Context
	r   io.Reader
}

func (u *untilReader) Read(p []byte) (int, error) {
	if err := u.ctx.Err(); err != nil {
		return 0, err
	}
	return u.r.Read(p)
}

// regular closes f and fails when f is not a regular file; the descriptor is
// asked, because the name may have changed hands.
func regular(f *os.File) error {
	info, err := f.Stat()
	switch {
	case err == nil && info.Mode().IsRegular():
		return nil
	case err == nil && info.IsDir():
		err = errIsFolder
	case err == nil:
		err = errNotRegular
	}
	f.Close()
	return err
}

// readAll reads f to its end into a buffer of its size.
func readAll(f *os.File) ([]byte, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	data := make([]byte, 0, info.Size()+1)
	for {
		n, err := f.Read(data[len(data):cap(data)])
		data = data[:len(data)+n]
		if err == io.EOF {
			return data, nil
		}
		if err != nil {
			return nil, err
		}
		if len(data) == cap(data) {
			data = append(data, 0)[:len(data)]
		}
	}
}

// removedPrefix begins the name that a folder has while it is removed.
const removedPrefix = ".tidegate.removed-"

// RemoveFolder removes a folder in f with all that is in it. It is moved aside
// first, so that a reader sees it whole or not at all. This also removes what a
// process that was killed after that step left in f. A link is refused with
// PATH_NOT_ALLOWED: what it leads to would stay. It also returns NOT_FOUND and
// WRITE_FAILED.
func (f *Folder) RemoveFolder(name string) error {
	local, err := f.local(name)
	if err != nil {
		return err
	}
	info, err := f.root.Lstat(local)
	switch {
	case err != nil:
		return f.place(name).unreadable(err)
	case info.Mode()&fs.ModeSymlink != 0:
		return f.place(name).notAllowed("it is a link; name the folder itself")
	case !info.IsDir():
		return tidegate.Errorf(tidegate.WriteFailed, f.place(name).details(), "not a folder: %s", f.place(name).path)
	}
	if err := f.root.Rename(local, removedPrefix+rand.Text()); err != nil {
		return f.place(name).unwritable(err)
	}
	if err := f.SweepRemoved(); err != nil {
		return err
	}
	return f.place(name).unwritable(syncFolder(f.root, "."))
}

// SweepRemoved removes what a process left in f that was killed in [Folder.RemoveFolder].
// It returns WRITE_FAILED and READ_FAILED.
func (f *Folder) SweepRemoved() error {
	entries, err := fs.ReadDir(f.root.FS(), ".")
	if err != nil {
		return f.place(".").unreadable(err)
	}
	for _, entry := range entries {
		if !strings.HasPrefix(entry.Name(), removedPrefix) {
			continue
		}
		if err := f.root.RemoveAll(entry.Name()); err != nil {
			return f.place(entry.Name()).unwritable(err)
		}
	}
	return nil
}

// Remove removes a file of f durably; one that is not there is removed already. It
// returns PATH_NOT_ALLOWED and WRITE_FAILED.
func (f *Folder) Remove(name string) error {
	return f.writing(name, func(local string) error {
		if err := f.root.Remove(local); errors.Is(err, fs.ErrNotExist) {
			return nil
		} else if err != nil {
			return err
		}
		return syncFolder(f.root, path.Dir(local))
	})
}

// SyncAll makes durable what other programs wrote to the file system of f, where the
// system can do that. It returns WRITE_FAILED.
func (f *Folder) SyncAll() error {
	if !canSyncAll {
		return nil
	}
	dir, err := f.root.Open(".")
	if err != nil {
		return f.place(".").unwritable(err)
	}
	defer dir.Close()
	return f.place(".").unwritable(syncAll(dir))
}

// Size counts the files in f and below it, and their bytes. It returns
// READ_FAILED.
func (f *Folder) Size() (files, bytes int64, err error) {
	err = fs.WalkDir(f.FS(), ".", func(_ string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		files++
		bytes += info.Size()
		return nil
	})
	if err != nil {
		return 0, 0, f.place(".").unreadable(err)
	}
	return files, bytes, nil
}

// SizeOf adds up the files in a folder that others write to, except those in the folder
// that without names and the program's own. What went away meanwhile counts nothing.
func SizeOf(files fs.FS, without string) (int64, error) {
	var size int64
	err := fs.WalkDir(files, ".", func(name string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return nil // it went away, or is not ours to look at
		case without != "" && name == without:
			return fs.SkipDir
		case e.Type().IsRegular() && !strings.HasPrefix(e.Name(), ".tidegate"):
			if info, err := e.Info(); err == nil {
				size += info.Size()
			}
		}
		return nil
	})
	return size, err
}
