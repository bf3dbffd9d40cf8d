package synthesis_test

import (
	"strings"
	"testing"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/rule/synthesis"
	"github.com/tidegate/tidegate/internal/text/markdown"
)

const reviewed = `## Summary

Tugs are loud.

## Key Findings

- Electric ones are quiet
  in every harbour [@a].
  - Very quiet.
- Electric ones are quiet
  in every harbour [@a].

` + "```" + `
tugs = few

docks = many
` + "```" + `

## Evidence

| tug | noise |
|---|---|
| old | loud |

## Caveats

Nothing.
`

// TestUnchanged: a directive is answered when its block does not stand there any
// more, and only then.
func TestUnchanged(t *testing.T) {
	edit := func(old, new string) func(string) string {
		return func(s string) string {
			if !strings.Contains(s, old) {
				t.Fatalf("the draft has no %q", old)
			}
			return strings.Replace(s, old, new, 1)
		}
	}
	same := func(s string) string { return s }
	for _, test := range []struct {
		name string
		line int
		edit func(string) string
		want int // the line of the fault, -1 for none
	}{
		{"nothing was changed", 3, same, 3},
		{"the paragraph was changed", 3, edit("Tugs are loud.", "Old tugs are loud."), -1},
		{"the paragraph was removed", 3, edit("Tugs are loud.\n\n", ""), -1},
		{"another paragraph was changed", 3, edit("Nothing.", "Little."), 3},
		{"a paragraph was put before it", 3, edit("Tugs are loud.\n", "Loud means 90 decibels.\n\nTugs are loud.\n"), -1},
		{"a sentence was put into another block of the section", 13, edit("Very quiet.", "Very quiet. Quiet means 40 decibels."), -1},
		{"another block of the section was written anew", 13, edit("Very quiet.", "Rather quiet, at 40 decibels."), 13},
		{"another block of the section was shortened", 13, edit("Very quiet.", "Quiet."), 13},
		{"a paragraph was put behind it", 3, edit("Tugs are loud.\n", "Tugs are loud.\n\nLoud means 90 decibels.\n"), -1},
		{"a paragraph was put behind another", 3, edit("Nothing.\n", "Nothing.\n\nLoud means 90 decibels.\n"), 3},
		{"an item was put behind it", 9, edit("  - Very quiet.\n", "  - Very quiet.\n  - Quiet means 40 decibels.\n"), -1},
		{"the item behind it was changed", 7, edit("  - Very quiet.\n", "  - Quiet means 40 decibels.\n"), 7},
		{"blanks were added", 3, edit("Tugs are loud.", "Tugs  are\n loud. "), 3},
		{"a comment was added", 3, edit("Tugs are loud.", "Tugs are loud.<!-- changed -->"), 3},
		{"a character was added that cannot be seen", 3, edit("Tugs are", "Tugs\u200b are"), 3},
		{"emphasis was added", 3, edit("Tugs are", "*Tugs* are"), -1},
		{"a line of the item, nothing changed", 8, same, 7},
		{"one of two like items was changed", 8, edit("ones are quiet", "ones are silent"), -1},
		{"the item inside was changed, not the one around", 7, edit("Very quiet", "Rather quiet"), 7},
		{"the item inside was changed, and asked for", 9, edit("Very quiet", "Rather quiet"), -1},
		{"the fence of the code, unchanged", 13, same, 13},
		{"a blank line in the code, unchanged", 15, same, 13},
		{"a blank line in the code, changed", 15, edit("docks = many", "docks = few"), -1},
		{"a row of the table, another one changed", 23, edit("| tug |", "| boat |"), -1},
		{"a heading whose section was changed", 25, edit("Nothing.", "Little."), -1},
		{"a heading whose section is unchanged", 25, edit("Tugs are loud.", "Old tugs are loud."), 25},
		{"a heading, and the next section was changed", 19, edit("Nothing.", "Little."), 19},
		{"no line, drafts differ", 0, edit("Nothing.", "Little."), -1},
		{"no line, drafts are alike", 0, same, 0},
		{"no line, drafts differ in blanks", 0, edit("Nothing.", "Nothing.\n\n"), 0},
		{"a blank line, drafts differ", 4, edit("Nothing.", "Little."), -1},
		{"a blank line, drafts are alike", 4, same, 0},
		{"the blank line below a heading, another section changed", 2, edit("Nothing.", "Little."), 1},
		{"a line that the draft does not have", 99, edit("Nothing.", "Little."), -1},
	} {
		t.Run(test.name, func(t *testing.T) {
			result := synthesis.Judge(markdown.Read([]byte(test.edit(reviewed))), synthesis.Facts{
				Citations: []synthesis.Citation{{CID: "a"}},
				Answers: &synthesis.Answered{
					Draft:      []byte(reviewed),
					Directives: []synthesis.Directive{{Line: test.line, Action: "say what loud means"}},
				},
			})
			got := -1
			for _, f := range result.Faults {
				if f.Code == tidegate.InvisibleText && strings.ContainsRune(test.edit(reviewed), '\u200b') ||
					f.Code == tidegate.HTMLNotAllowed && strings.Contains(test.edit(reviewed), "<!--") {
					continue
				}
				if f.Code != tidegate.Unchanged || got != -1 {
					t.Fatalf("unexpected fault %+v", f)
				}
				if !strings.Contains(f.ChangeNote, "say what loud means") {
					t.Errorf("the change note does not say what the review asked for: %s", f.ChangeNote)
				}
				got = f.Line
			}
			if got != test.want {
				t.Errorf("UNCHANGED in line %d, want %d", got, test.want)
			}
		})
	}
}

// TestEachTextAnswersOneDirective: what a block gained answers what was said about it, and a
// paragraph that was put in answers one of two.
func TestEachTextAnswersOneDirective(t *testing.T) {
	for edited, want := range map[string]int{
		strings.Replace(reviewed, "Very quiet.", "Very quiet. Quiet means 40 decibels.", 1):    1,
		strings.Replace(reviewed, "## Evidence", "Quiet means 40 decibels.\n\n## Evidence", 1): 1,
		strings.Replace(reviewed, "## Evidence", "Quiet.\n\nLoud.\n\n## Evidence", 1):          0,
		strings.Replace(reviewed, "Nothing.", "Quiet means 40 decibels.\n\nNothing.", 1):       2,
	} {
		result := synthesis.Judge(markdown.Read([]byte(edited)), synthesis.Facts{Citations: []synthesis.Citation{{CID: "a"}},
			Answers: &synthesis.Answered{Draft: []byte(reviewed), Directives: []synthesis.Directive{{Line: 9, Action: "say what quiet means"}, {Line: 13, Action: "say what few means"}}}})
		if len(result.Faults) != want {
			t.Errorf("%d faults, want %d: %+v\n%s", len(result.Faults), want, result.Faults, edited)
		}
	}
}
