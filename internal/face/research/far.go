package research

import (
	"context"
	"crypto/rand"
	"path/filepath"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/agent/driver"
	"github.com/tidegate/tidegate/internal/agent/engine"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/config"
	"github.com/tidegate/tidegate/internal/face/cli"
)

// Far is where agents work when that is not this machine.
type Far struct {
	Where   string // in words: "the workers at HOST:PORT"
	Program string // by which a home is resumed
	// Flags are those that say where the agents work, each with a blank before it.
	Flags func() string
	// Open returns the pool for the agents of each role, or an error where one of
	// them cannot work there. Tasks that need this machine go to local.
	Open func(ctx context.Context, local engine.Pool, agents map[string]engine.Agent) (engine.Pool, error)
}

// copiesDir is the folder, in the user's own, that has the ids of copies of runs.
const copiesDir = "copies"

// copies is how the home knows copies of folders apart; nil where its tasks stay on this
// machine.
func (e *Env) copies() func(*artifact.Folder) (string, error) {
	if e.Far == nil {
		return nil
	}
	return e.copyOf
}

// copyOf is the id of a copy of a folder, which is made where there is none. It lies
// beside what a person trusts, and not in the folder: a copy must not have it. It returns
// READ_FAILED and WRITE_FAILED.
func (e *Env) copyOf(folder *artifact.Folder) (string, error) {
	name, err := folder.Identity()
	if err != nil || e.ConfigDir == "" {
		return name, err
	}
	dir, name := filepath.Join(e.ConfigDir, copiesDir), strings.TrimPrefix(name, "sha256:")
	kept, err := artifact.Everywhere.ReadFile(copiesDir, filepath.Join(dir, name))
	if tidegate.CodeOf(err) != tidegate.FileNotFound {
		return strings.TrimSpace(string(kept)), err
	}
	id := rand.Text()
	return id, config.Places{User: dir}.Write(copiesDir, name, []byte(id+"\n"))
}

// where are the machines that agents work on.
func (c *crew) where() string {
	if c.far != nil {
		return c.far.Where
	}
	return "this machine"
}

// Hands are the agents of this machine, for a program that lends them to the homes
// of others.
type Hands struct {
	Agents  map[string]engine.Agent // by role
	Drivers map[string]driver.Driver
	Close   func()
}

// Hands finds the agent of each role as the commands do: the one that --agent names,
// else those of the configuration, else the one that is found; [CellFlags] say what
// they find in their cells. It returns INVALID_ARGS for a role without an agent,
// NOT_CONFINED, and INVALID_STATE for one that cannot work, with what helps.
func (e *Env) Hands(ctx context.Context, call cli.Invocation) (*Hands, error) {
	cells, err := cellsOf(call)
	if err != nil {
		return nil, err
	}
	named := call.Flag("agent")
	wanted := ofRun(named, "", nil, cells)
	wanted.roles = append(wanted.roles, config.CodeReviewer)
	wanted.named[config.CodeReviewer] = named
	c, err := e.crewOf(ctx, wanted)
	if err != nil {
		return nil, err
	}
	if err := c.ready(ctx, nil); err != nil {
		c.close()
		return nil, err
	}
	return &Hands{Agents: c.agents, Drivers: c.drivers, Close: c.close}, nil
}
