// Package research takes a question to its report for a person: the commands
// research, run continue and run watch, which start agents on a run, show what
// happens, and say at the end what came out and what to type next.
//
// What happens in a run is decided by its files and by package engine. This
// package asks the person, hands the agents over, and shows.
package research
