package citation

import (
	"strings"

	"github.com/tidegate/tidegate/internal/text/pattern"
	"github.com/tidegate/tidegate/internal/text/pdf"
)

// readPDF reads the text of a PDF file. A broken file has none.
func readPDF(body []byte, c *Content) {
	doc := pdf.Read(body, MaxText)
	c.Text = tidyLines(doc.Text)
	c.Author = cutBytes(tidySpace(doc.Author), maxKeptLen)
	if title := tidySpace(doc.Title); !fileName().MatchString(title) {
		c.Title = cutBytes(title, maxKeptLen)
	}
	// D:20210304…
	if date := strings.TrimPrefix(doc.Created, "D:"); len(date) >= 8 {
		c.Published = dateOf(date[:4] + "-" + date[4:6] + "-" + date[6:8])
	}
}

// fileName holds for titles that programs make of the name of a file.
var fileName = pattern.New(`(?i)^(microsoft word - .*|untitled.*|.*\.(docx?|indd|qxd|pdf|tex|dvi|pptx?|xlsx?))$`)
