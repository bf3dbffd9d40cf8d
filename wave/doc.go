// Package wave judges what the agents of a wave wrote: one output by its
// contract, or all outputs of a wave at once.
//
// One function judges an output, whichever tool asks. It opens only the files
// that its caller names, asks no model and fetches nothing: the same bytes give
// the same judgement.
package wave
