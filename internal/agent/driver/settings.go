package driver

import (
	"context"
	"io"
	"os"
	"time"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/agent/cell"
)

// Settings say which driver to use, and what a person allows it beyond what every
// driver gets.
type Settings struct {
	// Driver is claude, codex, opencode, gemini, api:SERVICE, model:URL,
	// exec:COMMAND, acp:COMMAND or recorded:DIR.
	Driver string
	// Model is the one that tasks will ask for; empty: the agent's own choice. An
	// endpoint is asked beforehand whether it has it.
	Model string
	// URL is where the service of api:SERVICE is; empty: where a variable says, else
	// its own address.
	URL string
	// Env names further variables of the person's environment that the agent
	// gets. A name that ends in * stands for all that begin with it.
	Env []string
	// KeyEnv names the variable that holds the key of an endpoint; empty: the usual
	// one of a service, and TIDEGATE_MODEL_KEY for model:URL, where it is set.
	KeyEnv string
	// Priced says that the person has given the tokens a price, so that the driver
	// reports no cost.
	Priced bool
	Access
}

// Host is what drivers take from the machine that they run on.
type Host struct {
	Now     func() time.Time // for limits; nil: time.Now
	Environ []string         // the person's environment, of which agents get a part; nil: os.Environ()
	Temp    string           // where attempts have their folders; empty: os.TempDir()

	// What the model driver's tools use. Open returns the text of a page and
	// decides whether it may be opened; nil: there is no such tool.
	Open func(ctx context.Context, task Task, url string) (string, error)
	// Search searches for the holder of the task's lease, and returns what was found as
	// text; nil, or no lease: there is no such tool.
	Search func(ctx context.Context, task Task, q Query) (string, error)

	// Tools answers an agent that speaks MCP to the home that gave it the task; nil:
	// the home has nothing to say. It ends with ctx, or with what agent says. Leaks
	// reports whether a text has a token or key in it that the agent works with.
	Tools func(ctx context.Context, task Task, agent io.ReadWriter, leaks func(text string) bool)

	Cells
}

// Filled is the host with what is left to it.
func (h Host) Filled() Host {
	if h.Now == nil {
		h.Now = time.Now
	}
	if h.Environ == nil {
		h.Environ = os.Environ()
	}
	if h.Temp == "" {
		h.Temp = os.TempDir()
	}
	return h
}

func Invalid(settings Settings, format string, args ...any) error {
	return tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("driver", tidegate.Cut(settings.Driver)), format, args...)
}

// Cells says how a host keeps agents in cells. The zero value confines them by what
// the machine has.
type Cells struct {
	Unconfined bool             // agents work with the person's rights, on the person's files: a person's decision
	Forbidden  []cell.Forbidden // what no agent may reach: the home, the person's keys and configuration
	System     cell.System      // what cells are made of; zero: what this machine has
}

// Access is what a person gives the agents of a role beyond what every cell holds.
type Access struct {
	Read    []string // files and folders, absolute
	Write   []string // folders, absolute
	Network cell.Network
}
