package web

import (
	"strings"
	"testing"
)

// TestALongDifferenceIsCut compares two answers of very many lines that have none in
// common.
func TestALongDifferenceIsCut(t *testing.T) {
	shown, added, removed := compare(strings.Repeat("a\n", 100_000), strings.Repeat("b\n", 100_000))
	if len(shown) != maxChanges+1 || added != 100_000 || removed != 100_000 {
		t.Errorf("%d lines shown of %d and %d", len(shown), added, removed)
	}
}

func TestOnlyCleanPathsAreAnswered(t *testing.T) {
	for path, want := range map[string]bool{
		"": true, "/": true, "/runs": true, "/runs/": true, "/changes/..%2f..": true, "//": false, "/./runs": false, "/a//b": false, "/a/../b": false,
	} {
		if isClean(path) != want {
			t.Errorf("%q is taken for clean: %v", path, !want)
		}
	}
}
