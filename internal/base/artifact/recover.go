package artifact

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path"
	"slices"
	"sync"
	"time"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
)

// Pending reports whether a transaction has left its record, so that the next
// lock has changes to make or to take back. Meanwhile, files that belong together
// may differ. The transaction may also be under way.
func (f *Folder) Pending() bool {
	for _, name := range []string{recordName, undoName} {
		if there, err := nameExists(f.root, inStaging(name)); there && err == nil {
			return true
		}
	}
	return false
}

// readerWait is how long a reader waits for a transaction that is under way, once.
const readerWait = 5 * time.Second

// stopped are the records of transactions that were waited for in vain, by folder.
var stopped sync.Map

// Settle ends a transaction that nobody is working on any more, for a reader, and reports
// whether something may have changed. One that is under way is waited for a moment: what a
// process holds longer, which may have been stopped, is read as it is. A lease of the earlier
// system does not matter: whoever committed the transaction held the lock.
func (f *Folder) Settle(ctx context.Context) bool {
	if !f.Pending() {
		return false
	}
	at, _ := f.root.Lstat(inStaging(recordName))
	if before, waited := stopped.Load(f.path); waited && at != nil && os.SameFile(before.(os.FileInfo), at) && before.(os.FileInfo).ModTime().Equal(at.ModTime()) {
		return true
	}
	limited, cancel := context.WithTimeout(ctx, readerWait)
	defer cancel()
	afterEveryLease := func() time.Time { return time.Unix(1<<40, 0) }
	lock, err := f.Lock(limited, afterEveryLease)
	if err == nil {
		stopped.Delete(f.path)
		lock.Unlock()
	} else if at != nil && ctx.Err() == nil {
		stopped.Store(f.path, at)
	}
	return true
}

// Interrupted reports whether a transaction has left anything behind, a record
// or only what it staged. The transaction may also be under way.
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
	pending, whole, err := pendingChanges(f, rec)
	if err != nil {
		return err
	}
	if !whole {
		return undo(f, rec) // the power failed before all of it was staged
	}
	unlogged, err := unloggedLines(f, rec)
	if err != nil {
		return err
	}
	if err = checkStaged(f, rec, pending); err == nil {
		err = makeChanges(f, rec, func(i int) bool { return pending[i] })
	}
	if err == nil {
		err = makeDurable(f, rec, unlogged)
	}
	if err != nil && (len(pending) > 0 || len(unlogged) > 0) {
		// Commit did not reach its end, so no success was reported.
		return undo(f, rec)
	}
	if err != nil {
		return err
	}
	for _, a := range rec.Logs {
		if !a.Recorded {
			// A log is kept as well as it can be, here as in Commit.
			_ = a.extend(f)
		}
	}
	return clearStaging(f)
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

// pendingChanges finds the changes of a record that were not made yet: writes whose
// staged file is still there, and removals whose file is there and was not put
// aside. Whole is false when a change was neither staged nor made: then nothing was
// committed.
func pendingChanges(f *Folder, rec record) (pending map[int]bool, whole bool, err error) {
	pending, whole = map[int]bool{}, true
	for i, c := range rec.Changes {
		var left, lost bool
		if c.removes() {
			left, err = isToRemove(f.root, i, c)
		} else if left, err = nameExists(f.root, inStaging(stagedName(i))); err == nil && !left {
			lost, err = isUnmade(f.root, i, c)
		}
		if err != nil {
			return nil, false, f.place(c.Target).unreadable(err)
		}
		if left {
			pending[i] = true
		}
		whole = whole && !lost
	}
	return pending, whole, nil
}

// isToRemove reports whether what a change removes is still there, and not
// something that was written since.
func isToRemove(root *os.Root, i int, c change) (bool, error) {
	if aside, err := nameExists(root, inStaging(keptName(i))); aside || err != nil {
		return false, err
	}
	if there, err := nameExists(root, c.Target); !there || err != nil || c.Was == "" {
		return there, err
	}
	is, err := digestFile(root, c.Target)
	return is == c.Was, err
}

// isUnmade reports whether what stands in the place of a change is what stood
// there before it.
func isUnmade(root *os.Root, i int, c change) (bool, error) {
	there, err := root.Lstat(c.Target)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return !c.Replaces, nil
	case err != nil || !c.Replaces:
		return false, err
	}
	kept, err := root.Lstat(inStaging(keptName(i)))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil && os.SameFile(there, kept), err
}

// nameExists reports whether something of that name is there. An error means
// that this cannot be found out.
func nameExists(root *os.Root, name string) (bool, error) {
	_, err := root.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// checkStaged compares the staged files of pending changes with their digests.
func checkStaged(f *Folder, rec record, pending map[int]bool) error {
	for i, c := range rec.Changes {
		if !pending[i] || c.removes() {
			continue
		}
		digest, err := digestFile(f.root, inStaging(stagedName(i)))
		if err != nil {
			return f.place(c.Target).unreadable(err)
		}
		if digest != c.Digest {
			return tidegate.Errorf(tidegate.WriteFailed, f.place(c.Target).details(), "staged content is not what was recorded: %s", c.Target)
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

const (
	recordName   = "record" // the changes are to be made
	undoName     = "undo"   // the same record: the changes are to be taken back
	recordSchema = "tidegate_commit.v1"
)

// record is the commit record of a transaction: names and digests, and what is
// needed to make the changes or to take them back. The file holds it as one
// line of JSON and a second line with the digest of the first, so that a part
// of a record is never mistaken for a record.
type record struct {
	Schema  string      `json:"schema_version"`
	Folders []string    `json:"folders"` // that do not exist before, the outermost first
	Changes []change    `json:"changes"`
	Logs    []*appendix `json:"logs"`
}

func (r *record) addFolders(dirs []string) {
	for _, dir := range dirs {
		if !slices.Contains(r.Folders, dir) {
			r.Folders = append(r.Folders, dir)
		}
	}
}

// recorded lists those logs whose lines are part of the transaction.
func (r record) recorded() []*appendix {
	return slices.DeleteFunc(slices.Clone(r.Logs), func(a *appendix) bool { return !a.Recorded })
}

// needsStaging reports whether the transaction does more than add lines to one
// log. A log that has a head can be added to without a record: a line is either
// there or not, and the head follows it.
func (r record) needsStaging() bool {
	recorded := r.recorded()
	return len(r.Changes) > 0 || len(recorded) > 1 || len(recorded) == 1 && len(recorded[0].Head) == 0
}

func (r record) encode() ([]byte, error) {
	r.Schema = recordSchema
	line, err := codec.MarshalLine(r)
	if err != nil {
		return nil, err
	}
	return append(append(line, '\n'), codec.DigestBytes(line)+"\n"...), nil
}

var errUnknownRecord = errors.New("an interrupted transaction has a record of an unknown kind")

// decodeRecord reads a record. It reports false for anything that is not a
// whole one, and fails for a whole one that it does not understand.
func decodeRecord(data []byte) (record, bool, error) {
	line, digest, _ := bytes.Cut(data, []byte("\n"))
	if string(digest) != codec.DigestBytes(line)+"\n" {
		return record{}, false, nil
	}
	var r record
	if err := json.Unmarshal(line, &r); err != nil || r.Schema != recordSchema {
		return record{}, false, errUnknownRecord
	}
	return r, true, nil
}

// write writes the record and makes it durable together with the staged files,
// and the names of all of them. All means that there are too many files to be
// synced one by one.
func (r record) write(root *os.Root, staged []*os.File, all bool) error {
	var syncs syncer
	for _, f := range staged {
		syncs.start(f, (*os.File).Sync)
	}
	err := r.writeFile(root, &syncs, all)
	if synced := syncs.wait(); err == nil {
		err = synced
	}
	return err
}

func (r record) writeFile(root *os.Root, syncs *syncer, all bool) error {
	data, err := r.encode()
	if err != nil {
		return err
	}
	f, err := root.OpenFile(inStaging(recordName), os.O_WRONLY|os.O_CREATE|os.O_EXCL, fileMode)
	if err != nil {
		return err
	}
	if _, err := f.Write(data); err != nil {
		f.Close()
		return err
	}
	if all {
		syncs.start(f, syncAll)
		return nil
	}
	syncs.start(f, (*os.File).Sync)
	return syncFolders(root, []string{stagingDir, "."})
}

// syncFolders makes the names that a record changes durable. After undoing, the
// folders that were made for it do not matter.
func (r record) syncFolders(f *Folder, undone bool) error {
	var dirs []string
	seen := map[string]bool{}
	for _, dir := range r.Folders {
		seen[dir] = undone
	}
	add := func(dir string) {
		if !seen[dir] {
			seen[dir] = true
			dirs = append(dirs, dir)
		}
	}
	for _, dir := range r.Folders {
		add(path.Dir(dir))
	}
	for _, c := range r.Changes {
		add(path.Dir(c.Target))
	}
	return f.place(".").unwritable(syncFolders(f.root, dirs))
}
