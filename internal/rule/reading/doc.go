// Package reading is the second reader: how the sentences of a report are divided into
// parts, how a part is asked, the false claims that are planted in it, and how an answer
// and a reader are judged. A reader sees sentences with their windows and nothing else,
// and is tested while it works.
//
// The package is pure: the seed that chooses controls, and the windows of a sentence, are
// handed in, so that a replay makes the same controls.
package reading
