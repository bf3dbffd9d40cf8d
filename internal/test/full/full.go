// Package full is the test flag -full. Without it a suite tries some of its
// points, at a stride, so that all tests together stay short; with it, every
// point. A test package that imports full must not define that flag itself.
package full

import (
	"flag"
	"iter"
	"maps"
	"os"
	"slices"
	"testing"
)

var all = flag.Bool("full", false, "try every point of every suite, not one in so many")

// Asked reports whether the tests were called with -full.
func Asked() bool { return *all }

// Story skips a test that takes seconds, unless it is asked for: by -full, or by
// TIDEGATE_STORIES=1, with which .ci/run tests all packages.
func Story(t testing.TB) {
	t.Helper()
	if !Asked() && os.Getenv("TIDEGATE_STORIES") == "" {
		t.Skip("a story that takes seconds: TIDEGATE_STORIES=1 tells it, as .ci/run does")
	}
}

// Stride is the step from one point of a suite to the next: 1 with -full, otherwise
// the smallest step that tries at most some of the points.
//
//	for i := 0; i < points; i += full.Stride(points, 20) {
func Stride(points, some int) int {
	if Asked() {
		return 1
	}
	return max(1, (points+some-1)/some)
}

// Some is a table of cases in the order of their names: all of it with -full, otherwise
// at most some, at a stride.
func Some[V any](cases map[string]V, some int) iter.Seq2[string, V] {
	return func(yield func(string, V) bool) {
		names := slices.Sorted(maps.Keys(cases))
		for i := 0; i < len(names); i += Stride(len(names), some) {
			if !yield(names[i], cases[names[i]]) {
				return
			}
		}
	}
}
