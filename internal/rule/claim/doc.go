// Package claim reads what a document claims and judges it by what it cites. A text
// goes in, and what a reader sees of it comes out: citations, raw URLs and passages
// ([Inspect]). With the texts of the cited pages, [Ground] says of every quotation and
// number whether it stands there, and where. It says what is on a page, not what is
// true.
//
// Everything here is a function of its arguments. The package knows nothing of runs
// and opens no file.
package claim
