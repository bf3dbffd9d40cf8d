package page

import (
	"regexp"
	"strings"
	"sync"
)

// readPDF reads the text of a PDF file. A broken file has none.
func (c *Content) readPDF(body []byte) {
	doc := readPDF(body, maxPageText)
	c.Text, c.Cut = tidyLines(doc.text), doc.cut
	c.Author, c.Title = personName(doc.author), ownTitle(doc.title)
	// D:20210304…
	if date := strings.TrimPrefix(doc.created, "D:"); len(date) >= 8 {
		c.Published = Date(date[:4] + "-" + date[4:6] + "-" + date[6:8])
	}
}

// ownTitle is a title as the metadata of a document have it, "" for one that a program
// made up.
func ownTitle(title string) string {
	title = CutBytes(TidySpace(title), maxKeptLen)
	if nonsense().MatchString(title) || CountWords(title) == 0 {
		return ""
	}
	return title
}

// personName is an author as the metadata of a document have it, "" for the name of a
// program or of nobody.
func personName(name string) string {
	name = CutBytes(TidySpace(name), maxKeptLen)
	if nobody().MatchString(name) {
		return ""
	}
	return name
}

// nonsense holds for titles that programs make of the name of a file, or of nothing.
var nonsense = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)^(microsoft (word|excel|powerpoint) - .*|(untitled|unbenannt|sans titre|sin título|senza titolo|naamloos|namnlös|nimetön)\b.*|(word|powerpoint|excel)[ -]?(document|presentation|präsentation|dokument)?|presentation ?\d*|präsentation ?\d*|document ?\d*|dokument ?\d*|(sheet|slide|tabelle|book|mappe|folie) ?\d+|slide \d+|title|.*\.(docx?|indd|qxd|pdf|tex|dvi|pptx?|xlsx?|od[tsp]|csv|rtf|wpd))$`)
})

var nobody = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)^(microsoft.*|openpyxl|python-docx|apache poi|user|admin|administrator|author|unknown|owner|libreoffice.*|windows user|adobe.*|pandoc)$`)
})

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
