package artifact

import (
	"bufio"
	"crypto/sha256"
	"io"
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
