package tidegate

import "context"

// Actor says on whose authority something is done. tidegate judges agents, so
// an agent is the adversary it is built against; the person who runs it is the
// authority; a rule decides nothing and does what follows from the files.
type Actor struct {
	Kind ActorKind
	Name string // of a person, "" where nobody said it
	By   By     // how tidegate knows, "" for an agent
}

// ActorKind tells agents, people and rules apart.
type ActorKind string

// The kinds of actors.
const (
	Agent  ActorKind = "agent"  // `tidegate call`, MCP, drivers
	Person ActorKind = "person" // a named command, or a page that may decide or start work
	Rule   ActorKind = "rule"   // what tidegate does by itself, no matter who started it
)

// By is what an actor other than an agent is known by.
type By string

// What actors are known by.
const (
	ByTerminal By = "terminal" // it is a command that a person types
	ByToken    By = "token"    // the page was opened with its token
	ByProxy    By = "proxy"    // a proxy that tidegate trusts names them
	ByRule     By = "rule"     // it follows from the files
)

type actorKey struct{}

// WithActor is ctx for a call on the authority of actor. Faces set it once;
// nothing below them raises it.
func WithActor(ctx context.Context, actor Actor) context.Context {
	return context.WithValue(ctx, actorKey{}, actor)
}

// ActorOf is the actor of a call: an [Agent], which may do the least, where none
// was set.
func ActorOf(ctx context.Context) Actor {
	if actor, ok := ctx.Value(actorKey{}).(Actor); ok {
		return actor
	}
	return Actor{Kind: Agent}
}

// Logged is the actor as the lines of a log have it. Who a person is, and how that
// is known, stands there as far as somebody said it.
func (a Actor) Logged() Details {
	logged := Pairs("actor", a.Kind)
	if a.Kind == Person && a.By != "" {
		logged = append(logged, Detail{"by", a.By})
	}
	if a.Kind == Person && a.Name != "" {
		logged = append(logged, Detail{"who", a.Name})
	}
	return logged
}
