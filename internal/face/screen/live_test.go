package screen

import (
	"context"
	"testing"
	"time"

	"github.com/tidegate/tidegate/internal/agent/dispatch"
	"github.com/tidegate/tidegate/internal/base/archive"
)

func TestScreenNamesSourcesAsTheyComeIn(t *testing.T) {
	now := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	l := &live{s: &Session{Env: &dispatch.Env{Now: func() time.Time { return now }}}}
	fetch := func(_ context.Context, urls []string, keep func([]*archive.Packed) error) error {
		for i, url := range urls {
			capture := archive.Capture{URL: url, Kind: []archive.Kind{archive.Unreachable, archive.NoSuchName}[i], Time: now}
			packed, err := archive.Pack(capture)
			if err != nil {
				return err
			}
			if err := keep([]*archive.Packed{packed}); err != nil {
				return err
			}
		}
		return nil
	}
	kept := 0
	err := l.naming(fetch)(t.Context(), []string{"https://tides.example/a", "https://tides.example/b"}, func(p []*archive.Packed) error { kept += len(p); return nil })
	if err != nil || kept != 2 || len(l.events) != 2 || l.events[0].Text != "no page (unreachable): https://tides.example/a" || l.events[1].Text != "no page (no_such_name): https://tides.example/b" {
		t.Errorf("%v, %d kept, %+v", err, kept, l.events)
	}
}
