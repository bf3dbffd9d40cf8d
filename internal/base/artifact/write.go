package artifact

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
)

// Write replaces the file name durably: when it returns nil, the new content is
// on the disk under its name; when it fails, the old file is untouched and
// nothing else is left. Missing folders are made. A symbolic link in place of
// the file is followed when it leads to something in its own folder and is
// PATH_NOT_ALLOWED otherwise.
//
// It returns WRITE_FAILED when the file cannot be written, or when something in its
// place is not a regular file.
//
// Files that belong together are written by a [Tx] instead.
func (f *Folder) Write(name string, data []byte) error { return f.write(name, f.newFileMode(), data) }

// WriteProgram is Write for a file that can be run.
func (f *Folder) WriteProgram(name string, data []byte) error {
	return f.write(name, f.newFileMode()|0o100, data)
}

func (f *Folder) write(name string, mode fs.FileMode, data []byte) error {
	target, old, err := f.target(name)
	if err != nil {
		return err
	}
	made, err := missingFolders(f.root, path.Dir(target))
	if err == nil {
		err = makeFolders(f.root, made, f.newFolderMode())
	}
	if err == nil {
		err = replace(f.root, target, mode, old, data)
	}
	if err != nil {
		removeFolders(f.root, made)
	}
	return f.place(name).unwritable(err)
}

// WriteFile is [Folder.Write] for an absolute path that the caller was given as
// the argument arg. The folder of the file must exist, else WRITE_FAILED, and
// lie in the folders of [Within], else PATH_NOT_ALLOWED.
func (r Reach) WriteFile(arg, path string, data []byte) error {
	return r.inFolderOf(arg, path, func(root *os.Root, target string, old fs.FileInfo) error {
		return replace(root, target, fileMode, old, data)
	})
}

// Writable returns what [Reach.WriteFile] would for a file that cannot be written, and
// leaves nothing behind.
func (r Reach) Writable(arg, path string) error {
	return r.inFolderOf(arg, path, func(root *os.Root, target string, _ fs.FileInfo) error {
		temp, name, err := createTemp(root, target, fileMode)
		if err != nil {
			return err
		}
		temp.Close()
		return root.Remove(name)
	})
}

// inFolderOf opens the folder of a file to write the file, which may replace an old
// one.
func (r Reach) inFolderOf(arg, path string, write func(root *os.Root, target string, old fs.FileInfo) error) error {
	p := place{arg, path}
	dir, base := filepath.Split(path)
	if base == "" || base == "." || base == ".." {
		return p.unwritable(errIsFolder)
	}
	root, err := r.openFolder(p, dir)
	if err != nil {
		return p.unwritable(err)
	}
	defer root.Close()
	name, err := localName(base, p)
	if err != nil {
		return err
	}
	target, old, err := writeTarget(root, name, p)
	if err == nil {
		err = write(root, target, old)
	}
	return p.unwritable(err)
}

// replace writes data to a temporary file beside target and renames it there.
// Mode is that of a file that replaces none.
func replace(root *os.Root, target string, mode fs.FileMode, old fs.FileInfo, data []byte) error {
	temp, name, err := createTemp(root, target, mode)
	if err != nil {
		return err
	}
	if err = fill(temp, mode, old, data); err == nil {
		err = temp.Sync()
	}
	if err = moveTemp(root, temp, name, target, err); err != nil {
		return err
	}
	return syncFolder(root, path.Dir(target))
}

// fill writes data to a new file of that mode and gives it the permission bits of
// the file that it is to replace.
func fill(f *os.File, mode fs.FileMode, old fs.FileInfo, data []byte) error {
	if _, err := f.Write(data); err != nil {
		return err
	}
	return keepMode(f, mode, old)
}

// keepMode gives a new file, made with mode, the permission bits of the file that
// it is to replace.
func keepMode(f *os.File, mode fs.FileMode, old fs.FileInfo) error {
	if old != nil && old.Mode().Perm() != mode {
		return f.Chmod(old.Mode().Perm())
	}
	return nil
}

// Append writes data after the first at bytes of the file name, durably, as all
// that follows them. It is for files that only grow, record by record, and are too
// large to be replaced. What stood after at, such as a record that a killed process
// wrote in part, is gone. Missing folders are made. When Append fails, the file
// ends at byte at.
//
// Unlike [Folder.Write] it works in place, so that a reader who takes no lock
// may see a part of data: a record must tell where it ends. A file that has a
// second name, by a hard link, is replaced by a copy first.
//
// It returns WRITE_FAILED, also for a file of fewer than at bytes.
func (l *Lock) Append(name string, at int64, data []byte) error {
	f := l.folder
	local, err := f.local(name)
	if err != nil {
		return err
	}
	return f.place(name).unwritable(f.appendAt(local, at, data))
}

func (f *Folder) appendAt(name string, at int64, data []byte) error {
	if _, err := f.makeMissing(path.Dir(name)); err != nil {
		return err
	}
	file, err := openLog(f.root, name, f.newFileMode())
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	if info.Size() < at {
		return fmt.Errorf("has %d bytes, fewer than the %d that were there", info.Size(), at)
	}
	if err := file.Truncate(at); err != nil {
		return err
	}
	if _, err = file.Write(data); err == nil {
		err = file.Sync()
	}
	if err == nil && at == 0 {
		err = syncFolder(f.root, path.Dir(name))
	}
	if err != nil {
		file.Truncate(at)
	}
	return err
}
