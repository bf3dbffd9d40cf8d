// Package pivot decides, by a fixed rubric, whether a run needs a second wave.
//
// [Judge] is the decision: one pure function from normalised gaps to an
// outcome, by a table of rules that also prints itself ([Rules]). Around it,
// [Extract] reads the gaps that an output states under its heading Gaps, and
// [Decide] checks what the decision rests on, collects the gaps, digests them
// and, where a run is named, writes pivot_decision.v1 under the run's lock.
//
// No gap is lost silently: what looks like one and cannot be read is an error that
// names the line. No model is asked and nothing is fetched: the same gaps give the
// same decision, in the same bytes.
//
// The package moves no run from stage to stage and knows no face.
package pivot
