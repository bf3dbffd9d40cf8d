package cell

import (
	"errors"
	"fmt"
	"os"
	"sync"

	"github.com/tidegate/tidegate/internal/agent/limit"
	"golang.org/x/sys/unix"
)

// Program is what is started in a cell.
type Program struct {
	Path      string
	Args      []string // with its name
	Env       []string
	Dir       string // "": that of this process
	Files     [3]int // its standard streams
	Listeners int    // where the listeners go that its policy names; see [Listeners]
	Net       *Net   // nil: a network of its own is its own alone
}

// Start starts a program in a cell, as the leader of a group of its own, which the system
// kills when this thread ends. It fails where the program cannot be confined or cannot be
// started, with the reason.
//
// The process is forked and enters the cell itself, before it becomes the program: that
// costs a tenth of starting this program once more to do it.
func Start(p Policy, program Program) (pid int, err error) {
	if program.Net.isMade() && !program.Net.isEmpty() {
		program.Net.Close()
	}
	handedOn := program.Net.isMade()
	pid, err = start(p, program)
	if refused := (*os.SyscallError)(nil); handedOn && errors.As(err, &refused) && (refused.Syscall == "setns" || refused.Syscall == "unshare") {
		// Some service managers let a process make namespaces, and enter none.
		program.Net.Close()
		return start(p, program)
	}
	return pid, err
}

func start(p Policy, program Program) (pid int, err error) {
	c := &calls{}
	defer c.close()
	flags, err := c.begin(p, program)
	if err == nil {
		err = c.confine(p)
	}
	if err == nil {
		err = c.become(program)
	}
	if err != nil {
		return 0, err
	}
	if pid, err = c.fork(flags); err == nil && c.net != 0 {
		// Where it fails, the next program has a network of its own as this one.
		program.Net.files, _ = receive(c.net)
	}
	return pid, err
}

// begin gives the process its group, its network, its streams and its folder, and as many
// files as this program was given. It returns the flags to fork with.
func (c *calls) begin(p Policy, program Program) (flags uintptr, err error) {
	c.add("setpgid", unix.SYS_SETPGID)
	if p.alone() {
		if flags, err = c.enterNetwork(p, program); err != nil {
			return 0, err
		}
	}
	copies := make([]*int32, len(program.Files)) // beyond the numbers that they get
	for i, file := range program.Files {
		copies[i] = new(int32)
		c.add("dup", unix.SYS_FCNTL, uintptr(file), unix.F_DUPFD_CLOEXEC, uintptr(len(copies))).into = copies[i]
	}
	for i, file := range copies {
		c.add("dup", unix.SYS_DUP3, 0, uintptr(i), 0).on = file
	}
	if program.Dir != "" {
		dir, err := c.text(program.Dir)
		if err != nil {
			return 0, err
		}
		c.add("chdir", unix.SYS_CHDIR, dir).path = program.Dir
	}
	if limit.Files[0] > 0 {
		c.add("prlimit", unix.SYS_PRLIMIT64, 0, unix.RLIMIT_NOFILE, at(c, &limit.Files), 0).may = true
	}
	return flags, nil
}

// stayUser lets the process be in its user namespace the user that it is. Only such a
// namespace gives a network to users other than root.
func (c *calls) stayUser() {
	write := func(path, text string) {
		name, content := append([]byte(path), 0), []byte(text)
		file := new(int32)
		open := c.add("open", unix.SYS_OPENAT, 0, at(c, &name[0]), unix.O_WRONLY|unix.O_CLOEXEC)
		open.path, open.into = path, file
		c.add("write", unix.SYS_WRITE, 0, at(c, &content[0]), uintptr(len(content))).on = file
		c.add("close", unix.SYS_CLOSE).on = file
	}
	uid, gid := os.Getuid(), os.Getgid()
	write("/proc/self/uid_map", fmt.Sprintf("%d %d 1", uid, uid))
	write("/proc/self/setgroups", "deny")
	write("/proc/self/gid_map", fmt.Sprintf("%d %d 1", gid, gid))
}

// confine has the process give up what a program in the cell of p must not have.
func (c *calls) confine(p Policy) error {
	c.add("close_range", unix.SYS_CLOSE_RANGE, 3, 1<<30, unix.CLOSE_RANGE_CLOEXEC).may = true
	if p.Confined {
		var none unix.Rlimit
		c.add("prlimit", unix.SYS_PRLIMIT64, 0, unix.RLIMIT_CORE, at(c, &none), 0)
		if p.MaxFile > 0 {
			// It may be less already.
			size := unix.Rlimit{Cur: uint64(p.MaxFile), Max: uint64(p.MaxFile)}
			c.add("prlimit", unix.SYS_PRLIMIT64, 0, unix.RLIMIT_FSIZE, at(c, &size), 0).may = true
		}
		c.dropCapabilities()
	}
	c.add("prctl", unix.SYS_PRCTL, unix.PR_SET_NO_NEW_PRIVS, 1)
	if p.Confined {
		if err := c.enterDomain(p); err != nil {
			return err
		}
	}
	if p.System.Filter {
		program := p.program()
		loaded := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
		c.add("seccomp", unix.SYS_PRCTL, unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, at(c, &loaded))
	}
	return nil
}

// become makes the process the program.
func (c *calls) become(program Program) error {
	path, err := c.text(program.Path)
	if err != nil {
		return err
	}
	args, err := c.texts(program.Args)
	if err != nil {
		return err
	}
	env, err := c.texts(program.Env)
	if err != nil {
		return err
	}
	c.takeSignals()
	c.add("start", unix.SYS_EXECVE, path, args, env).path = program.Path
	return nil
}

// capabilities is how many the kernel knows.
var capabilities = sync.OnceValue(func() (n uintptr) {
	for {
		if _, err := unix.PrctlRetInt(unix.PR_CAPBSET_READ, n, 0, 0, 0); err != nil {
			return n
		}
		n++
	}
})

// dropCapabilities gives up every capability for good. Without any to begin with, nothing
// has to be given up, and no_new_privs keeps it so.
func (c *calls) dropCapabilities() {
	// Root gets no capabilities by being root, for good.
	const noRoot, locked = 1 << 0, 1 << 1
	c.add("prctl", unix.SYS_PRCTL, unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL).may = true
	c.add("prctl", unix.SYS_PRCTL, unix.PR_SET_SECUREBITS, noRoot|locked).may = true
	for capability := range capabilities() {
		c.add("prctl", unix.SYS_PRCTL, unix.PR_CAPBSET_DROP, capability).may = true
	}
	header, none := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}, [2]unix.CapUserData{}
	c.add("capset", unix.SYS_CAPSET, at(c, &header), at(c, &none))
}
