package screen

import (
	"strings"

	"github.com/tidegate/tidegate/report"
)

// fit cuts a text to some columns, and says so with an ellipsis.
func fit(text string, columns int) string {
	if report.Columns(text) <= columns {
		return text
	}
	n := 0
	for i, r := range text {
		if n += report.RuneColumns(r); n > columns-1 {
			return text[:i] + "…"
		}
	}
	return text
}

// pad fills a text up with blanks at its end.
func pad(text string, columns int) string {
	return text + strings.Repeat(" ", max(0, columns-report.Columns(text)))
}

// left fills a text up with blanks before it.
func left(text string, columns int) string {
	return strings.Repeat(" ", max(0, columns-report.Columns(text))) + text
}
