//go:build linux && !amd64 && !arm64

package limit

// Files is not known on this processor.
var Files [2]uint64
