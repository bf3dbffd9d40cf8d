package driver

import (
	"context"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
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
	folders *folders
	machine func() []string // what every agent may read, found once: the system's own, and tools
}

// New returns the driver that settings name. It returns INVALID_ARGS for a name
// that no driver has, and for a command or folder that is missing or malformed, and
// ENDPOINT_INVALID for an address. [Check] and Run find out whether the client is there.
func New(settings Settings, host Host) (Driver, error) {
	host = host.filled()
	for _, c := range clients {
		if settings.Driver == c.name {
			return &headless{client: c, settings: settings, host: host}, nil
		}
	}
	name, what, _ := strings.Cut(settings.Driver, ":")
	switch name {
	case "exec":
		return newExec(settings, host, what)
	case "acp":
		return newACP(settings, host, what)
	case "api", "model":
		return newModel(settings, host)
	case "recorded":
		return newRecorded(settings, what)
	}
	if near := meant(settings.Driver); near != "" {
		return nil, invalid(settings, "%q names no driver; did you mean %s?", settings.Driver, near)
	}
	return nil, invalid(settings, "%q names no driver; expected claude, codex, opencode, gemini, api:SERVICE, model:URL, exec:COMMAND, acp:COMMAND or recorded:DIR", settings.Driver)
}

// filled is the host with what is left to it.
func (h Host) filled() Host {
	if h.Now == nil {
		h.Now = time.Now
	}
	if h.Environ == nil {
		h.Environ = os.Environ()
	}
	if h.Temp == "" {
		h.Temp = os.TempDir()
	}
	h.folders = &folders{}
	h.machine = sync.OnceValue(func() []string {
		return cell.Named(slices.DeleteFunc(slices.Concat(common()["read"], h.tools()), func(path string) bool { return !exists(path) }))
	})
	return h
}

func invalid(settings Settings, format string, args ...any) error {
	return tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("driver", tidegate.Cut(settings.Driver)), format, args...)
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
