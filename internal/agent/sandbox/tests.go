package sandbox

import (
	"context"
	"fmt"
	"path/filepath"
	"runtime"
	"time"

	"github.com/tidegate/tidegate/internal/agent/cell"
	"github.com/tidegate/tidegate/internal/agent/driver"
)

// TestLimit is how long a test command may take where nobody says otherwise.
const TestLimit = 15 * time.Minute

// Tests is a project's test command.
type Tests struct {
	Command string // for the system's shell
	Dir     string // where it runs
	// Fill puts the files into a folder of the tests' own, in which Dir is relative; nil:
	// they run in Dir itself.
	Fill         func(ctx context.Context, folder string) error
	Limit        time.Duration // how long it may take
	Network      bool          // it may use the network
	driver.Cells               // how it is kept
}

// In is t kept in these cells.
func (t Tests) In(cells driver.Cells) Tests {
	t.Cells = cells
	return t
}

// RunTests runs a project's test command and returns what it wrote, with its exit
// status: -1 where it was stopped, because it took too long, wrote too much, or was
// killed. The output ends with the reason then.
//
// The command is code that an agent may have written. It runs in the cell of an
// agent that works in its folder, without the login of any, with no input, with no
// network but a loopback of its own, and nothing that it started outlives it.
//
// The error is that of ctx once ctx has ended, NOT_CONFINED or INVALID_ARGS where
// there is no such cell, that of Fill, or an [*Error] where nothing could be started.
func RunTests(ctx context.Context, host driver.Host, t Tests) (output []byte, status int, err error) {
	host.Cells = t.Cells
	m := On(host, nil)
	f, err := makeFolder(m.Temp, "")
	if err != nil {
		return nil, 0, driver.Failf(driver.Unavailable, "no folder can be made for the tests: %v", err)
	}
	defer f.remove()
	if t.Fill != nil {
		if err := t.Fill(ctx, f.In("work")); err != nil {
			return nil, 0, err
		}
		t.Dir = f.In(filepath.Join("work", filepath.FromSlash(t.Dir)))
	}
	c, err := shellCommand(m.Environ, t.Command)
	if err != nil {
		return nil, 0, driver.Failf(driver.Unavailable, "the tests cannot be started: %v", err)
	}
	network := cell.None
	if t.Network {
		network = cell.Web
	}
	l, err := m.Prepare(f, Program{Path: c.path, Task: driver.Task{Folder: t.Dir}, shut: true, Access: driver.Access{Network: network}}, nil)
	if err != nil {
		return nil, 0, err
	}
	defer l.Close()
	c = l.Command(c.path, c.args, t.Dir)
	if m.Unconfined && !t.Network {
		c.cell.Network, c.cell.System.Namespace = cell.None, true
	}
	written := &Text{}
	a := &Attempt{Name: "the test command", Task: driver.Task{Limits: driver.Limits{Deadline: t.Limit}}, Stream: written, Output: MaxOutput,
		Plain: true, Joined: true, Now: m.Now, Event: func(driver.Event) {}}
	end, why, _, err := a.execute(ctx, c, f)
	switch stopped := "\ntidegate: the command was stopped after "; {
	case ctx.Err() != nil:
		return nil, 0, context.Cause(ctx)
	case err != nil:
		return nil, 0, err
	case end.Unstarted != "":
		return nil, 0, driver.Failf(driver.Unavailable, "the tests cannot be started: %s", end.Unstarted)
	case why == late:
		return fmt.Appendf(written.all, "%s%v\n", stopped, t.Limit), -1, nil
	case why == flooding:
		return fmt.Appendf(written.all, "%sit had written %d bytes\n", stopped, MaxOutput), -1, nil
	case end.Signal != "":
		return fmt.Appendf(written.all, "\ntidegate: the command ended by a signal: %s\n", end.Signal), -1, nil
	}
	return written.all, end.Code, nil
}

// shellCommand is a command line as a person would type it.
func shellCommand(environ []string, line string) (Command, error) {
	shell, flag := "sh", "-c"
	if runtime.GOOS == "windows" {
		shell, flag = "cmd", "/c"
	}
	path, err := Find(environ, shell)
	return Command{path: path, args: []string{flag, line}}, err
}
