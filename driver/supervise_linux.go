package driver

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"

	"github.com/tidegate/tidegate/artifact"
	"golang.org/x/sys/unix"
)

// On Linux an agent runs below a supervisor: this program once more, under
// another name. It is the subreaper of everything that the agent starts, so that
// no process can leave the attempt, whatever it does to its group or session;
// it reaps them all, and ends them when this program asks for it or is gone,
// killed included. The agent itself gets a parent-death signal for the case that
// the supervisor is killed.

// supervisor is the name by which the program knows that it is one. The start of
// every program that imports this package looks for it, so that no main has to.
const supervisor = "tidegate-supervisor"

// What a supervisor has open beside its standard streams.
const (
	ordersFD = 3 // reads one byte per order; its end is the end of the program
	statusFD = 4 // writes the exit of the agent
)

func init() {
	if len(os.Args) > 2 && os.Args[0] == supervisor {
		supervise(os.Args[1], os.Args[2:])
		os.Exit(0)
	}
}

// start starts c below a supervisor.
func start(c command) (*process, error) {
	orders, give, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer orders.Close()
	take, status, err := os.Pipe()
	if err != nil {
		give.Close()
		return nil, err
	}
	defer status.Close()
	cmd := exec.Cmd{
		Path: "/proc/self/exe", // also when the file was replaced meanwhile
		Args: append([]string{supervisor, c.scratch, c.path}, c.args...),
		Env:  c.env, Dir: c.dir,
		Stdin: c.stdin, Stdout: c.stdout, Stderr: c.stderr,
		ExtraFiles:  []*os.File{orders, status},
		SysProcAttr: &syscall.SysProcAttr{Setsid: true}, // no terminal that it could ask or that could interrupt it
	}
	if err := cmd.Start(); err != nil {
		give.Close()
		take.Close()
		return nil, err
	}
	p := &process{done: make(chan exit, 1)}
	p.order = func(what byte) { give.Write([]byte{what}) }
	p.abandon = func() { cmd.Process.Kill() }
	go func() {
		text, _ := io.ReadAll(take)
		cmd.Wait()
		take.Close()
		give.Close()
		end := exit{Signal: "killed with its supervisor"}
		json.Unmarshal(text, &end)
		p.done <- end
	}()
	return p, nil
}

// supervise is the life of a supervisor. It ends when the agent and all that it
// started have ended.
func supervise(scratch string, argv []string) {
	unix.CloseOnExec(ordersFD)
	unix.CloseOnExec(statusFD)
	status := os.NewFile(statusFD, "status")
	unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
	// Signals are for the agent's group; caught ones, unlike ignored ones, are
	// not inherited.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)

	agent, err := syscall.ForkExec(argv[0], argv, &syscall.ProcAttr{
		Env: os.Environ(), Files: []uintptr{0, 1, 2},
		// This is the main thread, which lives as long as the process does.
		Sys: &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL},
	})
	if err != nil {
		json.NewEncoder(status).Encode(exit{Unstarted: err.Error()})
		return
	}
	var ending, orphaned atomic.Bool
	go func() {
		orders := os.NewFile(ordersFD, "orders")
		for buf := make([]byte, 1); ; {
			n, err := orders.Read(buf)
			switch {
			case n == 1 && buf[0] == orderStop:
				if !ending.Load() { // else the number may be another group's by now
					syscall.Kill(-agent, syscall.SIGTERM)
				}
			case n == 1, err != nil:
				orphaned.Store(err != nil)
				ending.Store(true)
				killChildren()
				if err != nil {
					return
				}
			}
		}
	}()
	var end exit
	for {
		var state syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &state, syscall.WNOHANG, nil)
		if pid == 0 && err == nil {
			// What a child had started is a child of this process before the child
			// is reaped, so that the next round kills it.
			if ending.Load() {
				killChildren()
			}
			pid, err = syscall.Wait4(-1, &state, 0, nil)
		}
		if err == syscall.EINTR {
			continue
		}
		if err != nil {
			break // no child is left
		}
		if pid == agent {
			end = exit{Code: state.ExitStatus()}
			if state.Signaled() {
				end.Signal = state.Signal().String()
			}
			ending.Store(true)
		}
	}
	if orphaned.Load() {
		removeTree(scratch)
	}
	json.NewEncoder(status).Encode(end)
}

// killChildren ends every child of this process.
func killChildren() {
	proc, err := artifact.Open(context.Background(), "proc", "/proc")
	if err != nil {
		return
	}
	defer proc.Close()
	entries, _ := proc.List(".")
	self := strconv.Itoa(os.Getpid())
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		stat, err := proc.Read(entry.Name() + "/stat")
		if err != nil {
			continue
		}
		// pid (name) state ppid …; the name may have any character in it.
		fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
		if len(fields) > 1 && fields[1] == self {
			syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}
