package pivot_test

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/test/full"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/text/markdown"
	"github.com/tidegate/tidegate/pivot"
)

var ignorePlaces = cmpopts.IgnoreFields(pivot.Gap{}, "File", "Line")

// brief is a gap as the tables below write it: id, line, priority and text.
func brief(gaps []pivot.Gap) []string {
	list := []string{}
	for _, g := range gaps {
		list = append(list, strings.Join([]string{g.ID, string(rune('0' + g.Line)), g.Priority, g.Text}, "|"))
	}
	return list
}

func TestExtract(t *testing.T) {
	for _, test := range []struct {
		name, markdown string
		want           []string
	}{
		{"the four forms", "## Gaps\n- (P0) a\n- (P1) b\n- (P2) c\n- (P3) d\n",
			[]string{"gap_p1_1|2|P0|a", "gap_p1_2|3|P1|b", "gap_p1_3|4|P2|c", "gap_p1_4|5|P3|d"}},
		{"numbers follow the document, not the priority", "# Gaps\n- (P3) late\n- (P0) soon\n", []string{"gap_p1_1|2|P3|late", "gap_p1_2|3|P0|soon"}},
		{"an empty section", "## Gaps\n", []string{}},
		{"a section of prose", "## Gaps\nNone that we know of.\n", []string{}},
		{"any level of heading", "###### Gaps ######\n- (P1) x\n", []string{"gap_p1_1|2|P1|x"}},
		{"the first heading of that text", "# Gaps\n- (P1) first\n# Gaps\n- (P0) second\n", []string{"gap_p1_1|2|P1|first"}},
		{"up to the next heading of any level", "# Gaps\n- (P1) x\n###### Next\n- (P0) y\n- other\n", []string{"gap_p1_1|2|P1|x"}},
		{"nothing before the heading counts", "- (P0) x\n- y\n# Gaps\n", []string{}},
		{"to the end without a line end", "# Gaps\n- (P1) x", []string{"gap_p1_1|2|P1|x"}},
		{"text is trimmed and collapsed", "# Gaps\n- (P1) \t a \t\t b\u00a0\u2003c \t\n", []string{"gap_p1_1|2|P1|a b c"}},
		{"blanks and tabs between the parts", "# Gaps\n-\t \t(P1)\t  x\n", []string{"gap_p1_1|2|P1|x"}},
		{"the priority may occur again in the text", "# Gaps\n- (P1) (P0) x\n", []string{"gap_p1_1|2|P1|(P0) x"}},
		{"wrapped text is not part of it", "# Gaps\n- (P1) one\n  two\n\n  three\n", []string{"gap_p1_1|2|P1|one"}},
		{"nested items are gaps", "# Gaps\n- (P1) a\n  - (P2) b\n      - (P3) c\n", []string{"gap_p1_1|2|P1|a", "gap_p1_2|3|P2|b", "gap_p1_3|4|P3|c"}},
		{"indentation alone hides nothing", "# Gaps\n\n        - (P0) deep\n\t\t- (P1) tabs\n", []string{"gap_p1_1|3|P0|deep", "gap_p1_2|4|P1|tabs"}},
		{"unusual white space before the bullet", "# Gaps\n\u00a0\u3000\f\v- (P0) x\n", []string{"gap_p1_1|2|P0|x"}},
		{"lines in fenced code do not count", "# Gaps\n```\n- (P0) code\n- broken\n# Next\n```\n- (P1) x\n", []string{"gap_p1_1|7|P1|x"}},
		{"fences of tildes", "# Gaps\n~~~ md\n* code\n~~~\n", []string{}},
		{"a fence in a list item", "# Gaps\n- (P1) see\n  ```\n  - (P0) code\n  ```\n- (P2) y\n", []string{"gap_p1_1|2|P1|see", "gap_p1_2|6|P2|y"}},
		{"lines in HTML comments do not count", "# Gaps\n<!--\n- (P0) old\n- broken\n-->\n- (P1) x\n", []string{"gap_p1_1|6|P1|x"}},
		{"a comment on one line", "# Gaps\n<!-- - broken -->\n- (P1) x\n", []string{"gap_p1_1|3|P1|x"}},
		{"other HTML hides nothing", "# Gaps\n<div>\n- (P0) x\n</div>\n", []string{"gap_p1_1|3|P0|x"}},
		{"thematic breaks", "# Gaps\n- (P1) x\n\n---\n - - -\n* * *\n***\n_ _ _\n-\t-\t-\t-\n", []string{"gap_p1_1|2|P1|x"}},
		{"emphasis is not a list marker", "# Gaps\n*none* that matter\n**none**\n+1 for that\n3.5 percent\n(P4) of them\n(p0) lower\n", []string{}},
		{"a number of ten digits is not a list marker", "# Gaps\n1234567890. x\n", []string{}},
		{"prose that mentions a priority is prose", "# Gaps\nThe (P0) gaps are closed.\nNo (P1) gap.\nA (P0) gap would be bad.\nsee (P0)\n> Quoted (P0).\n1984 was (P1).\n3.5 percent (P2)\n**Note** (P0)\n[P0] x\nP0) x\n", []string{}},
		{"block quotes of prose are other lines", "# Gaps\n> - quoted\n", []string{}},
		{"carriage returns end lines", "# Gaps\r- (P1) a\r\n- (P2) b\r", []string{"gap_p1_1|2|P1|a", "gap_p1_2|3|P2|b"}},
		{"a byte-order mark", "\ufeff# Gaps\n- (P1) a\n", []string{"gap_p1_1|2|P1|a"}},
		{"control characters stay in the text", "# Gaps\n- (P1) a\x00\x1b[31mb\x7f\n", []string{"gap_p1_1|2|P1|a\x00\x1b[31mb\x7f"}},
		{"bytes that are not UTF-8 become U+FFFD, each of them", "# Gaps\n- (P1) a\x85\xa0\xffb\n", []string{"gap_p1_1|2|P1|a\ufffd\ufffd\ufffdb"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			gaps := must.Get(pivot.Extract("p1", iotest.OneByteReader(strings.NewReader(test.markdown))))(t)
			if diff := cmp.Diff(test.want, brief(gaps)); diff != "" {
				t.Errorf("gaps (-want +got):\n%s", diff)
			}
			for _, g := range gaps {
				if g.Source != "parsed_wave1" || g.From != "p1" || g.Tags == nil {
					t.Errorf("source %q, from %q, tags %v", g.Source, g.From, g.Tags)
				}
			}
		})
	}
}

func TestExtractTags(t *testing.T) {
	for text, want := range map[string][]string{
		"no tags":                         {},
		"Need X #verification":            {"verification"},
		"#b then #a then #b":              {"a", "b"},
		"#":                               {},
		"## #-_9 #a-b_c1":                 {"-_9", "a-b_c1"},
		"C#lang, f(#x), [link](#anchor)!": {"anchor", "lang", "x"},
		"#one#two##three":                 {"one", "three", "two"},
		"#Upper #lowerUpper #é":           {"lower"},
		"#a\x00b #c\u200bd":               {"a", "c"},
		"`#code` **#bold**":               {"bold", "code"},
		"# spaced":                        {},
		"#az09 #`x #{y #/0 #:1 #09az":     {"09az", "az09"},
	} {
		gaps := must.Get(pivot.Extract("p1", strings.NewReader("# Gaps\n- (P2) "+text+"\n")))(t)
		if diff := cmp.Diff(want, gaps[0].Tags); diff != "" {
			t.Errorf("tags of %q (-want +got):\n%s", text, diff)
		}
	}
}

func TestExtractRefusesEveryBulletLineOfAnotherForm(t *testing.T) {
	for _, line := range []string{
		"- None", "- [ ] (P0) x", "- **(P0)** x", "-(P0) x", "-", "- ", "-x", "--", "-- x", "- (P0)", "- (P0) ", "- (P0) \t \u00a0", "- (P0)x",
		"-\u00a0(P0) x", "- (P0)\u00a0x", "- (P4) x", "- (p0) x", "- (P 0) x", "- (P0 ) x", "- P0 x", "- (P01) x", "- [P0] x",
		"* (P0) x", "+ (P0) x", "1. (P0) x", "1) (P0) x", "123456789. x", "*\tx", "*", "+", "7.", "0)",
		"(P0) x", "(P3)", "(P1)x", "  * nested", "\t\t1. nested", "\u00a0* x", "        (P2) x",
		// Signs of every kind, and nothing at all.
		"• (P0) x", "– (P0) x", "— (P1) x", "‣ (P0) x", "◦(P2) x", "→ (P0) x", "✓ (P0) x", "☐ (P0) x", "🔴 (P0) x", "= (P0) x", "~ (P0) x", "#(P0) x", "·(P0)x", "-- (P0) x", "−(P0) x",
		// Numbers and letters, in brackets or not.
		"(1) (P0) x", "[1] (P0) x", "1 (P0) x", "1: (P0) x", "1.2.3 (P0) x", "a) (P0) x", "(a) (P0) x", "[a] (P0) x", "b (P0) x", "A. (P0) x", "iv. (P0) x", "(iii) (P0) x", "II) (P0) x", "① (P0) x", "1️⃣ (P0) x", "一、(P0) x", "G1: (P0) x", "1a) (P0) x", "1234567890. (P0) x", "[ ] (P0) x", "[x] (P0) x",
		// Quotes, emphasis, code, links.
		"> - (P0) x", "> (P0) x", ">> 1. (P0) x", "**(P0)** x", "*(P0)* x", "_(P0)_ x", "***(P0)*** x", "~~(P0)~~ x", "`(P0)` x", "(**P0**) x", "[(P0)](y) x", "\"(P0)\" x", "“(P0)” x", "((P0)) x",
		// Escapes, character references, tags, tables, zero-width characters, wide
		// forms.
		`\- (P0) x`, `\(P0\) x`, `\* \(P0) x`, "&#40;P0) x", "&lpar;P&#48;&rpar; x", "&bull; (P0) x", "&nbsp;(P0) x", "<b>(P0)</b> x", "<!-- --> (P0) x", "<li>(P0) x", "| (P0) | x |", "| 1 | (P0) | x |", "|(P0)|",
		"\u200b- (P0) x", "\u200b(P0) x", "(\u2060P0) x", "(P\u200b0) x", "\ufeff- (P0) x", "\u202e(P0) x", "（P0） x", "・（Ｐ０） x",
		"- ```", "- <!-- x -->", "- # heading", "- (P0\u200b) x", "\u2003-\u2003(P0) x", "- - - x", "+ + +", "-_-",
	} {
		t.Run(line, func(t *testing.T) {
			_, err := pivot.Extract("p1", strings.NewReader("intro\n\n# Gaps\n- (P1) fine\n\n"+line+"\n\n- also broken\n"))
			e := tidegate.AsError(err)
			if e == nil || e.Code != tidegate.GapsParseFailed {
				t.Fatalf("got %v, want GAPS_PARSE_FAILED", err)
			}
			if diff := cmp.Diff(tidegate.Pairs("perspective_id", "p1", "line", line, "line_number", 6), e.Details); diff != "" {
				t.Errorf("details (-want +got):\n%s", diff)
			}
		})
	}
}

func TestExtractCutsTheLineThatItQuotes(t *testing.T) {
	line := "- " + strings.Repeat("é", 500)
	_, err := pivot.Extract("p1", strings.NewReader("# Gaps\n"+line))
	got, _ := tidegate.AsError(err).Details.Get("line")
	if want := "- " + strings.Repeat("é", 198); got != want {
		t.Errorf("line %q, want %q", got, want)
	}
}

func TestExtractWithoutASection(t *testing.T) {
	for name, text := range map[string]string{
		"an empty output":          "",
		"letter case":              "# gaps\n- (P0) x\n",
		"more text":                "# Gaps and risks\n",
		"a setext heading":         "Gaps\n====\n- (P0) x\n",
		"in fenced code":           "```\n# Gaps\n```\n",
		"in indented code":         "    # Gaps\n",
		"in a block quote":         "> # Gaps\n",
		"in a list item":           "- # Gaps\n",
		"in a comment":             "<!--\n# Gaps\n-->\n",
		"no blank after the marks": "#Gaps\n",
		"seven marks":              "####### Gaps\n",
	} {
		t.Run(name, func(t *testing.T) {
			_, err := pivot.Extract("p1", strings.NewReader(text))
			e := tidegate.AsError(err)
			if e == nil || e.Code != tidegate.GapsSectionNotFound {
				t.Fatalf("got %v, want GAPS_SECTION_NOT_FOUND", err)
			}
			if diff := cmp.Diff(tidegate.Pairs("perspective_id", "p1"), e.Details); diff != "" {
				t.Errorf("details (-want +got):\n%s", diff)
			}
		})
	}
}

func TestExtractLongLines(t *testing.T) {
	const prefix = "- (P0) "
	long := strings.Repeat("x", markdown.MaxLine)
	blank := strings.Repeat("\u3000", markdown.MaxLine) // three bytes each: pieces end within a character
	for _, test := range []struct {
		name, line string
		gaps       int // -1: refused
	}{
		{"a gap of the longest line", prefix + long[len(prefix):], 1},
		{"a gap of a longer line", prefix + long, -1},
		{"prose of a longer line", long + "- (P0) x", 0},
		{"a bullet behind much white space", blank + prefix + "x", -1},
		{"another bullet behind much white space", blank + "12) x", -1},
		{"a priority behind much white space", blank + "(P2) x", -1},
		{"nothing but white space", blank, 0},
		{"dashes, and then a gap", strings.Repeat("-", markdown.MaxLine) + prefix + "x", -1},
		{"emphasis", "*" + long, 0},
		{"signs, and then a gap", strings.Repeat("•", markdown.MaxLine) + "(P0) x", -1},
		{"characters of no width, and then a gap", strings.Repeat("\u200b", markdown.MaxLine) + "- (P0) x", -1},
		{"a tag, and then a gap", "<b title='" + long + "'>(P0) x", -1},
	} {
		t.Run(test.name, func(t *testing.T) {
			gaps, err := pivot.Extract("p1", strings.NewReader("# Gaps\n"+test.line+"\n- (P1) last\n"))
			switch {
			case test.gaps < 0:
				if e := tidegate.AsError(err); e == nil || e.Code != tidegate.GapsParseFailed {
					t.Fatalf("got %v, want GAPS_PARSE_FAILED", err)
				}
				want := tidegate.Pairs("perspective_id", "p1", "line", tidegate.Cut(test.line), "line_number", 2)
				if diff := cmp.Diff(want, tidegate.AsError(err).Details); diff != "" {
					t.Errorf("details (-want +got):\n%s", diff)
				}
			case err != nil:
				t.Fatal(err)
			case len(gaps) != test.gaps+1:
				t.Fatalf("%d gaps, want %d", len(gaps), test.gaps+1)
			case test.gaps == 1 && gaps[0].Text != test.line[len(prefix):]:
				t.Error("the text of the long gap is not the line's")
			}
		})
	}
}

func TestExtractReturnsTheErrorsOfItsReader(t *testing.T) {
	broken := errors.New("broken")
	_, err := pivot.Extract("p1", io.MultiReader(strings.NewReader("# Gaps\n- bad\n"), iotest.ErrReader(broken)))
	if !errors.Is(err, broken) {
		t.Errorf("got %v, want the reader's error", err)
	}
}

// FuzzGaps checks that no input is too much, and that what is accepted can be
// written down and read again: the gaps of an output that states exactly the
// gaps that were found are the same gaps.
func FuzzGaps(f *testing.F) {
	for _, seed := range []string{
		"# Gaps\n- (P0) a #b\n", "# Gaps\n* x\n", "## Gaps\n```\n- (P1) x\n```\n- (P2) y\n", "# Gaps\n<!--\n- x\n-->\n", "# Gaps\n- (P3) \xff\u00a0#t\r(P1)\r\n",
		"Gaps\n====\n", "# Gaps\n\t- (P0)\tx\n---\n# Next\n- no\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(checkExtracted)
}

// checkExtracted checks what must be true of the gaps of any output.
func checkExtracted(t *testing.T, data []byte) {
	t.Helper()
	gaps, err := pivot.Extract("p1", strings.NewReader(string(data)))
	faults := pivot.CheckGaps(data)
	if tidegate.CodeOf(err) == tidegate.GapsParseFailed && len(faults) == 0 {
		t.Fatalf("a run would take what cannot be extracted: %v", err)
	}
	if err != nil {
		code := tidegate.CodeOf(err)
		if code != tidegate.GapsSectionNotFound && code != tidegate.GapsParseFailed {
			t.Fatalf("untyped error: %v", err)
		}
		if gaps != nil {
			t.Fatal("gaps beside an error")
		}
		return
	}
	var again strings.Builder
	again.WriteString("# Gaps\n")
	for i, g := range gaps {
		if strings.Join(strings.Fields(g.Text), " ") != g.Text || g.Text == "" {
			t.Fatalf("the text %q is not normalised", g.Text)
		}
		if g.Line < 2 || i > 0 && g.Line <= gaps[i-1].Line {
			t.Fatalf("gap %d is on line %d", i, g.Line)
		}
		again.WriteString("- (" + g.Priority + ") " + g.Text + "\n")
	}
	same := must.Get(pivot.Extract("p1", strings.NewReader(again.String())))(t)
	if diff := cmp.Diff(gaps, same, ignorePlaces, cmpopts.EquateEmpty()); diff != "" {
		t.Fatalf("the gaps written down and read again (-first +again):\n%s", diff)
	}
}

// TestNoGapIsLostWhereARunTakesAnOutput: each row is named by what the agent wants.
func TestNoGapIsLostWhereARunTakesAnOutput(t *testing.T) {
	for _, test := range []struct {
		name, output string
		want         []int // lines
	}{
		{"to state its gaps", "## Gaps\n- (P0) a\n\nText.\n\n### More\n- an item\n\n(P9) x\n", nil},
		{"to state none", "## Gaps\nNone.\n", nil},
		{"to have no such section", "# Other\n- (P0) x\n", nil},
		{"to hide gaps by signs", "## Gaps\n• (P0) a\n- (P1) b\n– (P2) c\n", []int{2, 4}},
		{"to hide gaps by a form of its own", "## Gaps\n- a\n- P0: b\n", []int{2, 3}},
		{"to hide gaps below a heading", "## Gaps\n\n### Urgent\n- (P0) a\n* (P1) b\n#### Deeper\n> (P2) c\n", []int{4, 5, 7}},
		{"to hide gaps in a heading", "## Gaps\n### (P0) a\ntext\n### **(P1)** b\n", []int{2, 4}},
		{"to list something else below a heading", "## Gaps\n### Notes\n- a\n* b\n1. c\nA (P0) gap.\n", nil},
		{"to go on after the section", "## Gaps\n- (P0) a\n## Next\n- (P0) b\n### Sub\n• (P1) c\n", nil},
		{"to go on after a higher section", "### Gaps\n- (P0) a\n# Next\n#### Sub\n• (P1) c\n", nil},
		{"to write about gaps in code", "## Gaps\n### Notes\n```\n- (P0) a\n```\n", nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			var got []int
			for _, f := range pivot.CheckGaps([]byte(test.output)) {
				got = append(got, f.Line)
				if f.Error.Code != tidegate.GapsParseFailed || f.ChangeNote == "" {
					t.Errorf("the fault is %+v", f)
				}
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("lines (-want +got):\n%s", diff)
			}
		})
	}
}

func TestCheckGapsSaysWhatToChange(t *testing.T) {
	var got []string
	for _, f := range pivot.CheckGaps([]byte("# Gaps\n* (P0) a\n## Sub\n- (P1) b\n")) {
		got = append(got, f.Error.Message+"|"+f.ChangeNote)
	}
	want := []string{
		"line 2, a bullet under Gaps, is not of the form - (P0|P1|P2|P3) text|Write line 2 as `- (P1) text of the gap`, with P0, P1, P2 or P3, or, if it states no gap, as a sentence that is not a list item.",
		"line 4 begins with a priority below a heading inside Gaps, where no gap is looked for|Move the gap in line 4 up into the section Gaps, before the first heading inside it, as `- (P1) text of the gap`.",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	faults := pivot.CheckGaps([]byte("# Gaps\n" + strings.Repeat("* x\n", 100)))
	if n := len(faults); n != 20 || !strings.HasSuffix(faults[n-1].Error.Message, "; 80 more lines likewise") {
		t.Errorf("%d faults, the last is %v", n, faults[n-1].Error)
	}
}

// TestHostileGaps: a line costs no more than its length, otherwise this test would not
// end; and what a run takes is what is extracted.
func TestHostileGaps(t *testing.T) {
	for _, piece := range []string{"(", "(P", "(P0", "<a", "<!--", "<", "\\", "&", "&#40;", "\u200b", "1.", "a)", "•", "| ", "> ", "（", "i"} {
		for _, end := range []string{"", ">(P0) x"} {
			output := "# Gaps\n" + strings.Repeat(piece, 1<<19/full.Stride(16, 1)/len(piece)) + end
			checkExtracted(t, []byte(output))
		}
	}
}
