package artifact

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

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
	local, err := f.local(name)
	if err != nil {
		return err
	}
	made, err := f.makeMissing(local)
	if err != nil {
		removeFolders(f.root, made)
	}
	return f.place(name).unwritable(err)
}

// Read reads a file. It returns NOT_FOUND and READ_FAILED as [Reach.ReadFile] does.
func (f *Folder) Read(name string) ([]byte, error) {
	file, err := f.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	data, err := readAll(file)
	return data, f.place(name).unreadable(err)
}

// ReadDocument reads a JSON document. It returns INVALID_JSON as the function
// [ReadDocument] does, NOT_FOUND and READ_FAILED.
func (f *Folder) ReadDocument(name string) ([]byte, error) {
	file, err := f.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return f.place(name).readDocument(file)
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
	local, err := f.local(name)
	if err != nil {
		return false, err
	}
	info, err := f.root.Stat(local)
	switch {
	case err == nil:
		return info.Mode().IsRegular(), nil
	case errors.Is(err, fs.ErrNotExist), isNoFolder(err):
		return false, nil
	}
	return false, f.place(name).unreadable(err)
}

// IsLink reports whether name itself is a symbolic link, and false when nothing is
// there. It returns PATH_NOT_ALLOWED and READ_FAILED.
func (f *Folder) IsLink(name string) (bool, error) {
	local, err := f.local(name)
	if err != nil {
		return false, err
	}
	info, err := f.root.Lstat(local)
	switch {
	case err == nil:
		return info.Mode()&fs.ModeSymlink != 0, nil
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	}
	return false, f.place(name).unreadable(err)
}

// openRegular opens a file in root and fails when it is not a regular one.
func openRegular(root *os.Root, name string, flag int) (*os.File, error) {
	return openOrCreate(root, name, flag, fileMode)
}

// openOrCreate is openRegular with the mode of a file that it makes.
func openOrCreate(root *os.Root, name string, flag int, mode fs.FileMode) (*os.File, error) {
	f, err := root.OpenFile(name, flag|nonblock, mode)
	if err != nil {
		return nil, err
	}
	if _, err := regular(f); err != nil {
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

// target is where a write to a name goes; see writeTarget.
func (f *Folder) target(name string) (string, fs.FileInfo, error) {
	local, err := f.local(name)
	if err != nil {
		return "", nil, err
	}
	return writeTarget(f.root, local, f.place(name))
}
