package sandbox

import (
	"fmt"
	"os"
	"time"

	"github.com/tidegate/tidegate/internal/agent/cell"
)

// Command is a program to be started, and what it gets.
type Command struct {
	path     string
	args     []string // without the program's name
	Env      []string
	dir      string
	scratch  string // the attempt's folder, which is removed even where this program no longer can
	cell     cell.Policy
	handover *os.File // by which the cell hands over the listeners of its policy; nil: none

	Stdin, stdout, stderr *os.File
}

// SupervisorName is the name by which the program knows that it is a supervisor of
// agents. Every program that imports this package looks for it at its start, so that
// no main has to.
const SupervisorName = "tidegate-supervisor"

// killGrace is how long a killed process may take before it is left alone: one
// that waits for a dead disk cannot be killed at all.
const killGrace = 10 * time.Second

// process is a program that was started, with all that it started itself.
type process struct {
	done    chan exit  // has one value once nothing of it is left
	order   func(byte) // orderStop or orderKill
	abandon func()     // lets go of what cannot be killed
}

func (p *process) kill() {
	p.order(orderKill)
	time.AfterFunc(killGrace, p.abandon)
}

// Orders to a process, as far as the system can tell them apart.
const (
	orderStop = 't' // SIGTERM to the agent's group
	orderKill = 'k' // SIGKILL to every descendant
)

// exit is how a program ended.
type exit struct {
	Code      int    `json:"code"`
	Signal    string `json:"signal"`    // that ended it
	Unstarted string `json:"unstarted"` // why it could not be started
}

// ok reports whether the program says that all went well.
func (e exit) ok() bool { return e == exit{} }

func (e exit) String() string {
	switch {
	case e.Unstarted != "":
		return e.Unstarted
	case e.Signal != "":
		return "signal: " + e.Signal
	}
	return fmt.Sprintf("exit status %d", e.Code)
}
