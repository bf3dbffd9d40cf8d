// Package wave judges what the agents of a wave wrote: one output by its
// contract, or all outputs of a wave at once. The contracts stand in a
// perspectives.v1 document, which the package reads and checks as well.
//
// One function judges an output, whoever asks. It opens no files, asks no model and
// fetches nothing: the same bytes give the same judgement.
package wave
