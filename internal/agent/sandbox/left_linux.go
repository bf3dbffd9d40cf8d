package sandbox

import (
	"bytes"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/tidegate/tidegate/internal/base/artifact"
)

// endLeft ends the processes of a dead attempt whose supervisor was killed as well:
// those that are told of its folder by their environment, work in it, or have a file of
// it open, and that began after the folder was claimed. A supervisor has no terminal, so
// one that has a terminal, and nothing of the folder in its environment, is the shell of
// a person who looks into it, or what that person started there. It reports whether
// nobody is there afterwards.
func endLeft(path string, claimed time.Time) (free bool) {
	booted, ok := bootTime()
	if !ok {
		return true
	}
	for end := time.Now().Add(killGrace); time.Now().Before(end); time.Sleep(poll) {
		left := false
		free = true
		eachProcess(func(pid int, proc *artifact.Folder, dir string) {
			began, terminal, ok := startOf(proc, dir, booted)
			// The kernel says the time of its start in whole seconds.
			if !ok || pid == os.Getpid() || began.Before(claimed.Add(-time.Second)) {
				return
			}
			switch told, in := isTold(proc, dir, path), isIn(proc, dir, path); {
			case in && terminal && !told:
				free = false
			case in || told:
				left = syscall.Kill(pid, syscall.SIGKILL) == nil || left
			}
		})
		if !left {
			break
		}
	}
	return free
}

// isTold reports whether the environment of a process names a folder.
func isTold(proc *artifact.Folder, dir, path string) bool {
	environ, err := proc.Read(dir + "/environ")
	if err != nil {
		return false
	}
	for variable := range bytes.SplitSeq(environ, []byte{0}) {
		// PWD and OLDPWD say where a shell is or was.
		name, value, _ := strings.Cut(string(variable), "=")
		if _, in := artifact.Inside(path, value); in && name != "PWD" && name != "OLDPWD" {
			return true
		}
	}
	return false
}

// isIn reports whether a process works in a folder or has a file of it open. One that
// has only the folder itself or its claim open does not: it wants to end the attempt, or
// it has just removed a folder of its own.
func isIn(proc *artifact.Folder, dir, path string) bool {
	if cwd, err := fs.ReadLink(proc.FS(), dir+"/cwd"); err == nil {
		if _, in := artifact.Inside(path, cwd); in {
			return true
		}
	}
	open, err := proc.List(dir + "/fd")
	if err != nil {
		return false
	}
	for _, each := range open {
		to, err := fs.ReadLink(proc.FS(), dir+"/fd/"+each.Name())
		to = strings.TrimSuffix(to, " (deleted)") // as a claim is that another sweeper has removed
		if name, in := artifact.Inside(path, to); err == nil && in && name != "." && name != claimName {
			return true
		}
	}
	return false
}

// ticks is how many units a second the kernel counts in what it says of processes.
const ticks = 100

// startOf is when a process began, and whether it has a terminal.
func startOf(proc *artifact.Folder, dir string, booted time.Time) (began time.Time, terminal, ok bool) {
	stat, err := proc.Read(dir + "/stat")
	if err != nil {
		return time.Time{}, false, false
	}
	// The fifth and the twentieth field behind the name, which may have any character in it.
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	if len(fields) < 20 {
		return time.Time{}, false, false
	}
	n, err := strconv.ParseInt(fields[19], 10, 64)
	return booted.Add(time.Duration(n) * time.Second / ticks), fields[4] != "0", err == nil
}

// bootTime is when the machine was started.
func bootTime() (time.Time, bool) {
	proc, err := artifact.Everywhere.Open("proc", "/proc")
	if err != nil {
		return time.Time{}, false
	}
	defer proc.Close()
	stat, err := proc.Read("stat")
	if err != nil {
		return time.Time{}, false
	}
	_, text, _ := strings.Cut(string(stat), "\nbtime ")
	line, _, _ := strings.Cut(text, "\n")
	seconds, err := strconv.ParseInt(line, 10, 64)
	return time.Unix(seconds, 0), err == nil
}
