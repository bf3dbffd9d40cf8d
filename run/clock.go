package run

import (
	"strings"
	"time"
)

// Clock tells the time to everything that writes one down. Pinned says that it
// was fixed by the caller; log lines written under it carry "clock":"pinned".
type Clock struct {
	Now    func() time.Time
	Pinned bool
}

// Stamp is the present time as it stands in artifacts: UTC, milliseconds, Z.
func (c Clock) Stamp() string { return Stamp(c.Now()) }

// Stamp writes t as it stands in artifacts: 2026-02-14T12:00:00.000Z.
func Stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

// ParseTime reads a time as it stands in artifacts, the earlier system's
// included: RFC 3339, or a date alone, which is its midnight in UTC.
func ParseTime(s string) (time.Time, bool) {
	s = strings.TrimSpace(s)
	if t, err := time.Parse(time.RFC3339Nano, s); err == nil {
		return t, true
	}
	t, err := time.Parse(time.DateOnly, s)
	return t, err == nil
}

func notTime(s string) string {
	if _, ok := ParseTime(s); ok {
		return ""
	}
	return "must be a time such as 2026-02-14T12:00:00.000Z"
}
