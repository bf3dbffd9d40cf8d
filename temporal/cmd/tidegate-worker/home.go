package main

import (
	"cmp"
	"context"
	"log/slog"
	"maps"
	"slices"

	"github.com/tidegate/tidegate/catalog"
	"github.com/tidegate/tidegate/internal/agent/dispatch"
	"github.com/tidegate/tidegate/internal/agent/engine"
	"github.com/tidegate/tidegate/temporal"
)

// workersOf is the pool on the server that the flags name. The connection lasts as long
// as the program.
func workersOf(env *catalog.Env, server *serverFlags) *dispatch.Workers {
	return &dispatch.Workers{
		Where:   "the machines of the workers",
		Program: "tidegate-worker", Flags: server.again,
		Open: func(ctx context.Context, local engine.Pool, agents map[string]engine.Agent) (engine.Pool, error) {
			queues, err := server.queues()
			if err != nil {
				return nil, err
			}
			pool := &temporal.Pool{
				Local: local, Program: env.Program,
				Agent: func(role string) string { return dispatch.Scheme(agents[role].Driver) },
				Queue: func(role string) string {
					if queue, named := queues[role]; named {
						return queue
					}
					return queues[""]
				},
			}
			if pool.LostAfter, err = duration("lost-after", server.lostAfter); err != nil {
				return nil, err
			}
			if pool.Patience, err = duration("patience", server.patience); err != nil {
				return nil, err
			}
			if pool.Priority, err = server.urgency(); err != nil {
				return nil, err
			}
			stop, err := server.observe(ctx, "tidegate_home")
			if err != nil {
				return nil, err
			}
			server.stop = stop
			server.options.Wait = cmp.Or(pool.Patience, temporal.DefaultPatience)
			server.options.Waiting = func(err error) { slog.Warn("waiting for the server", "error", err) }
			if pool.Connection, err = server.connect(ctx); err != nil {
				return nil, err
			}
			roles := slices.Sorted(maps.Keys(agents))
			// What changes files does so on this machine.
			return pool, pool.Ready(ctx, slices.DeleteFunc(roles, func(role string) bool { return role == "implementer" }))
		},
	}
}
