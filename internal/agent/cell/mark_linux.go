package cell

import (
	"bytes"
	"crypto/sha256"
	"os"
	"strconv"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The mark is an answer of the filter. A question of prctl that every kernel
// answers by writing to memory is refused where it has our number as an argument
// that the kernel does not look at. A program can load further filters, but none by
// which that memory gets written: a refusal wins over everything but an end of the
// process. So a question whose memory stays as it was is asked below an agent,
// whatever else comes back.
const (
	markQuestion = unix.PR_GET_CHILD_SUBREAPER
	markNumber   = 0x7469_6465 // "tide"
	// markErrno begins the answers: one byte of what the mark says is added. It is
	// above all errors that the kernel has.
	markErrno = 1024
	// markBytes is how many bytes of a folder's digest the mark says.
	markBytes = 16
)

// markAnswers is what the filter does with prctl: the bytes of the digests of own,
// by their place.
func markAnswers(own []string) code {
	var said []byte
	for _, folder := range own {
		said = append(said, folderDigest(folder)...)
	}
	asked := code{argument(3)}
	for i, b := range said {
		asked = append(asked, is(uint32(i), answer(unix.SECCOMP_RET_ERRNO|uint32(markErrno+int(b))))...)
	}
	asked = append(asked, answer(unix.SECCOMP_RET_ERRNO|(markErrno+256))) // there is no such byte
	ours := together(code{argument(2)}, is(markNumber, asked...))
	return together(code{argument(0)}, is(markQuestion, ours...), code{answer(allowed)})
}

func folderDigest(folder string) []byte {
	sum := sha256.Sum256([]byte(resolved(folder)))
	return sum[:markBytes]
}

// askMark asks for one byte of what the mark says; marked says whether there is a
// mark at all.
func askMark(place int) (b byte, marked, there bool) {
	const untouched = -1
	memory := int32(untouched)
	_, _, errno := unix.Syscall6(unix.SYS_PRCTL, markQuestion, uintptr(unsafe.Pointer(&memory)), markNumber, uintptr(place), 0, 0)
	if memory != untouched {
		return 0, false, false
	}
	return byte(errno - markErrno), true, errno >= markErrno && errno < markErrno+256
}

// Below reports whether this process is below an agent: it has the mark, or one of
// the processes that it comes from is a supervisor of agents. Then owns reports
// whether a path lies in a folder of the agent's own, as far as the mark says.
func Below(supervisor string) (below bool, owns func(path string) bool) {
	var digests [][]byte
	for at := 0; ; at += markBytes {
		digest := make([]byte, markBytes)
		whole := true
		for i := range digest {
			b, marked, there := askMark(at + i)
			if !marked {
				return comesFrom(supervisor), func(string) bool { return false }
			}
			digest[i], whole = b, whole && there
		}
		if !whole {
			break
		}
		digests = append(digests, digest)
	}
	return true, func(path string) bool {
		for at := resolved(path); ; at = at[:strings.LastIndexByte(at, '/')] {
			if at == "" {
				return false
			}
			for _, digest := range digests {
				if bytes.Equal(digest, folderDigest(at)) {
					return true
				}
			}
		}
	}
}

// comesFrom reports whether a process above this one has that name.
func comesFrom(name string) bool {
	room := make([]byte, 4096)
	const tooMany = 1000 // a parent may end and its number be given to a descendant
	for pid, n := os.Getppid(), 0; pid > 0 && n < tooMany; n++ {
		dir := "/proc/" + strconv.Itoa(pid)
		if strings.TrimRight(string(beginning(dir+"/cmdline", room)), "\x00") == name {
			return true
		}
		stat := beginning(dir+"/stat", room)
		// pid (name) state ppid …; the name may have any character in it.
		fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
		if len(fields) < 2 {
			return false
		}
		above, err := strconv.Atoi(fields[1])
		if err != nil {
			return false
		}
		pid = above
	}
	return false
}

// beginning is how a file of the kernel's begins, read at once: every start of the
// program reads two of each process above it. It is in room, and empty where the file cannot be read.
func beginning(path string, room []byte) []byte {
	file, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	defer unix.Close(file)
	n, err := unix.Read(file, room)
	if err != nil {
		return nil
	}
	return room[:n]
}
