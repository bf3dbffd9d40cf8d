package run

import (
	"cmp"
	"context"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/config"
	"github.com/tidegate/tidegate/internal/base/seal"
	"github.com/tidegate/tidegate/internal/work/store"
)

// Desk is what work on runs and code changes has at hand, whoever does it: the
// time, what it may touch, and how a person signs. Faces set it up.
type Desk struct {
	Now       func() time.Time
	Pinned    bool           // Now was fixed by the caller; log lines written under it carry "clock":"pinned"
	Program   string         // the program that writes, by name and version; the first line of a run keeps it
	Reach     artifact.Reach // which files it may touch by their paths
	Sign      seal.Sign      // signs a person's decision; nil where no key was named
	Changes   string         // the folder of a project that holds its code changes, with slashes; "" for the usual one
	Sharing   Sharing        // finds out which pages runs share; nil where they share none
	Rehearsal *Rehearsal     // takes what would have been written; nil where it is written
	Memory    *store.Memory  // of the call; nil where nothing is kept
}

// Stamp is the present time as it stands in artifacts: UTC, milliseconds, Z.
func (d Desk) Stamp() string { return tidegate.Stamp(d.Now()) }

// Writer is who writes the folders that are beside runs.
func (d Desk) Writer() store.Writer {
	return store.Writer{Reach: d.Reach, Now: d.Now, Pinned: d.Pinned, Program: d.Program}
}

// defaultChanges is what Agentd reads.
const defaultChanges = "agentd"

// ChangesFolder is the folder of a project that holds its code changes, in
// changes/<id>.
func (d Desk) ChangesFolder() string { return cmp.Or(d.Changes, defaultChanges) }

func notTime(s string) string {
	if _, ok := tidegate.ParseTime(s); ok {
		return ""
	}
	return "must be a time such as 2026-02-14T12:00:00.000Z"
}

// Shared says which pages the runs of a home share.
type Shared struct {
	Runs  string         // the folder of runs; what is shared is noted beside it
	Reach artifact.Reach // for files that no caller names
	Like  string         // how pages are fetched: a run uses only what one fetched that fetches alike
	Fresh time.Duration  // how long ago a page may have been fetched
}

// Sharing finds out what a run shares at the time; nil for nothing.
type Sharing func(ctx context.Context) (*Shared, error)

// Holder is the run or folder of code changes that a path lies in.
type Holder struct {
	Run     string // the root of the nearest run, "" when the path lies in none
	Changes string // the nearest folder of code changes, "" when the path lies in none
}

// Free reports whether a path lies in neither, so that its owner decides what
// stands there.
func (h Holder) Free() bool { return h.Run == "" && h.Changes == "" }

// HolderOf finds out what a path lies in, links followed, from the contents of the
// folders above it. A folder with manifest.json and gates.json is a run; agentd/changes,
// or what stands in its place, and a folder with a STATE.yaml, hold code changes.
// Folders that the caller may not look into hold nothing of his.
func HolderOf(desk Desk, path string) Holder {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	dir := filepath.Dir(path)
	// Folders that do not exist yet hold nothing, however many they are.
	for {
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			dir = real
			break
		}
		parent := filepath.Dir(dir)
		switch {
		case isChanges(desk, dir):
			return Holder{Changes: dir}
		case dir == parent:
			return Holder{}
		}
		dir = parent
	}
	for ; ; dir = filepath.Dir(dir) {
		switch {
		case isChanges(desk, dir), holds(desk, dir, "STATE.yaml"):
			return Holder{Changes: dir}
		case holds(desk, dir, ManifestFile) && holds(desk, dir, layoutDefault("gates_file")):
			return Holder{Run: dir}
		case dir == filepath.Dir(dir):
			return Holder{}
		}
	}
}

// CheckOutside returns WRITE_FAILED for the path of a file or folder outside of all runs that a
// program could take orders from, links followed: by its own name, or, where an agent chose the
// path, by that of a folder above it. Folders above those that the caller may reach are the
// person's choice.
func CheckOutside(ctx context.Context, desk Desk, arg, given string) error {
	above := tidegate.ActorOf(ctx).Kind == tidegate.Agent
	for _, full := range []string{given, withoutLinks(given)} {
		for at := desk.Reach.Beyond(full); at != path.Dir(at); at = path.Dir(at) {
			if why := config.Obeyed(path.Base(at)); why != "" {
				return tidegate.Errorf(tidegate.WriteFailed, tidegate.Pairs(arg, tidegate.Cut(given), "name", tidegate.Cut(path.Base(at)), "reason", why),
					"nothing is written to %s, because of %q: %s", tidegate.Cut(given), tidegate.Cut(path.Base(at)), why)
			}
			if !above {
				break
			}
		}
	}
	return nil
}

// withoutLinks is a path with the links in that part of it that exists followed.
func withoutLinks(full string) string {
	for at := full; at != filepath.Dir(at); at = filepath.Dir(at) {
		if real, err := filepath.EvalSymlinks(at); err == nil {
			rest, _ := filepath.Rel(at, full)
			return filepath.Join(real, rest)
		}
	}
	return full
}

func isChanges(desk Desk, dir string) bool {
	path := filepath.ToSlash(dir)
	return strings.HasSuffix(path, "/"+defaultChanges+"/changes") || strings.HasSuffix(path, "/"+desk.ChangesFolder()+"/changes")
}

func holds(desk Desk, dir, name string) bool {
	path := filepath.Join(dir, name)
	file, err := desk.Reach.OpenFile("path", path)
	if tidegate.CodeOf(err) == tidegate.ReadFailed {
		_, err := filepath.EvalSymlinks(path)
		return err == nil // it is there and cannot be opened
	}
	if err != nil {
		return false
	}
	file.Close()
	return true
}
