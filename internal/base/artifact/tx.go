package artifact

import (
	"bufio"
	"crypto/sha256"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strconv"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
)

// Tx changes files that belong together: after [Tx.Commit] all of them are
// changed, or none. It is begun and ended under one [Lock] and used by one
// goroutine.
//
// New content is staged in the folder .tidegate-tx, with a record of what is to be
// done, and all of it is synced at once: from then on the changes will be made, if
// need be by the next holder of the lock. Each file is renamed into its place, in
// the order of the calls, so that a reader without the lock who sees the last file
// sees all of them. Then lines are added to logs, so that a reader who sees a line
// sees what it is about; then all of that is synced. What was there before is kept
// until the end, so that all changes are taken back when a change or a line of
// [Tx.Record] cannot be made.
type Tx struct {
	lock    *Lock
	staging *os.Root // nil until something is staged
	changes []change
	targets map[string]bool // of the changes
	logs    []*appendix
	staged  []*os.File // not synced yet
	many    bool       // too many staged files to sync each
	ended   bool
	err     error // of a change that could not be added
	logErr  error
}

// change is one file that a transaction writes or removes.
type change struct {
	Target   string `json:"name"`
	Digest   string `json:"digest"`   // of the new content; "" for a removal
	Replaces bool   `json:"replaces"` // a file is there before the change
	Was      string `json:"was"`      // the digest of what a removal removes
}

func (c change) removes() bool { return c.Digest == "" }

// Begin begins a transaction. Nothing is written before its first change. One
// that was begun before and not committed is rolled back.
func (l *Lock) Begin() *Tx {
	if l.tx != nil {
		l.tx.Rollback()
	}
	l.tx = &Tx{lock: l, targets: map[string]bool{}}
	return l.tx
}

// Write stages new content for the file name. Missing folders are made on
// commit. It returns the errors of [Folder.Write]; the transaction cannot be
// committed after one.
func (tx *Tx) Write(name string, data []byte) error {
	_, err := tx.stage(name, codec.DigestBytes(data), true, writing(data))
	return err
}

// WritePlain is [Tx.Write] for a name that must not be a symbolic link, wherever
// it leads: that is PATH_NOT_ALLOWED. It returns the digest of data.
func (tx *Tx) WritePlain(name string, data []byte) (digest string, err error) {
	return tx.stage(name, codec.DigestBytes(data), false, writing(data))
}

func writing(data []byte) func(*os.File) error {
	return func(file *os.File) error {
		_, err := file.Write(data)
		return err
	}
}

// WriteBy is [Tx.Write] for content that write writes piece by piece, so that
// it need not be in memory as a whole. It returns the digest of the content,
// and also the error of write.
func (tx *Tx) WriteBy(name string, write func(io.Writer) error) (digest string, err error) {
	return tx.stage(name, "", true, func(file *os.File) error {
		hash := sha256.New()
		buffered := bufio.NewWriterSize(io.MultiWriter(file, hash), 64<<10)
		if err := write(buffered); err != nil {
			return err
		}
		if err := buffered.Flush(); err != nil {
			return err
		}
		tx.changes[len(tx.changes)-1].Digest = codec.DigestOf(hash)
		return nil
	})
}

// stage adds a change of the file name, lets write write its content, and returns
// the digest. Where that was not known before, write itself sets the digest of the
// change. A symbolic link is followed where follow says so.
func (tx *Tx) stage(name, digest string, follow bool, write func(*os.File) error) (string, error) {
	f := tx.lock.folder
	target, old, err := f.target(name)
	if err != nil {
		return "", tx.fail(err)
	}
	if !follow && target != path.Clean(name) {
		return "", tx.fail(f.place(name).notAllowed("name is a symbolic link"))
	}
	if err := tx.add(change{Target: target, Digest: digest, Replaces: old != nil}); err != nil {
		return "", tx.fail(err)
	}
	if err := tx.openStaging(); err != nil {
		return "", tx.fail(err)
	}
	at := len(tx.changes) - 1
	file, err := tx.staging.OpenFile(stagedName(at), os.O_WRONLY|os.O_CREATE|os.O_EXCL|nonblock, f.newFileMode())
	if err != nil {
		return "", tx.fail(f.place(name).unwritable(err))
	}
	if err = write(file); err == nil {
		err = keepMode(file, f.newFileMode(), old)
	}
	if err != nil {
		file.Close()
		return "", tx.fail(f.place(name).unwritable(err))
	}
	return tx.changes[at].Digest, tx.fail(f.place(name).unwritable(tx.toSync(file)))
}

// toSync leaves a staged file to be synced with the others, as long as they are
// few.
func (tx *Tx) toSync(file *os.File) error {
	if len(tx.staged) < fewFiles && !tx.many {
		tx.staged = append(tx.staged, file)
		return nil
	}
	if canSyncAll {
		tx.many = true
		tx.closeStaged()
		return file.Close()
	}
	var syncs syncer
	for _, f := range append(tx.staged, file) {
		syncs.start(f, (*os.File).Sync)
	}
	tx.staged = nil
	return syncs.wait()
}

// closeStaged closes what was left to be synced.
func (tx *Tx) closeStaged() {
	for _, f := range tx.staged {
		f.Close()
	}
	tx.staged = nil
}

// Remove removes the file name on commit. A missing file is not an error.
// It returns the errors of [Folder.Write].
func (tx *Tx) Remove(name string) error {
	target, old, err := tx.lock.folder.target(name)
	if err != nil || old == nil {
		return tx.fail(err)
	}
	was, err := digestFile(tx.lock.folder.root, target)
	if err != nil {
		return tx.fail(tx.lock.folder.place(name).unwritable(err))
	}
	return tx.fail(tx.add(change{Target: target, Replaces: true, Was: was}))
}

// Log adds a line to the chained log name on commit, after all changes. Line is a
// value from which [codec.MarshalLine] makes an object; its own keys stand in the
// order that the caller gave them, and "prev" is added as the last. Where the log
// has a head, the line moves it.
//
// A line is kept as well as it can be: if it cannot be written, nothing else
// changes, and [Tx.LogError] says so. It is not added to a log that is not the
// one that its head names.
func (tx *Tx) Log(name string, line any) {
	if a, err := tx.appendix(name); err != nil {
		tx.noteLogError(err)
	} else if body, err := logLine(line); err != nil {
		tx.noteLogError(err)
	} else {
		a.Lines = append(a.Lines, string(body))
	}
}

// Record is [Tx.Log] for a line that is part of the transaction: no line, no
// change; no change, no line. It makes every other line for that log part of the
// transaction too. A log that has no head yet gets one.
//
// It returns an error when line is not a log line or name is not a name; the
// transaction cannot be committed after one. [Tx.Commit] returns TAMPERED when the
// log is not the one that its head names.
func (tx *Tx) Record(name string, line any) error {
	a, err := tx.appendix(name)
	if err != nil {
		return tx.fail(err)
	}
	body, err := logLine(line)
	if err != nil {
		return tx.fail(err)
	}
	a.Recorded = true
	a.Lines = append(a.Lines, string(body))
	return nil
}

// Accept accepts the log name as it is, whatever its head says: the lines that
// the transaction adds come after it, and its head is made anew from all of its
// lines.
func (tx *Tx) Accept(name string) error {
	a, err := tx.appendix(name)
	if err != nil {
		return tx.fail(err)
	}
	a.Accepted = true
	return nil
}

// appendix is what the transaction adds to the log name.
func (tx *Tx) appendix(name string) (*appendix, error) {
	local, err := tx.lock.folder.local(name)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(tx.logs, func(a *appendix) bool { return a.Name == local })
	if i < 0 {
		i = len(tx.logs)
		tx.logs = append(tx.logs, &appendix{Name: local})
	}
	return tx.logs[i], nil
}

// LogError is why a line of [Tx.Log] was not written; nil when all were.
func (tx *Tx) LogError() error { return tx.logErr }

// Mark is a point in a transaction that [Tx.BackTo] leads back to.
type Mark struct {
	changes int
	lines   []int // of each log
	err     error
}

// Mark is the present point of the transaction.
func (tx *Tx) Mark() Mark {
	m := Mark{changes: len(tx.changes), err: tx.err}
	for _, a := range tx.logs {
		m.lines = append(m.lines, len(a.Lines))
	}
	return m
}

// BackTo drops what was added since the mark, including a change that could not be
// added.
func (tx *Tx) BackTo(m Mark) {
	for i := len(tx.changes) - 1; i >= m.changes; i-- {
		if tx.staging != nil {
			tx.staging.Remove(stagedName(i))
		}
		delete(tx.targets, tx.changes[i].Target)
	}
	tx.changes, tx.err = tx.changes[:m.changes], m.err
	for i, a := range tx.logs {
		keep := 0
		if i < len(m.lines) {
			keep = m.lines[i]
		}
		a.Lines = a.Lines[:keep]
	}
}

// Rollback ends the transaction without any change. After Commit it does
// nothing. What cannot be cleared away now is cleared by the next lock.
func (tx *Tx) Rollback() {
	if tx.ended {
		return
	}
	tx.end()
	if tx.staging != nil {
		discard(tx.lock.folder)
	}
}

func (tx *Tx) end() {
	tx.ended = true
	tx.lock.tx = nil
	tx.closeStaged()
	if tx.staging != nil {
		tx.staging.Close()
	}
}

func (tx *Tx) add(c change) error {
	if tx.ended || tx.targets[c.Target] {
		return tidegate.Errorf(tidegate.Internal, tidegate.Pairs("path", c.Target), "a file can be changed once in a transaction that has not ended: %s", c.Target)
	}
	tx.targets[c.Target] = true
	tx.changes = append(tx.changes, c)
	return nil
}

// openStaging makes the folder for staged files when there is none yet.
func (tx *Tx) openStaging() error {
	if tx.staging != nil {
		return nil
	}
	f := tx.lock.folder
	// What the last transaction under this lock could not clear away is in the
	// way.
	if err := recoverTx(f); err != nil {
		return err
	}
	if err := f.root.Mkdir(stagingDir, folderMode); err != nil {
		return f.place(stagingDir).unwritable(err)
	}
	staging, err := f.root.OpenRoot(stagingDir + "/.")
	if err != nil {
		f.root.Remove(stagingDir)
		return f.place(stagingDir).unwritable(err)
	}
	tx.staging = staging
	return nil
}

// fail returns err and keeps it for Commit.
func (tx *Tx) fail(err error) error {
	if tx.err == nil {
		tx.err = err
	}
	return err
}

func (tx *Tx) noteLogError(err error) {
	if tx.logErr == nil {
		tx.logErr = err
	}
}

// stagedName is where in the staging folder the new content of a change is,
// and keptName where the old content is.
func stagedName(i int) string { return strconv.Itoa(i) }
func keptName(i int) string   { return strconv.Itoa(i) + ".old" }

func inStaging(name string) string { return path.Join(stagingDir, name) }

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
