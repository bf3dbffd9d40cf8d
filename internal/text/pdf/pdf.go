// Package pdf reads the text of PDF files. It is made for files from anybody:
// whatever the bytes are, it neither panics nor runs on, and a broken file gives as
// much text as can be read from it.
//
// Everything that it does is paid for out of one budget. The budget depends on the
// size of the file and not on a clock, so that the same bytes give the same text on
// every machine. The package knows nothing about citations.
package pdf

import (
	"strings"
)

// Document is what can be read from a file.
type Document struct {
	Text    string // a line for each line of a page, in the order of the pages
	Title   string
	Author  string
	Created string // a date as the file has it: D:20210304…
}

// Limits that no honest file comes near.
const (
	maxDepth = 64      // of arrays, dictionaries and forms in one another
	maxPages = 20_000  // that are looked at
	maxKids  = 200_000 // nodes of the page tree
)

// Read reads a file, and at most maxText bytes of its text.
func Read(data []byte, maxText int) Document {
	f := open(data)
	t := &textWriter{limit: maxText}
	for _, page := range f.pages() {
		f.showPage(page, t)
		if t.full() || f.budget <= 0 {
			break
		}
	}
	doc := Document{Text: strings.TrimSpace(string(t.out))}
	if info, ok := f.resolve(f.trailer["Info"]).(dict); ok {
		doc.Title, doc.Author, doc.Created = f.textString(info["Title"]), f.textString(info["Author"]), f.textString(info["CreationDate"])
	}
	return doc
}
