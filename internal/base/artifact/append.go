package artifact

import (
	"fmt"
	"path"
)

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
