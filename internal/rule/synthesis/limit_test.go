package synthesis_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/rule/evidence"
	"github.com/tidegate/tidegate/internal/rule/synthesis"
	"github.com/tidegate/tidegate/internal/test/full"
	"github.com/tidegate/tidegate/internal/text/markdown"
)

// tiles are texts that parsers are slow on when they are repeated.
var tiles = map[string]string{
	"brackets":             "[",
	"links":                "[a](",
	"links in links":       "[a](b)",
	"images":               "![",
	"closing brackets":     "a](",
	"reference links":      "[a][",
	"citations":            "[@a] ",
	"open citations":       "[@a ",
	"stars":                "*a ",
	"stars and doubles":    "*a **b ",
	"crossed emphasis":     "*a_ ",
	"underscores":          "_a __b",
	"back-ticks":           "`x ``y ",
	"angle brackets":       "<",
	"open tags":            "<a ",
	"tags":                 "<b>x",
	"html blocks":          "<div>\nx\n\n",
	"comments":             "<!-- a ",
	"comments in lines":    "x <!-- a\n",
	"declarations":         "x<!A ",
	"instructions":         "x<? ",
	"character data":       "x<![CDATA[",
	"ampersands":           "&",
	"entities":             "&#50;",
	"open entities":        "&#5",
	"backslashes":          "\\",
	"lines":                "a\n",
	"blank lines":          "\n",
	"tabs":                 "\t",
	"items":                "- a\n",
	"items apart":          "- a\n\n",
	"numbers":              "20 ",
	"numbers on lines":     "20\n",
	"numbers in items":     "- 20\n",
	"number words":         "ten ",
	"hyphenated":           "twenty-",
	"words and":            "hundred and ",
	"identifiers":          "a1-",
	"grouped":              "1,",
	"definitions":          "[a]: b\n",
	"open definitions":     "[a\n",
	"delimiter rows":       "a|b\n-|-\n",
	"cells":                "|a",
	"quotes":               "> ",
	"quotes on lines":      ">>>>>>>>a\n",
	"bullets in bullets":   "- ",
	"numbered in numbered": "1. ",
	"headings":             "# a 1\n",
	"setext":               "a\n===\n",
	"fences":               "```\n",
	"characters not seen":  "\u200b",
	"bytes that are none":  "\xff",
	"carriage returns":     "a\r",
}

// TestHostileDraftsAreJudged: the cost of a draft grows with its bytes. Without
// the limits some of these take longer than a test may.
func TestHostileDraftsAreJudged(t *testing.T) {
	size := 4 << 10
	if full.Asked() {
		size = 256 << 10
	}
	for _, name := range slices.Sorted(maps.Keys(tiles)) {
		t.Run(name, func(t *testing.T) {
			draft := []byte(strings.Repeat(tiles[name], size/len(tiles[name])))
			result := synthesis.Judge(markdown.Read(draft), synthesis.Facts{
				Citations: []synthesis.Citation{{CID: "a"}},
				Answers:   &synthesis.Answered{Draft: draft, Directives: []synthesis.Directive{{Line: 1, Action: "change"}}},
			})
			if len(result.Missing) != len(evidence.Briefing.Titles(nil)) {
				t.Errorf("missing sections %v", result.Missing)
			}
			if !slices.ContainsFunc(result.Faults, func(f synthesis.Fault) bool { return f.Code == tidegate.Unchanged }) {
				t.Error("the draft counts as changed")
			}
		})
	}
}

// TestDeepMarksAreText: beyond the limits marks are text, and the numbers after
// them are still found.
func TestDeepMarksAreText(t *testing.T) {
	for name, draft := range map[string]string{
		"quotes":  strings.Repeat("> ", 3*markdown.MaxDepth) + "20",
		"bullets": strings.Repeat("- ", 3*markdown.MaxDepth) + "20",
		"links":   strings.Repeat("[a](", 1000) + "20",
		"stars":   strings.Repeat("*a ", 1000) + "20",
		"cells":   "|a" + strings.Repeat("|a", markdown.MaxCells) + "|\n|-" + strings.Repeat("|-", markdown.MaxCells) + "|\n|20|",
	} {
		result := synthesis.Judge(markdown.Read([]byte(draft)), synthesis.Facts{})
		if len(result.Uncited) != 1 || result.Uncited[0].Token != "20" {
			t.Errorf("%s: numbers %+v", name, result.Uncited)
		}
	}
}

func BenchmarkJudge(b *testing.B) {
	draft := []byte(strings.Repeat("The harbour has 20 tugs, *and* they use twelve percent less fuel [@a].\n\n- It has `4` docks [@p].\n\n", 500))
	facts := synthesis.Facts{Citations: []synthesis.Citation{{CID: "a"}, {CID: "p"}}}
	b.SetBytes(int64(len(draft)))
	for b.Loop() {
		synthesis.Judge(markdown.Read(draft), facts)
	}
}
