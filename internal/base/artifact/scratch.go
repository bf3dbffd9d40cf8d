package artifact

import (
	"os"

	"github.com/tidegate/tidegate"
)

// Scratch makes a folder for files that another program needs for a moment. It
// lies among the system's temporary files; remove removes it with everything in
// it. It returns WRITE_FAILED.
func Scratch(prefix string) (path string, remove func(), err error) {
	path, err = os.MkdirTemp("", prefix+"*")
	if err != nil {
		return "", nil, tidegate.Errorf(tidegate.WriteFailed, nil, "no temporary folder can be made: %w", err)
	}
	return path, func() { os.RemoveAll(path) }, nil
}
