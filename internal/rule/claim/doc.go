// Package claim reads what a document claims and judges it by what it cites. A text
// goes in, and what a reader sees of it comes out: citations, raw URLs and passages
// ([Inspect]). [Judge] holds sentences against the pages that they cite: it finds the
// passages that a reader needs, and says by rule which numbers, quotations, dates and
// names are not there ([JudgeLines] does so without a run). [Ground] says of every
// quotation and number of a document whether a cited page has it, and where. All of it
// says what is on a page, not what is true.
//
// Everything here is a function of its arguments. The package knows nothing of runs
// and opens no file.
package claim
