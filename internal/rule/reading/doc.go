// Package reading is the second reader: how the sentences of a report are dealt over
// parts, each with twins that contradict sentences of other parts, how a part is asked, and
// how an answer, a pair and a reader are judged. A reader sees sentences with their windows
// and nothing else, and is tested while it works: of a sentence and its twin at most one is
// true. What a code review found is read in the same way: of what a finding says and its
// contrary exactly one is so.
//
// The package is pure: the seed that deals, and the windows of a sentence, are handed in,
// so that a replay makes the same pairs.
package reading
