package dispatch

import (
	"context"
	"io"
	"time"

	"github.com/tidegate/tidegate/internal/agent/driver"
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
	Call       sourcing.Call        // how search services are reached; nil for the web
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
