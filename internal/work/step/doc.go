// Package step does what a run does by rule: it takes perspectives, plans a
// wave, takes outputs, judges gates and records what the judges found. What
// each step does follows from the files of the run, whoever calls it.
//
// It pairs every row of the table of gates with its judge, a function of the
// run's files. Nothing else ever says that a gate passes, except a person who
// accepts it. It does not move a run from stage to stage: package stage does.
//
// Judging happens outside the run's lock. What was judged is compared, by
// digest, with what is there when the result is written inside it.
package step
