//go:build unix && !linux

package sandbox

import (
	"errors"
	"os/exec"
	"syscall"
)

// start starts c in a session and group of its own. A process that leaves the
// group outlives the attempt: without a subreaper nothing finds it.
func start(c Command) (*process, error) {
	cmd := exec.Cmd{
		Path: c.path, Args: append([]string{c.path}, c.args...), Env: c.Env, Dir: c.dir,
		Stdin: c.Stdin, Stdout: c.stdout, Stderr: c.stderr,
		SysProcAttr: &syscall.SysProcAttr{Setsid: true},
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	p := &process{done: make(chan exit, 1), abandon: func() {}}
	p.order = func(what byte) {
		sig := syscall.SIGTERM
		if what == orderKill {
			sig = syscall.SIGKILL
		}
		syscall.Kill(-cmd.Process.Pid, sig)
	}
	go func() {
		err := cmd.Wait()
		p.order(orderKill)
		var failed *exec.ExitError
		end := exit{Code: cmd.ProcessState.ExitCode()}
		if errors.As(err, &failed) {
			if state := failed.Sys().(syscall.WaitStatus); state.Signaled() {
				end.Signal = state.Signal().String()
			}
		}
		p.done <- end
	}()
	return p, nil
}
