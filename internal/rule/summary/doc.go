// Package summary builds the bounded, citation-clean input of a synthesis: one
// summary per perspective and summary-pack.json (summary_pack.v1), which lists
// them with their digests and claims.
//
// Summaries are given as files, or made from the wave outputs by rule: nothing is
// invented, and no citation stands beside a text that did not carry it. Each has a
// size limit, must have no raw URL, and may cite only what the citation pool has
// as valid or paywalled. All of that is checked before the first byte is written;
// then the summaries and, last, the pack land together.
//
// The package knows the rules of summaries, not those of a run: it does not ask
// which stage the run is in, and moves nothing.
package summary
