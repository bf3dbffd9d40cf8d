//go:build linux && (amd64 || arm64)

package cell

// vfork makes a process that has this thread alone and this one's memory, and waits until
// it is another program or has ended. It returns twice, to the new process 0, and to this
// one the number of the new one, or that of an error below 0. What the new one writes
// into the frame of the caller stays there, so the caller returns at once.
//
//go:noescape
func vfork(flags uintptr) (pid int)
