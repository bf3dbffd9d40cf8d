package sandbox

import "os/exec"

// start starts c. Every order kills it, and what it started itself outlives it.
func start(c Command) (*process, error) {
	cmd := exec.Cmd{
		Path: c.path, Args: append([]string{c.path}, c.args...), Env: c.Env, Dir: c.dir,
		Stdin: c.Stdin, Stdout: c.stdout, Stderr: c.stderr,
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	p := &process{done: make(chan exit, 1), abandon: func() {}}
	p.order = func(byte) { cmd.Process.Kill() }
	go func() {
		cmd.Wait()
		p.done <- exit{Code: cmd.ProcessState.ExitCode()}
	}()
	return p, nil
}
