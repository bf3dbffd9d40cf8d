package review

import (
	"regexp"
	"sync"
)

// pattern is a regular expression that is compiled when it is first asked for:
// compiling all of them takes longer than most calls, which read no review.
func pattern(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}
