package review_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/tidegate/tidegate/internal/test/full"
	"github.com/tidegate/tidegate/review"
)

const filledSkeleton = `# Code Review Report: simplify-skills

**Iteration**: 0

## Summary

Fine.

## Best Practices Issues

### Issue: [Title]
- **Severity**: High | Medium | Low

## Verdict

- [ ] APPROVED - nothing to do
- [x] NEEDS_CHANGES - two things are left
- [ ] MAJOR_ISSUES - stop

**Next Steps**: mend them
`

func TestVerdictOfHandWrittenFiles(t *testing.T) {
	for _, test := range []struct {
		name, text string
		want       review.Verdict
		problem    string
	}{
		{"filled skeleton", filledSkeleton, review.NeedsFix, ""},
		{"untouched skeleton", strings.Replace(filledSkeleton, "[x]", "[ ]", 1), "", "neither a checked box nor the word"},
		{"only the chosen box", "# Review\n\n## Verdict\n- [x] APPROVED - good", review.Approved, ""},
		{"word after a blank line, more sections", "# Code Review (Iteration 0)\n\n## Verdict\n\nNEEDS_CHANGES\n\n## Next Steps\n- go on\n", review.NeedsFix, ""},
		{"verdict first", "# Review (Iteration 0)\n\n## Verdict\nNEEDS_CHANGES\n\n### HIGH\n- one\n", review.NeedsFix, ""},
		{"the earlier tool's layout", "# Code Review (Iteration 1)\n\n## Issues\n\nNo issues found.\n\n## Verdict\nMAJOR_ISSUES\n\n**Next Steps**: stop\n", review.MajorIssues, ""},
		{"our word by hand", "## Verdict\n\nNEEDS_FIX\n", review.NeedsFix, ""},
		{"header with the word", "# Verdict: NEEDS_FIX\n\ntext\n", review.NeedsFix, ""},
		{"header and boxes agree", "## Verdict: NEEDS_FIX\n\n- [ ] APPROVED\n- [x] NEEDS_CHANGES\n", review.NeedsFix, ""},
		{"lower case", "## verdict\napproved\n", review.Approved, ""},
		{"CRLF", "## Verdict\r\n\r\nAPPROVED\r\n", review.Approved, ""},
		{"byte-order mark", "\ufeff## Verdict\nAPPROVED\n", review.Approved, ""},
		{"no verdict", "# Review\n\nLooks good, approved.\n", "", "neither a verdict heading"},
		{"empty", "", "", "neither a verdict heading"},
		{"not UTF-8", "## Verdict\nAPPROVED\xff\n", "", "not valid UTF-8"},
		{"contradictory sections", "## Verdict\nNEEDS_CHANGES\n\n## Verdict\nAPPROVED\n", "", "contradictory"},
		{"repeated sections", "## Verdict\nAPPROVED\n\n## Verdict\nAPPROVED\n", "", "repeated"},
		{"footnote against a box", "## Verdict\n- [x] APPROVED - see[^1]\n\n[^1]: Verdict: NEEDS_FIX\n", "", "contradictory"},
		{"bare footnote against a box", "## Verdict\n- [x] APPROVED\n\nSee[^1].\n\n[^1]: NEEDS_FIX\n", "", "contradictory"},
		{"quoted footnote against a box", "## Verdict\n- [x] APPROVED\n\nSee[^n].\n\n> [^n]: Verdict: MAJOR_ISSUES\n", "", "contradictory"},
		{"footnote that goes on", "## Verdict\n- [x] APPROVED\n\nSee[^n].\n\n[^n]: A note.\n\n    Verdict: MAJOR_ISSUES\n", "", "contradictory"},
		{"footnote that says nothing", "## Verdict\n- [x] APPROVED\n\nSee[^n].\n\n[^n]: A note.\n", review.Approved, ""},
		{"alert against a box", "> [!CAUTION]\n> Verdict: NEEDS_FIX\n\n## Verdict\n- [x] APPROVED\n", "", "contradictory"},
		{"alert that says nothing", "> [!NOTE]\n> A note.\n\n## Verdict\n- [x] APPROVED\n", review.Approved, ""},
		{"hidden box", "# Verdict\n\n<div hidden>\n\n- [x] APPROVED\n\n</div>\n", "", "hidden text: the HTML in line 3"},
		{"box out of sight", "<div style=\"display:none\">\n\n# Verdict: APPROVED\n\n</div>\n", "", "hidden text"},
		{"template", "<template>\n\n# Verdict: APPROVED\n\n</template>\n", "", "hidden text"},
		{"HTML that hides nothing", "<div align=center>\n\n# Verdict: APPROVED\n\n</div>\n", review.Approved, ""},
		{"hidden in a comment", "<!-- <div hidden> -->\n\n# Verdict: APPROVED\n", review.Approved, ""},
		{"contradictory boxes", "## Verdict\n- [x] APPROVED\n- [x] MAJOR_ISSUES\n", "", "contradictory"},
		{"repeated boxes", "## Verdict\n- [x] APPROVED\n- [x] APPROVED\n", "", "repeated"},
		{"box against word", "## Verdict\nAPPROVED\n\n- [x] MAJOR_ISSUES\n", "", "contradictory"},
		{"header against section", "# Verdict: APPROVED\n\n## Verdict\n\nNEEDS_FIX\n", "", "contradictory"},
		{"box in another section", "## Notes\n- [x] APPROVED\n\n## Verdict\nMAJOR_ISSUES\n", "", "contradictory"},
		{"with reservations", "## Verdict\nAPPROVED_WITH_COMMENTS\n", "", "neither a checked box"},
		{"prefix of a sentence", "## Verdict\nApproved only after the fix\n", "", "neither a checked box"},
		{"sentence over two lines", "## Verdict\nAPPROVED\nonly after the fix\n", "", "neither a checked box"},
		{"end of a sentence", "## Verdict\nit is not\nAPPROVED\n", "", "neither a checked box"},
		{"word in another section", "## Summary\n\nAPPROVED\n", "", "neither a verdict heading"},
		{"in a fence", "```\n## Verdict\nAPPROVED\n```\n\n## Verdict\nMAJOR_ISSUES\n", review.MajorIssues, ""},
		{"in a longer fence", "~~~~\n~~~\n## Verdict\nAPPROVED\n~~~~\n## Verdict\nMAJOR_ISSUES\n", review.MajorIssues, ""},
		{"in a quote", "> ## Verdict\n> APPROVED\n\n## Verdict\nMAJOR_ISSUES\n", review.MajorIssues, ""},
		{"lazily in a quote", "## Verdict\n\n> it said\nAPPROVED\n\nMAJOR_ISSUES\n", review.MajorIssues, ""},
		{"in a comment", "<!--\n## Verdict\n\nAPPROVED\n-->\n\n## Verdict\nMAJOR_ISSUES\n", review.MajorIssues, ""},
		{"in HTML", "<details>\n## Verdict\nAPPROVED\n\n## Verdict\nMAJOR_ISSUES\n", review.MajorIssues, ""},
		{"below text that is not HTML", "<a lot of people\n## Verdict\n\nAPPROVED\n", review.Approved, ""},
		{"below a tag that ends no paragraph", "text\n<b>\n## Verdict\n\nAPPROVED\n", review.Approved, ""},
		{"right above a fence", "## Verdict\nNEEDS_FIX\n```\nlog\n```\n", review.NeedsFix, ""},
		{"in pre", "<pre>\n\n## Verdict\n\nAPPROVED\n</pre>\n\n## Verdict\nMAJOR_ISSUES\n", review.MajorIssues, ""},
		{"in indented code", "    ## Verdict\n\n    APPROVED\n\n## Verdict\nMAJOR_ISSUES\n", review.MajorIssues, ""},
		{"underlined heading", "Verdict\n-------\n\nMAJOR_ISSUES\n", review.MajorIssues, ""},
		{"underlined heading against a box", "Verdict\n===\n\nMAJOR_ISSUES\n\n- [x] APPROVED\n", "", "contradictory"},
		{"rule below a quote", "## Verdict\n\n> it said\n---\n\nAPPROVED\n", review.Approved, ""},
		{"fence that ends with its list item", "- one\n  ```\n  code\n\n## Verdict\nMAJOR_ISSUES\n", review.MajorIssues, ""},
		{"checklist in words", "## Verdict\n- [x] APPROVED\n\n## Checks\n- [x] Major issues resolved\n- [x] Needs changes from review 1 are in\n", review.Approved, ""},
		{"the same again, loosely", "**Verdict**: APPROVED\n\n## Verdict\n- [x] APPROVED\n    - [x] approved\n", review.Approved, ""},
		{"options with decorated words", "## Verdict\n- [x] APPROVED\n- [ ] **MAJOR_ISSUES**\n", review.Approved, ""},
		{"loosely and nothing else", "## Verdict\n1. [x] APPROVED\n", "", "neither a checked box"},
		{"a legend of all verdicts", "Verdicts: APPROVED, NEEDS_CHANGES, MAJOR_ISSUES\n\n## Verdict\n- [x] NEEDS_CHANGES\n", review.NeedsFix, ""},
		{"words of a verdict in a sentence", "The last review said NEEDS_CHANGES, and REJECTED uploads are logged now.\n\n## Verdict\nAPPROVED\n", review.Approved, ""},
		{"a heading that goes on after the word", "## Verdict rationale\n\nIt works.\n\n## Verdict\nAPPROVED\n", review.Approved, ""},
		{"a refusal struck out of an approval", "## Verdict\n- [x] APPROVED (~~NEEDS_FIX~~ mended)\n", review.Approved, ""},
		{"a refusal that somebody quotes", "> The last one said NEEDS_FIX.\n\n## Verdict\n- [x] APPROVED\n", review.Approved, ""},
		{"box in prose", "it says [x] approved\n\n## Verdict\nMAJOR_ISSUES\n", review.MajorIssues, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := review.Read([]byte(test.text))
			if got.Complete {
				t.Error("the reading is complete, want a verdict only")
			}
			if got.Verdict != test.want {
				t.Errorf("verdict %v, want %v; problems %q", got.Verdict, test.want, got.Problems)
			}
			if all := strings.Join(got.Problems, "; "); !strings.Contains(all, test.problem) || test.problem == "" && test.want == "" {
				t.Errorf("problems %q, want one with %q", all, test.problem)
			}
		})
	}
}

// What a person sees on the page as another verdict must not be passed over
// because it is not written as a verdict should be.
func TestAnyWayToStateAnotherVerdictContradicts(t *testing.T) {
	const approved = "## Verdict\n\n- [x] APPROVED\n"
	for name, text := range map[string]string{
		"box nested by blanks":     approved + "    - [x] MAJOR_ISSUES\n",
		"box nested by a tab":      approved + "\t- [x] MAJOR_ISSUES\n",
		"box in a box":             approved + "- - [x] MAJOR_ISSUES\n",
		"numbered box":             approved + "\n1. [x] MAJOR_ISSUES\n",
		"bold":                     approved + "- [x] **MAJOR_ISSUES**\n",
		"in back-ticks":            approved + "- [x] `MAJOR_ISSUES`\n",
		"with a reason":            approved + "- [x] MAJOR_ISSUES because it leaks\n",
		"without a blank":          approved + "- [x]MAJOR_ISSUES\n",
		"no-break space":           approved + "- [x]\u00a0MAJOR_ISSUES\n",
		"zero-width space":         approved + "- [x] \u200bMAJOR_ISSUES\n",
		"another tick":             approved + "- [✓] MAJOR_ISSUES\n",
		"two words":                approved + "- [x] NEEDS CHANGES\n",
		"below HTML":               "<b>a</b> note\n- [x] MAJOR_ISSUES\n\n" + approved,
		"below a fence in an item": approved + "- a\n  ```\n- [x] MAJOR_ISSUES\n",
		"label":                    "**Verdict**: MAJOR_ISSUES\n\n" + approved,
		"header with more":         "# Verdict: MAJOR_ISSUES (2 high)\n\n" + approved,
		"header in bold":           "# Verdict: **MAJOR_ISSUES**\n\n" + approved,
		"heading in a list":        "- # Verdict: MAJOR_ISSUES\n\n" + approved,
		"word in bold":             approved + "\n**MAJOR_ISSUES**\n",
		"word as a bullet":         approved + "- MAJOR_ISSUES\n",

		"header with an escape":              "# Verdict: NEEDS\\_FIX\n\n" + approved,
		"header with a word that is none":    "# Verdict: REJECTED\n\n" + approved,
		"header with a word for yes":         "# Verdict: LGTM\n\n" + approved,
		"header without a colon":             "# Verdict REJECTED\n\n" + approved,
		"header with a dash":                 "# Verdict – blocked until the tests pass\n\n" + approved,
		"header that says not":               "# Verdict: NOT APPROVED\n\n- [x] APPROVED: naming\n",
		"header in lower case":               "# Verdict: not approved\n\n- [x] APPROVED: naming\n",
		"underlined header":                  "Verdict: no\n===========\n\n" + approved,
		"header with an entity":              "# Verdict: NEEDS&#95;FIX\n\n" + approved,
		"header with emphasis in the word":   "# Verdict: MAJ**OR**\\_ISSUES\n\n" + approved,
		"header with a zero-width space":     "# Verdict: NEEDS\u200b_FIX\n\n" + approved,
		"header with a soft hyphen":          "# Ver\u00addict: MAJOR_ISSUES\n\n" + approved,
		"header with full-width letters":     "# Verdict: ＮＥＥＤＳ＿ＦＩＸ\n\n" + approved,
		"header with a link":                 "# Verdict: [NEEDS_FIX](x.md)\n\n" + approved,
		"header in HTML":                     "<h1>Verdict: REJECTED</h1>\n\n" + approved,
		"header behind a comment":            "<!-- x --> Verdict: NEEDS_FIX\n\n" + approved,
		"header behind the end of a comment": "<!--\nhidden --> Verdict: NEEDS_FIX\n\n" + approved,
		"a word of refusal alone":            "REJECTED\n\n" + approved,
		"a word of refusal in HTML":          "<b>\nREJECTED\n</b>\n\n" + approved,
		"a word of refusal with a reason":    approved + "\n## Notes\n\nNOT APPROVED: the tests fail\n",
		"a refusal in a table":               "| Verdict | Why |\n|---|---|\n| REJECTED | tests |\n\n" + approved,
		"a refusal between two cells":        "| a | b | c |\n|---|---|---|\n| <!-- | Verdict: NEEDS_FIX | --> |\n\n" + approved,
		"a refusal below half a comment":     "| <!-- |\n|---|\n| Verdict: NEEDS_FIX |\n| --> |\n\n" + approved,
		"a refusal over two lines":           "NOT\nAPPROVED\n\n" + approved,
		"a refusal in a sentence":            "This change is **NOT APPROVED**.\n\n" + approved,
		"a refusal under another label":      "**Status**: NEEDS_FIX\n\n" + approved,
		"a refusal that is ticked":           approved + "\n- [x] NOT APPROVED\n",
		"a refusal in the verdict section":   approved + "\nRejected.\n",
		"a box with blanks in it":            approved + "- [ x ] MAJOR_ISSUES\n",
		"the word alone in another section":  "## Summary\n\nNEEDS_FIX\n\n" + approved,

		"a quoted header":                    "> # Verdict: NEEDS_FIX\n\n" + approved,
		"a quoted box":                       approved + "\n> - [x] NEEDS_FIX\n",
		"a quote in a list":                  "- > ## Verdict: NEEDS_FIX\n\n" + approved,
		"a box in small letters":             approved + "- [x] Needs fix\n",
		"a box in small letters with reason": approved + "- [x] Needs fix: the tests fail\n",
		"a label in small letters":           "**Verdict**: Needs fix\n\n" + approved,
		"a box that takes it back":           "## Verdict\n\n- [x] APPROVED (not yet: NEEDS_FIX)\n",
		"a box that takes it back in words":  "## Verdict\n\n- [x] APPROVED - NOT APPROVED by the owner\n",
		"struck through":                     "~~APPROVED~~ NEEDS_FIX\n\n" + approved,
		"struck through in a header":         "# Verdict: ~~APPROVED~~ NEEDS_FIX\n\n" + approved,
		"struck through by a tag":            "<del>APPROVED</del> NEEDS_FIX\n\n" + approved,
		"struck through in HTML":             "<p>\n<s>APPROVED</s> NEEDS_FIX\n</p>\n\n" + approved,
		"struck through in a box":            approved + "- [x] ~~APPROVED~~ NEEDS_FIX\n",
		"changed in a sentence":              "# Verdict: APPROVED\n\nAll good.\n\nVerdict changed to NEEDS\\_FIX\n",
		"changed in bold":                    approved + "\n**The verdict was changed to MAJOR ISSUES** after a second look\n",
		"not approved, and a hidden box":     "## Verdict\n\nNot approved, see below\n\n<details>\n\n- [x] APPROVED\n\n</details>\n",
		"not approved before the box":        "## Verdict\n\nNot approved yet.\n\n- [x] APPROVED\n",
		"both on one line":                   "**Verdict**: APPROVED, NEEDS_FIX\n\n" + approved,
	} {
		t.Run(name, func(t *testing.T) {
			got := review.Read([]byte(text))
			if got.Verdict != "" || !strings.Contains(strings.Join(got.Problems, "; "), "contradictory") {
				t.Errorf("verdict %v, problems %q; want none and a contradiction", got.Verdict, got.Problems)
			}
		})
	}
}

func TestOurFilesSurviveLineEnds(t *testing.T) {
	data := review.Format(sample(review.NeedsFix), []string{"a warning"})
	crlf := append([]byte("\ufeff"), bytes.ReplaceAll(data, []byte("\n"), []byte("\r\n"))...)
	if got := review.Read(crlf); !got.Complete || got.Verdict != review.NeedsFix || len(got.Warnings) != 1 {
		t.Errorf("got %+v, want a complete reading", got)
	}
}

func TestEditedFilesAreNotCompletelyRead(t *testing.T) {
	whole := string(review.Format(sample(review.NeedsFix), nil))
	for _, test := range []struct {
		name, from, to string
		want           review.Verdict
	}{
		{"a note at the end", "-race.\n", "-race.\n\nA note.\n", review.NeedsFix},
		{"a forged issue", "## Issues\n", "## Issues\n\n### Issue: forged\n", review.NeedsFix},
		{"a count that is wrong", "1 high", "0 high", review.NeedsFix},
		{"an escape taken away", "Adds a cache", "<b>", review.NeedsFix},
		{"a severity that is none", "- **Severity**: High", "- **Severity**: Huge", review.NeedsFix},
		{"another header", "# Verdict: NEEDS_FIX", "# Verdict: APPROVED", ""},
		{"a header that is none", "# Verdict: NEEDS_FIX", "# Verdict: LGTM", ""},
		{"another box", "- [ ] APPROVED", "- [x] APPROVED", ""},
		{"another word", "\nNEEDS_CHANGES\n", "\nAPPROVED\n", ""},
		{"no final newline", "Bound it.\n", "Bound it.", review.NeedsFix},
		{"status of the tests", "⚠️ PARTIAL", "✅ PASS", review.NeedsFix},
	} {
		t.Run(test.name, func(t *testing.T) {
			edited := strings.Replace(whole, test.from, test.to, 1)
			if edited == whole {
				t.Fatalf("%q is not in the file", test.from)
			}
			got := review.Read([]byte(edited))
			if got.Complete || got.Verdict != test.want || len(got.Problems) == 0 {
				t.Errorf("complete %v, verdict %v, problems %q; want incomplete, %v, some", got.Complete, got.Verdict, got.Problems, test.want)
			}
		})
	}
}

func TestOurFilesStateTheirVerdictToAnyStrictReader(t *testing.T) {
	for v, verdict := range verdicts {
		for i := v % full.Stride(3, 1); i < len(hostile); i += full.Stride(3, 1) {
			text := hostile[i]
			if blank(text) {
				continue
			}
			p := sample(verdict)
			for _, field := range fields {
				field.set(&p, text)
			}
			// A line at the end leaves only the verdict to be read.
			got := review.Read(append(review.Format(p, nil), "\nnote\n"...))
			if got.Complete || got.Verdict != verdict {
				t.Fatalf("%q: verdict %v, want %v; problems %q", text, got.Verdict, verdict, got.Problems)
			}
		}
	}
}

func TestShowReportsADisagreement(t *testing.T) {
	shown := review.Show("REVIEW.md", []byte("it says [x] approved\n\n## Verdict\nMAJOR_ISSUES\n"))
	if shown.Verdict != "MAJOR_ISSUES" || shown.AgentdVerdict != "APPROVED" || shown.Agree || shown.Passed() {
		t.Errorf("got %+v", shown)
	}
	shown = review.Show("REVIEW.md", []byte("\xff"))
	if shown.Verdict != "UNKNOWN" || shown.AgentdVerdict != review.Unreadable || shown.Passed() {
		t.Errorf("not UTF-8: got %+v", shown)
	}
	shown = review.Show("REVIEW.md", review.Format(sample(review.Approved), nil))
	if !shown.Passed() || !shown.Agree || !shown.Complete {
		t.Errorf("approved: got %+v", shown)
	}
}
