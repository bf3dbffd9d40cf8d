package run

import (
	"cmp"
	"context"
	"time"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/artifact"
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
