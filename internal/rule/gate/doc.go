// Package gate says what a gate is: the document gates.v1, the table of the
// gates that every run has, what a judge finds, and the binding of a gate to
// the files that it judged.
//
// A gate counts only as long as those files are what they were when it was
// judged. The package judges nothing itself: package step pairs each row of
// [Table] with its judge. It knows only a folder, not a run.
package gate
