package artifact

import (
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
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
	claim, err := ClaimScratch(path)
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

// WriteScratch is [Folder.Write] for a file of the temporary folder at path.
func WriteScratch(path, name string, data []byte) error {
	folder, err := Everywhere.Open("scratch", path)
	if err != nil {
		return err
	}
	defer folder.Close()
	return folder.Write(name, data)
}

// sweepScratch removes the temporary folders with a prefix whose processes were killed. A
// folder that has no claim yet, or not its note, is being made or removed.
func sweepScratch(prefix string) {
	temp := os.TempDir()
	entries, _ := os.ReadDir(temp)
	for _, entry := range entries {
		path := filepath.Join(temp, entry.Name())
		if !entry.IsDir() || !strings.HasPrefix(entry.Name(), prefix) {
			continue
		}
		folder, err := Everywhere.Open("scratch", path)
		if err != nil {
			continue
		}
		since, err := ScratchSince(path)
		_, held, other := folder.Claimed(ScratchClaim)
		folder.Close()
		if err == nil && other == nil && !since.IsZero() && !held {
			os.RemoveAll(path)
		}
	}
}

// ClaimScratch takes the claim of the temporary folder at path, as [Folder.Claim] does.
func ClaimScratch(path string) (*Claim, error) {
	folder, err := Everywhere.Open("scratch", path)
	if err != nil {
		return nil, err
	}
	defer folder.Close()
	return folder.Claim(ScratchClaim, tidegate.Pairs("process", os.Getpid(), "since", time.Now().UnixMilli()))
}

// ScratchSince is when the temporary folder at path was claimed, by what its claim says:
// the times of a file can be changed by who cannot write to it. It is zero where the
// claim does not say it.
func ScratchSince(path string) (time.Time, error) {
	text, err := Everywhere.ReadFile("scratch", filepath.Join(path, ScratchClaim))
	if err != nil {
		return time.Time{}, err
	}
	if note, err := codec.Parse(text); err == nil {
		if since, ok := note.Get("since").Int(); ok {
			return time.UnixMilli(int64(since)), nil
		}
	}
	return time.Time{}, nil
}
