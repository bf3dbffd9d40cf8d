package web

import (
	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/review"
)

// change is one line of a difference: " " for one that both texts have, "-" for
// one that was removed, "+" for one that was added, "…" for lines that are left out.
type change struct {
	Mark string
	Text string
}

// maxChanges is how many lines of a difference a page shows.
const maxChanges = 400

// compare shows how a text became another, line by line.
func compare(before, after string) (shown []change, added, removed int) {
	show := func(mark, text string) {
		switch {
		case len(shown) < maxChanges:
			shown = append(shown, change{mark, clip(text)})
		case len(shown) == maxChanges:
			shown = append(shown, change{"…", "the rest is not shown"})
		}
	}
	last := 0 // the number of the last line that was looked at
	for _, hunk := range (review.File{Before: []byte(before), After: []byte(after)}).Hunks() {
		for _, line := range hunk {
			switch line.Op {
			case '+':
				added++
			case '-':
				removed++
			}
			if line.Number > last+1 {
				show("…", "")
			}
			last = max(last, line.Number)
			show(string(line.Op), line.Text)
		}
	}
	if added+removed > 0 && review.CountLines([]byte(after)) > last {
		show("…", "")
	}
	return shown, added, removed
}

// clip is a line as a page shows it, cut where it is long.
func clip(text string) string {
	if runes := []rune(text); len(runes) > maxLine {
		text = string(runes[:maxLine]) + "…"
	}
	return report.Visible(text)
}
