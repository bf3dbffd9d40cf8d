package sandbox

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"math"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/tidegate/tidegate/internal/agent/cell"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"golang.org/x/sys/unix"
)

// On Linux an agent runs below a supervisor: this program once more, under
// another name. It is the subreaper of everything that the agent starts, so that
// no process can leave the attempt, whatever it does to its group or session.
// It reaps them all, and ends them when this program asks for it or is gone, even
// killed. The agent itself gets a parent-death signal in case the supervisor is
// killed.
//
// Where the kernel can, a supervisor encloses itself with the agents of cells: one call
// then kills all that is left of one, however fast it starts the next. Elsewhere, it
// kills its children until there are none.
//
// A supervisor has one agent at a time. Once nothing of an attempt is left it
// waits for the next one, because starting this program costs more than starting
// a small one.

// socketFD is what a supervisor has open beside its standard streams: orders come
// in, exits go out, and it ends when the program does.
const socketFD = 3

// orderStart is the order to start an agent: its standard streams come with it, and by
// what its cell hands over listeners, then the length of an assignment and the assignment.
const orderStart = 's'

// idleTime is how long a supervisor waits for its next agent.
const idleTime = 10 * time.Second

// assignment is what a supervisor has to start.
type assignment struct {
	Path    string
	Args    []string
	Env     []string
	Dir     string
	Scratch string // removed where the program that gave the order is gone
	Cell    cell.Policy
}

// supervisor is a supervisor that this program started.
type supervisor struct {
	cmd    *exec.Cmd
	socket *os.File
	exits  *json.Decoder
	retire *time.Timer // ends it where no agent comes
}

// resting are the supervisors without an agent.
var resting struct {
	sync.Mutex
	list []*supervisor
}

// start starts c below a supervisor.
func start(c Command) (*process, error) {
	task, err := json.Marshal(assignment{Path: c.path, Args: append([]string{c.path}, c.args...), Env: lastCount(c.Env), Dir: c.dir, Scratch: c.scratch, Cell: c.cell})
	if err != nil {
		return nil, err
	}
	for {
		s, fresh, err := takeSupervisor()
		if err != nil {
			return nil, err
		}
		streams := []*os.File{c.Stdin, c.stdout, c.stderr}
		if c.handover != nil {
			streams = append(streams, c.handover)
		}
		if err = s.give(task, streams...); err == nil {
			return s.follow(c.scratch), nil
		}
		s.end() // one that waited may be gone
		if fresh {
			return nil, err
		}
	}
}

// lastCount is env with the last value of each variable alone: of two, programs take
// whichever they find.
func lastCount(env []string) []string {
	var list []string
	seen := map[string]bool{}
	for _, entry := range slices.Backward(env) {
		if name, _, _ := strings.Cut(entry, "="); !seen[name] {
			seen[name] = true
			list = append(list, entry)
		}
	}
	slices.Reverse(list)
	return list
}

// takeSupervisor takes a supervisor that has no agent, or a fresh one.
func takeSupervisor() (s *supervisor, fresh bool, err error) {
	resting.Lock()
	defer resting.Unlock()
	for len(resting.list) > 0 {
		last := len(resting.list) - 1
		s, resting.list = resting.list[last], resting.list[:last]
		if s.retire.Stop() {
			return s, false, nil
		}
	}
	s, err = newSupervisor()
	return s, true, err
}

func newSupervisor() (*supervisor, error) {
	ends, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, os.NewSyscallError("socketpair", err)
	}
	theirs := os.NewFile(uintptr(ends[1]), "supervisor")
	defer theirs.Close()
	if err := syscall.SetNonblock(ends[0], true); err != nil {
		syscall.Close(ends[0])
		return nil, err
	}
	s := &supervisor{socket: os.NewFile(uintptr(ends[0]), "supervisor")}
	s.exits = json.NewDecoder(s.socket)
	s.cmd = &exec.Cmd{
		Path: "/proc/self/exe", // also when the file was replaced meanwhile
		Args: []string{SupervisorName}, Env: []string{}, Dir: "/",
		ExtraFiles:  []*os.File{theirs},
		SysProcAttr: &syscall.SysProcAttr{Setsid: true}, // no terminal that it could ask or that could interrupt it
	}
	if err := s.cmd.Start(); err != nil {
		s.socket.Close()
		return nil, err
	}
	return s, nil
}

// give gives a supervisor an agent to start.
func (s *supervisor) give(task []byte, streams ...*os.File) error {
	var numbers []int
	for _, f := range streams {
		conn, err := f.SyscallConn()
		if err != nil {
			return err
		}
		var unset error
		if err := conn.Control(func(fd uintptr) {
			// A program expects its reads to block.
			unset = syscall.SetNonblock(int(fd), false)
			numbers = append(numbers, int(fd))
		}); err != nil {
			return err
		}
		if unset != nil {
			return unset
		}
	}
	conn, err := s.socket.SyscallConn()
	if err != nil {
		return err
	}
	var sent error
	if err := conn.Write(func(fd uintptr) bool {
		sent = syscall.Sendmsg(int(fd), []byte{orderStart}, syscall.UnixRights(numbers...), nil, 0)
		return sent != syscall.EAGAIN
	}); err != nil {
		return err
	}
	if sent != nil {
		return sent
	}
	_, err = s.socket.Write(append(binary.NativeEndian.AppendUint32(nil, uint32(len(task))), task...))
	return err
}

// follow is the process of the agent that s was given, whose temporary files are in
// scratch. Orders that come after its end have no effect.
func (s *supervisor) follow(scratch string) *process {
	var mu sync.Mutex
	ended := false
	unlessEnded := func(do func()) {
		mu.Lock()
		defer mu.Unlock()
		if !ended {
			do()
		}
	}
	p := &process{done: make(chan exit, 1)}
	p.order = func(what byte) { unlessEnded(func() { s.socket.Write([]byte{what}) }) }
	p.abandon = func() { unlessEnded(func() { s.cmd.Process.Kill() }) }
	go func() {
		end := exit{Signal: "killed with its supervisor"}
		err := s.exits.Decode(&end)
		unlessEnded(func() { ended = true })
		if err == nil {
			s.rest()
		} else {
			s.end()
			endOrphans(scratch)
		}
		p.done <- end
	}()
	return p
}

// endOrphans ends what is left of an agent that has killed its supervisor. The
// system has given its children to another parent; they are found by the variable
// that names their temporary folder. One that has removed the variable stays.
func endOrphans(scratch string) {
	mark := []byte("\x00TMPDIR=" + scratch + "/tmp\x00")
	for end := time.Now().Add(killGrace); time.Now().Before(end); time.Sleep(poll) {
		left := false
		eachProcess(func(pid int, proc *artifact.Folder, dir string) {
			environ, err := proc.Read(dir + "/environ")
			if err == nil && bytes.Contains(append([]byte{0}, environ...), mark) {
				left = true
				syscall.Kill(pid, syscall.SIGKILL)
			}
		})
		if !left {
			return
		}
	}
}

// rest lets s wait for its next agent.
func (s *supervisor) rest() {
	resting.Lock()
	defer resting.Unlock()
	s.retire = time.AfterFunc(idleTime, s.end)
	resting.list = append(resting.list, s)
}

// EndResting ends the supervisors that wait for an agent.
func EndResting() {
	resting.Lock()
	defer resting.Unlock()
	for _, s := range resting.list {
		if s.retire.Stop() {
			s.end()
		}
	}
	resting.list = nil
}

// end lets a supervisor go, which ends it.
func (s *supervisor) end() {
	s.socket.Close()
	s.cmd.Wait()
}

func init() {
	if len(os.Args) == 1 && os.Args[0] == SupervisorName {
		supervise()
		os.Exit(0)
	}
}

// ward is the agent that a supervisor has at the moment.
type ward struct {
	begun    chan struct{}  // has a value once an agent was started, or could not be
	children chan os.Signal // has a value when a child has ended
	kill     chan struct{}  // has a value when all are to end
	enclosed bool           // see [cell.Enclose]; of the main thread, which alone may kill all
	net      cell.Net       // that agents in cells have one after the other

	mu      sync.Mutex
	agent   int // 0 when there is none
	ending  bool
	scratch string
	lost    bool // the program that gives orders is gone
}

// supervise is the life of a supervisor. It ends with the program that started it.
func supervise() {
	// An agent gets nothing that was open when the program was started. On a system
	// without this call, only the socket is kept from it.
	if unix.CloseRange(socketFD, math.MaxInt32, unix.CLOSE_RANGE_CLOEXEC) != nil {
		unix.CloseOnExec(socketFD)
	}
	unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
	// Signals are for the agent's group. They are caught because, unlike ignored
	// ones, caught signals are not inherited.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	w := ward{begun: make(chan struct{}), children: make(chan os.Signal, 1), kill: make(chan struct{}, 1)}
	signal.Notify(w.children, syscall.SIGCHLD)
	given := make(chan started)
	go w.obey(given)
	// This is the main thread, which lives as long as the process: an agent's
	// parent-death signal follows the thread that started it.
	runtime.LockOSThread()
	for next := range given {
		status, err := json.Marshal(w.raise(next))
		if err == nil {
			_, err = syscall.Write(socketFD, append(status, '\n'))
		}
		if err != nil {
			return
		}
	}
}

// started is an assignment with the streams that came with it.
type started struct {
	assignment
	streams []int
}

// obey takes orders until the program that gives them is gone.
func (w *ward) obey(given chan<- started) {
	defer close(given)
	for {
		what, streams, err := readOrder()
		next := started{streams: streams}
		if what == orderStart && err == nil {
			next.assignment, err = readAssignment()
		}
		switch {
		case err != nil:
			w.mu.Lock()
			w.lost, w.ending = true, true
			w.mu.Unlock()
			w.wake()
			return
		case what == orderStart:
			given <- next
			<-w.begun // the next order is for this agent
		case what == orderStop:
			w.mu.Lock()
			if w.agent != 0 && !w.ending { // else the number may be another group's by now
				syscall.Kill(-w.agent, syscall.SIGTERM)
			}
			w.mu.Unlock()
		default:
			w.mu.Lock()
			w.ending = w.agent != 0
			w.mu.Unlock()
			w.wake()
		}
	}
}

// wake has the main thread see that all are to end.
func (w *ward) wake() {
	select {
	case w.kill <- struct{}{}:
	default:
	}
}

// readOrder reads one order, and the files that came with it.
func readOrder() (what byte, files []int, err error) {
	buf, rights := make([]byte, 1), make([]byte, syscall.CmsgSpace(4*4))
	var n, size int
	for {
		n, size, _, _, err = syscall.Recvmsg(socketFD, buf, rights, syscall.MSG_CMSG_CLOEXEC)
		if err != syscall.EINTR {
			break
		}
	}
	if err == nil && n == 0 {
		err = io.EOF
	}
	if err != nil || size == 0 {
		return buf[0], nil, err
	}
	messages, err := syscall.ParseSocketControlMessage(rights[:size])
	if err == nil && len(messages) == 1 {
		files, err = syscall.ParseUnixRights(&messages[0])
	}
	if err == nil && len(files) < 3 {
		err = errors.New("an order came without its files")
	}
	return buf[0], files, err
}

func readAssignment() (a assignment, err error) {
	socket := fd(socketFD)
	var size uint32
	if err = binary.Read(socket, binary.NativeEndian, &size); err != nil {
		return a, err
	}
	text := make([]byte, size)
	if _, err = io.ReadFull(socket, text); err != nil {
		return a, err
	}
	return a, json.NewDecoder(bytes.NewReader(text)).Decode(&a)
}

// fd is a descriptor that is read directly.
type fd int

func (d fd) Read(p []byte) (int, error) {
	for {
		n, err := syscall.Read(int(d), p)
		switch {
		case err == syscall.EINTR:
		case err == nil && n == 0 && len(p) > 0:
			return 0, io.EOF
		default:
			return max(n, 0), err
		}
	}
}

// raise starts an agent and waits until it and all that it started have ended.
func (w *ward) raise(next started) exit {
	program := cell.Program{Path: next.Path, Args: next.Args, Env: next.Env, Dir: next.Dir, Files: [3]int(next.streams), Listeners: -1}
	if next.Cell.Confined {
		w.enclosed = w.enclosed || cell.Enclose()
		program.Net = &w.net
	}
	if len(next.streams) > 3 {
		program.Listeners = next.streams[3]
	}
	agent, err := cell.Start(next.Cell, program)
	if err != nil && !next.Cell.Confined && next.Cell.System.Namespace {
		// Without a cell, a network of its own is had where the system allows it.
		next.Cell.System.Namespace = false
		agent, err = cell.Start(next.Cell, program)
	}
	for _, stream := range next.streams {
		syscall.Close(stream)
	}
	if err == nil {
		w.mu.Lock()
		w.agent, w.scratch, w.ending = agent, next.Scratch, false
		w.mu.Unlock()
	}
	w.begun <- struct{}{}
	if err != nil {
		return exit{Unstarted: err.Error()}
	}
	end := w.reap(agent)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.agent = 0; w.lost {
		removeTree(w.scratch)
	}
	return end
}

// reap waits for every child, and returns how the agent ended. Once the agent has
// ended, what it left is killed.
func (w *ward) reap(agent int) (end exit) {
	struck := false
	for {
		// At once, and not when there is nobody to reap: they may be more every moment.
		if !struck && w.isEnding() {
			struck = true
			w.killAll()
		}
		var state syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &state, syscall.WNOHANG, nil)
		switch {
		case err == syscall.EINTR:
		case err != nil:
			return end // no child is left
		case pid == 0:
			// Before a child is reaped, what it had started is already a child of
			// this process, so that the next round kills it.
			if w.isEnding() {
				w.killAll()
			}
			select {
			case <-w.children:
			case <-w.kill:
			}
		case pid == agent:
			agent = 0 // the number may be another's from now on
			end = exit{Code: state.ExitStatus()}
			if state.Signaled() {
				end.Signal = state.Signal().String()
			}
			w.mu.Lock()
			w.ending = true
			w.mu.Unlock()
		}
	}
}

func (w *ward) isEnding() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.ending
}

// killAll ends all that is left of an agent, or at least every child of this process.
func (w *ward) killAll() {
	if w.enclosed {
		syscall.Kill(-1, syscall.SIGKILL)
		return
	}
	killChildren()
}

// killChildren ends every child of this process.
func killChildren() {
	self := strconv.Itoa(os.Getpid())
	eachProcess(func(pid int, proc *artifact.Folder, dir string) {
		stat, err := proc.Read(dir + "/stat")
		if err != nil {
			return
		}
		// pid (name) state ppid …; the name may have any character in it.
		fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
		if len(fields) > 1 && fields[1] == self {
			syscall.Kill(pid, syscall.SIGKILL)
		}
	})
}

// eachProcess calls do for every process, with its folder in proc.
func eachProcess(do func(pid int, proc *artifact.Folder, dir string)) {
	proc, err := artifact.Everywhere.Open("proc", "/proc")
	if err != nil {
		return
	}
	defer proc.Close()
	entries, _ := proc.List(".")
	for _, entry := range entries {
		if pid, err := strconv.Atoi(entry.Name()); err == nil {
			do(pid, proc, entry.Name())
		}
	}
}

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
