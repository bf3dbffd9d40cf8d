package artifact

import (
	"os"
	"path/filepath"

	"github.com/tidegate/tidegate"
)

// ScratchClaim is the claim of a temporary folder. It is held as long as the process
// lives that made the folder.
const ScratchClaim = "claim"

// Scratch makes a folder for files that another program needs for a moment. It
// lies among the system's temporary files; remove removes it with everything in
// it. [ScratchClaim] says whether its process lives. It returns WRITE_FAILED.
func Scratch(prefix string) (path string, remove func(), err error) {
	path, err = os.MkdirTemp("", prefix+"*")
	if err != nil {
		return "", nil, tidegate.Errorf(tidegate.WriteFailed, nil, "no temporary folder can be made: %w", err)
	}
	folder, err := Everywhere.Open("scratch", path)
	if err != nil {
		os.RemoveAll(path)
		return "", nil, err
	}
	defer folder.Close()
	claim, err := folder.Claim(ScratchClaim, tidegate.Pairs("process", os.Getpid()))
	if err != nil {
		os.RemoveAll(path)
		return "", nil, err
	}
	return path, func() {
		// The claim goes last: who has files open in a folder that nobody claims is taken
		// for what a killed process has left.
		entries, _ := os.ReadDir(path)
		for _, entry := range entries {
			if entry.Name() != ScratchClaim {
				os.RemoveAll(filepath.Join(path, entry.Name()))
			}
		}
		claim.Release()
		os.RemoveAll(path)
	}, nil
}
