package driver

import (
	"context"
	"fmt"
	"io"
	"os"
	"runtime"
	"time"
)

// maxTestOutput is how many bytes a test command may write.
const maxTestOutput = 64 << 20

// TestLimit is how long a test command may take where nobody says otherwise.
const TestLimit = 15 * time.Minute

// Tests is a project's test command.
type Tests struct {
	Command string        // for the system's shell
	Dir     string        // where it runs
	Limit   time.Duration // how long it may take
	Network bool          // it may use the network
}

// RunTests runs a project's test command and returns what it wrote, with its exit
// status: -1 where it was stopped, because it took too long, wrote too much, or was
// killed. The output ends with the reason then.
//
// The command is code that an agent may have written. It gets the environment of
// an agent without the login of any, its own temporary folder, no input, no
// network but a loopback of its own where the system can take it away, and nothing
// that it started outlives it.
//
// The error is that of ctx once ctx has ended, or an [*Error] where nothing could
// be started.
func RunTests(ctx context.Context, host Host, t Tests) (output []byte, status int, err error) {
	host = host.filled()
	f, err := makeFolder(host.Temp, "")
	if err != nil {
		return nil, 0, failf(Unavailable, "no folder can be made for the tests: %v", err)
	}
	defer f.remove()
	c, err := shellCommand(host.Environ, t.Command)
	if err != nil {
		return nil, 0, failf(Unavailable, "the tests cannot be started: %v", err)
	}
	c.dir, c.scratch, c.offline, c.env = t.Dir, f.path, !t.Network, environment(host.Environ, nil, f.variables())
	written, err := f.start(c)
	if err != nil {
		return nil, 0, failf(Unavailable, "the tests cannot be started: %v", err)
	}
	defer written.Close()
	end, why := written.follow(ctx, host.Now, t.Limit)
	output, err = io.ReadAll(io.NewSectionReader(written.output, 0, maxTestOutput))
	switch {
	case ctx.Err() != nil:
		return nil, 0, context.Cause(ctx)
	case err != nil:
		return nil, 0, failf(Unavailable, "what the tests wrote cannot be read: %v", err)
	case end.Unstarted != "":
		return nil, 0, failf(Unavailable, "the tests cannot be started: %s", end.Unstarted)
	case why == late:
		return fmt.Appendf(output, "\ntidegate: the command was stopped after %v\n", t.Limit), -1, nil
	case why == flooding:
		return fmt.Appendf(output, "\ntidegate: the command was stopped after it had written %d bytes\n", maxTestOutput), -1, nil
	case end.Signal != "":
		return fmt.Appendf(output, "\ntidegate: the command ended by a signal: %s\n", end.Signal), -1, nil
	}
	return output, end.Code, nil
}

// shellCommand is a command line as a person would type it.
func shellCommand(environ []string, line string) (command, error) {
	shell, flag := "sh", "-c"
	if runtime.GOOS == "windows" {
		shell, flag = "cmd", "/c"
	}
	path, err := find(environ, shell)
	return command{path: path, args: []string{flag, line}}, err
}

// testRun is a test command at work.
type testRun struct {
	*process
	output *os.File // all that it writes
}

func (t *testRun) Close() error { return t.output.Close() }

// start starts a command that writes all it has to say into one file of f.
func (f *folder) start(c command) (*testRun, error) {
	write, read, err := f.output("output")
	if err != nil {
		return nil, err
	}
	defer write.Close()
	if err = f.write("input", nil); err == nil {
		c.stdin, err = f.root.Open("input")
	}
	if err == nil {
		defer c.stdin.Close()
		c.stdout, c.stderr = write, write
		var p *process
		if p, err = start(c); err == nil {
			return &testRun{p, read}, nil
		}
	}
	read.Close()
	return nil, err
}

// follow waits until nothing of the command is left, and ends it where a limit or
// ctx says so.
func (t *testRun) follow(ctx context.Context, now func() time.Time, limit time.Duration) (exit, reason) {
	began, why := now(), exited
	tick := time.NewTicker(poll)
	defer tick.Stop()
	gone := ctx.Done()
	for {
		select {
		case end := <-t.done:
			if why == exited && size(t.output) > maxTestOutput {
				why = flooding
			}
			return end, why
		case <-gone:
			gone = nil
			why = cancelled
			t.kill()
		case <-tick.C:
		}
		if why != exited {
			continue
		}
		switch {
		case size(t.output) > maxTestOutput:
			why = flooding
			t.kill()
		case now().Sub(began) > limit:
			why = late
			t.kill()
		}
	}
}
