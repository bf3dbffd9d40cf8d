package tidegate

import (
	"strings"
	"time"
)

// Stamp writes t as it stands in artifacts: UTC, milliseconds, Z.
func Stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

// ParseTime reads a time as it stands in artifacts, the earlier system's
// included: RFC 3339, or a date alone, which is its midnight in UTC.
func ParseTime(s string) (time.Time, bool) {
	s = strings.TrimSpace(s)
	if s == "" {
		return time.Time{}, false // so common that the error would be felt
	}
	if t, err := time.Parse(time.RFC3339Nano, s); err == nil {
		return t, true
	}
	t, err := time.Parse(time.DateOnly, s)
	return t, err == nil
}
