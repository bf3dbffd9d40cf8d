// Package temporal is a pool of agents on many machines: each task of a run is one
// standalone activity of a Temporal server, done by a [Worker] on a machine that
// has agents and their logins. Where the server is too old for standalone
// activities, a workflow of one activity takes their place.
//
// A run stays where it is: its home drives it from its folder, and hands tasks to
// a [Pool]. A task and its answer cross, nothing else. A task is executed at least
// once and accepted exactly once: a worker that is lost in the middle of one has
// spent what it spent, and another begins the task again.
//
// A worker is trusted as much as an agent: what it returns is judged at home. A
// home is trusted by a worker to spend its agents on prompts, and no further: no
// command, address or folder is ever taken from a task.
package temporal
