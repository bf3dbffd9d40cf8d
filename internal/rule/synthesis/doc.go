// Package synthesis holds the rules of the document that a run ends with: what the
// summaries that it is made from may hold, what a synthesis must have, what counts
// as a number and when it is cited, what a review of it may say, and the judges of
// gates D, E and F.
//
// Summaries are given, or made from the wave outputs by rule ([Summaries]): nothing
// is invented, and no citation stands beside a text that did not carry it.
//
// One definition serves gate E, the review and the job that writes the document:
// [Judge]. It reads the draft as the report shows it, so that nothing can be
// hidden from one and shown by the other.
//
// The package is pure: bytes and values in, facts out. It uses no run, no file, no
// clock and no network; what others find out (which sources are validated, what
// stands on their pages, which text is a raw URL) is handed in.
//
// # Limits
//
// Markdown is CommonMark with the tables of GitHub's flavour, within the limits of
// package markdown: the cost of a draft grows with its bytes, whatever they are.
package synthesis
