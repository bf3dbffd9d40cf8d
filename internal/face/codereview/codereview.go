// Package codereview has the commands that let agents review and change code: review run and
// what is done with its findings, reviews of pull requests, and change run.
package codereview

import (
	"context"
	_ "embed"
	"slices"

	"github.com/tidegate/tidegate/internal/agent/dispatch"
	"github.com/tidegate/tidegate/internal/base/config"
	"github.com/tidegate/tidegate/internal/face/cli"
	"github.com/tidegate/tidegate/internal/face/screen"
	"github.com/tidegate/tidegate/internal/work/forge"
)

//go:embed commands.md
var commandTexts string

// commands are those of an environment.
type commands struct{ *dispatch.Env }

// Commands are those about code.
func Commands(env *dispatch.Env) []cli.Command {
	e := commands{env}
	return cli.Described(commandTexts, slices.Concat(reviewCommands(e), forgeCommands(e), changeCommands(e), lifeCommands(e),
		[]cli.Command{fixCommand(e), applyCommand(e)}))
}

// session is one call of a command about code.
type session struct {
	*screen.Session
	settings *config.Config    // those that count for a review; nil: those of the working folder
	decided  []forge.Dismissal // by persons on the forge
}

// onCode is a command that a person types. It ends with the exit status that do returns.
func (e commands) onCode(ctx context.Context, call cli.Invocation, do func(*session, context.Context) (int, error)) error {
	s := &session{Session: screen.NewSession(e.Env, call)}
	return s.End(do(s, byTerminal(ctx)))
}
