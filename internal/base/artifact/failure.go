package artifact

import (
	"errors"
	"io/fs"
	"os"
	"syscall"

	"github.com/tidegate/tidegate"
)

// place is what an error calls a file: the name of the argument that led to it
// and its path.
type place struct {
	arg, path string
}

func (p place) details() tidegate.Details { return tidegate.Pairs(p.arg, p.path) }

// notAllowed is PATH_NOT_ALLOWED. It names the path that was asked for and
// never what a link points to.
func (p place) notAllowed(reason string) error {
	return tidegate.Errorf(tidegate.PathNotAllowed, p.details(), "%s: %s", reason, p.path)
}

// tampered is TAMPERED.
func (p place) tampered(reason mismatch) error {
	details := append(p.details(), tidegate.Detail{Key: "reason", Value: string(reason)})
	return tidegate.Errorf(tidegate.Tampered, details, "the log is not the one that was written (%s): %s", string(reason), p.path)
}

// unreadable is the error for a read that failed with err. An error that
// already has a code is returned as it is.
func (p place) unreadable(err error) error {
	known, ok := p.known(err)
	switch {
	case ok:
		return known
	case errors.Is(err, fs.ErrNotExist):
		return tidegate.Errorf(tidegate.FileNotFound, p.details(), "no such file or folder: %s", p.path)
	case isNoFolder(err):
		return tidegate.Errorf(tidegate.FileNotFound, p.details(), "no such file or folder (a file stands in the way): %s", p.path)
	}
	return tidegate.Errorf(tidegate.ReadFailed, p.details(), "cannot read (%w): %s", bare(err), p.path)
}

// unwritable is the error for a write that failed with err. An error that
// already has a code is returned as it is.
func (p place) unwritable(err error) error {
	if known, ok := p.known(err); ok {
		return known
	}
	details := p.details()
	if p.arg == "home" || p.arg == "root" { // where tidegate keeps what it makes
		details = append(details, tidegate.Detail{Key: "help", Value: "export TIDEGATE_HOME=FOLDER"})
	}
	return tidegate.Errorf(tidegate.WriteFailed, details, "cannot write (%w): %s", bare(err), p.path)
}

// known is the error for err where it is the same for reading and writing; nil
// is known too.
func (p place) known(err error) (error, bool) {
	var (
		coded *tidegate.Error
		other mismatch
	)
	switch {
	case err == nil, errors.As(err, &coded):
		return err, true
	case errors.As(err, &other):
		return p.tampered(other), true
	case escapes(err):
		return p.notAllowed("path leads out of its folder"), true
	}
	return nil, false
}

var (
	errNotRegular = errors.New("not a regular file")
	errIsFolder   = errors.New("is a folder")
	errNoFolder   = errors.New("is not a folder")
)

// isNoFolder reports whether err says that a path leads through, or to,
// something that is not a folder. os.Root has no value for it that could be
// compared.
func isNoFolder(err error) bool {
	return errors.Is(err, syscall.ENOTDIR) || errors.Is(err, errNoFolder) || bare(err).Error() == "not a directory"
}

// escapes reports whether err is the refusal of os.Root, which has no exported
// value.
func escapes(err error) bool { return bare(err).Error() == "path escapes from parent" }

// bare is err without the operation and the path: the message has them already,
// and they may be those of a link's target.
func bare(err error) error {
	var (
		path    *fs.PathError
		link    *os.LinkError
		syscall *os.SyscallError
	)
	switch {
	case errors.As(err, &path):
		return path.Err
	case errors.As(err, &link):
		return link.Err
	case errors.As(err, &syscall):
		return syscall.Err
	}
	return err
}

// UnlessMissing is err, or nil where err says that a file or folder does not exist.
func UnlessMissing(err error) error {
	if tidegate.CodeOf(err) == tidegate.FileNotFound {
		return nil
	}
	return err
}
