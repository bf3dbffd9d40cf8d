package artifact

import (
	"errors"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
)

// Replica is a temporary folder that stands in for another: a [Reach] that
// has it finds it at that path, whether or not anything is there on the disk. What is written to it need not survive.
type Replica struct {
	folder *Folder
	real   string
	remove func()
}

const replicaPrefix = "tidegate-replica-"

// NewReplica makes an empty replica. Close it in the end. What killed processes have left of
// theirs is removed. It returns WRITE_FAILED.
func NewReplica() (*Replica, error) {
	sweepScratch(replicaPrefix)
	scratch, remove, err := Scratch(replicaPrefix)
	if err != nil {
		return nil, err
	}
	real := filepath.Join(scratch, "files") // beside the claim, which is no part of it
	if err = os.Mkdir(real, 0o700); err == nil {
		var root *os.Root
		if root, err = openRoot(real); err == nil {
			return &Replica{&Folder{root: root, path: real}, real, remove}, nil
		}
	}
	remove()
	return nil, tidegate.Errorf(tidegate.WriteFailed, nil, "no temporary folder can be opened: %w", err)
}

// At reaches the replica alone, at an absolute path.
func (s *Replica) At(path string) Reach {
	return Reach{confined: true, stead: filepath.Clean(path), replica: s.real}
}

// Write puts a file into the replica, and makes the folders above it. It returns
// WRITE_FAILED, and PATH_NOT_ALLOWED for a name that leads out of it.
func (s *Replica) Write(name string, data []byte) error {
	return s.writing(name, func(local string) error {
		return s.folder.root.WriteFile(local, data, s.folder.newFileMode())
	})
}

// writing does what changes a file, whose folder is made.
func (s *Replica) writing(name string, do func(local string) error) error {
	return s.folder.writing(name, func(local string) error {
		if err := s.folder.root.MkdirAll(path.Dir(local), s.folder.newFolderMode()); err != nil {
			return err
		}
		return do(local)
	})
}

// Read reads a file of the replica. It returns NOT_FOUND and READ_FAILED.
func (s *Replica) Read(name string) ([]byte, error) { return s.folder.Read(name) }

// MakeFolder makes a folder of the replica and those above it. It returns the
// errors of [Replica.Write].
func (s *Replica) MakeFolder(name string) error {
	return s.folder.writing(name, func(local string) error { return s.folder.root.MkdirAll(local, s.folder.newFolderMode()) })
}

// Append adds to a file of the replica. It returns the errors of [Replica.Write].
func (s *Replica) Append(name string, data []byte) error {
	return s.writing(name, func(local string) error {
		file, err := s.folder.root.OpenFile(local, os.O_WRONLY|os.O_CREATE|os.O_APPEND, s.folder.newFileMode())
		if err == nil {
			_, err = file.Write(data)
			err = errors.Join(err, file.Close())
		}
		return err
	})
}

// Remove takes a file out of the replica. A missing file is not an error. It
// returns the errors of [Replica.Write].
func (s *Replica) Remove(name string) error {
	return s.folder.writing(name, func(local string) error {
		if err := s.folder.root.Remove(local); !os.IsNotExist(err) {
			return err
		}
		return nil
	})
}

// Close removes the replica with everything in it.
func (s *Replica) Close() {
	s.folder.Close()
	s.remove()
}

// NoPlace is an absolute path that a replica can stand in for and that is nowhere on the
// disk.
func NoPlace(name string) string {
	if runtime.GOOS == "windows" {
		return `C:\` + name // a path without a drive is not absolute there
	}
	return "/" + name
}

// replaced is where path is looked for: in the replica, if path lies in the folder
// that it stands in for.
func (r Reach) replaced(path string) (string, bool) {
	if r.replica == "" || !filepath.IsAbs(path) {
		return path, false
	}
	if name, in := Inside(r.stead, filepath.Clean(path)); in {
		return filepath.Join(r.replica, name), true
	}
	return path, false
}

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
// folder that has no claim yet, or not its note, is being made or removed, unless it is
// older than an hour.
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
		since, _ := ScratchSince(path)
		_, held, other := folder.Claimed(ScratchClaim)
		folder.Close()
		info, err := entry.Info()
		if err == nil && other == nil && !held && (!since.IsZero() || time.Since(info.ModTime()) > time.Hour) {
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
