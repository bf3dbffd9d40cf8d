package codec_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/tidegate/tidegate/internal/base/codec"
)

func TestLinesOf(t *testing.T) {
	const doc = `{
  "a": 1,
  "list": [
    {"x": 1},

    {
      "x": 2, "y":
        [3]
    }
  ],
  "z": "end"
}
`
	paths := []string{"$", "$.a", "$.list", "$.list[0]", "$.list[0].x", "$.list[1].x", "$.list[1].y[0]", "$.z", "$.list[1].absent", "$.list[7].x", "$.z.deeper"}
	want := []int{1, 2, 3, 4, 4, 7, 8, 11, 6, 3, 11}
	if got := codec.LinesOf([]byte(doc), paths); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if got := codec.LinesOf([]byte(strings.ReplaceAll(doc, "\n", "\r\n")), paths); !slices.Equal(got, want) {
		t.Errorf("with CRLF: got %v, want %v", got, want)
	}
	if got := codec.LinesOf([]byte(doc[:40]), paths); len(got) != len(paths) {
		t.Errorf("half a document: got %v", got)
	}
}
