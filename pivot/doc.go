// Package pivot decides, by a fixed rubric, whether a run needs a second wave.
//
// [Judge] is the decision: one pure function from normalised gaps to an
// outcome, by a table of rules that also prints itself ([Rules]). Around it,
// [Extract] reads the gaps that an output states under its heading Gaps, [Check]
// looks at what the decision rests on, and [Wave1] makes the decision and its
// document, pivot_decision.v1.
//
// No gap is lost silently: what looks like one and cannot be read is an error that
// names the line. No file is opened, no model is asked and nothing is fetched: the
// same gaps give the same decision, in the same bytes.
package pivot
