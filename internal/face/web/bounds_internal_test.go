package web

import (
	"strings"
	"testing"
)

// TestALongDifferenceIsCut compares two answers of very many lines with no line in
// common.
func TestALongDifferenceIsCut(t *testing.T) {
	shown, added, removed := compare(strings.Repeat("a\n", 100_000), strings.Repeat("b\n", 100_000))
	if len(shown) != maxChanges+1 || added != 100_000 || removed != 100_000 {
		t.Errorf("%d lines shown of %d and %d", len(shown), added, removed)
	}
}
