package cell

import (
	"bytes"
	"crypto/sha256"
	"os"
	"slices"
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
//
// What the mark says of folders is said by refusals alone, too: for each byte, the
// one value that it has is refused. A further filter can refuse others besides, and
// take none of ours away; so a byte with two values says that somebody forged it.
const (
	markQuestion = unix.PR_GET_CHILD_SUBREAPER
	markNumber   = 0x7469_6465 // "tide"
	markThere    = 0xffff_ffff // refused by every mark
	markFolders  = 0xffff      // the place of the number of folders
	// markBytes is how many bytes of a folder's digest the mark says.
	markBytes = 16
)

// markAnswers is what the filter does with prctl: it refuses the number of the folders of
// own, and the bytes of their digests, each by its place.
func markAnswers(own []string) code {
	asked := together(code{argument(3)}, is(markThere, answer(refused)), is(markFolders<<8|uint32(len(own)), answer(refused)))
	for i, folder := range own {
		for j, b := range folderDigest(folder) {
			asked = append(asked, is(uint32(i*markBytes+j)<<8|uint32(b), answer(refused))...)
		}
	}
	ours := together(code{argument(2)}, is(markNumber, append(asked, answer(allowed))...))
	return together(code{argument(0)}, is(markQuestion, ours...), code{answer(allowed)})
}

func folderDigest(folder string) []byte {
	sum := sha256.Sum256([]byte(resolved(folder)))
	return sum[:markBytes]
}

// askMark asks the mark, and reports whether it refused to answer.
func askMark(question uint32) bool {
	const untouched = -1
	memory := int32(untouched)
	unix.Syscall6(unix.SYS_PRCTL, markQuestion, uintptr(unsafe.Pointer(&memory)), markNumber, uintptr(question), 0, 0)
	return memory == untouched
}

// markByte is what the mark says at a place; there is nothing where it has no value, or more
// than one.
func markByte(place int) (value byte, there bool) {
	for b := range 256 {
		if !askMark(uint32(place)<<8 | uint32(b)) {
			continue
		}
		if there {
			return 0, false
		}
		value, there = byte(b), true
	}
	return value, there
}

// Below reports whether this process is below an agent: it has the mark, or one of
// the processes that it comes from is a supervisor of agents. Then owns reports
// whether a path lies in a folder of the agent's own, as far as the mark says. A mark that
// somebody added to says nothing of folders.
func Below(supervisor string) (below bool, owns func(path string) bool) {
	nothing := func(string) bool { return false }
	if !askMark(markThere) {
		return comesFrom(supervisor), nothing
	}
	folders, _ := markByte(markFolders)
	digests := make([][markBytes]byte, folders)
	for i := range digests {
		for j := range markBytes {
			there := false
			if digests[i][j], there = markByte(i*markBytes + j); !there {
				return true, nothing
			}
		}
	}
	return true, func(path string) bool {
		for at := resolved(path); at != ""; at = at[:strings.LastIndexByte(at, '/')] {
			if slices.Contains(digests, [markBytes]byte(folderDigest(at))) {
				return true
			}
		}
		return false
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
