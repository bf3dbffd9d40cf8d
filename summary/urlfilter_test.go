package summary_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tidegate/tidegate/codec"
	"github.com/tidegate/tidegate/summary"
)

func TestOnlyURLsThatAnOutputNamesAreHeld(t *testing.T) {
	var lines strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&lines, `{"cid":"c%d","status":"valid","normalized_url":"https://x.org/%d","url":"http://www.x.org/%d?b=1&a=2"}`+"\n", i, i, i)
	}
	pool, held, err := summary.ReadPoolFor(t.Context(), lines.String(), "# Findings\n- Says [one](https://x.org/7), and WWW.x.org/9?a=2&b=1.\n\n## Sources\n- <https://X.org/8/>\n")
	if err != nil {
		t.Fatal(err)
	}
	for url, want := range map[string]string{"https://x.org/7": "c7", "www.x.org/9?a=2&b=1": "c9", "https://x.org/8": "c8"} {
		if got := pool.CIDOf(url); got != want {
			t.Errorf("%s is %q, want %q", url, got, want)
		}
	}
	if held > 10 {
		t.Errorf("%d URLs are held of which 3 are named", held)
	}
}

// FuzzFilter: the summary of an output is the same whether all URLs of the pool
// are held or those that the output names.
func FuzzFilter(f *testing.F) {
	f.Add("# Findings\n- See https://x.org/a, (https://x.org/b) and [c](https://x.org/c \"www.x.org/a\")https://x.org/b.\n## Sources\n- https://x.org/d", "https://x.org/a", "http://www.x.org/a")
	f.Add("- <http://x.org/a>http://x.org/b [@a] [](https://x.org/()(https://x.org/)", "http://x.org/b", "https://x.org/()")
	f.Fuzz(func(t *testing.T, output, first, second string) {
		lines := fmt.Sprintf("{\"cid\":\"a\",\"status\":\"valid\",\"normalized_url\":%s}\n{\"cid\":\"b\",\"status\":\"valid\",\"url\":%s}\n", asJSON(t, first), asJSON(t, second))
		all, err := summary.ReadPool(t.Context(), strings.NewReader(lines), "/pool", true)
		if err != nil {
			t.Fatal(err)
		}
		some, _, err := summary.ReadPoolFor(t.Context(), lines, output)
		if err != nil {
			t.Fatal(err)
		}
		want, wantLeft := all.Generate([]byte(output), 5120, 5120)
		got, gotLeft := some.Generate([]byte(output), 5120, 5120)
		if got != want || gotLeft != wantLeft {
			t.Errorf("with all URLs\n%s%+v\nwith those named\n%s%+v", want, wantLeft, got, gotLeft)
		}
	})
}

func asJSON(t *testing.T, text string) []byte {
	t.Helper()
	data, err := codec.MarshalLine(text)
	if err != nil {
		t.Fatal(err)
	}
	return data
}
