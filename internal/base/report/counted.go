package report

import "strconv"

// Counted is a number with its noun: "1 output", "3 outputs". The noun takes a
// plural s.
func Counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}
