package page

import "strings"

// A PDF file comes from anybody: whatever the bytes are, reading it neither panics
// nor runs on, and a broken file gives as much text as can be read from it.
// Everything is paid for out of one budget, which depends on the size of the file
// and not on a clock, so that the same bytes give the same text on every machine.

// pdfDocument is what can be read from a PDF file.
type pdfDocument struct {
	text    string // a line for each line of a page, in the order of the pages
	title   string
	author  string
	created string // a date as the file has it: D:20210304…
	cut     bool   // a limit ended the text
}

// Limits that no honest file comes near.
const (
	maxDepth = 64      // of arrays, dictionaries and forms in one another
	maxPages = 20_000  // that are looked at
	maxKids  = 200_000 // nodes of the page tree
)

// readPDF reads a file, and at most maxText bytes of its text.
func readPDF(data []byte, maxText int) pdfDocument {
	f := openPDF(data)
	t := &pdfWriter{limit: maxText}
	for _, page := range f.pages() {
		f.showPage(page, t)
		if t.full() || f.budget <= 0 {
			break
		}
	}
	doc := pdfDocument{text: strings.TrimSpace(string(t.out)), cut: t.full() || f.budget <= 0}
	if info, ok := f.resolve(f.trailer["Info"]).(dict); ok {
		doc.title, doc.author, doc.created = f.textString(info["Title"]), f.textString(info["Author"]), f.textString(info["CreationDate"])
	}
	return doc
}
