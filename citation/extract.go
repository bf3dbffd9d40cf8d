package citation

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tidegate/tidegate/markdown"
)

// Cited is a URL that an output names as a source.
type Cited struct {
	// URL is as it is written, with what Markdown escapes resolved and
	// credentials masked. It need not be one: what looks like a URL and is none
	// is here too, and [Normalize] says why it is refused.
	URL string
	// Title is what the line calls the source, "" where it does not say.
	Title string
	// Line is the line, trimmed, with credentials masked.
	Line   string
	Number int // of the line, 1-based
}

// Extract finds the URLs of the Sources section of an output, in order: link
// destinations, autolinks, and bare URLs with http, https or ftp in any letter
// case. A URL that a line names twice is listed once for that line. The section
// is that of the first heading whose text is Sources in any letter case.
//
// Nothing that looks like a URL is dropped: neither in code nor in HTML nor in a
// line that is no list item.
func Extract(output []byte) []Cited {
	var (
		found   []Cited
		scanner markdown.Scanner
		seen    bool
		long    []byte // a line that comes in pieces
	)
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
				found = append(found, citedBy(line.Text, line.Number)...)
			case line.First:
				long = append(long[:0], line.Text...)
			default:
				long = append(long, line.Text...)
				if line.Last {
					found = append(found, citedBy(long, line.Number)...)
				}
			}
		},
	})
	return found
}

// isSources compares as judging does: letters that Unicode folds into ASCII are
// other letters.
func isSources(title []byte) bool {
	return len(title) == len("Sources") && strings.EqualFold(string(title), "Sources")
}

// citedBy lists the URLs of one line.
func citedBy(line []byte, number int) []Cited {
	line = bytes.TrimSpace(line)
	pieces := parseInline(withoutMarkers(line))
	var found []Cited
	seen := map[string]bool{}
	exposed := false // a credential of which the line shows another spelling
	for _, s := range sightings(pieces) {
		url := Mask(s.url)
		key, err := Normalize(url)
		if err != nil {
			key = url
		}
		exposed = exposed || url != s.url && !bytes.Contains(line, []byte(s.url))
		if seen[key] {
			continue
		}
		seen[key] = true
		found = append(found, Cited{URL: url, Title: s.title, Number: number})
	}
	shown := Mask(string(line))
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

// withoutMarkers takes the marks of quotes, list items and tasks off a line.
func withoutMarkers(line []byte) []byte {
	for {
		rest := line
		switch {
		case len(rest) > 0 && rest[0] == '>':
			rest = rest[1:]
		case len(rest) > 1 && bytes.IndexByte([]byte("-*+"), rest[0]) >= 0 && isBlank(rest[1]):
			rest = rest[2:]
		case len(rest) > 3 && rest[0] == '[' && bytes.IndexByte([]byte(" xX"), rest[1]) >= 0 && rest[2] == ']' && isBlank(rest[3]):
			rest = rest[4:]
		default:
			n := 0
			for n < len(rest) && n < 9 && '0' <= rest[n] && rest[n] <= '9' {
				n++
			}
			if n == 0 || n+1 >= len(rest) || rest[n] != '.' && rest[n] != ')' || !isBlank(rest[n+1]) {
				return line
			}
			rest = rest[n+2:]
		}
		line = bytes.TrimLeft(rest, " \t")
	}
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' }

// sighting is a URL in a line, with what the line calls it.
type sighting struct{ url, title string }

// sightings lists the URLs of a line in order. A link is called by its text; any
// other URL, and a link whose text says nothing, by the words that lead to it
// from the URL before, or by those after it where none do.
func sightings(pieces []piece) []sighting {
	var found []sighting
	var lead strings.Builder
	add := func(url, label string) {
		title := tidyTitle(label)
		if title == "" {
			title = tidyTitle(lead.String())
		}
		lead.Reset()
		found = append(found, sighting{url, title})
	}
	inLink := 0
	for i, p := range pieces {
		switch p.kind {
		case linkPiece:
			inLink++
		case linkEndPiece:
			inLink--
			if isAddress(p.url) {
				add(p.url, rendered(pieces[p.mate:i]))
			}
		case autolinkPiece, urlPiece:
			if isAddress(p.url) {
				add(p.url, "")
			}
		case codePiece, tagPiece:
			for _, url := range verbatimURLs(p.text) {
				add(url, "")
			}
			if p.kind == codePiece {
				lead.WriteString(p.text)
			}
		case textPiece:
			if inLink == 0 {
				lead.WriteString(p.text)
			}
		}
	}
	if last := len(found) - 1; last >= 0 && found[last].title == "" {
		found[last].title = tidyTitle(lead.String())
	}
	return found
}

// isAddress leaves out links into the document itself.
func isAddress(url string) bool { return url != "" && url[0] != '#' }

// verbatimURLs finds URLs in code and in tags, where nothing is escaped.
func verbatimURLs(text string) []string {
	var urls []string
	src := []byte(text)
	for at := 0; at < len(src); at++ {
		if n := schemeLength(src[at:]); n > 0 {
			end := at + n
			for end < len(src) {
				r, size := utf8.DecodeRune(src[end:])
				if endsBareURL(r) || r == '\'' {
					break
				}
				end += size
			}
			urls = append(urls, string(src[at:end]))
			at = end
		}
	}
	return urls
}

// tidyTitle is a title on one line without the punctuation that ties it to its
// URL. A text without a letter is none, and neither is a URL.
func tidyTitle(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	s = strings.TrimFunc(s, func(r rune) bool {
		return unicode.IsSpace(r) || strings.ContainsRune("-–—:;,.|()[]<>\"“”„«»'‘’*_·•→", r)
	})
	if strings.IndexFunc(s, unicode.IsLetter) < 0 || schemeLength([]byte(s)) > 0 && !strings.Contains(s, " ") {
		return ""
	}
	return s
}
