package run

import (
	"time"

	"github.com/tidegate/tidegate"
)

// Clock tells the time to everything that writes one down. Pinned says that it
// was fixed by the caller; log lines written under it carry "clock":"pinned".
type Clock struct {
	Now     func() time.Time
	Pinned  bool
	Program string // the program that writes, by name and version; the first line of a run keeps it
}

// Stamp is the present time as it stands in artifacts: UTC, milliseconds, Z.
func (c Clock) Stamp() string { return tidegate.Stamp(c.Now()) }

func notTime(s string) string {
	if _, ok := tidegate.ParseTime(s); ok {
		return ""
	}
	return "must be a time such as 2026-02-14T12:00:00.000Z"
}
