// Package figure reads numbers and quantities. A text goes in, and the numbers that
// it claims come out, in digits or words, with their magnitude and unit ([Numerals],
// [Claimed]); an [Index] has where the text of a page states the same quantities, in
// whatever spelling. What counts as a number is listed in docs/rules.md.
package figure
