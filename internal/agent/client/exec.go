package client

import (
	"cmp"
	"context"
	"strconv"

	"github.com/tidegate/tidegate/internal/agent/cell"
	"github.com/tidegate/tidegate/internal/agent/driver"
	"github.com/tidegate/tidegate/internal/agent/sandbox"
)

// program is the driver exec: any program, with the prompt on its standard
// input, its answer on its standard output, and an exit status. It has no
// sessions and no events, and gets the job's id, kind and attempt in its
// environment.
type program struct {
	settings driver.Settings
	machine  sandbox.Machine
	argv     []string
}

func newExec(settings driver.Settings, machine sandbox.Machine, command string) (driver.Driver, error) {
	argv, ok := words(command)
	if !ok {
		return nil, driver.Invalid(settings, "%q names no program; expected exec:COMMAND, with quotes that are closed", settings.Driver)
	}
	return &program{settings, machine, argv}, nil
}

func (d *program) Run(ctx context.Context, task driver.Task, event func(driver.Event)) (driver.Answer, error) {
	a := &sandbox.Attempt{
		Name: d.argv[0], Task: task, Stream: &sandbox.Text{}, Output: int64(task.Limits.MostAnswer()), Plain: true,
		Now: d.machine.Now, Event: event,
	}
	path, err := sandbox.Find(d.machine.Environ, d.argv[0])
	if err != nil {
		return driver.Answer{}, driver.CannotStart(d.argv[0], err)
	}
	return d.machine.InFolder("", task, func(f *sandbox.Folder, task driver.Task) (driver.Answer, error) {
		l, err := d.machine.Prepare(f, programOf(d.settings, path, d.argv[1:], task), d.settings.Env)
		if err != nil {
			return driver.Answer{}, err
		}
		defer l.Close()
		l.Env = append(l.Env, "TIDEGATE_JOB="+task.Job, "TIDEGATE_KIND="+task.Kind, "TIDEGATE_ATTEMPT="+strconv.Itoa(task.Attempt))
		return a.RunIn(ctx, l, l.Command(path, d.argv[1:], task.Folder), f)
	})
}

// programOf is a program of any kind: what its arguments name may be read, and it has
// no network unless a person says so.
func programOf(s driver.Settings, path string, args []string, task driver.Task) sandbox.Program {
	t := sandbox.Program{Path: path, Args: args, Task: task, Access: s.Access}
	t.Network = networkOf(s)
	return t
}

func networkOf(s driver.Settings) cell.Network { return cmp.Or(s.Network, cell.None) }

// Check also makes the cell ready, which refuses a folder that cannot be allowed.
func (d *program) Check(context.Context) (string, error) {
	path, err := sandbox.Find(d.machine.Environ, d.argv[0])
	if err != nil {
		return "", driver.CannotStart(d.argv[0], err)
	}
	_, err = d.machine.InFolder("", driver.Task{}, func(f *sandbox.Folder, task driver.Task) (driver.Answer, error) {
		_, err := d.machine.Policy(f, programOf(d.settings, path, d.argv[1:], task), nil)
		return driver.Answer{}, err
	})
	return "", err
}
