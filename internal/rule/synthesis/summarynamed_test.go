package synthesis_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/rule/source"
	"github.com/tidegate/tidegate/internal/rule/synthesis"
	"github.com/tidegate/tidegate/internal/test/must"
)

// FuzzNamedURLs: the summary of an output is the same whether all URLs of the
// pool are known or those that the output names.
func FuzzNamedURLs(f *testing.F) {
	f.Add("# Findings\n- See https://x.org/a, (https://x.org/b) and [c](https://x.org/c \"www.x.org/a\")https://x.org/b.\n## Sources\n- https://x.org/d", "https://x.org/a", "http://www.x.org/a")
	f.Add("- <http://x.org/a>http://x.org/b [@a] [](https://x.org/()(https://x.org/)", "http://x.org/b", "https://x.org/()")
	f.Add("- //x.org/a and WWW.x.org/b", "https://x.org/a", "http://www.x.org/b")
	f.Fuzz(func(t *testing.T, output, first, second string) {
		lines := fmt.Sprintf("{\"cid\":\"a\",\"status\":\"valid\",\"normalized_url\":%s}\n{\"cid\":\"b\",\"status\":\"valid\",\"url\":%s}\n", asJSON(t, first), asJSON(t, second))
		some := must.Get(source.ReadPool(t.Context(), strings.NewReader(lines), "/pool", synthesis.NamedURLs(output)))(t)
		want, wantLeft := synthesis.GenerateSummary(readPool(t, lines), []byte(output), 5120, 5120)
		got, gotLeft := synthesis.GenerateSummary(some, []byte(output), 5120, 5120)
		if got != want || gotLeft != wantLeft {
			t.Errorf("with all URLs\n%s%+v\nwith those named\n%s%+v", want, wantLeft, got, gotLeft)
		}
	})
}

func asJSON(t *testing.T, text string) []byte {
	t.Helper()
	data := must.Get(codec.MarshalLine(text))(t)
	return data
}
