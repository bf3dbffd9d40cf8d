package fetch_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"code.dny.dev/ssrf"

	"github.com/tidegate/tidegate/internal/base/archive"
	"github.com/tidegate/tidegate/internal/base/fetch"
	"github.com/tidegate/tidegate/internal/test/full"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/test/planted"
)

// optionsOf are those of a client that sees the planted web and nothing else.
func optionsOf(web *planted.Web) fetch.Options {
	return fetch.Options{
		Now: func() time.Time { return noon }, Jitter: func() float64 { return 0.5 },
		Resolve: web.Resolve, Dial: web.Dial, Roots: web.Roots(),
	}
}

// expected is how the fetch of a planted page ends.
func expected(page planted.Page) (kind archive.Kind, status string) {
	switch page.Kind {
	case "malformed":
		return archive.Malformed, ""
	case "address_literal", "private_address", "redirect_to_private", "port":
		return archive.Refused, ""
	case "no_such_name":
		return archive.NoSuchName, ""
	case "loop":
		return archive.Redirects, "3"
	case "unreachable":
		return archive.Unreachable, ""
	case "timeout":
		return archive.TimedOut, ""
	case "tls":
		return archive.BadTLS, ""
	case "broken":
		return archive.Broken, ""
	case "bot_wall", "status_other":
		return archive.Responded, ""
	case "status_5xx":
		return archive.Responded, "5"
	}
	if status, ok := strings.CutPrefix(page.Kind, "status_"); ok {
		return archive.Responded, status
	}
	return archive.Responded, "20"
}

// TestThePlantedWeb fetches every planted page, and compares how that ended. The short
// form fetches a few of each kind.
func TestThePlantedWeb(t *testing.T) {
	seen := map[string]int{}
	pages := slices.DeleteFunc(planted.Pages(), func(page planted.Page) bool {
		seen[page.Kind]++
		return !full.Asked() && seen[page.Kind] > 5
	})
	for _, page := range pages {
		if fetch.Fetchable(page.URL) == slices.Contains([]string{"too_long", "credentials"}, page.Kind) {
			t.Errorf("%s (%s): fetchable is %v", page.Variant, page.Kind, fetch.Fetchable(page.URL))
		}
	}
	synctest.Test(t, func(t *testing.T) {
		web := planted.New()
		defer web.Close()
		options := optionsOf(web)
		options.Limits = fetch.DefaultLimits
		options.Limits.MaxBody = 2 << 20 // more takes longer and shows nothing more
		client := fetch.New(options)
		defer client.Close()
		captures := map[string]archive.Entry{}
		must.Do(t, client.Each(t.Context(), urlsOf(pages), func(batch []*archive.Packed) error {
			for _, packed := range batch {
				captures[packed.Entry().URL] = packed.Entry()
			}
			return nil
		}, nil))
		for _, page := range pages {
			got, ok := captures[page.URL]
			if !fetch.Fetchable(page.URL) {
				if ok {
					t.Errorf("%s (%s) was fetched", page.Variant, page.Kind)
				}
				continue
			}
			kind, status := expected(page)
			if got.Kind != kind || !strings.HasPrefix(fmt.Sprint(got.Status), status) {
				t.Errorf("%s (%s) %s: %s %d (%s), want %s %s", page.Variant, page.Kind, page.URL, got.Kind, got.Status, got.Detail, kind, status)
			}
			if large := got.Truncated == "length"; large != (page.Kind == "too_large") {
				t.Errorf("%s (%s): truncated is %q", page.Variant, page.Kind, got.Truncated)
			}
		}
		public := ssrf.New()
		for _, address := range web.Dialed() {
			if err := public.Safe("tcp4", address, nil); err != nil {
				t.Errorf("%s was dialled: %v", address, err)
			}
		}
	})
}

func urlsOf(pages []planted.Page) []string {
	var urls []string
	for _, page := range pages {
		urls = append(urls, page.URL)
	}
	return urls
}

// TestOverLoopback fetches some honest pages over real connections.
func TestOverLoopback(t *testing.T) {
	web := planted.NewOnLoopback()
	defer web.Close()
	options := optionsOf(web)
	options.Limits = fetch.DefaultLimits
	options.Limits.Spacing = 0
	client := fetch.New(options)
	defer client.Close()
	var honest []string
	for _, page := range planted.Pages() {
		if page.Kind == planted.Honest && len(honest) < 60 {
			honest = append(honest, page.URL)
		}
	}
	got := 0
	err := client.Each(context.Background(), honest, func(batch []*archive.Packed) error {
		for _, packed := range batch {
			if entry := packed.Entry(); entry.Kind != archive.Responded || entry.Status >= 300 {
				t.Errorf("%s: %s %d %s", entry.URL, entry.Kind, entry.Status, entry.Detail)
			}
			got++
		}
		return nil
	}, nil)
	if err != nil || got != len(honest) {
		t.Errorf("%d of %d pages: %v", got, len(honest), err)
	}
}
