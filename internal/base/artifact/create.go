package artifact

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/tidegate/tidegate"
)

// Draft is a folder in the making. Names are as in a [Folder].
type Draft struct {
	folder *Folder
	made   []string // folders
	syncs  syncer
}

// CreateFolder makes the folder at path, which the caller was given as the
// argument arg or derived from it, with all that fill puts into it. It appears
// whole and durable, or not at all: it is made beside its place and renamed.
// Missing folders above it are made. Drafts that killed processes left beside it are
// removed.
//
// It returns ALREADY_EXISTS_CONFLICT (and [fs.ErrExist] as its cause) when
// something is there already, WRITE_FAILED when it cannot be made, and the
// error of fill; nothing is left then. It returns PATH_NOT_ALLOWED outside the
// folders of [Within].
func (r Reach) CreateFolder(arg, path string, fill func(*Draft) error) error {
	p := place{arg, path}
	path = filepath.Clean(path)
	name, err := localName(filepath.Base(path), p)
	if err != nil {
		return err
	}
	parent, end, err := r.makeFolder(p, filepath.Dir(path))
	if err == nil {
		err = createIn(parent, name, p, fill)
		parent.Close()
	}
	end(err != nil)
	return p.unwritable(err)
}

func createIn(root *os.Root, name string, p place, fill func(*Draft) error) error {
	if err := notThere(root, name, p); err != nil {
		return err
	}
	sweepFolders(root)
	temp, err := createTempFolder(root, name)
	if err != nil {
		return err
	}
	defer temp.close()
	err = fillDraft(root, temp.name, p, fill)
	if err == nil {
		err = temp.rename(name)
	}
	if err != nil {
		temp.remove()
		if there := notThere(root, name, p); there != nil {
			return there
		}
		return err
	}
	if err := syncFolder(root, "."); err != nil {
		if root.Rename(name, temp.name) == nil {
			temp.remove()
		}
		return err
	}
	return nil
}

func notThere(root *os.Root, name string, p place) error {
	_, err := root.Lstat(name)
	switch {
	case err == nil:
		return tidegate.Errorf(tidegate.AlreadyExistsConflict, p.details(), "already there (%w): %s", fs.ErrExist, p.path)
	case errors.Is(err, fs.ErrNotExist):
		return nil
	}
	return err
}

// fillDraft lets fill do its work and makes the result durable.
func fillDraft(root *os.Root, temp string, p place, fill func(*Draft) error) error {
	inside, err := root.OpenRoot(temp + "/.")
	if err != nil {
		return err
	}
	defer inside.Close()
	d := &Draft{folder: &Folder{root: inside, path: p.path}, made: []string{"."}}
	err = fill(d)
	if synced := d.syncs.wait(); err == nil {
		err = synced
	}
	if err != nil {
		return err
	}
	return syncFolders(inside, d.made)
}

// Write writes a file of the draft. It returns WRITE_FAILED, also for a file
// that is there already.
func (d *Draft) Write(name string, data []byte) error {
	local, err := d.folder.local(name)
	if err != nil {
		return err
	}
	if err := d.makeFolders(filepath.ToSlash(filepath.Dir(local))); err != nil {
		return d.folder.place(name).unwritable(err)
	}
	f, err := d.folder.root.OpenFile(local, os.O_WRONLY|os.O_CREATE|os.O_EXCL|nonblock, fileMode)
	if err != nil {
		return d.folder.place(name).unwritable(err)
	}
	if _, err := f.Write(data); err != nil {
		f.Close()
		return d.folder.place(name).unwritable(err)
	}
	d.syncs.start(f, (*os.File).Sync)
	return nil
}

// MakeFolder makes a folder of the draft and those above it. It returns
// WRITE_FAILED.
func (d *Draft) MakeFolder(name string) error {
	local, err := d.folder.local(name)
	if err != nil {
		return err
	}
	return d.folder.place(name).unwritable(d.makeFolders(local))
}

// Log appends a line to a chained log of the draft, as [Tx.Log] does, but as
// part of the draft. It returns WRITE_FAILED.
func (d *Draft) Log(name string, line any) error { return d.log(name, line, false) }

// Record is [Draft.Log] for a log that has a head, as [Tx.Record] gives it.
func (d *Draft) Record(name string, line any) error { return d.log(name, line, true) }

func (d *Draft) log(name string, line any, recorded bool) error {
	local, err := d.folder.local(name)
	if err != nil {
		return err
	}
	body, err := logLine(line)
	if err != nil {
		return err
	}
	if err := d.makeFolders(filepath.ToSlash(filepath.Dir(local))); err != nil {
		return d.folder.place(name).unwritable(err)
	}
	a := &appendix{Name: local, Recorded: recorded, Lines: []string{string(body)}}
	if err := a.begin(d.folder); err != nil {
		return err
	}
	return a.extend(d.folder)
}

func (d *Draft) makeFolders(dir string) error {
	missing, err := missingFolders(d.folder.root, dir)
	if err != nil {
		return err
	}
	for _, dir := range missing {
		if err := d.folder.root.Mkdir(dir, folderMode); err != nil {
			return err
		}
		d.made = append(d.made, dir)
	}
	return nil
}
