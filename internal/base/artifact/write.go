package artifact

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"sync"
	"time"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
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

// Draft is a folder in the making. Names are as in a [Folder].
type Draft struct {
	folder *Folder
	made   []string // folders
	syncs  syncer
	failed error // the first of a file that cannot be made; the folder is not made then
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
	err = cmp.Or(fill(d), d.failed)
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
	return d.keep(d.folder.writing(name, func(local string) error {
		if err := d.makeFolders(filepath.ToSlash(filepath.Dir(local))); err != nil {
			return err
		}
		f, err := d.folder.root.OpenFile(local, os.O_WRONLY|os.O_CREATE|os.O_EXCL|nonblock, fileMode)
		if err != nil {
			return err
		}
		if _, err := f.Write(data); err != nil {
			f.Close()
			return err
		}
		d.syncs.start(f, (*os.File).Sync)
		return nil
	}))
}

// keep keeps the first error, with which the making ends.
func (d *Draft) keep(err error) error {
	d.failed = cmp.Or(d.failed, err)
	return err
}

// MakeFolder makes a folder of the draft and those above it. It returns
// WRITE_FAILED.
func (d *Draft) MakeFolder(name string) error { return d.keep(d.folder.writing(name, d.makeFolders)) }

// Log appends a line to a chained log of the draft, as [Tx.Log] does, but as
// part of the draft. It returns WRITE_FAILED.
func (d *Draft) Log(name string, line any) error { return d.log(name, line, false) }

// Record is [Draft.Log] for a log that has a head, as [Tx.Record] gives it.
func (d *Draft) Record(name string, line any) error { return d.log(name, line, true) }

func (d *Draft) log(name string, line any, recorded bool) error {
	return d.keep(d.folder.writing(name, func(local string) error {
		body, err := logLine(line)
		a := &appendix{Name: local, Recorded: recorded, Lines: []string{string(body)}}
		if err == nil {
			err = d.makeFolders(filepath.ToSlash(filepath.Dir(local)))
		}
		if err == nil {
			err = a.begin(d.folder)
		}
		if err == nil {
			err = a.extend(d.folder)
		}
		return err
	}))
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

const (
	// fewFiles is the largest number of files that are synced one by one. Above it,
	// one sync of the file system is cheaper where the system has it.
	fewFiles = 32
	// maxSyncs is how many files are synced at the same time.
	maxSyncs = 16
)

// syncer syncs files at the same time: a file system makes several durable in
// little more time than one.
type syncer struct {
	group sync.WaitGroup
	slots chan struct{}
	mu    sync.Mutex
	err   error
}

// start syncs f by the function given and closes it, in the background.
func (s *syncer) start(f *os.File, sync func(*os.File) error) {
	s.run(func() error {
		err := sync(f)
		if closed := f.Close(); err == nil {
			err = closed
		}
		return err
	})
}

// run does one thing in the background.
func (s *syncer) run(do func() error) {
	if s.slots == nil {
		s.slots = make(chan struct{}, maxSyncs)
	}
	s.slots <- struct{}{}
	s.group.Go(func() {
		defer func() { <-s.slots }()
		if err := do(); err != nil {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.err = err
		}
	})
}

// wait waits for all of them and returns an error when one failed.
func (s *syncer) wait() error {
	s.group.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// syncFolder makes the names in a folder durable.
func syncFolder(root *os.Root, dir string) error {
	f, err := root.OpenFile(dir, os.O_RDONLY|nonblock, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	return syncNames(f)
}

// syncFolders makes the names in several folders durable.
func syncFolders(root *os.Root, dirs []string) error {
	if canSyncAll && len(dirs) > fewFiles {
		f, err := root.Open(".")
		if err != nil {
			return err
		}
		defer f.Close()
		return syncAll(f)
	}
	var syncs syncer
	for _, dir := range dirs {
		f, err := root.OpenFile(dir, os.O_RDONLY|nonblock, 0)
		if err != nil {
			syncs.wait()
			return err
		}
		syncs.start(f, syncNames)
	}
	return syncs.wait()
}

// syncPath makes the names in the folder at a path durable.
func syncPath(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer f.Close()
	return syncNames(f)
}

// How long a file must have been unchanged when it is read, so that a later change
// cannot have the same times. A file system that counts in fractions of a
// millisecond takes them from the tick of the system, which is 10 ms at most;
// others count in seconds.
const (
	settledAfter     = time.Second
	settledFineAfter = 100 * time.Millisecond
)

// Digests are the digests of files in a folder. A file is read again only when it
// may have changed, by its identity, its size and the time of its last change of
// any kind, which no program can set. On a system without that time, every file
// is always read. It may be used by several goroutines.
type Digests struct {
	folder *Folder

	mu    sync.Mutex
	known map[string]knownDigest
}

type knownDigest struct {
	stamp  stamp
	digest string
}

// Digests are those of the files in f.
func (f *Folder) Digests() *Digests { return &Digests{folder: f, known: map[string]knownDigest{}} }

// Of is the digest of a file's bytes, "" when there is none. It returns
// READ_FAILED.
func (d *Digests) Of(name string) (string, error) {
	d.mu.Lock()
	known, ok := d.known[name]
	d.mu.Unlock()
	if ok {
		if now, told := d.stampOf(name); told && now == known.stamp {
			return known.digest, nil
		}
	}
	file, err := d.folder.Open(name)
	if err != nil {
		return "", UnlessMissing(err)
	}
	defer file.Close()
	asked := time.Now()
	before, told := stampOf(file.Stat())
	digest, err := codec.DigestReader(file)
	if err != nil {
		return "", d.folder.place(name).unreadable(errors.Unwrap(err))
	}
	if after, _ := stampOf(file.Stat()); told && after == before && before.settled(asked) {
		d.mu.Lock()
		d.known[name] = knownDigest{before, digest}
		d.mu.Unlock()
	}
	return digest, nil
}

// stamp distinguishes one state of a file from another.
type stamp struct {
	device, file uint64
	size         int64
	changed      time.Time // of bytes, names or permissions; programs cannot set it
}

// settled reports whether every change after the given moment changes the stamp.
func (s stamp) settled(now time.Time) bool {
	if s.changed.Nanosecond()%int(time.Millisecond) != 0 {
		return now.Sub(s.changed) > settledFineAfter
	}
	return now.Sub(s.changed) > settledAfter
}

// stampOf is the stamp of the file of a name; told is false where there is none.
func (d *Digests) stampOf(name string) (s stamp, told bool) {
	local, err := d.folder.local(name)
	if err != nil {
		return stamp{}, false
	}
	return stampOf(d.folder.root.Stat(local))
}
