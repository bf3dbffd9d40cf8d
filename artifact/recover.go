package artifact

import (
	"errors"
	"io/fs"
	"os"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/codec"
)

// Pending reports whether a transaction has left its record, so that the next
// lock has changes to make or to take back. While it is so, files that belong
// together may differ. It may also be one that is under way.
func (f *Folder) Pending() bool {
	for _, name := range []string{recordName, undoName} {
		if there, err := nameExists(f.root, inStaging(name)); there && err == nil {
			return true
		}
	}
	return false
}

// Interrupted reports whether a transaction has left anything behind, a record
// or only what it staged. It may also be one that is under way.
func (f *Folder) Interrupted() bool {
	there, err := nameExists(f.root, stagingDir)
	return there && err == nil
}

// recoverTx ends a transaction that its process did not: forward when its
// record is whole, back when it is not. It is called under the lock.
func recoverTx(f *Folder) error {
	info, err := f.root.Lstat(stagingDir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return f.place(stagingDir).unreadable(err)
	case !info.IsDir():
		return f.place(stagingDir).unwritable(errNoFolder)
	}
	if rec, ok, err := readRecord(f, undoName); err != nil {
		return err
	} else if ok {
		return undo(f, rec)
	}
	rec, ok, err := readRecord(f, recordName)
	if err != nil {
		return err
	}
	if !ok {
		return discard(f)
	}
	pending, err := pendingChanges(f, rec)
	if err != nil {
		return err
	}
	unlogged, err := unloggedLines(f, rec)
	if err != nil {
		return err
	}
	if err = checkStaged(f, rec, pending); err == nil {
		err = makeChanges(f, rec, func(i int) bool { return pending[i] })
	}
	for _, a := range unlogged {
		if err == nil {
			err = a.extend(f)
		}
	}
	if err != nil && (len(pending) > 0 || len(unlogged) > 0) {
		// Commit did not come to its end, so nobody was told of a success.
		return undo(f, rec)
	}
	if err != nil {
		return err
	}
	for _, a := range rec.logs {
		if !a.recorded {
			// A log is kept as well as it can be, here as in Commit.
			_ = a.extend(f)
		}
	}
	return clearStaging(f, rec)
}

// unloggedLines finds the logs of a record whose lines are part of the
// transaction and were not all added yet.
func unloggedLines(f *Folder, rec record) ([]*appendix, error) {
	var unlogged []*appendix
	for _, a := range rec.recorded() {
		done, err := a.isDone(f)
		if err != nil {
			return nil, err
		}
		if !done {
			unlogged = append(unlogged, a)
		}
	}
	return unlogged, nil
}

// readRecord reads the record of that name in the staging folder and reports
// whether there is a whole one.
func readRecord(f *Folder, name string) (record, bool, error) {
	file, err := openRegular(f.root, inStaging(name), os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		return record{}, false, nil
	}
	if err != nil {
		return record{}, false, f.place(stagingDir).unreadable(err)
	}
	defer file.Close()
	data, err := readAll(file)
	if err != nil {
		return record{}, false, f.place(stagingDir).unreadable(err)
	}
	rec, ok, err := decodeRecord(data)
	return rec, ok, f.place(stagingDir).unwritable(err)
}

// pendingChanges finds the changes of a record that were not made yet: those
// whose staged file is still there, and the removals whose file is and was not
// put aside.
func pendingChanges(f *Folder, rec record) (map[int]bool, error) {
	pending := map[int]bool{}
	for i, c := range rec.changes {
		there, aside := inStaging(stagedName(i)), ""
		if c.removes() {
			there, aside = c.target, inStaging(keptName(i))
		}
		isThere, err := nameExists(f.root, there)
		if err == nil && isThere && aside != "" {
			var isAside bool
			isAside, err = nameExists(f.root, aside)
			isThere = !isAside
		}
		if err != nil {
			return nil, f.place(c.target).unreadable(err)
		}
		if isThere {
			pending[i] = true
		}
	}
	return pending, nil
}

// nameExists reports whether something of that name is there. An error means
// that it cannot be told.
func nameExists(root *os.Root, name string) (bool, error) {
	_, err := root.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// checkStaged compares the staged files of pending changes with their digests.
func checkStaged(f *Folder, rec record, pending map[int]bool) error {
	for i, c := range rec.changes {
		if !pending[i] || c.removes() {
			continue
		}
		digest, err := digestFile(f.root, inStaging(stagedName(i)))
		if err != nil {
			return f.place(c.target).unreadable(err)
		}
		if digest != c.digest {
			return tidegate.Errorf(tidegate.WriteFailed, f.place(c.target).details(), "staged content is not what was recorded: %s", c.target)
		}
	}
	return nil
}

func digestFile(root *os.Root, name string) (string, error) {
	f, err := openRegular(root, name, os.O_RDONLY)
	if err != nil {
		return "", err
	}
	defer f.Close()
	return codec.DigestReader(f)
}
