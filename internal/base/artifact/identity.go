package artifact

import (
	"fmt"
	"path/filepath"

	"github.com/tidegate/tidegate/internal/base/codec"
)

// Identity is a digest of where the folder is: its path without links, its device and its
// number there. A copy has another one, and so has a folder that was moved. It returns
// READ_FAILED.
func (f *Folder) Identity() (string, error) {
	at := f.place(".")
	path, err := filepath.EvalSymlinks(f.path)
	if err != nil {
		return "", at.unreadable(err)
	}
	open, err := f.root.Open(".")
	if err != nil {
		return "", at.unreadable(err)
	}
	defer open.Close()
	device, number, err := numbersOf(open)
	if err != nil {
		return "", at.unreadable(err)
	}
	return codec.DigestBytes(fmt.Appendf(nil, "%d %d %s", device, number, path)), nil
}
