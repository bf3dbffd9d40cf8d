package web

import "time"

// FirstBytes are those that go ahead.
const FirstBytes = firstBytes

// NeverEarly lets no first bytes go ahead, so that a slow machine sees the same
// statuses as a fast one.
func NeverEarly() { earlyTime = time.Hour }
