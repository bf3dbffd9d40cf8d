package drift

import "strings"

// Piece is a part of two passages that are compared: in both, or in one of them.
type Piece struct {
	Op   string `json:"op" jsonschema:"same, removed or added"`
	Text string `json:"text"`
}

// The kinds of pieces.
const (
	Same    = "same"
	Removed = "removed"
	Added   = "added"
)

// mostWords bounds what is compared word by word.
const mostWords = 400

// Mark says what was removed from one passage and added to make another, word by word.
func Mark(then, now string) []Piece {
	a, b := strings.Fields(then), strings.Fields(now)
	a, b = a[:min(len(a), mostWords)], b[:min(len(b), mostWords)]
	// longest[i][k] is the length of the longest list of words that a[i:] and b[k:] share.
	longest := make([][]int, len(a)+1)
	for i := range longest {
		longest[i] = make([]int, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for k := len(b) - 1; k >= 0; k-- {
			if longest[i][k] = max(longest[i+1][k], longest[i][k+1]); a[i] == b[k] {
				longest[i][k] = longest[i+1][k+1] + 1
			}
		}
	}
	pieces := []Piece{}
	add := func(op, word string) {
		if last := len(pieces) - 1; last >= 0 && pieces[last].Op == op {
			pieces[last].Text += " " + word
			return
		}
		pieces = append(pieces, Piece{op, word})
	}
	for i, k := 0, 0; i < len(a) || k < len(b); {
		switch {
		case i < len(a) && k < len(b) && a[i] == b[k]:
			add(Same, a[i])
			i, k = i+1, k+1
		case k == len(b) || i < len(a) && longest[i+1][k] >= longest[i][k+1]:
			add(Removed, a[i])
			i++
		default:
			add(Added, b[k])
			k++
		}
	}
	return pieces
}

// Marked is the difference as one line: [-what was removed-] and {+what was added+}.
func Marked(pieces []Piece) string {
	var b strings.Builder
	for i, p := range pieces {
		if i > 0 {
			b.WriteByte(' ')
		}
		switch p.Op {
		case Removed:
			b.WriteString("[-" + p.Text + "-]")
		case Added:
			b.WriteString("{+" + p.Text + "+}")
		default:
			b.WriteString(p.Text)
		}
	}
	return b.String()
}
