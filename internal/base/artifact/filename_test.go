package artifact_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/tidegate/tidegate/internal/base/artifact"
)

func TestFileName(t *testing.T) {
	for id, want := range map[string]string{
		"wave1.grid":  "wave1.grid",
		"wave1.a:b":   "wave1.a%3Ab",
		"wave1.a%3Ab": "wave1.a%253Ab",
		"..":          "%2E%2E",
		"a/../b":      "a%2F..%2Fb",
		"wave1.x.":    "wave1.x%2E",
		"wave1.größe": "wave1.größe",
		"tab\tbed":    "tab%09bed",
	} {
		if got := artifact.FileName(id); got != want {
			t.Errorf("FileName(%q) = %q, want %q", id, got, want)
		}
	}
	one, other := artifact.FileName(strings.Repeat("?", 128)), artifact.FileName(strings.Repeat("?", 127)+"!")
	long := artifact.FileName(strings.Repeat("ö", 128))
	if one == other || len(one) > 255 || len(long) > 255 || !utf8.ValidString(long) {
		t.Errorf("long ids become %q, %q and %q", one, other, long)
	}
}
