//go:build !linux

// Package scratch puts the temporary folders of tests into memory on Linux, and
// does nothing on other systems.
package scratch
