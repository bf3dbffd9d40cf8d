package artifact

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/tidegate/tidegate"
)

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
