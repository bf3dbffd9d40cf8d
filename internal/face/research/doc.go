// Package research takes a question to its report for a person: the commands
// research, run continue and run watch, which start agents on a run, show what
// happens, and say at the end what came out and what to type next.
//
// The files of a run and package engine decide what happens in it. This package
// asks the person, provides the agents, and shows the run.
package research
