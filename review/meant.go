package review

import "strings"

// earlierNames are what earlier tools called the keys and values of the model.
var earlierNames = map[string]string{
	"file_path":     "file",
	"filename":      "file",
	"path":          "file",
	"line_number":   "line",
	"details":       "description",
	"suggestion":    "recommendation",
	"fix":           "recommendation",
	"type":          "category",
	"tests":         "test_results",
	"findings":      "issues",
	"pass":          "passed",
	"fail":          "failed",
	"needs_changes": string(NeedsFix),
	"critical":      string(High),
	"minor":         string(Low),
}

// probablyMeant is the candidate that a misspelt word stands for, or "": an
// earlier name, or the nearest by edit distance when it is near enough.
func probablyMeant(word string, candidates []string) string {
	const longest = 64 // no word of the model is nearly as long
	if len(word) > longest {
		return ""
	}
	folded := fold(word)
	best, nearest := "", len(folded)/3+1
	for _, candidate := range candidates {
		if earlierNames[strings.ToLower(word)] == candidate {
			return candidate
		}
		if d := distance(folded, fold(candidate)); d < nearest {
			best, nearest = candidate, d
		}
	}
	return best
}

// fold makes changeId, CHANGE-ID and change_id one word.
func fold(word string) string {
	return strings.NewReplacer("_", "", "-", "", " ", "").Replace(strings.ToLower(word))
}

// distance is the number of characters to insert, remove or replace on the way
// from a to b.
func distance(a, b string) int {
	from, to := []rune(a), []rune(b)
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
