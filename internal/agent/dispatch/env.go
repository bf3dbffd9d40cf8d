package dispatch

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/agent/driver"
	"github.com/tidegate/tidegate/internal/agent/sandbox"
	"github.com/tidegate/tidegate/internal/base/archive"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/config"
	"github.com/tidegate/tidegate/internal/base/seal"
	"github.com/tidegate/tidegate/internal/work/audit"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/sourcing"
	"github.com/tidegate/tidegate/internal/work/store"
)

// Env is what tools and commands take from their surroundings. Main fills it, and flags
// of the command line may still change it before a tool is called.
type Env struct {
	Now     func() time.Time
	Pinned  bool   // Now is pinned by TIDEGATE_NOW; lines written under it say so
	Dir     string // the working folder, absolute
	Home    string // the folder of runs
	Apart   bool   // Home is not where the person's own commands look for runs, as in the demo
	Project string // the project folder of code reviews, absolute
	Strict  bool   // questionable code reviews are refused
	Program string // this program, by name and version, as records name it; "" where they need not
	// SignKey is the key with which a person's decisions are signed, where a run
	// asks for that: the path of a private key, or of a public one whose other
	// half the ssh-agent at AgentSocket has.
	SignKey     string
	AgentSocket string
	Passphrase  func() ([]byte, error) // asks for the passphrase of SignKey; nil where nobody can be asked
	// Signers is an allowed_signers file. With it, the runs that are made require
	// signed decisions.
	Signers    string
	Config     config.Settings      // what tidegate.toml and the environment say
	ConfigDir  string               // the folder of the user's own tidegate.toml, "" for none
	Getenv     func(string) string  // the environment, as far as configuration comes from it; nil for none
	Environ    []string             // the environment of which agents get a part; nil for that of the process
	Fetch      sourcing.Fetch       // how pages are reached; nil for the web
	Call       archive.Call         // how search services are reached; nil for the web
	Sample     *Sample              // the report of audit --demo; nil where there is none
	Recordings map[string]Recording // by the name after "recorded:"
	Workers    *Workers             // where agents work; nil: on this machine
	// Search searches for a model, as the tool that agents are lent does, and returns what was
	// found as text; Serve answers an agent that works on a task with the tools that it is
	// lent, until it or ctx ends.
	Search func(ctx context.Context, task driver.Task, q driver.Query) (string, error)
	Serve  func(ctx context.Context, task driver.Task, agent io.ReadWriter, leaks func(string) bool)

	searching *sourcing.Searching // once made
}

// Sample is a report that shows what an audit is, with the pages that it cites.
type Sample struct {
	Name   string
	Report string
	Fetch  sourcing.Fetch
}

// SealKey opens the key that seals a run or an audit. It returns the errors of
// [seal.OpenKey].
func (e *Env) SealKey() (*seal.Key, error) {
	return seal.OpenKey(artifact.Everywhere, "sign", e.SignKey, seal.Unlock{Passphrase: e.Passphrase, Agent: e.AgentSocket})
}

// Desk is where work on runs and code changes is done for a caller with that reach.
func (e *Env) Desk(reach artifact.Reach) run.Desk {
	desk := run.Desk{Now: e.Now, Pinned: e.Pinned, Program: e.Program, Reach: reach, Changes: e.Config.Changes, Sharing: e.sharing()}
	if e.SignKey == "" {
		return desk
	}
	desk.Sign = func(ctx context.Context, message []byte) ([]byte, error) {
		key, err := seal.OpenKey(reach, "sign", e.SignKey, seal.Unlock{Passphrase: e.Passphrase, Agent: e.AgentSocket})
		if err != nil {
			return nil, err
		}
		return key.Sign(ctx, message)
	}
	return desk
}

// OwnDesk is that of a person at a terminal.
func (e *Env) OwnDesk() run.Desk { return e.Desk(artifact.Everywhere) }

// FindAudit is the path of the file of the audit that a person names; ok is false where
// there is none.
func (e *Env) FindAudit(name string) (path string, ok bool) {
	path, err := audit.Find(e.Desk(artifact.Everywhere), store.Audits.Home(e.Home), e.Dir, name)
	return path, err == nil
}

// ProcessEnv is what the system tells this process: its folders, variables and clock.
// Records name it by program. It returns READ_FAILED where the working folder cannot
// be found, and INVALID_ARGS for a TIDEGATE_NOW that is not a time.
func ProcessEnv(program string) (*Env, error) {
	dir, err := os.Getwd()
	if err != nil {
		return nil, tidegate.Errorf(tidegate.ReadFailed, nil, "the working folder cannot be found: %w", err)
	}
	env := &Env{
		Now: time.Now, Dir: dir, Project: dir, Home: runsHome(), Program: program,
		SignKey: os.Getenv("TIDEGATE_SIGN_KEY"), AgentSocket: os.Getenv("SSH_AUTH_SOCK"),
		ConfigDir: configDir(), Getenv: os.Getenv,
	}
	if pinned := os.Getenv("TIDEGATE_NOW"); pinned != "" {
		at, err := time.Parse(time.RFC3339, pinned)
		if err != nil {
			return nil, tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("TIDEGATE_NOW", pinned), "TIDEGATE_NOW must be a time such as 2026-01-02T15:04:05Z, got %q", pinned)
		}
		env.Now, env.Pinned = func() time.Time { return at }, true
	}
	return env, nil
}

// runsHome is the folder that the system has for the data of programs.
func runsHome() string {
	if data := os.Getenv("XDG_DATA_HOME"); filepath.IsAbs(data) {
		return filepath.Join(data, "tidegate", "runs")
	}
	if home, err := os.UserHomeDir(); err == nil {
		return filepath.Join(home, ".local", "share", "tidegate", "runs")
	}
	return ""
}

// configDir is the folder of the user's own configuration, "" where the system
// has none.
func configDir() string {
	dir, err := os.UserConfigDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "tidegate")
}

// Relay is the MCP server by which agents reach the tools of their home, and that
// program, an absolute path, starts. A command is never taken from a run's folder, nor
// from a task that comes from another machine.
func Relay(program string) driver.Server {
	return driver.Server{Name: "tidegate", Command: program, Args: []string{"mcp", "--relay", sandbox.RelayArg}}
}

// ownRelay is the one that this program starts; nil where its path is not known.
func ownRelay() *driver.Server {
	program, err := os.Executable()
	if err != nil {
		return nil
	}
	server := Relay(program)
	return &server
}
