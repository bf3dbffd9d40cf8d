package engine

import "time"

// WithWall is the options with another clock of the machine.
func WithWall(o Options, wall func() time.Time) Options {
	o.wall = wall
	return o
}
