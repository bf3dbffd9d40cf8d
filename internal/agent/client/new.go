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
