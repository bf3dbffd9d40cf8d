package demo

import (
	"context"
	"html"
	"strings"
	"time"

	"github.com/tidegate/tidegate"
	warc "github.com/tidegate/tidegate/internal/base/archive"
)

// Pages answers fetches from the embedded data, and opens no connection. A section of data/pages.txtar is one URL. "page" has a title and
// then a paragraph per line; "missing" has the same for a page that a site shows with
// status 200 in place of another; "paywalled" has the same for a page that costs
// money; "moved" has the URL that it leads to.
type Pages struct {
	Now func() time.Time
}

// Fetch hands over what the pages of the story have for each URL. For a URL that it lacks,
// the name does not exist. It returns INTERNAL for incomplete sample data, and the
// error of keep.
func (p Pages) Fetch(_ context.Context, urls []string, keep func([]*warc.Packed) error) error {
	data, err := samples.ReadFile("data/pages.txtar")
	if err != nil {
		return tidegate.Errorf(tidegate.Internal, nil, "the sample pages cannot be read: %w", err)
	}
	pages := map[string]section{}
	for _, s := range parseArchive(string(data)).sections {
		pages[s.name] = s
	}
	return p.keep(urls, keep, func(url string) warc.Capture { return p.capture(pages, url) })
}

// keep hands over the capture of each URL.
func (p Pages) keep(urls []string, keep func([]*warc.Packed) error, capture func(url string) warc.Capture) error {
	batch := make([]*warc.Packed, len(urls))
	for i, url := range urls {
		var err error
		if batch[i], err = warc.Pack(capture(url)); err != nil {
			return err
		}
	}
	return keep(batch)
}

func (p Pages) capture(pages map[string]section, url string) warc.Capture {
	c := warc.Capture{URL: url, Kind: warc.NoSuchName, Time: p.Now(), Detail: "the demo has no such page"}
	for {
		page, found := pages[url]
		if !found {
			return c
		}
		c.Kind, c.Detail = warc.Responded, ""
		if page.verb != "moved" {
			status := 200
			if page.verb == "paywalled" {
				status = 402
			}
			c.Hops = append(c.Hops, p.hop(url, status, warc.Field{Name: "Content-Type", Value: "text/html; charset=utf-8"}, page.html()))
			return c
		}
		to := strings.TrimSpace(page.data)
		c.Hops = append(c.Hops, p.hop(url, 302, warc.Field{Name: "Location", Value: to}, ""))
		url = to
	}
}

func (p Pages) hop(url string, status int, field warc.Field, body string) warc.Hop {
	return warc.Hop{URL: url, Time: p.Now(), Status: status, Header: []warc.Field{field}, Body: []byte(body)}
}

func (s section) html() string {
	title, text, _ := strings.Cut(s.data, "\n")
	title = html.EscapeString(title)
	var b strings.Builder
	b.WriteString("<!doctype html>\n<html lang=\"en\">\n<head><title>" + title + "</title></head>\n<body>\n<h1>" + title + "</h1>\n")
	for line := range strings.Lines(text) {
		b.WriteString("<p>" + html.EscapeString(strings.TrimSpace(line)) + "</p>\n")
	}
	b.WriteString("</body>\n</html>\n")
	return b.String()
}
