// Package client starts agents: one agent on one task, which returns its answer
// or a [driver.Error] that says what kind of failure it was.
//
// Agents hang, flood, die, refuse and leave processes behind. Whatever one does,
// Run returns within its limits, and nothing of the attempt is left: no process,
// no socket, no temporary folder, except that of an answer that may be repaired,
// until the repair or [driver.Forget]. Success is a complete answer that is not empty,
// never an exit status alone.
package client

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/tidegate/tidegate/internal/agent/cell"
	"github.com/tidegate/tidegate/internal/agent/driver"
	"github.com/tidegate/tidegate/internal/agent/model"
	"github.com/tidegate/tidegate/internal/agent/sandbox"
	"github.com/tidegate/tidegate/internal/base/codec"
)

// New returns the driver that settings name. It returns INVALID_ARGS for a name
// that no driver has, and for a command or folder that is missing or malformed, and
// ENDPOINT_INVALID for an address. [driver.Check] and Run find out whether the client is there.
func New(settings driver.Settings, host driver.Host) (driver.Driver, error) {
	machine := sandbox.On(host, modelHosts())
	for _, c := range clients {
		if settings.Driver == c.name {
			return &headless{client: c, settings: settings, machine: machine}, nil
		}
	}
	name, what, _ := strings.Cut(settings.Driver, ":")
	switch name {
	case "exec":
		return newExec(settings, machine, what)
	case "acp":
		return newACP(settings, machine, what)
	case "api", "model":
		return model.New(settings, host, meant(settings.Driver))
	case "recorded":
		return newRecorded(settings, what)
	}
	if near := meant(settings.Driver); near != "" {
		return nil, driver.Invalid(settings, "%q names no driver%s", settings.Driver, near)
	}
	return nil, driver.Invalid(settings, "%q names no driver; expected claude, codex, opencode, gemini, api:SERVICE, model:URL, exec:COMMAND, acp:COMMAND or recorded:DIR", settings.Driver)
}

// words splits a command as a shell does: at blanks, except within quotes and
// after a backslash. Nothing is expanded.
func words(command string) ([]string, bool) {
	var list []string
	var word strings.Builder
	var quote rune
	inside, escaped := false, false
	for _, r := range command {
		switch {
		case escaped:
			word.WriteRune(r)
			escaped = false
		case r == '\\' && quote != '\'':
			escaped, inside = true, true
		case r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case r == '\'' || r == '"':
			quote, inside = r, true
		case r == ' ' || r == '\t' || r == '\n':
			if inside {
				list = append(list, word.String())
				word.Reset()
			}
			inside = false
		default:
			word.WriteRune(r)
			inside = true
		}
	}
	if inside {
		list = append(list, word.String())
	}
	return list, quote == 0 && !escaped && len(list) > 0 && list[0] != ""
}

// meant asks for the driver that a misspelt name probably stands for, as the end of a
// message; "" where none is near.
func meant(name string) string {
	var names []string
	for _, c := range clients {
		names = append(names, c.name)
	}
	for _, e := range model.Endpoints() {
		if names = append(names, e.Driver); e.Driver == "api:"+name {
			return "; did you mean " + e.Driver + "?"
		}
	}
	if near := codec.Nearest(name, names); near != "" {
		return "; did you mean " + near + "?"
	}
	return ""
}

// NetworkOf is what the agent of d may reach from its cell, at a task with tools for the
// web or without, and the model on this machine that is all of it; "" for one that needs no
// cell, because no program is started.
func NetworkOf(d driver.Driver, web bool) (network cell.Network, address string) {
	switch d := d.(type) {
	case *headless:
		return d.network(web), ""
	case *acp:
		return networkOf(d.settings), d.settings.ModelAddress
	case *program:
		return networkOf(d.settings), d.settings.ModelAddress
	}
	return "", ""
}

// Asks is what answers behind d, the same however d is named: a service, a client, a program or
// a recording. Told says that it asks the model that it is told.
func Asks(d driver.Driver) (what string, told bool) {
	if place, ok := model.PlaceOf(d, ""); ok {
		return place.Service, true
	}
	switch d := d.(type) {
	case *headless:
		return d.client.name, true
	case *acp:
		return commandOf(d.machine.Environ, d.argv), true
	case *program:
		return commandOf(d.machine.Environ, d.argv), false
	}
	return fmt.Sprint(d), false
}

// commandOf is a command with the whole path of its program.
func commandOf(environ, argv []string) string {
	path := argv[0]
	if found, err := sandbox.Find(environ, path); err == nil {
		path = found
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	return strings.Join(append([]string{path}, argv[1:]...), " ")
}

// FilesOf are the files and folders that a command names among its arguments, and that the
// cell of its agent therefore has to read; none for a driver that starts no command.
func FilesOf(d driver.Driver) []string {
	switch d := d.(type) {
	case *acp:
		return sandbox.NamedIn(d.argv[1:])
	case *program:
		return sandbox.NamedIn(d.argv[1:])
	}
	return nil
}

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
