// Package search knows search services: what each is asked, and what its answer says.
// It is pure. A request follows from a question, and results follow from the bytes of an
// answer, so that a search can be made again from an archive.
//
// Each service is a small file and a row of [Services]. An answer is a stranger's: it may
// be anything. Of it only results with a URL that can be a source are taken, at most as
// many as were asked for; titles and snippets come as plain text of bounded length.
package search
