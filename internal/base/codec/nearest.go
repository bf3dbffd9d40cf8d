package codec

import "strings"

// longestName is the length of the longest word that is compared at all; no name is
// nearly that long.
const longestName = 100

// separators make no difference: changeId, CHANGE-ID and change_id are one word.
var separators = strings.NewReplacer("_", "", "-", "", " ", "")

// Nearest is the name that a word probably stands for, or "" when none is close:
// at most a third of its characters differ, letter case and separators aside. Among
// equally close names, it is the first.
func Nearest(word string, names []string) string {
	if len(word) > longestName {
		return ""
	}
	folded := foldName(word)
	best, nearest := "", len(folded)/3+1
	for _, name := range names {
		if d := distance(folded, foldName(name)); d < nearest {
			best, nearest = name, d
		}
	}
	return best
}

// DidYouMean asks whether the nearest of the names was meant; otherwise is the hint
// where none is close.
func DidYouMean(word string, names []string, otherwise string) string {
	if near := Nearest(word, names); near != "" {
		return "did you mean " + near + "?"
	}
	return otherwise
}

func foldName(word string) []rune { return []rune(separators.Replace(strings.ToLower(word))) }

// distance is the number of characters to insert, remove or replace on the way
// from one word to the other.
func distance(from, to []rune) int {
	row := make([]int, len(to)+1)
	for j := range row {
		row[j] = j
	}
	for i, r := range from {
		diagonal := row[0]
		row[0] = i + 1
		for j, s := range to {
			change := diagonal
			if r != s {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(to)]
}
