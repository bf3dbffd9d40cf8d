package main

import (
	"os"

	"golang.org/x/sys/unix"
)

func init() {
	narrow = func(pipe *os.File) {
		if _, err := unix.FcntlInt(pipe.Fd(), unix.F_SETPIPE_SZ, os.Getpagesize()); err != nil {
			panic(err)
		}
	}
}
