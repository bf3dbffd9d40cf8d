package artifact

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"
	"unicode/utf8"

	"github.com/tidegate/tidegate"
)

// Reach says which files may be touched by their paths, and where they are looked
// for. The zero value reaches whatever the user may touch.
type Reach struct {
	roots    []string // absolute and clean
	confined bool     // to roots, even where there are none
	replica  string   // the folder that is taken for the one at stead, "" for none
	stead    string
}

// Everywhere is for files that no caller names, such as the operator's own
// configuration, and for what a person names at a terminal.
var Everywhere Reach

// Within reaches the folders alone: what does not lie in one of them is
// PATH_NOT_ALLOWED, before anything of it is read. The folders are absolute paths
// and need not exist yet. Without any, nothing is allowed.
//
// Files are opened through the folder that allows them, by [os.Root], never
// first checked and then opened: a symbolic link that is put in the way
// meanwhile leads nowhere else. Links from one of the folders into another, or
// back into the same one, are followed.
func Within(folders ...string) Reach {
	r := Reach{confined: true, roots: make([]string, len(folders))}
	for i, folder := range folders {
		r.roots[i] = filepath.Clean(folder)
	}
	return r
}

// Confined reports whether r is confined to folders by [Within].
func (r Reach) Confined() bool { return r.confined }

// Allowed returns PATH_NOT_ALLOWED when r is confined to folders and path
// does not lie in one of them, as far as that is known before it is opened.
// A path where nothing is yet is allowed when something could be there.
func (r Reach) Allowed(arg, path string) error {
	if !r.confined {
		return nil
	}
	err := r.access(place{arg, path}, path, func(root *os.Root, name string) error {
		_, err := root.Stat(name)
		return err
	})
	if tidegate.CodeOf(err) == tidegate.PathNotAllowed {
		return err
	}
	return nil
}

// access calls open with the folder that allows path, opened, and the name of
// path in it, until nothing leads out of that folder. The folder is closed
// afterwards. It returns PATH_NOT_ALLOWED and what open returns.
func (r Reach) access(p place, path string, open func(root *os.Root, name string) error) error {
	const maxLinks = 40
	path = filepath.Clean(path)
	for range maxLinks {
		base, name, ok := r.match(path)
		if !ok {
			return r.refuse(p)
		}
		root, err := openRoot(base)
		if err != nil {
			return err
		}
		err = open(root, name)
		if err == nil || !escapes(err) {
			root.Close()
			return err
		}
		next, found := leadsOut(root, name)
		root.Close()
		if !found {
			return r.refuse(p)
		}
		path = next
		if !filepath.IsAbs(next) {
			path = filepath.Join(base, next)
		}
	}
	return r.refuse(p)
}

// match is the folder that path lies in by its name, and the name in it. A
// folder is known by the path that was given for it and by its real one.
func (r Reach) match(path string) (base, name string, ok bool) {
	for _, folder := range r.roots {
		if name, ok := Inside(folder, path); ok {
			return folder, name, true
		}
	}
	for _, folder := range r.roots {
		real, err := filepath.EvalSymlinks(folder)
		if err != nil {
			continue
		}
		if name, ok := Inside(real, path); ok {
			return folder, name, true
		}
	}
	return "", "", false
}

// Beyond is the part of a path that the caller chose: its name in the folder that allows it,
// with slashes, or all of it where every path is allowed.
func (r Reach) Beyond(path string) string {
	if _, name, ok := r.match(filepath.Clean(path)); ok && r.confined {
		return name
	}
	return filepath.ToSlash(filepath.Clean(path))
}

// Inside is the name, with slashes, of a path in a folder that it is ("." then) or lies in.
// It looks at the names only, of which both or none are absolute.
func Inside(folder, path string) (name string, ok bool) {
	name, err := filepath.Rel(folder, path)
	if err != nil || !filepath.IsLocal(name) {
		return "", false
	}
	return filepath.ToSlash(name), true
}

// leadsOut finds the symbolic link by which a name leads out of root, and
// returns where it leads to: an absolute path, or one relative to root.
func leadsOut(root *os.Root, name string) (string, bool) {
	parts := strings.Split(name, "/")
	for i := range parts {
		upTo := strings.Join(parts[:i+1], "/")
		info, err := root.Lstat(upTo)
		if err != nil || info.Mode()&fs.ModeSymlink == 0 {
			continue
		}
		target, err := root.Readlink(upTo)
		if err != nil {
			return "", false
		}
		rest := filepath.FromSlash(strings.Join(parts[i+1:], "/"))
		if filepath.IsAbs(target) {
			return filepath.Join(target, rest), true
		}
		return filepath.Join(filepath.Dir(filepath.FromSlash(upTo)), target, rest), true
	}
	return "", false
}

func (r Reach) refuse(p place) error {
	details := append(p.details(), tidegate.Detail{Key: "allowed_roots", Value: r.roots})
	return tidegate.Errorf(tidegate.PathNotAllowed, details, "path lies outside the allowed roots (%s): %s", strings.Join(r.roots, ", "), p.path)
}

// openFolder opens the folder at path as one that access cannot leave.
func (r Reach) openFolder(p place, path string) (*os.Root, error) {
	path, replaced := r.replaced(path)
	if !r.confined || replaced {
		return openRoot(path)
	}
	var folder *os.Root
	err := r.access(p, path, func(root *os.Root, name string) (err error) {
		folder, err = root.OpenRoot(name + "/.")
		return err
	})
	return folder, err
}

// openPath opens the regular file at path for reading.
func (r Reach) openPath(p place) (*os.File, error) {
	path, replaced := r.replaced(p.path)
	if !r.confined || replaced {
		f, err := os.OpenFile(path, os.O_RDONLY|nonblock, 0)
		if err == nil {
			err = regular(f)
		}
		return f, err
	}
	var f *os.File
	err := r.access(p, p.path, func(root *os.Root, name string) (err error) {
		f, err = openRegular(root, name, os.O_RDONLY)
		return err
	})
	return f, err
}

// makeFolder opens the folder at path, and makes it and those above it as far
// as they are missing, durably. End must always be called; after a failure it
// removes what was made and is still empty.
func (r Reach) makeFolder(p place, path string) (folder *os.Root, end func(failed bool), err error) {
	if !r.confined {
		made, err := makeAbove(path)
		if err == nil {
			folder, err = openRoot(path)
		}
		return folder, func(failed bool) { removeAbove(made, failed) }, err
	}
	var (
		above []string // the allowed folder, and those above it
		made  []string // those in it
		keep  *os.Root
	)
	if base, _, ok := r.match(filepath.Clean(path)); ok {
		above, err = makeAbove(base)
	}
	if err == nil {
		err = r.access(p, path, func(root *os.Root, name string) (err error) {
			// Each folder is reached from root, so that the cost grows with the square of
			// their number.
			if len(name) > maxName {
				return p.notAllowed("name is longer than 1024 bytes")
			}
			if keep, err = root.OpenRoot("."); err != nil {
				return err
			}
			if made, err = missingFolders(root, name); err != nil {
				return err
			}
			if err = makeFolders(root, made, folderMode); err == nil {
				folder, err = root.OpenRoot(name + "/.")
			}
			return err
		})
	}
	return folder, func(failed bool) {
		if keep != nil {
			if failed {
				removeFolders(keep, made)
			}
			keep.Close()
		}
		removeAbove(above, failed)
	}, err
}

// maxName is the length of the longest name in a folder, in bytes. It bounds
// the depth of the folders that a name can make us open and make.
const maxName = 1024

// localName is the cleaned form of a name in a folder, or PATH_NOT_ALLOWED.
func localName(name string, p place) (string, error) {
	switch {
	case len(name) > maxName:
		return "", p.notAllowed("name is longer than 1024 bytes")
	case !utf8.ValidString(name) || strings.ContainsRune(name, 0):
		return "", p.notAllowed("name is not UTF-8 text")
	case !filepath.IsLocal(filepath.FromSlash(name)):
		return "", p.notAllowed("name must be relative and stay in its folder")
	}
	local := path.Clean(filepath.ToSlash(name))
	if first, _, _ := strings.Cut(local, "/"); strings.EqualFold(first, lockName) || strings.EqualFold(first, stagingDir) {
		return "", p.notAllowed("name is kept for locks and transactions")
	}
	return local, nil
}

// writeTarget is where a write to a name goes: the name itself or, when a
// symbolic link stands there, what the link names, provided that lies in the
// folder of the link or below it. It also returns the file that is there, or
// nil. Only regular files can be written over.
//
// The answer may be out of date at once. That is safe: what it names is
// replaced by renaming, which never follows a link, and os.Root keeps the
// folders on the way inside.
func writeTarget(root *os.Root, name string, p place) (string, fs.FileInfo, error) {
	const maxLinks = 16
	for range maxLinks {
		info, err := root.Lstat(name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return name, nil, nil
		case err != nil:
			return "", nil, p.unwritable(err)
		case info.Mode().IsRegular():
			return name, info, nil
		case info.IsDir():
			return "", nil, p.unwritable(errIsFolder)
		case info.Mode()&fs.ModeSymlink == 0:
			return "", nil, p.unwritable(errNotRegular)
		}
		link, err := root.Readlink(name)
		if err != nil {
			return "", nil, p.unwritable(err)
		}
		link = filepath.ToSlash(link)
		if strings.Contains("/"+link+"/", "/../") || !filepath.IsLocal(filepath.FromSlash(link)) {
			return "", nil, p.notAllowed("symbolic link leads out of its folder")
		}
		if name, err = localName(path.Join(path.Dir(name), link), p); err != nil {
			return "", nil, err
		}
	}
	return "", nil, p.unwritable(errors.New("too many symbolic links"))
}

// tempName is a name beside target for what is to become target. It has a fixed
// length, so that the longest name that a folder takes can be written.
func tempName(target string, slot any) string {
	sum := sha256.Sum256([]byte(path.Base(target)))
	return path.Join(path.Dir(target), fmt.Sprintf(".tidegate-%x-%v.tmp", sum[:6], slot))
}

// maxFileName is the length in bytes up to which a file name is kept whole. File
// systems take 255, and something may be appended.
const maxFileName = 200

// FileName is the name of a file or folder for an id: the id itself, with every
// byte that some file system does not take in a name written as %XX. Different
// ids have different names. One that is too long ends in a digest of the id.
func FileName(id string) string {
	var name strings.Builder
	for i, b := range []byte(id) {
		last := i == len(id)-1
		if b < 0x20 || b == 0x7f || strings.IndexByte(`%/\:*?"<>|~`, b) >= 0 || last && (b == '.' || b == ' ') || i == 0 && b == '.' {
			fmt.Fprintf(&name, "%%%02X", b)
		} else {
			name.WriteByte(b)
		}
	}
	if name.Len() <= maxFileName {
		return name.String()
	}
	sum := sha256.Sum256([]byte(id))
	return strings.ToValidUTF8(name.String()[:maxFileName-17], "") + "~" + hex.EncodeToString(sum[:8])
}

// NameOf is the name in f of a file at path, which is absolute or relative to
// f; "" when it does not lie in f. Two spellings of one folder, by a symbolic
// link, are one folder. The file need not be there.
func (f *Folder) NameOf(path string) string {
	if !filepath.IsAbs(path) {
		return localPath(path)
	}
	if name := below(f.path, path); name != "" {
		return name
	}
	root, err := filepath.EvalSymlinks(f.path)
	if err != nil {
		return ""
	}
	dir, err := filepath.EvalSymlinks(filepath.Dir(path))
	if err != nil {
		return ""
	}
	return below(root, filepath.Join(dir, filepath.Base(path)))
}

func below(root, path string) string {
	name, err := filepath.Rel(root, path)
	if err != nil {
		return ""
	}
	return localPath(name)
}

func localPath(name string) string {
	if !filepath.IsLocal(name) {
		return ""
	}
	return filepath.ToSlash(filepath.Clean(name))
}

// place is what an error calls a file: the name of the argument that led to it
// and its path.
type place struct {
	arg, path string
}

func (p place) details() tidegate.Details { return tidegate.Pairs(p.arg, p.path) }

// notAllowed is PATH_NOT_ALLOWED. It names the path that was asked for and
// never what a link points to.
func (p place) notAllowed(reason string) error {
	return tidegate.Errorf(tidegate.PathNotAllowed, p.details(), "%s: %s", reason, p.path)
}

// tampered is TAMPERED.
func (p place) tampered(reason mismatch) error {
	details := append(p.details(), tidegate.Detail{Key: "reason", Value: string(reason)})
	return tidegate.Errorf(tidegate.Tampered, details, "the log is not the one that was written (%s): %s", string(reason), p.path)
}

// unreadable is the error for a read that failed with err. An error that
// already has a code is returned as it is.
func (p place) unreadable(err error) error {
	known, ok := p.known(err)
	switch {
	case ok:
		return known
	case errors.Is(err, fs.ErrNotExist):
		return tidegate.Errorf(tidegate.FileNotFound, p.details(), "no such file or folder: %s", p.path)
	case isNoFolder(err):
		return tidegate.Errorf(tidegate.FileNotFound, p.details(), "no such file or folder (a file stands in the way): %s", p.path)
	}
	return tidegate.Errorf(tidegate.ReadFailed, p.details(), "cannot read (%w): %s", bare(err), p.path)
}

// unwritable is the error for a write that failed with err. An error that
// already has a code is returned as it is.
func (p place) unwritable(err error) error {
	if known, ok := p.known(err); ok {
		return known
	}
	details := p.details()
	if p.arg == "home" || p.arg == "root" { // where tidegate keeps what it makes
		details = append(details, tidegate.Detail{Key: "help", Value: "export TIDEGATE_HOME=FOLDER"})
	}
	return tidegate.Errorf(tidegate.WriteFailed, details, "cannot write (%w): %s", bare(err), p.path)
}

// known is the error for err where it is the same for reading and writing; nil
// is known too.
func (p place) known(err error) (error, bool) {
	var (
		coded *tidegate.Error
		other mismatch
	)
	switch {
	case err == nil, errors.As(err, &coded):
		return err, true
	case errors.As(err, &other):
		return p.tampered(other), true
	case escapes(err):
		return p.notAllowed("path leads out of its folder"), true
	}
	return nil, false
}

var (
	errNotRegular = errors.New("not a regular file")
	errIsFolder   = errors.New("is a folder")
	errNoFolder   = errors.New("is not a folder")
)

// isNoFolder reports whether err says that a path leads through, or to,
// something that is not a folder. os.Root has no value for it that could be
// compared.
func isNoFolder(err error) bool {
	return errors.Is(err, syscall.ENOTDIR) || errors.Is(err, errNoFolder) || bare(err).Error() == "not a directory"
}

// escapes reports whether err is the refusal of os.Root, which has no exported
// value.
func escapes(err error) bool { return bare(err).Error() == "path escapes from parent" }

// bare is err without the operation and the path: the message has them already,
// and they may be those of a link's target.
func bare(err error) error {
	var (
		path    *fs.PathError
		link    *os.LinkError
		syscall *os.SyscallError
	)
	switch {
	case errors.As(err, &path):
		return path.Err
	case errors.As(err, &link):
		return link.Err
	case errors.As(err, &syscall):
		return syscall.Err
	}
	return err
}

// UnlessMissing is err, or nil where err says that a file or folder does not exist.
func UnlessMissing(err error) error {
	if tidegate.CodeOf(err) == tidegate.FileNotFound {
		return nil
	}
	return err
}
