//go:build amd64 || arm64

// Package limit remembers how many files this program could open at its start. Go raises
// that to what the system allows, and programs that this one starts should not notice.
//
// It imports nothing: Go begins packages in the order of their names, each after its
// imports, so that this one begins before syscall, which raises the limit.
package limit

// Files is the limit of open files that this program was started with, and the one up to
// which it could raise it.
var Files = func() (files [2]uint64) {
	ofFiles(&files)
	return files
}()

// ofFiles asks the system for the limit. It is in assembly because Go code would import
// syscall for it.
//
//go:noescape
func ofFiles(limit *[2]uint64)
