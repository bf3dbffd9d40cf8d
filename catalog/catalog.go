// Package catalog lists the tools that tidegate has, each declared once, one
// file per noun. An entry adapts arguments to a function of a domain package
// and says how a person calls it; it decides nothing itself.
package catalog

import (
	"context"
	"slices"
	"time"

	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/config"
	"github.com/tidegate/tidegate/internal/base/seal"
	"github.com/tidegate/tidegate/internal/work/audit"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/step"
	"github.com/tidegate/tidegate/tool"
)

// Env is what the tools take from their surroundings. Main fills it, and flags
// of the command line may still change it before a tool is called.
type Env struct {
	Now     func() time.Time
	Pinned  bool   // Now is pinned by TIDEGATE_NOW; lines written under it say so
	Dir     string // the working folder, absolute
	Home    string // the folder of runs
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
	Signers   string
	Config    config.Settings     // what tidegate.toml and the environment say
	ConfigDir string              // the folder of the user's own tidegate.toml, "" for none
	Getenv    func(string) string // the environment, as far as configuration comes from it; nil for none
	Environ   []string            // the environment of which agents get a part; nil for that of the process
	Fetch     step.Fetch          // how pages are reached; nil for the web
	Call      step.Call           // how search services are reached; nil for the web
	Sample    *Sample             // the report of audit --demo; nil where there is none
	// SecondReader makes the agent ready that reads an audited report, too; nil where no
	// agents are driven. Read returns why not all of it was read, and done ends its use.
	SecondReader func(ctx context.Context, named string, say func(line string)) (read func(ctx context.Context, parts *audit.Parts) (why string, err error), done func(), err error)

	searching *step.Searching // once made
}

// Tools lists all tools in a stable order.
func Tools(env *Env) []*tool.Tool {
	return slices.Concat(
		runTools(env),
		jobTools(env),
		searchTools(env),
		waveTools(env),
		waveRunTools(env),
		gateTools(env),
		citationTools(env),
		claimTools(env),
		auditTools(env),
		libraryTools(env),
		pivotTools(env),
		summaryTools(env),
		synthesisTools(env),
		reviewTools(env),
	)
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

// at is a tool's function that does what do does at the desk of its caller.
func at[In, Out any](env *Env, do func(context.Context, run.Desk, In) (Out, error)) func(context.Context, tool.Caller, In) (Out, error) {
	return func(ctx context.Context, call tool.Caller, in In) (Out, error) {
		return do(ctx, env.Desk(call.Reach), in)
	}
}
