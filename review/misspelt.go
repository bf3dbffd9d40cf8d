package review

import (
	"slices"
	"strings"

	"github.com/tidegate/tidegate/internal/base/codec"
)

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
// earlier name of it, or the nearest one.
func probablyMeant(word string, candidates []string) string {
	if name := earlierNames[strings.ToLower(word)]; slices.Contains(candidates, name) {
		return name
	}
	return codec.Nearest(word, candidates)
}
