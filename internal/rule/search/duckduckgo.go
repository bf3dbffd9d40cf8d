package search

import (
	"bytes"
	"errors"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/tidegate/tidegate/internal/text/page"
)

// DuckDuckGo has no interface for programs: its page is read, and its markup may change.
var duckDuckGo = Service{
	Name: "duckduckgo", Title: "DuckDuckGo", Finds: "the web", URL: "https://html.duckduckgo.com", Pause: 2 * time.Second,
	request: func(a Ask) Request {
		return get(a.Address+"/html/", "q", onSites(a)).with("Accept-Language", a.Language)
	},
	parse: func(_ Ask, answer []byte) ([]Result, error) {
		var found []Result
		for _, l := range page.Links(answer, "text/html; charset=utf-8") {
			switch {
			case slices.Contains(l.Class, "result__a"):
				found = append(found, Result{URL: leadsTo(l.URL), Title: l.Text})
			case slices.Contains(l.Class, "result__snippet") && len(found) > 0:
				found[len(found)-1].Snippet = l.Text
			}
		}
		if found == nil && !bytes.Contains(answer, []byte("no-results")) {
			return nil, errors.New("it is not the page that was expected")
		}
		return found, nil
	},
	hints: map[int]string{202: "it is asked too often"},
}

// leadsTo is where a link of the page leads by way of the service; "" for what stays
// there, such as an advertisement.
func leadsTo(href string) string {
	if strings.HasPrefix(href, "//") {
		href = "https:" + href
	}
	u, err := url.Parse(href)
	if err != nil {
		return ""
	}
	if host := u.Hostname(); host == "duckduckgo.com" || strings.HasSuffix(host, ".duckduckgo.com") {
		return u.Query().Get("uddg")
	}
	return href
}
