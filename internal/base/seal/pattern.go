package seal

import "strings"

// matchList reports whether name is in a pattern list of OpenSSH: patterns with
// * and ?, separated by commas. At least one must match, and none that begins
// with ! may.
func matchList(list, name string) bool {
	found := false
	for pattern := range strings.SplitSeq(list, ",") {
		pattern, negated := strings.CutPrefix(pattern, "!")
		if !match(pattern, name) {
			continue
		}
		if negated {
			return false
		}
		found = true
	}
	return found
}

// match reports whether pattern describes the whole of name: * stands for any
// bytes, ? for one. Its time is at most the product of the lengths.
func match(pattern, name string) bool {
	star, tried := -1, 0 // the last * in pattern, and where in name what follows it was tried
	p, n := 0, 0
	for n < len(name) {
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, tried = p, n
			p++
		case p < len(pattern) && (pattern[p] == '?' || pattern[p] == name[n]):
			p++
			n++
		case star >= 0:
			tried++
			p, n = star+1, tried
		default:
			return false
		}
	}
	return strings.Trim(pattern[p:], "*") == ""
}
