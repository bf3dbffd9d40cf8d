package web

import "time"

// FirstBytes are those that are sent early.
const FirstBytes = firstBytes

// NeverEarly sends no first bytes early, so that a slow machine gets the same
// statuses as a fast one.
func NeverEarly() { earlyTime = time.Hour }
