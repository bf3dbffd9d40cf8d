package artifact

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
)

// openLog opens a log for adding lines. A log that has a second name, by a hard
// link, is first replaced by a copy: otherwise lines would also be added under that
// other name, wherever that is.
func openLog(root *os.Root, name string, mode fs.FileMode) (*os.File, error) {
	const flag = os.O_RDWR | os.O_CREATE | os.O_APPEND
	f, err := openOrCreate(root, name, flag, mode)
	if err != nil {
		return nil, err
	}
	shared, err := hasOtherName(f)
	if err == nil && !shared {
		return f, nil
	}
	if err == nil {
		err = replaceByCopy(root, name, f)
	}
	f.Close()
	if err != nil {
		return nil, err
	}
	if f, err = openRegular(root, name, flag); err != nil {
		return nil, err
	}
	if shared, err = hasOtherName(f); err == nil && shared {
		err = errors.New("the log has a second name again")
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// replaceByCopy gives the name of f to a file of its own with the same content.
func replaceByCopy(root *os.Root, name string, f *os.File) error {
	target, old, err := writeTarget(root, name, place{"path", name})
	if err != nil {
		return err
	}
	temp, tempName, err := createTemp(root, target, fileMode)
	if err != nil {
		return err
	}
	_, err = io.Copy(temp, io.NewSectionReader(f, 0, 1<<62))
	if err == nil {
		err = keepMode(temp, fileMode, old)
	}
	if err == nil {
		err = temp.Sync()
	}
	if err = moveTemp(root, temp, tempName, target, err); err != nil {
		return err
	}
	return syncFolder(root, path.Dir(target))
}
