// Package catalog lists the tools that tidegate has, each declared once, one
// file per noun. An entry adapts arguments to a function of a domain package
// and says how a person calls it; it decides nothing itself.
package catalog

import (
	"context"
	"time"

	"github.com/tidegate/tidegate/internal/base/config"
	"github.com/tidegate/tidegate/internal/base/seal"
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
	Fetch     step.Fetch          // how pages are reached; nil for the web
}

// Tools lists all tools in a stable order.
func Tools(env *Env) []*tool.Tool {
	var tools []*tool.Tool
	for _, group := range [][]*tool.Tool{
		runTools(env),
		jobTools(env),
		waveTools(env),
		waveRunTools(env),
		gateTools(env),
		citationTools(env),
		pivotTools(env),
		summaryTools(env),
		synthesisTools(env),
		reviewTools(env),
	} {
		tools = append(tools, group...)
	}
	return tools
}

// Deciding is ctx for a person's decision, which may have to be signed.
func (e *Env) Deciding(ctx context.Context) context.Context {
	if e.SignKey == "" {
		return ctx
	}
	return seal.WithSign(ctx, func(ctx context.Context, message []byte) ([]byte, error) {
		key, err := seal.OpenKey(ctx, "sign", e.SignKey, seal.Unlock{Passphrase: e.Passphrase, Agent: e.AgentSocket})
		if err != nil {
			return nil, err
		}
		return key.Sign(ctx, message)
	})
}
