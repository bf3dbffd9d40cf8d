//go:build !linux

package sandbox

import "time"

// endLeft does nothing here: what a killed program left cannot be told from others.
func endLeft(string, time.Time) (free bool) { return true }
