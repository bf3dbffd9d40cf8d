package artifact

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/tidegate/tidegate"
)

type rootsKey struct{}

// roots are the folders that access by path is confined to, absolute and clean.
type roots []string

// WithRoots confines every function of this package that takes a path, when it
// is called with the context returned or one derived from it: what does not lie
// in one of the folders is PATH_NOT_ALLOWED, before anything of it is read. The
// folders are absolute paths and need not exist yet. Without any, nothing is
// allowed.
//
// Files are opened through the folder that allows them, by [os.Root], never
// first checked and then opened: a symbolic link that is put in the way
// meanwhile leads nowhere else. Links from one of the folders into another, or
// back into the same one, are followed.
func WithRoots(ctx context.Context, folders ...string) context.Context {
	confined := make(roots, len(folders))
	for i, folder := range folders {
		confined[i] = filepath.Clean(folder)
	}
	return context.WithValue(ctx, rootsKey{}, confined)
}

// WithoutRoots lifts that confinement for files that no caller names, such as the
// operator's own configuration.
func WithoutRoots(ctx context.Context) context.Context {
	return context.WithValue(ctx, rootsKey{}, nil)
}

func rootsOf(ctx context.Context) (roots, bool) {
	confined, ok := ctx.Value(rootsKey{}).(roots)
	return confined, ok
}

// Confined reports whether ctx is confined to folders by [WithRoots].
func Confined(ctx context.Context) bool {
	_, confined := rootsOf(ctx)
	return confined
}

// Allowed returns PATH_NOT_ALLOWED when ctx is confined to folders and path
// does not lie in one of them, as far as that is known before it is opened.
// A path where nothing is yet is allowed when something could be there.
func Allowed(ctx context.Context, arg, path string) error {
	confined, ok := rootsOf(ctx)
	if !ok {
		return nil
	}
	p := place{arg, path}
	err := confined.access(p, path, func(root *os.Root, name string) error {
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
func (r roots) access(p place, path string, open func(root *os.Root, name string) error) error {
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
func (r roots) match(path string) (base, name string, ok bool) {
	for _, folder := range r {
		if name, ok := inside(folder, path); ok {
			return folder, name, true
		}
	}
	for _, folder := range r {
		real, err := filepath.EvalSymlinks(folder)
		if err != nil {
			continue
		}
		if name, ok := inside(real, path); ok {
			return folder, name, true
		}
	}
	return "", "", false
}

func inside(folder, path string) (string, bool) {
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

func (r roots) refuse(p place) error {
	details := append(p.details(), tidegate.Detail{Key: "allowed_roots", Value: []string(r)})
	return tidegate.Errorf(tidegate.PathNotAllowed, details, "path lies outside the allowed roots (%s): %s", strings.Join(r, ", "), p.path)
}

// openFolder opens the folder at path as one that access cannot leave.
func openFolder(ctx context.Context, p place, path string) (*os.Root, error) {
	path, free := standing(ctx, path)
	confined, ok := rootsOf(ctx)
	if !ok || free {
		return openRoot(path)
	}
	var folder *os.Root
	err := confined.access(p, path, func(root *os.Root, name string) (err error) {
		folder, err = root.OpenRoot(name + "/.")
		return err
	})
	return folder, err
}

// openPath opens the regular file at path for reading.
func openPath(ctx context.Context, p place) (*os.File, error) {
	path, free := standing(ctx, p.path)
	confined, ok := rootsOf(ctx)
	if !ok || free {
		f, err := os.OpenFile(path, os.O_RDONLY|nonblock, 0)
		if err == nil {
			_, err = regular(f)
		}
		return f, err
	}
	var f *os.File
	err := confined.access(p, p.path, func(root *os.Root, name string) (err error) {
		f, err = openRegular(root, name, os.O_RDONLY)
		return err
	})
	return f, err
}

// makeFolder opens the folder at path, and makes it and those above it as far
// as they are missing, durably. End must always be called; after a failure it
// removes what was made and is still empty.
func makeFolder(ctx context.Context, p place, path string) (folder *os.Root, end func(failed bool), err error) {
	confined, ok := rootsOf(ctx)
	if !ok {
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
	if base, _, ok := confined.match(filepath.Clean(path)); ok {
		above, err = makeAbove(base)
	}
	if err == nil {
		err = confined.access(p, path, func(root *os.Root, name string) (err error) {
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
