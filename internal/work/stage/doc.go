// Package stage holds the rules of a run: one table of stage × status that says
// what may follow what, the preconditions of every move, and the operations
// that go by them: advance, patch, retry, watchdog, pause, resume and cancel.
// Nothing else moves a run.
//
// The table is data and prints itself. A refused move names every precondition
// that is not met, each with what would meet it.
//
// The package does not judge outputs and does not write files itself: package run
// reads and writes, under the run's lock, what the rules decide.
package stage
