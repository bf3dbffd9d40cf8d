// Package engine gets the work of a run done. [Settle] does everything that
// needs no agent and says what is open; [Drive] is the only loop: settle, lease
// what is open to agents as far as parallelism and budget allow, hand in, settle.
//
// Whatever happens, the run's folder is the only truth: restarted after any
// crash, both do the same from the files. Agents run in a [Pool], on this machine
// or on others; only a task and its answer cross between them.
package engine
