package search

import (
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"strings"
	"unicode"

	"github.com/tidegate/tidegate/internal/text/markdown"

	"github.com/tidegate/tidegate/internal/text/link"
	"github.com/tidegate/tidegate/internal/text/page"
)

// Result is a page that a service found.
type Result struct {
	Rank    int    `json:"rank"` // from 1
	URL     string `json:"url"`
	Title   string `json:"title"`
	Snippet string `json:"snippet"`
	Date    string `json:"date"` // 2021-03-04, 2021-03 or 2021; "" where the service gives none
}

// Lengths in bytes, because a service may send anything.
const (
	maxTitle   = 300
	maxSnippet = 1000
	maxMarkup  = 16 << 10 // of a text that is read as markup
)

var errNothing = errors.New("there is no answer")

// clean is what can be used of results, numbered: each URL once, at most max of them.
func clean(found []Result, max int) []Result {
	out, seen := []Result{}, map[string]bool{}
	for _, r := range found {
		r.URL = strings.TrimSpace(r.URL)
		if _, err := link.Normalize(r.URL); err != nil || link.HasCredentials(r.URL) || link.ShowsCredentials(r.URL) || seen[link.Key(r.URL)] || len(out) == max {
			continue
		}
		seen[link.Key(r.URL)] = true
		out = append(out, Result{len(out) + 1, r.URL, plain(r.Title, maxTitle), plain(r.Snippet, maxSnippet), page.Date(r.Date)})
	}
	return out
}

// plain is a text without markup, on one line, without what a reader cannot see.
func plain(text string, most int) string {
	text = strings.ToValidUTF8(page.CutBytes(text, maxMarkup), "")
	if strings.ContainsRune(text, '<') {
		text = page.Read([]byte("<html><body>"+text), "text/html; charset=utf-8").Text
	} else {
		text = html.UnescapeString(text)
	}
	text = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case !unicode.IsGraphic(r):
			return -1
		}
		return r
	}, text)
	return page.CutBytes(markdown.OneLine(link.Mask(text)), most)
}

// read reads JSON into v. What v must have is checked by its own fields being there:
// has says whether they are.
func read(data []byte, v any, has func() bool) error {
	if err := json.Unmarshal(data, v); err != nil {
		return errors.New("it is not the JSON that was expected")
	}
	if !has() {
		return errors.New("it has no list of results")
	}
	return nil
}

// marshal is a value as the body of a request. Values here are texts, numbers and lists.
func marshal(v any) []byte {
	data, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("a request must be JSON: %v", err))
	}
	return data
}

// posted is a request with a JSON body.
func posted(address string, body map[string]any) Request {
	return Request{Method: "POST", URL: address, Body: marshal(body)}.with("Content-Type", "application/json")
}

// first is the first of texts.
func first(texts []string) string {
	if len(texts) == 0 {
		return ""
	}
	return texts[0]
}

// dateOf is a date of its parts, as far as they go: [2021,3,4].
func dateOf(parts []int) string {
	date := ""
	for i, n := range parts {
		if i == 0 {
			date = fmt.Sprintf("%04d", n)
		} else if i < 3 {
			date += fmt.Sprintf("-%02d", n)
		}
	}
	return date
}
