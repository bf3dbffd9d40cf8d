// Package replay does a run again. It follows the log of a run in a temporary
// folder, brings it into each state that the run was in, does by rule what was done
// there by rule, and compares what comes out with what the log and the files say.
// What agents and people handed in is taken as it was kept.
//
// Seals rest on replay: a stranger can replay a sealed run.
package replay
