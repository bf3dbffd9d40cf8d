package web

import (
	"strings"

	"github.com/tidegate/tidegate/report"
)

// change is one line of a difference: " " for one that both texts have, "-" for
// one that was removed, "+" for one that was added, "…" for lines that are left out.
type change struct {
	Mark string
	Text string
}

// The limits of a difference: beyond them it would cost more than it shows.
const (
	maxCompared = 4 << 20 // pairs of lines
	around      = 3       // lines around a change
	maxChanges  = 400     // lines of a difference that a page shows
)

// compare shows how a text became another, line by line.
func compare(before, after string) (shown []change, added, removed int) {
	a, b := strings.Split(before, "\n"), strings.Split(after, "\n")
	head := 0
	for head < len(a) && head < len(b) && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < len(a)-head && tail < len(b)-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	var all []change
	for _, text := range a[:head] {
		all = append(all, change{" ", text})
	}
	all = append(all, middle(a[head:len(a)-tail], b[head:len(b)-tail])...)
	for _, text := range a[len(a)-tail:] {
		all = append(all, change{" ", text})
	}
	near := make([]bool, len(all))
	for i, c := range all {
		switch c.Mark {
		case " ":
			continue
		case "+":
			added++
		case "-":
			removed++
		}
		for j := max(0, i-around); j < min(len(all), i+around+1); j++ {
			near[j] = true
		}
	}
	for i, c := range all {
		if len(shown) == maxChanges {
			shown = append(shown, change{"…", "the rest is not shown"})
			break
		}
		switch {
		case near[i]:
			shown = append(shown, change{c.Mark, clip(c.Text)})
		case i == 0 || near[i-1]:
			shown = append(shown, change{"…", ""})
		}
	}
	if added+removed == 0 {
		return nil, 0, 0
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

// middle compares what lies between the first and the last difference, by the
// longest sequence of lines that both have.
func middle(a, b []string) []change {
	var out []change
	if len(a)*len(b) > maxCompared {
		for _, text := range a {
			out = append(out, change{"-", text})
		}
		for _, text := range b {
			out = append(out, change{"+", text})
		}
		return out
	}
	// common[i][j] is how many lines a[i:] and b[j:] have in common.
	common := make([][]int32, len(a)+1)
	for i := range common {
		common[i] = make([]int32, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				common[i][j] = common[i+1][j+1] + 1
			} else {
				common[i][j] = max(common[i+1][j], common[i][j+1])
			}
		}
	}
	i, j := 0, 0
	for i < len(a) || j < len(b) {
		switch {
		case i < len(a) && j < len(b) && a[i] == b[j]:
			out = append(out, change{" ", a[i]})
			i, j = i+1, j+1
		case j == len(b) || i < len(a) && common[i+1][j] >= common[i][j+1]:
			out = append(out, change{"-", a[i]})
			i++
		default:
			out = append(out, change{"+", b[j]})
			j++
		}
	}
	return out
}
