package artifact

import (
	"errors"
	"io/fs"
	"os"
	"path"

	"github.com/tidegate/tidegate"
)

// Commit makes all changes of the transaction, durably, or none, and ends it.
// When none was made it returns WRITE_FAILED with the path, TAMPERED for a log of
// [Tx.Record], or the error of a change that could not be added.
func (tx *Tx) Commit() error {
	if tx.ended {
		return tidegate.Errorf(tidegate.Internal, nil, "the transaction has ended")
	}
	f := tx.lock.folder
	rec, err := tx.prepare()
	if err != nil {
		tx.Rollback()
		return err
	}
	staged := tx.staging != nil
	tx.end()
	if err := makeAll(f, rec); err != nil {
		if staged {
			undo(f, rec)
		} else {
			takeLinesBack(f, rec)
		}
		return err
	}
	for _, a := range rec.Logs {
		if a.Recorded {
			continue
		}
		if err := a.extend(f); err != nil {
			tx.noteLogError(err)
			a.takeBack(f)
		}
	}
	if staged {
		// The changes are made. If the record stays, the next lock makes nothing
		// of it and tries again.
		clearStaging(f)
	}
	return nil
}

// prepare stages the record of the transaction, or nothing if it needs none.
func (tx *Tx) prepare() (record, error) {
	f := tx.lock.folder
	rec := record{Changes: tx.changes}
	if tx.err != nil {
		return rec, tx.err
	}
	if tx.staging == nil {
		// What the last transaction could not clear away may still add lines.
		if err := recoverTx(f); err != nil {
			return rec, err
		}
	}
	if err := tx.beginLogs(&rec); err != nil {
		return rec, err
	}
	if !rec.needsStaging() {
		return rec, nil
	}
	if err := tx.openStaging(); err != nil {
		return rec, err
	}
	if err := rec.prepareChanges(f); err != nil {
		return rec, err
	}
	staged := tx.staged
	tx.staged = nil
	return rec, f.place(stagingDir).unwritable(rec.write(f.root, staged, tx.many))
}

// beginLogs adds to the record, as they are before the transaction, the logs to
// which lines can be added. It returns an error when a log of [Tx.Record] is not
// one of them.
func (tx *Tx) beginLogs(rec *record) error {
	for _, a := range tx.logs {
		if len(a.Lines) == 0 {
			continue
		}
		err := a.begin(tx.lock.folder)
		switch {
		case err == nil:
			rec.Logs = append(rec.Logs, a)
		case a.Recorded:
			return err
		default:
			tx.noteLogError(err)
		}
	}
	return nil
}

// prepareChanges keeps what is to be replaced, and notes the folders that have
// to be made.
func (r *record) prepareChanges(f *Folder) error {
	seen := map[string]bool{}
	addFolders := func(dir string) error {
		if seen[dir] {
			return nil
		}
		seen[dir] = true
		missing, err := missingFolders(f.root, dir)
		r.addFolders(missing)
		return f.place(dir).unwritable(err)
	}
	for i, c := range r.Changes {
		if c.removes() {
			continue
		}
		if err := addFolders(path.Dir(c.Target)); err != nil {
			return err
		}
		if c.Replaces {
			if err := keep(f.root, c.Target, inStaging(keptName(i))); err != nil {
				return f.place(c.Target).unwritable(err)
			}
		}
	}
	for _, a := range r.recorded() {
		if err := addFolders(path.Dir(a.Name)); err != nil {
			return err
		}
	}
	return nil
}

// makeAll makes the changes of a record and adds the lines that are part of the
// transaction.
func makeAll(f *Folder, rec record) error {
	if err := makeChanges(f, rec, func(int) bool { return true }); err != nil {
		return err
	}
	return makeDurable(f, rec, rec.recorded())
}

// makeDurable adds the lines of logs and makes them durable together with the
// changes of the record, which were made before. The heads of the logs follow.
func makeDurable(f *Folder, rec record, logs []*appendix) error {
	var added []*addition
	var syncs syncer
	var err error
	for _, a := range logs {
		var one *addition
		if one, err = a.add(f); err != nil {
			break
		}
		added = append(added, one)
		one.sync(&syncs)
	}
	if err == nil {
		err = rec.syncFolders(f, false)
	}
	if synced := syncs.wait(); err == nil {
		err = f.place(".").unwritable(synced)
	}
	for _, one := range added {
		if finished := one.finish(f, err); err == nil {
			err = finished
		}
	}
	return err
}

// takeLinesBack takes back what makeAll added to logs.
func takeLinesBack(f *Folder, rec record) error {
	for _, a := range rec.recorded() {
		if err := a.takeBack(f); err != nil {
			return err
		}
	}
	return nil
}

// keep gives a file a second name, or copies it where that is not possible.
func keep(root *os.Root, name, kept string) error {
	if root.Link(name, kept) == nil {
		return nil
	}
	from, err := openRegular(root, name, os.O_RDONLY)
	if err != nil {
		return err
	}
	defer from.Close()
	info, err := from.Stat()
	if err != nil {
		return err
	}
	to, err := root.OpenFile(kept, os.O_WRONLY|os.O_CREATE|os.O_EXCL, fileMode)
	if err != nil {
		return err
	}
	defer to.Close()
	if _, err := to.ReadFrom(from); err != nil {
		return err
	}
	if err := to.Chmod(info.Mode().Perm()); err != nil {
		return err
	}
	return to.Sync()
}

// makeChanges makes those changes of a record that are pending, not yet durably.
func makeChanges(f *Folder, rec record, pending func(i int) bool) error {
	for _, dir := range rec.Folders {
		if err := f.root.Mkdir(dir, f.newFolderMode()); err != nil && !errors.Is(err, fs.ErrExist) {
			return f.place(dir).unwritable(err)
		}
	}
	for i, c := range rec.Changes {
		if !pending(i) {
			continue
		}
		from, to := inStaging(stagedName(i)), c.Target
		if c.removes() {
			from, to = c.Target, inStaging(keptName(i))
		}
		if err := f.root.Rename(from, to); err != nil && !(c.removes() && errors.Is(err, fs.ErrNotExist)) {
			return f.place(c.Target).unwritable(err)
		}
	}
	return nil
}

// undo takes back what makeChanges did of a record. When it fails it leaves a
// mark, so that the next lock continues.
func undo(f *Folder, rec record) error {
	err := f.root.Rename(inStaging(recordName), inStaging(undoName))
	if err != nil && !errors.Is(err, fs.ErrNotExist) { // not there: this is the second attempt
		return f.place(stagingDir).unwritable(err)
	}
	if err := syncFolder(f.root, stagingDir); err != nil {
		return f.place(stagingDir).unwritable(err)
	}
	for i := len(rec.Changes) - 1; i >= 0; i-- {
		if err := undoChange(f.root, i, rec.Changes[i]); err != nil {
			return f.place(rec.Changes[i].Target).unwritable(err)
		}
	}
	if err := takeLinesBack(f, rec); err != nil {
		return err
	}
	if err := removeFolders(f.root, rec.Folders); err != nil {
		return f.place(".").unwritable(err)
	}
	if err := rec.syncFolders(f, true); err != nil {
		return err
	}
	return clearStaging(f)
}

func undoChange(root *os.Root, i int, c change) error {
	var err error
	if c.Replaces {
		err = root.Rename(inStaging(keptName(i)), c.Target)
	} else if _, err = root.Lstat(inStaging(stagedName(i))); errors.Is(err, fs.ErrNotExist) {
		err = root.Remove(c.Target) // it was renamed from there
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// discard clears away a transaction whose record does not count.
func discard(f *Folder) error {
	err := f.root.Remove(inStaging(recordName))
	if err == nil {
		// The record must not outlive the files that it names.
		err = syncFolder(f.root, stagingDir)
	}
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		err = f.root.RemoveAll(stagingDir)
	}
	return f.place(stagingDir).unwritable(err)
}

// clearStaging clears away a transaction that is done or undone.
func clearStaging(f *Folder) error {
	for _, name := range []string{recordName, undoName} {
		if err := f.root.Remove(inStaging(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return f.place(stagingDir).unwritable(err)
		}
	}
	removeStaged(f.root)
	return f.place(stagingDir).unwritable(f.root.RemoveAll(stagingDir))
}

// removeStaged removes the files of the staging folder as far as it can, several at
// a time: a file system takes long to free what a replaced file held. Without the
// record they mean nothing, in whatever order they go.
func removeStaged(root *os.Root) {
	dir, err := root.Open(stagingDir)
	if err != nil {
		return
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1)
	var removals syncer
	for _, name := range names {
		removals.run(func() error { return root.Remove(inStaging(name)) })
	}
	removals.wait()
}
