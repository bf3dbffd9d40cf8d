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
