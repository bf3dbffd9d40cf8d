package citation

import (
	"bytes"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tidegate/tidegate/internal/text/markdown"
	"github.com/tidegate/tidegate/internal/text/secret"
)

// Cited is a URL that an output names as a source.
type Cited struct {
	// URL is as it is written, with what Markdown escapes resolved and
	// credentials masked. What only looks like a URL is here, too, and
	// [Normalize] says why it is refused.
	URL string
	// Title is what the line calls the source, "" where it does not say.
	Title string
	// Line is the line, trimmed, with credentials masked.
	Line    string
	Number  int // of the line, 1-based
	Ordinal int // among the URLs of the output, from 1
}

// Extract finds the URLs of the Sources section of an output, in order: link
// destinations, autolinks, and bare URLs with http, https or ftp in any letter
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
	for i := range found {
		found[i].Ordinal = i + 1
	}
	return found
}

// isSources compares as judging does: letters that Unicode folds into ASCII count
// as other letters.
func isSources(title []byte) bool {
	return len(title) == len("Sources") && strings.EqualFold(string(title), "Sources")
}

// citedBy lists the URLs of one line.
func citedBy(line []byte, number int) []Cited {
	line = bytes.TrimSpace(line)
	var found []Cited
	seen := map[string]bool{}
	exposed := false // a credential of which the line shows another spelling
	for _, s := range sightings(line) {
		url := secret.Mask(s.url)
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
	shown := secret.Mask(string(line))
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

// sighting is a URL in a line, with what the line calls it.
type sighting struct {
	url, title string
	start, end int // where it stands
}

// sightings lists the URLs of a line in order: where its links lead, and what
// stands in its text, code and HTML. The title of a link is its text. The title of
// any other URL, and of a link whose text says nothing, is the words between it
// and the URL before, or, where there are none, the words after it.
func sightings(line []byte) []sighting {
	doc := markdown.Parse(line)
	var found []sighting
	at := 0 // how far the line has been read
	for _, b := range doc.Blocks {
		first := len(found)
		pieces := doc.Inlines(b)
		var label []byte // what the link under way shows
		for _, piece := range pieces {
			switch piece.Kind {
			case markdown.TextInline:
				if piece.InLink {
					label = append(label, piece.Text...)
				}
				continue
			case markdown.BreakInline:
				continue
			}
			found = append(found, bareURLs(line, at, piece.Start)...)
			if piece.Kind == markdown.LinkInline {
				if url := string(piece.Text); url != "" && url[0] != '#' { // not into the document itself
					found = append(found, sighting{url, tidyTitle(string(label)), piece.Start, piece.End})
				}
			} else {
				found = append(found, verbatimURLs(line, piece.Start, piece.End)...)
			}
			at, label = max(at, piece.End), label[:0]
		}
		_, end := doc.Range(b)
		found = append(found, bareURLs(line, at, end)...)
		at = max(at, end)
		called(found[first:], pieces)
	}
	return append(found, bareURLs(line, at, len(line))...)
}

// called gives titles to the URLs that have none.
func called(found []sighting, pieces []markdown.Inline) {
	words := slices.DeleteFunc(pieces, func(p markdown.Inline) bool { return p.Kind != markdown.TextInline })
	at, next := 0, 0
	for i := range found {
		s := &found[i]
		if s.title == "" {
			s.title = tidyTitle(textBetween(words[next:], at, s.start))
		}
		if s.title == "" && i == len(found)-1 {
			s.title = tidyTitle(textBetween(words[next:], s.end, math.MaxInt))
		}
		at = s.end
		for next < len(words) && words[next].End <= at {
			next++
		}
	}
}

// textBetween is the text between two places of a line, without the text of links.
// A piece that is not written as it reads is not cut.
func textBetween(words []markdown.Inline, from, to int) string {
	var b strings.Builder
	for _, w := range words {
		if w.Start >= to {
			break
		}
		text := w.Text
		if len(text) == w.End-w.Start {
			text = text[max(0, min(len(text), from-w.Start)):max(0, min(len(text), to-w.Start))]
		} else if w.Start < from {
			continue
		}
		if !w.InLink {
			b.Write(text)
		}
	}
	return b.String()
}

// bareURLs finds the URLs in a part of a line that is running text.
func bareURLs(line []byte, from, to int) []sighting {
	var found []sighting
	for at := from; at < to; {
		n := schemeLength(line[at:to])
		if n == 0 {
			at++
			continue
		}
		url, end := bareURL(line, at, n, to)
		found = append(found, sighting{url: url, start: at, end: end})
		at = end
	}
	return found
}

// verbatimURLs finds the URLs in code and in tags, where nothing is escaped.
func verbatimURLs(line []byte, from, to int) []sighting {
	var found []sighting
	for at := from; at < to; at++ {
		n := schemeLength(line[at:to])
		if n == 0 {
			continue
		}
		end := at + n
		for end < to {
			r, size := utf8.DecodeRune(line[end:to])
			if endsBareURL(r) || r == '\'' {
				break
			}
			end += size
		}
		found = append(found, sighting{url: string(line[at:end]), start: at, end: end})
		at = end
	}
	return found
}

// tidyTitle is a title on one line without the punctuation that ties it to its
// URL. It is empty for a text without a letter and for a URL.
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
