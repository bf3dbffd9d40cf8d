package dispatch

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/tidegate/tidegate/internal/agent/driver"
	"github.com/tidegate/tidegate/internal/base/archive"
)

func TestAgentsOpenPagesThroughTheDoorOfSources(t *testing.T) {
	at := time.Date(2026, 2, 14, 12, 0, 0, 0, time.UTC)
	page := func(status int, kind, body string) archive.Capture {
		return archive.Capture{Kind: archive.Responded, Time: at, Hops: []archive.Hop{{URL: "https://example.org/", Time: at, Status: status,
			Header: []archive.Field{{Name: "Content-Type", Value: kind}}, Body: []byte(body)}}}
	}
	pages := map[string]archive.Capture{
		"https://example.org/tides": page(200, "text/html", "<title>Tides</title><script>x()</script><p>High water comes twice a day.</p>"),
		"https://example.org/plain": page(200, "text/plain", "High water."),
		"https://example.org/gone":  page(404, "text/html", "<p>Not here.</p>"),
		"https://example.org/photo": page(200, "image/png", "\x89PNG\x00\x01"),
		"http://10.0.0.1/":          {Kind: archive.Refused, Time: at, Detail: "private"},
	}
	env := &Env{Fetch: func(_ context.Context, urls []string, keep func([]*archive.Packed) error) error {
		for _, url := range urls {
			c, known := pages[url]
			if !known {
				return errors.New("the disk is full")
			}
			c.URL = url
			packed, err := archive.Pack(c)
			if err != nil {
				return err
			}
			if err := keep([]*archive.Packed{packed}); err != nil {
				return err
			}
		}
		return nil
	}}
	for url, want := range map[string]string{
		"https://example.org/tides": "Tides\n\nHigh water comes twice a day.",
		"https://example.org/plain": "High water.",
		"https://example.org/gone":  "error: the page cannot be opened: its server answers with status 404",
		"https://example.org/photo": "error: the page has no text that can be read",
		"http://10.0.0.1/":          "error: the page cannot be opened: refused",
		"https://example.org/full":  "error: the disk is full",
	} {
		got, err := env.openPage(t.Context(), driver.Task{}, url)
		if err != nil {
			got = "error: " + err.Error()
		}
		if strings.TrimSpace(got) != want {
			t.Errorf("%s: got %q, want %q", url, got, want)
		}
	}
}
