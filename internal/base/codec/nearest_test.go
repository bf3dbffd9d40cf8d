package codec_test

import (
	"strings"
	"testing"

	"github.com/tidegate/tidegate/internal/base/codec"
)

func TestNearest(t *testing.T) {
	names := []string{"change_id", "verdict", "summary", "issues", "issue", "file", "Höhe"}
	for word, want := range map[string]string{
		"verdict":                     "verdict",
		"verdikt":                     "verdict",
		"vredict":                     "verdict",
		"changeId":                    "change_id",
		"CHANGE-ID":                   "change_id",
		"chnge id":                    "change_id",
		"isue":                        "issue",
		"issu":                        "issue",
		"fil":                         "file",
		"filet":                       "file",
		"hoehe":                       "",
		"hohe":                        "Höhe",
		"":                            "",
		"fi":                          "",
		"nothing of the kind":         "",
		strings.Repeat("summary", 20): "",
	} {
		if got := codec.Nearest(word, names); got != want {
			t.Errorf("%q: got %q, want %q", word, got, want)
		}
	}
}
