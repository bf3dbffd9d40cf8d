//go:build !linux

package cell

import "runtime"

// Here is what this machine has: nothing that a cell could be made of.
func Here() System { return System{Name: runtime.GOOS} }

// Prove returns NOT_CONFINED.
func Prove(s System, _, _ string) (System, error) { return s, notConfined(s, s.Lacks()) }

// Below reports that nothing is known of agents above this process: nothing marks
// them here.
func Below(string) (below bool, owns func(path string) bool) {
	return false, func(string) bool { return false }
}

// hasNoLink reports that nothing is known of the links of a path.
func hasNoLink(string) bool { return false }
