// Package gates pairs every row of the table of gates with its judge, a function of the
// run's files, and records what the judges find. Nothing else ever says that a gate
// passes, except a person who accepts it.
//
// Judging happens outside the run's lock. What was judged is compared, by digest, with
// what is there when the result is written inside it.
package gates
