// Package step does what a run does by rule before its sources are judged and its report
// is written: it takes perspectives, plans waves, takes outputs, decides the pivot, packs
// summaries. What each step does follows from the files of the run, whoever calls it.
//
// It does not move a run from stage to stage: package stage does.
package step
