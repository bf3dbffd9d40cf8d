package page

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// Link is a link of an HTML page.
type Link struct {
	URL   string   // as it is written: it may be relative to the page
	Class []string // of its element
	Text  string
}

const (
	maxLinks    = 20_000
	maxLinkText = 4096
)

// Links are the links of an HTML page, in order. Whatever the bytes are, it returns those
// that can be read, in time and memory that are linear in their number.
func Links(body []byte, contentType string) []Link {
	var links []Link
	z, open := tokensOf(body, contentType), false
	for len(links) < maxLinks {
		switch z.Next() {
		case html.ErrorToken:
			return links
		case html.StartTagToken:
			name, more := z.TagName()
			if atom.Lookup(name) != atom.A {
				continue
			}
			var l Link
			for more {
				var key, value []byte
				key, value, more = z.TagAttr()
				switch string(key) {
				case "href":
					l.URL = strings.TrimSpace(CutBytes(string(value), maxAttribute))
				case "class":
					l.Class = strings.Fields(CutBytes(string(value), maxAttribute))
				}
			}
			links, open = append(links, l), true
		case html.EndTagToken:
			if name, _ := z.TagName(); atom.Lookup(name) == atom.A && open {
				last := &links[len(links)-1]
				last.Text, open = TidySpace(last.Text), false
			}
		case html.TextToken:
			if last := len(links) - 1; open && len(links[last].Text) < maxLinkText {
				links[last].Text += CutBytes(string(z.Text()), maxLinkText)
			}
		}
	}
	return links
}
