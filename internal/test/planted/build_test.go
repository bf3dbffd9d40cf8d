package planted

import (
	"slices"
	"testing"
)

func TestTheWebIsTheSameEveryTime(t *testing.T) {
	one, two := build().pages, build().pages
	if !slices.EqualFunc(one, two, func(a, b Page) bool {
		return a.URL == b.URL && a.Kind == b.Kind && a.Title == b.Title && a.Verdict == b.Verdict && slices.Equal(a.Sentences, b.Sentences)
	}) {
		t.Error("two lists differ")
	}
}
