package link

import (
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tidegate/tidegate/internal/text/markdown"
)

// Sighting is a URL in a line, with what the line calls it.
type Sighting struct {
	URL, Title string
	Span       // where it stands
}

// Sightings lists the URLs of a line of a document in order: where its links lead, and what
// stands in its text, code and HTML. The title of a link is its text. The title of
// any other URL, and of a link whose text says nothing, is the words between it
// and the URL before, or, where there are none, the words after it.
func Sightings(of *markdown.Document, line []byte) []Sighting {
	doc := of.Part(line)
	var found []Sighting
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
					found = append(found, Sighting{url, tidyTitle(string(label)), Span{piece.Start, piece.End}})
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
func called(found []Sighting, pieces []markdown.Inline) {
	words := slices.DeleteFunc(pieces, func(p markdown.Inline) bool { return p.Kind != markdown.TextInline })
	at, next := 0, 0
	for i := range found {
		s := &found[i]
		if s.Title == "" {
			s.Title = tidyTitle(textBetween(words[next:], at, s.Start))
		}
		if s.Title == "" && i == len(found)-1 {
			s.Title = tidyTitle(textBetween(words[next:], s.End, math.MaxInt))
		}
		at = s.End
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
func bareURLs(line []byte, from, to int) []Sighting {
	var found []Sighting
	for at := from; at < to; {
		n := schemeLength(line[at:to])
		if n == 0 {
			at++
			continue
		}
		url, end := bareURL(line, at, n, to)
		found = append(found, Sighting{URL: url, Span: Span{at, end}})
		at = end
	}
	return found
}

// verbatimURLs finds the URLs in code and in tags, where nothing is escaped.
func verbatimURLs(line []byte, from, to int) []Sighting {
	var found []Sighting
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
		found = append(found, Sighting{URL: string(line[at:end]), Span: Span{at, end}})
		at = end
	}
	return found
}

// tidyTitle is a title on one line without the punctuation that ties it to its
// URL. It is empty for a text without a letter and for a URL.
func tidyTitle(s string) string {
	s = markdown.OneLine(s)
	s = strings.TrimFunc(s, func(r rune) bool {
		return unicode.IsSpace(r) || strings.ContainsRune("-–—:;,.|()[]<>\"“”„«»'‘’*_·•→", r)
	})
	if strings.IndexFunc(s, unicode.IsLetter) < 0 || schemeLength([]byte(s)) > 0 && !strings.Contains(s, " ") {
		return ""
	}
	return s
}
