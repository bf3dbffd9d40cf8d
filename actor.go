package tidegate

import "context"

// Actor says on whose authority something is done. tidegate judges agents, so
// an agent is the adversary it is built against; the person who runs it is the
// authority; a rule decides nothing and does what follows from the files.
type Actor string

// The actors.
const (
	Agent  Actor = "agent"  // `tidegate call`, MCP, drivers
	Person Actor = "person" // a named command, or the page with --allow-decisions
	Rule   Actor = "rule"   // what tidegate does by itself, no matter who started it
)

type actorKey struct{}

// WithActor is ctx for a call on the authority of actor. Faces set it once;
// nothing below them raises it.
func WithActor(ctx context.Context, actor Actor) context.Context {
	return context.WithValue(ctx, actorKey{}, actor)
}

// ActorOf is the actor of a call: [Agent], which may do the least, where none was
// set.
func ActorOf(ctx context.Context) Actor {
	if actor, ok := ctx.Value(actorKey{}).(Actor); ok {
		return actor
	}
	return Agent
}
