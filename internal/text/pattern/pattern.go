// Package pattern has regular expressions that cost nothing until they are used.
package pattern

import (
	"regexp"
	"sync"
)

// New is a regular expression that is compiled when it is first asked for:
// compiling all of the program's takes longer than most calls, which need few of
// them. Asking panics where the expression is not one.
func New(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}
