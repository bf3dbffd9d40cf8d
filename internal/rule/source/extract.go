package source

import (
	"bytes"
	"strings"

	"github.com/tidegate/tidegate/internal/text/link"
	"github.com/tidegate/tidegate/internal/text/markdown"
)

// Cited is a URL that an output names as a source.
type Cited struct {
	// URL is as it is written, with what Markdown escapes resolved and
	// credentials masked. What only looks like a URL is here, too, and
	// [link.Normalize] says why it is refused.
	URL string
	// Title is what the line calls the source, "" where it does not say.
	Title string
	// Line is the line, trimmed, with credentials masked.
	Line string
	// Beside are the lines of the output that cite the page of an abstract and nothing
	// else.
	Beside string
	Number int // of the line, 1-based
}

// Extract finds the URLs of the Sources section of an output, in order: link
// destinations, wherever the output defines them, autolinks, and bare URLs with http, https or ftp in any letter
// case. A URL that a line names twice is listed once for that line. The section
// is that of the first heading whose text is Sources in any letter case.
//
// Nothing that looks like a URL is dropped, be it in code, in HTML or in a line
// outside a list.
func Extract(output []byte) []Cited {
	var (
		found   []Cited
		scanner markdown.Scanner
		seen    bool
		long    []byte // a line that comes in pieces
		doc     = new(markdown.Document)
	)
	if bytes.Contains(output, []byte("]:")) { // else it defines no link
		doc = markdown.Parse(output)
	}
	// A bytes.Reader does not fail.
	_, _ = scanner.Scan(bytes.NewReader(output), markdown.Events{
		Heading: func(h markdown.Heading) bool {
			wanted := !seen && isSources(h.Text)
			seen = seen || wanted
			return wanted
		},
		Line: func(line markdown.Line) {
			switch {
			case line.First && line.Last:
				found = append(found, citedBy(doc, line.Text, line.Number)...)
			case line.First:
				long = append(long[:0], line.Text...)
			default:
				long = append(long, line.Text...)
				if line.Last {
					found = append(found, citedBy(doc, long, line.Number)...)
				}
			}
		},
	})
	for i := range found {
		if showsAbstract(found[i].URL) {
			found[i].Beside = beside(output, found[i].URL)
		}
	}
	return found
}

// isSources compares as judging does: letters that Unicode folds into ASCII count
// as other letters.
func isSources(title []byte) bool {
	return len(title) == len("Sources") && strings.EqualFold(string(title), "Sources")
}

// citedBy lists the URLs of one line of an output.
func citedBy(doc *markdown.Document, line []byte, number int) []Cited {
	line = bytes.TrimSpace(line)
	var found []Cited
	seen := map[string]bool{}
	exposed := false // a credential of which the line shows another spelling
	for _, s := range link.Sightings(doc, line) {
		url := link.Mask(s.URL)
		key, err := link.Normalize(url)
		if err != nil {
			key = url
		}
		exposed = exposed || url != s.URL && !bytes.Contains(line, []byte(s.URL))
		if seen[key] {
			continue
		}
		seen[key] = true
		found = append(found, Cited{URL: url, Title: s.Title, Number: number})
	}
	shown := link.Mask(string(line))
	if exposed {
		var urls []string
		for _, c := range found {
			urls = append(urls, c.URL)
		}
		shown = strings.Join(urls, " ")
	}
	for i := range found {
		found[i].Line = shown
	}
	return found
}
