package claim

import (
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tidegate/tidegate/internal/text/page"
	"github.com/tidegate/tidegate/internal/text/sentence"
)

// Page is an archived page that sentences cite: what a reader sees of it. Text that
// is hidden or struck out is not part of it, and so grounds nothing.
type Page struct {
	CID      string
	Address  string
	Text     string // a line for each block, with tabs between the cells of a table
	Title    string
	Headings []string // in the order of the text
	Works    []string // what it links or sets in italics, where it may be a title
	Language string   // as the page declares it; "" where it does not
	// Quoted are passages that accepted outputs quote from it word for word.
	Quoted []string
}

// PageOf is the page that a source stands for.
func PageOf(cid, address string, c page.Content) *Page {
	return &Page{CID: cid, Address: address, Text: c.Text, Title: c.Title, Headings: c.Headings, Works: c.Works, Language: c.Language}
}

// The most that a window has: words, or as many characters for each of them in scripts
// that put no blanks between words. What is longer than words are counts as several, so
// that no page makes a window as large as it likes.
const (
	windowWords  = 80
	charsPerWord = 3
	bytesPerWord = 32
)

// manySentences is how many a page has of which short ones are taken together: no text
// that people wrote has as many, and each costs memory.
const manySentences = 1 << 16

// passage is a sentence of a page, and the window around it.
type passage struct {
	start, end  int
	size        int // in words
	first, last int // the sentences of its window
}

// passages cuts the text of a page into sentences, and finds the window around each:
// its neighbours as far as they fit, the next one first.
func passages(text, language string) []passage {
	sentences := sentence.Split(text, language)
	least := 1
	if len(sentences) > manySentences {
		least = windowWords / 2
	}
	var list []passage
	for _, s := range sentences {
		if n := len(list) - 1; n >= 0 && list[n].size < least {
			s.Start, list = list[n].start, list[:n]
		}
		list = appendCut(list, text, s)
	}
	for i := range list {
		p := &list[i]
		p.first, p.last = i, i
		size := p.size
		for grown := true; grown; {
			grown = false
			if p.last+1 < len(list) && size+list[p.last+1].size <= windowWords {
				p.last++
				size += list[p.last].size
				grown = true
			}
			if p.first > 0 && size+list[p.first-1].size <= windowWords {
				p.first--
				size += list[p.first].size
				grown = true
			}
		}
	}
	return list
}

// appendCut appends a sentence, cut at its words where it is longer than a window.
func appendCut(list []passage, text string, s sentence.Span) []passage {
	p := passage{start: s.Start}
	words, dense, in := 0, 0, false
	for at := s.Start; at < s.End; {
		letter, joins, size := false, false, 1
		if c := text[at]; c < utf8.RuneSelf {
			letter, joins = 'a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= '9', c == '\'' || c == '-'
		} else {
			var r rune
			r, size = utf8.DecodeRuneInString(text[at:])
			letter, joins = unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r), r == '’'
			if letter && page.IsDense(r) {
				letter = false
				dense++
			}
		}
		if letter && !in {
			words++
		}
		in = letter || in && joins
		if words+dense/charsPerWord > windowWords || at+size-p.start > windowWords*bytesPerWord {
			p.end, p.size = at, windowWords
			list = append(list, p)
			p, words, dense = passage{start: at}, 1, 0
		}
		at += size
	}
	p.end, p.size = s.End, max(1, words+dense/charsPerWord, (s.End-p.start)/bytesPerWord)
	return append(list, p)
}

// headingBefore is the nearest heading of the page before a place.
func (p *Page) headingBefore(places []int, at int) string {
	if n := sort.SearchInts(places, at+1); n > 0 {
		return p.Headings[n-1]
	}
	return ""
}

// headingPlaces are where the headings of the page stand in its text. One that is not
// found stands where the one before it does.
func (p *Page) headingPlaces() []int {
	places, from := make([]int, len(p.Headings)), 0
	for i, heading := range p.Headings {
		if n := strings.Index(p.Text[from:], heading); n >= 0 {
			places[i] = from + n
			from += n + len(heading)
		} else if i > 0 {
			places[i] = places[i-1]
		}
	}
	return places
}
