package cell

import (
	"slices"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A filter is a program for the kernel's BPF machine, which looks at every system
// call: its number, the processor's way of calling, and its arguments.

// Where the machine finds them. Both processors that are known here are little-endian:
// the lower half of an argument comes first, and it is all that the kernel takes of
// the arguments that are looked at.
const (
	atNumber = 0
	atArch   = 4
	atArgs   = 16
)

const (
	allowed = unix.SECCOMP_RET_ALLOW
	refused = unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)
	// What systems lack that programs do without: they take another way, without a word.
	missing     = unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)
	unsupported = unix.SECCOMP_RET_ERRNO | uint32(unix.EOPNOTSUPP)
	full        = unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSPC)
)

type code = []unix.SockFilter

func load(at uint32) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: at}
}

func argument(n uint32) unix.SockFilter { return load(atArgs + 8*n) }

func answer(what uint32) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: what}
}

// when runs then where a comparison of what was loaded last with k is true, and
// goes on behind it otherwise.
func when(comparison uint16, k uint32, then ...unix.SockFilter) code {
	return append(code{{Code: unix.BPF_JMP | comparison | unix.BPF_K, K: k, Jf: uint8(len(then))}}, then...)
}

func is(k uint32, then ...unix.SockFilter) code { return when(unix.BPF_JEQ, k, then...) }

// together is one block after the other.
func together(blocks ...code) code { return slices.Concat(blocks...) }

// program is the filter of p.
func (p Policy) program() code {
	ours := is(unix.SYS_PRCTL, markAnswers(p.Own)...)
	if !p.Confined {
		return together(code{load(atArch)}, is(nativeArch, together(code{load(atNumber)}, ours)...), code{answer(allowed)})
	}
	blocks := []code{
		{load(atArch)}, is(nativeArch, unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JA, K: 1}), {answer(refused)},
		{load(atNumber)}, when(unix.BPF_JGE, foreignNumbers, answer(refused)),
	}
	for _, number := range refusedCalls {
		blocks = append(blocks, is(number, answer(refused)))
	}
	for _, number := range attributeCalls {
		blocks = append(blocks, is(number, answer(unsupported)))
	}
	if !p.alone() {
		for _, number := range slices.Concat(sharedCalls, semaphores) {
			blocks = append(blocks, is(number, answer(refused)))
		}
	}
	fastOpen := func(flags uint32) code {
		return together(code{argument(flags)}, when(unix.BPF_JSET, unix.MSG_FASTOPEN, answer(refused)), code{answer(allowed)})
	}
	return together(append(blocks,
		is(unix.SYS_SENDTO, fastOpen(3)...),
		is(unix.SYS_SENDMSG, fastOpen(2)...),
		is(unix.SYS_SENDMMSG, fastOpen(3)...),
		is(unix.SYS_IOCTL, together(code{argument(1)}, is(unix.TIOCSTI, answer(refused)), is(unix.TIOCLINUX, answer(refused)), code{answer(allowed)})...),
		is(unix.SYS_SOCKET, p.sockets()...),
		is(unix.SYS_SOCKETPAIR, pairs()...),
		is(unix.SYS_SETSOCKOPT, options()...),
		is(unix.SYS_FCNTL, descriptors()...),
		// Its own limits are asked for with 0. Those of others could end them.
		is(unix.SYS_PRLIMIT64, own(0)...),
		is(unix.SYS_SCHED_SETAFFINITY, own(0)...),
		is(unix.SYS_SCHED_SETSCHEDULER, own(0)...),
		is(unix.SYS_SCHED_SETPARAM, own(0)...),
		is(unix.SYS_SCHED_SETATTR, own(0)...),
		// Not those of a group, which it could join, or of all of the user's.
		is(unix.SYS_SETPRIORITY, together(code{argument(0)}, is(unix.PRIO_PROCESS, own(1)...), code{answer(refused)})...),
		is(unix.SYS_IOPRIO_SET, together(code{argument(0)}, is(ioprioProcess, own(1)...), code{answer(refused)})...),
		is(unix.SYS_CLONE, withoutUser()...),
		is(unix.SYS_UNSHARE, withoutUser()...),
		// Its flags stand in memory, where no filter looks.
		is(unix.SYS_CLONE3, answer(missing)),
		// It tells what happens in a folder that may not be listed, with names.
		is(unix.SYS_INOTIFY_ADD_WATCH, answer(full)),
		ours,
		code{answer(allowed)},
	)...)
}

// refusedCalls reach into other processes, do what the filter refuses without being seen
// by it, enter or change namespaces and mounts, or tell what happens in a folder that may
// not be listed.
var refusedCalls = []uint32{
	unix.SYS_IO_URING_SETUP, unix.SYS_PTRACE, unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV, unix.SYS_PIDFD_GETFD,
	unix.SYS_KEYCTL, unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY, unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN, unix.SYS_USERFAULTFD,
	unix.SYS_SETNS, unix.SYS_MOUNT, unix.SYS_FSOPEN, unix.SYS_FSPICK, unix.SYS_FSMOUNT, unix.SYS_MOVE_MOUNT, unix.SYS_OPEN_TREE, unix.SYS_OPEN_TREE_ATTR, unix.SYS_MOUNT_SETATTR,
	unix.SYS_FANOTIFY_INIT, unix.SYS_FANOTIFY_MARK,
}

// attributeCalls read and write attributes of files, lists of access among them, at which
// Landlock does not look: of any file of the user's, with any bytes for another agent.
var attributeCalls = []uint32{
	unix.SYS_SETXATTR, unix.SYS_LSETXATTR, unix.SYS_FSETXATTR, unix.SYS_SETXATTRAT, unix.SYS_GETXATTR, unix.SYS_LGETXATTR, unix.SYS_FGETXATTR, unix.SYS_GETXATTRAT,
	unix.SYS_LISTXATTR, unix.SYS_LLISTXATTR, unix.SYS_FLISTXATTR, unix.SYS_LISTXATTRAT, unix.SYS_REMOVEXATTR, unix.SYS_LREMOVEXATTR, unix.SYS_FREMOVEXATTR, unix.SYS_REMOVEXATTRAT,
	unix.SYS_FILE_GETATTR, unix.SYS_FILE_SETATTR,
}

// sharedCalls reach what all programs of a user share where the program has no namespaces
// of its own: memory, messages and semaphores, and ports on which anybody could call it.
// Landlock does not look at a server that lets the system choose its port.
var sharedCalls = []uint32{
	unix.SYS_SHMGET, unix.SYS_SHMAT, unix.SYS_SHMCTL, unix.SYS_MSGGET, unix.SYS_MSGSND, unix.SYS_MSGRCV, unix.SYS_MSGCTL, unix.SYS_SEMGET, unix.SYS_SEMCTL, unix.SYS_MQ_OPEN, unix.SYS_MQ_UNLINK,
	unix.SYS_LISTEN,
}

// ioprioProcess says to ioprio_set that one process is meant.
const ioprioProcess = 1

// own allows a call about the process itself, which its argument n says with 0.
func own(n uint32) code {
	return together(code{argument(n)}, is(0, answer(allowed)), code{answer(refused)})
}

// withoutUser refuses a user namespace, in which a program has every capability, and with
// them much of the kernel that is closed to others.
func withoutUser() code {
	return together(code{argument(0)}, when(unix.BPF_JSET, unix.CLONE_NEWUSER, answer(refused)), code{answer(allowed)})
}

// pairs lists the pairs of sockets that can be made: of unix sockets alone, as others
// reach further, and not for datagrams, as one of such a pair could send to every unix
// socket that takes them.
func pairs() code {
	kinds := together(code{argument(1), {Code: unix.BPF_ALU | unix.BPF_AND | unix.BPF_K, K: 0xf}},
		is(unix.SOCK_STREAM, answer(allowed)), is(unix.SOCK_SEQPACKET, answer(allowed)), code{answer(refused)})
	return together(code{argument(0)}, is(unix.AF_UNIX, kinds...), code{answer(refused)})
}

// options refuses the one by which a TCP socket becomes one of another kind, which
// Landlock does not look at.
func options() code {
	other := together(code{argument(2)}, is(unix.TCP_ULP, answer(refused)), code{answer(allowed)})
	return together(code{argument(1)}, is(unix.IPPROTO_TCP, other...), code{answer(allowed)})
}

// descriptors refuses leases, by which whoever reads a file has everybody else who opens
// it wait.
func descriptors() code {
	return together(code{argument(1)}, is(unix.F_SETLEASE, answer(refused)), code{answer(allowed)})
}

// sockets lists the sockets that can be made. Pairs are made by another call.
func (p Policy) sockets() code {
	const kind, family, protocol = 1, 0, 2
	tcp := together(
		code{argument(kind), {Code: unix.BPF_ALU | unix.BPF_AND | unix.BPF_K, K: 0xf}},
		is(unix.SOCK_STREAM, together(code{argument(protocol)}, is(0, answer(allowed)), is(unix.IPPROTO_TCP, answer(allowed)))...),
		code{answer(refused)},
	)
	list := []code{{argument(family)}}
	// Without ports in Landlock only the filter can take the network away.
	if p.alone() || p.Network != None || p.System.ABI >= abiNetwork {
		list = append(list, is(unix.AF_INET, tcp...), is(unix.AF_INET6, tcp...))
	}
	routes := together(code{argument(protocol)}, is(unix.NETLINK_ROUTE, answer(allowed)), code{answer(refused)})
	return together(append(list, is(unix.AF_NETLINK, routes...), code{answer(refused)})...)
}

// hasFilters reports whether the kernel loads filters and the processor is known.
func hasFilters() bool {
	action := uint32(unix.SECCOMP_RET_ERRNO)
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_GET_ACTION_AVAIL, 0, uintptr(unsafe.Pointer(&action)))
	return nativeArch != 0 && errno == 0
}
