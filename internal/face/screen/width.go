package screen

import (
	"strings"

	"github.com/tidegate/tidegate/internal/base/report"
)

// fit cuts a text to some columns, and marks the cut with an ellipsis.
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

// pad fills up a text with blanks at its end.
func pad(text string, columns int) string {
	return text + strings.Repeat(" ", max(0, columns-report.Columns(text)))
}

// left fills up a text with blanks before it.
func left(text string, columns int) string {
	return strings.Repeat(" ", max(0, columns-report.Columns(text))) + text
}
