package artifact

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"

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
