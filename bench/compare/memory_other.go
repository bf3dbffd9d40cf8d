//go:build !linux

package main

import "os"

// maxMemory is not known here: systems differ in the unit.
func maxMemory(*os.ProcessState) int64 { return 0 }
