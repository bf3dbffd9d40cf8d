package dispatch

import (
	"context"
	"crypto/rand"
	"path/filepath"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/agent/engine"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/config"
)

// Workers are the machines that agents work on when that is not this one.
type Workers struct {
	Where   string // in words: "the workers at HOST:PORT"
	Program string // by which a home is resumed
	// Flags are those that say where the agents work, each with a blank before it.
	Flags func() string
	// Open returns the pool for the agents of each role, or an error where one of
	// them cannot work there. Tasks that need this machine go to local.
	Open func(ctx context.Context, local engine.Pool, agents map[string]engine.Agent) (engine.Pool, error)
}

// Place is where the agents work, in words.
func (w *Workers) Place() string {
	if w != nil {
		return w.Where
	}
	return "this machine"
}

// TeamToLend finds the agents of this machine, for a program that lends them to the homes of
// others: for each role the named one, else that of the configuration, else the one that is
// found. It returns INVALID_ARGS for a role without an agent, NOT_CONFINED, and INVALID_STATE
// for one that cannot work, with what helps.
func (e *Env) TeamToLend(ctx context.Context, named string, cells CellChoice) (*Team, error) {
	wanted := ForRun(named, "", nil, cells)
	wanted.Roles = append(wanted.Roles, config.CodeReviewer)
	wanted.Named[config.CodeReviewer] = named
	t, err := e.Team(ctx, wanted)
	if err != nil {
		return nil, err
	}
	if err := t.Ready(ctx, nil); err != nil {
		t.Close()
		return nil, err
	}
	return t, nil
}

// copiesDir is the folder, in the user's own, that has the ids of copies of runs.
const copiesDir = "copies"

// Copies is how the home knows copies of folders apart; nil where its tasks stay on this
// machine.
func (e *Env) Copies() func(*artifact.Folder) (string, error) {
	if e.Workers == nil {
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
