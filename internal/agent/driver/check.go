package driver

import (
	"context"
)

// checker is a driver that can say, before the first task and at no cost,
// whether its agent can be asked.
type checker interface {
	Check(ctx context.Context) (version string, err error)
}

// Check says whether the agent of d can be asked, before the first task and at
// no cost, and which version it is where it has one. An error is an [*Error], with
// what helps: [Unavailable] for a client that is not installed or too old, [Auth]
// for one that is not logged in. NOT_CONFINED and INVALID_ARGS are for an agent that
// cannot be kept in a cell, or not in the one that a person wants. What only a model
// can say shows with the first task.
func Check(ctx context.Context, d Driver) (version string, err error) {
	if c, ok := d.(checker); ok {
		return c.Check(ctx)
	}
	return "", nil // a driver from outside this package
}

// keeper is a driver that keeps folders for repairs.
type keeper interface{ Forget(session string) }

// Forget removes the folder that d keeps because the answer with this session may
// be repaired; with an empty session, all that it keeps.
func Forget(d Driver, session string) {
	if k, ok := d.(keeper); ok {
		k.Forget(session)
	}
}
