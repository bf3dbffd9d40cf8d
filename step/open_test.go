package step_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/archive"
	"github.com/tidegate/tidegate/step"
)

func TestAnAgentOpensAPage(t *testing.T) {
	at := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	fetch := func(_ context.Context, urls []string, keep func([]*archive.Packed) error) error {
		c := archive.Capture{URL: urls[0], Kind: archive.NoSuchName, Time: at}
		if status, found := map[string]int{"https://example.org/tides": 200, "https://example.org/gone": 404}[urls[0]]; found {
			c.Kind = archive.Responded
			c.Hops = []archive.Hop{{URL: urls[0], Time: at, Status: status, Header: []archive.Field{{Name: "Content-Type", Value: "text/html"}}, Body: []byte("<title>Tides</title><p>The moon pulls at the water.</p>")}}
		}
		packed, err := archive.Pack(c)
		if err != nil {
			return err
		}
		return keep([]*archive.Packed{packed})
	}
	text, err := step.OpenPage(t.Context(), fetch, "https://example.org/tides")
	if err != nil || !strings.Contains(text, "The moon pulls at the water.") {
		t.Errorf("%q, %v", text, err)
	}
	for _, url := range []string{"https://example.org/gone", "https://nowhere.example/"} {
		if text, err := step.OpenPage(t.Context(), fetch, url); tidegate.CodeOf(err) != tidegate.ReadFailed || text != "" {
			t.Errorf("%s: %q, %v", url, text, err)
		}
	}
}
