//go:build unix

package artifact

import "syscall"

// nonblock keeps the opening of a FIFO from waiting for its other end. For a
// regular file it has no effect.
const nonblock = syscall.O_NONBLOCK
