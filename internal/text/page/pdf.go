package page

import (
	"regexp"
	"strings"
	"sync"
)

// readPDF reads the text of a PDF file. A broken file has none.
func (c *Content) readPDF(body []byte) {
	doc := readPDF(body, maxPageText)
	c.Text = tidyLines(doc.text)
	c.Author = CutBytes(TidySpace(doc.author), maxKeptLen)
	if title := TidySpace(doc.title); !fileName().MatchString(title) {
		c.Title = CutBytes(title, maxKeptLen)
	}
	// D:20210304…
	if date := strings.TrimPrefix(doc.created, "D:"); len(date) >= 8 {
		c.Published = Date(date[:4] + "-" + date[4:6] + "-" + date[6:8])
	}
}

// fileName holds for titles that programs make of the name of a file.
var fileName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)^(microsoft word - .*|untitled.*|.*\.(docx?|indd|qxd|pdf|tex|dvi|pptx?|xlsx?))$`)
})
