// Package page reads pages: bytes from anybody go in, and what a reader would see
// of them comes out. [Read] takes HTML in any encoding, PDF and plain text, and gives
// the text, one line for each block, with what the page says about itself and the
// signs by which rules tell an article from what stands in its place. Words of such
// a text are counted, and show its language.
//
// Everything here is a function of its arguments. Time and memory grow linearly
// with the input; at most 16 MiB of text are read of one page.
package page
