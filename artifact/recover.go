package artifact

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"

	"github.com/tidegate/tidegate"
)

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
	done, err := doneChanges(f, rec)
	if err == nil {
		err = makeChanges(f, rec, done)
	}
	if err != nil {
		return undo(f, rec)
	}
	for _, a := range rec.logs {
		// A log is kept as well as it can be, here as in Commit.
		_ = appendLines(f.root, a)
	}
	return clearStaging(f, rec)
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
	rec, ok := decodeRecord(data)
	return rec, ok, nil
}

// doneChanges finds the changes of a record that were made already: those whose
// staged file is gone, and the removals whose file was put aside. It fails when
// a staged file is not what the record says.
func doneChanges(f *Folder, rec record) (map[int]bool, error) {
	done := map[int]bool{}
	for i, c := range rec.changes {
		if c.removes() {
			_, err := f.root.Lstat(inStaging(keptName(i)))
			done[i] = err == nil
			continue
		}
		digest, err := digestFile(f.root, inStaging(stagedName(i)))
		switch {
		case errors.Is(err, fs.ErrNotExist):
			done[i] = true
		case err != nil:
			return nil, f.place(c.target).unreadable(err)
		case digest != c.digest:
			return nil, tidegate.Errorf(tidegate.WriteFailed, f.place(c.target).details(), "staged content is not what was recorded: %s", c.target)
		}
	}
	return done, nil
}

func digestFile(root *os.Root, name string) (string, error) {
	f, err := openRegular(root, name, os.O_RDONLY)
	if err != nil {
		return "", err
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return "", err
	}
	return digestMark + hex.EncodeToString(sum.Sum(nil)), nil
}
