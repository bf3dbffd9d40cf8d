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
	Places   []int    // where they begin in it
	Works    []string // what it links or sets in italics, where it may be a title
	Language string   // as the page declares it; "" where it does not
	// Quoted are passages that accepted outputs quote from it word for word.
	Quoted []string
}

// PageOf is the page that a source stands for.
func PageOf(cid, address string, c page.Content) *Page {
	return &Page{CID: cid, Address: address, Text: c.Text, Title: c.Title, Headings: c.Headings, Places: c.Places, Works: c.Works, Language: c.Language}
}

// The most that a window has: words, or as many characters for each of them in scripts
// that put no blanks between words. What is longer than words are counts as several, so
// that no page makes a window as large as it likes.
const (
	windowWords  = 120
	wideWords    = 60 // with so many it has no neighbours but the next
	charsPerWord = 3
	bytesPerWord = 32
)

// manySentences is how many a page has of which short ones are taken together: no text
// that people wrote has as many, and each costs memory.
const manySentences = 1 << 16

// passage is a sentence of a page.
type passage struct {
	start, end int
	size       int // in words
	last       int // the last passage of the window that begins with it
}

// passages cuts the text of a page into sentences and rows of tables.
func passages(text, language string) []passage {
	sentences := wholeRows(text, sentence.Split(text, language))
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
	last, size := -1, 0
	for i := range list {
		for last+1 < len(list) && (last < i || size+list[last+1].size <= windowWords) {
			last++
			size += list[last].size
		}
		list[i].last = last
		size -= list[i].size
	}
	return list
}

// wholeRows makes one of the sentences in each row of a table, a line with tabs: what its
// cells say is read together.
func wholeRows(text string, sentences []sentence.Span) []sentence.Span {
	whole, end, row := sentences[:0], 0, false // the end of the present line, and whether it is a row
	for _, s := range sentences {
		within := s.Start < end
		if !within {
			from := strings.LastIndexByte(text[:s.Start], '\n') + 1
			if end = strings.IndexByte(text[s.Start:], '\n') + s.Start; end < s.Start {
				end = len(text)
			}
			row = strings.Contains(text[from:end], "\t")
		}
		if n := len(whole) - 1; within && row {
			whole[n].End = s.End
		} else {
			whole = append(whole, s)
		}
	}
	return whole
}

// appendCut appends a sentence, cut between its words where it is longer than a window,
// and within a word only where that is.
func appendCut(list []passage, text string, s sentence.Span) []passage {
	p := passage{start: s.Start}
	words, dense, in := 0, 0, false
	edge := s.Start // behind the last character that belongs to no word
	for at := s.Start; at < s.End; {
		letter, joins, size, isDense := false, false, 1, false
		if c := text[at]; c < utf8.RuneSelf {
			letter, joins = 'a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= '9', c == '\'' || c == '-'
		} else {
			var r rune
			r, size = utf8.DecodeRuneInString(text[at:])
			letter, joins = unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r), r == '’'
			isDense = letter && page.IsDense(r)
		}
		switch {
		case isDense || size > 1 && !letter && dense > 0: // marks between them count, too
			letter = false
			dense++
		case letter && !in:
			words++
		}
		in = letter || in && joins
		if words+dense/charsPerWord > windowWords || at+size-p.start > windowWords*bytesPerWord {
			if p.end, p.size = at, windowWords; edge > p.start {
				p.end = edge
			}
			list = append(list, p)
			at = p.end
			p, words, dense, in = passage{start: at}, 0, 0, false
			continue
		}
		at += size
		if !in && !isDense {
			edge = at
		}
	}
	p.end, p.size = s.End, max(1, words+(dense+charsPerWord-1)/charsPerWord, (s.End-p.start)/bytesPerWord)
	return append(list, p)
}

// headingBefore is the nearest heading of the page before a place.
func (p *Page) headingBefore(at int) string {
	if n := sort.SearchInts(p.Places, at+1); n > 0 {
		return p.Headings[n-1]
	}
	return ""
}

// table is a run of lines with tabs in the text of a page.
type table struct{ start, end int }

// tables are those of the page, of two rows or more.
func (p *Page) tables() (all []table) {
	if !strings.Contains(p.Text, "\t") {
		return nil
	}
	at, rows := 0, 0
	end := func() {
		if rows == 1 {
			all = all[:len(all)-1]
		}
		rows = 0
	}
	for line := range strings.Lines(p.Text) {
		switch at += len(line); {
		case !strings.Contains(line, "\t"):
			end()
			continue
		case rows == 0:
			all = append(all, table{start: at - len(line)})
		}
		rows++
		all[len(all)-1].end = at
	}
	end()
	return all
}

// headRow is the first row of the table at a place, "" where a window that begins at start has
// it, or the row says by itself what its cells are.
func (p *Page) headRow(tables []table, start, at int) string {
	i := sort.Search(len(tables), func(i int) bool { return tables[i].end > at })
	if i == len(tables) || at < tables[i].start || start <= tables[i].start {
		return ""
	}
	head, _, _ := strings.Cut(p.Text[tables[i].start:tables[i].end], "\n")
	row, _, _ := strings.Cut(p.Text[at:tables[i].end], "\n")
	for cell := range strings.SplitSeq(head, "\t") {
		if cell != "" && strings.Contains(row, cell+": ") {
			return ""
		}
	}
	return strings.ReplaceAll(page.CutBytes(head, titleBytes), "\t", " | ")
}
