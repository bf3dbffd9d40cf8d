package wave_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/test/full"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/text/markdown"
	"github.com/tidegate/tidegate/wave"
)

func judge(t testing.TB, c wave.Contract, output string) wave.Verdict {
	t.Helper()
	var j wave.Judge
	whole := must.Get(j.Judge(c, strings.NewReader(output)))(t)
	return whole
}

// inLine is a verdict in a line: figures, then each fault with its line and details.
func inLine(t testing.TB, v wave.Verdict) string {
	t.Helper()
	var b strings.Builder
	fmt.Fprintf(&b, "%d words, %d sources", v.Words, v.Sources)
	for _, f := range v.Faults {
		details := must.Get(codec.MarshalLine(f.Error.Details))(t)
		fmt.Fprintf(&b, "; %s at %d %s", f.Error.Code, f.Line, details)
	}
	return b.String()
}

func TestJudge(t *testing.T) {
	all := wave.Contract{MaxWords: 1000, MaxSources: 1000}
	require := func(titles ...string) wave.Contract {
		c := all
		c.Sections = titles
		return c
	}
	capped := func(maxWords, maxSources float64, titles ...string) wave.Contract {
		return wave.Contract{MaxWords: maxWords, MaxSources: maxSources, Sections: titles}
	}
	tests := []struct {
		name     string
		contract wave.Contract
		output   string
		want     string
	}{
		{"empty file meets an empty contract", all, "", "0 words, 0 sources"},
		{"headings of every level count", require("A", "B", "C", "D", "E", "F"), "# A\n## B\n### C\n#### D\n##### E\n###### F\n", "12 words, 0 sources"},
		{"seven marks are not a heading", require("A"), "####### A\n", `2 words, 0 sources; MISSING_REQUIRED_SECTION at 0 {"section":"A"}`},
		{"no blank after the marks", require("A"), "#A\n", `1 words, 0 sources; MISSING_REQUIRED_SECTION at 0 {"section":"A"}`},
		{"letter case counts", require("Findings"), "# findings\n", `2 words, 0 sources; MISSING_REQUIRED_SECTION at 0 {"section":"Findings"}`},
		{"the whole text counts", require("Findings"), "# Findings:\n# **Findings**\n# Key Findings\n", `7 words, 0 sources; MISSING_REQUIRED_SECTION at 0 {"section":"Findings"}`},
		{"closing marks and blanks do not count", require("A", "B"), "# A ##\n## \t B  \n", "5 words, 0 sources"},
		{"a title that ends in marks", require("C #"), "# C # #\n", "4 words, 0 sources"},
		{"setext headings do not count", require("A"), "A\n===\n\nA\n---\n", `4 words, 0 sources; MISSING_REQUIRED_SECTION at 0 {"section":"A"}`},
		{"not in a fence", require("A"), "```\n# A\n```\n~~~\n# A\n~~~\n", `8 words, 0 sources; MISSING_REQUIRED_SECTION at 0 {"section":"A"}`},
		{"not in indented code", require("A"), "    # A\n\n\t# A\n", `4 words, 0 sources; MISSING_REQUIRED_SECTION at 0 {"section":"A"}`},
		{"not in HTML or a comment", require("A"), "<div>\n# A\n</div>\n\n<!--\n# A\n-->\n", `8 words, 0 sources; MISSING_REQUIRED_SECTION at 0 {"section":"A"}`},
		{"not in a quote or a list item", require("A"), "> # A\n\n- # A\n\n1. # A\n", `9 words, 0 sources; MISSING_REQUIRED_SECTION at 0 {"section":"A"}`},
		{"several missing titles in contract order", require("C", "A", "B"), "# A\n",
			`2 words, 0 sources; MISSING_REQUIRED_SECTION at 0 {"section":"C","missing_sections":["C","B"]}`},

		{"equal to the cap passes", capped(3, 0), "one two\n three", "3 words, 0 sources"},
		{"one word over", capped(2, 0), "one two\n three", `3 words, 0 sources; TOO_MANY_WORDS at 0 {"max_words":2,"words":3}`},
		{"a fractional cap", capped(2.5, 0), "one two\n three", `3 words, 0 sources; TOO_MANY_WORDS at 0 {"max_words":2.5,"words":3}`},
		{"a cap of nothing", capped(0, 0), "x", `1 words, 0 sources; TOO_MANY_WORDS at 0 {"max_words":0,"words":1}`},
		{"markup and code are words", capped(100, 0), "# A\n- b\n```\nc d\n```\n", "8 words, 0 sources"},
		{"unicode white space separates", all, "a\u00a0b\u3000c\u2028d\u0085e\u200bf", "5 words, 0 sources"},
		{"a byte-order mark is not text", require("A"), "\ufeff# A\n\ufeff", "3 words, 0 sources"},
		{"only a byte-order mark", all, "\ufeff", "0 words, 0 sources"},
		{"bytes that are not UTF-8 are words", all, "\xff \xc3\x28 \x00", "3 words, 0 sources"},

		{"sources are counted", require("Sources"), "# Sources\n\n- https://a\n- b http://c d\n* https://e\n+ https://f\n1. https://g\n2) https://h\n", "16 words, 6 sources"},
		{"indented items and tabs count", require("Sources"), "# Sources\n   - https://a\n\t-\thttps://b\n\u3000- https://c\n", "8 words, 3 sources"},
		{"the scheme in any case", require("Sources"), "# Sources\n- HTTPS://a\n- hTTp://b\n", "6 words, 2 sources"},
		{"letters that fold to s are not an s", require("Sources"), "# Sources\n- http\u017f://a\n",
			`4 words, 0 sources; MALFORMED_SOURCES at 2 {"line":"- httpſ://a","line_number":2,"reason":"MISSING_URL"}`},
		{"a scheme alone is not a URL", require("Sources"), "# Sources\n- https:// x\n",
			`5 words, 0 sources; MALFORMED_SOURCES at 2 {"line":"- https:// x","line_number":2,"reason":"MISSING_URL"}`},
		{"a scheme and a wide blank are not a URL", require("Sources"), "# Sources\n- https://\u3000\n",
			`4 words, 0 sources; MALFORMED_SOURCES at 2 {"line":"- https://　","line_number":2,"reason":"MISSING_URL"}`},
		{"another scheme is not accepted", require("Sources"), "# Sources\n- ftp://a\n",
			`4 words, 0 sources; MALFORMED_SOURCES at 2 {"line":"- ftp://a","line_number":2,"reason":"MISSING_URL"}`},
		{"a second URL can save a line", require("Sources"), "# Sources\n- ftp://a http:// https://b\n", "6 words, 1 sources"},
		{"prose is not an item", require("Sources"), "# Sources\nsee https://a\n",
			`4 words, 0 sources; MALFORMED_SOURCES at 2 {"line":"see https://a","line_number":2,"reason":"NOT_BULLET"}`},
		{"a marker needs a blank", require("Sources"), "# Sources\n-https://a\n",
			`3 words, 0 sources; MALFORMED_SOURCES at 2 {"line":"-https://a","line_number":2,"reason":"NOT_BULLET"}`},
		{"a marker needs a space or tab", require("Sources"), "# Sources\n-\u00a0https://a\n",
			"4 words, 0 sources; MALFORMED_SOURCES at 2 {\"line\":\"-\u00a0https://a\",\"line_number\":2,\"reason\":\"NOT_BULLET\"}"},
		{"nine digits are a number, ten are not", require("Sources"), "# Sources\n123456789. https://a\n1234567890. https://a\n",
			`6 words, 1 sources; MALFORMED_SOURCES at 3 {"line":"1234567890. https://a","line_number":3,"reason":"NOT_BULLET"}`},
		{"a number alone", require("Sources"), "# Sources\n1\n",
			`3 words, 0 sources; MALFORMED_SOURCES at 2 {"line":"1","line_number":2,"reason":"NOT_BULLET"}`},
		{"the first malformed line is shown, the good ones counted", require("Sources"), "# Sources\n- https://a\n- b\n\nc\n- https://d\n",
			`9 words, 2 sources; MALFORMED_SOURCES at 3 {"line":"- b","line_number":3,"reason":"MISSING_URL"}`},
		{"the line is shown as it stands", require("Sources"), "# Sources\r\n\r\n  text \t\r\n",
			`3 words, 0 sources; MALFORMED_SOURCES at 3 {"line":"  text \t","line_number":3,"reason":"NOT_BULLET"}`},
		{"lines in code and comments are lines", require("Sources"), "# Sources\n```\n- https://a\n```\n",
			"6 words, 1 sources; MALFORMED_SOURCES at 2 {\"line\":\"```\",\"line_number\":2,\"reason\":\"NOT_BULLET\"}"},
		{"blank lines of any kind", require("Sources"), "# Sources\n \n\t\n\u3000\n- https://a\n", "4 words, 1 sources"},
		{"an empty section", require("Sources"), "# Sources\n", "2 words, 0 sources"},
		{"the next heading ends the section", require("Sources"), "# Sources\n- https://a\n###### Notes\ntext\n", "7 words, 1 sources"},
		{"a setext heading does not", require("Sources"), "# Sources\n\nNotes\n===\n",
			`4 words, 0 sources; MALFORMED_SOURCES at 3 {"line":"Notes","line_number":3,"reason":"NOT_BULLET"}`},
		{"a heading in a fence does not", require("Sources"), "# Sources\n- https://a\n~~~\n# https://b\n",
			`7 words, 1 sources; MALFORMED_SOURCES at 3 {"line":"~~~","line_number":3,"reason":"NOT_BULLET"}`},
		{"the first of two sections counts", require("Sources"), "# Sources\n- https://a\n# Sources\ntext\n", "7 words, 1 sources"},
		{"another letter case in the contract", require("SOURCES"), "# Sources\ntext\n# SOURCES\n- https://a\n", "7 words, 1 sources"},
		{"two such titles: the first in the contract", require("sources", "Sources"), "# Sources\ntext\n# sources\n- https://a\n", "7 words, 1 sources"},
		{"a section that is not required is not judged", capped(1000, 0, "A"), "# A\n# Sources\ntext\n- https://a\n", "7 words, 0 sources"},
		{"as many sources as allowed", capped(1000, 2, "Sources"), "# Sources\n- https://a\n- https://b\n", "6 words, 2 sources"},
		{"one source too many", capped(1000, 2, "Sources"), "# Sources\n- https://a\n- https://b\n\n- https://c\n- https://d\n",
			`10 words, 4 sources; TOO_MANY_SOURCES at 5 {"max_sources":2,"sources":4}`},
		{"an empty section meets a cap of nothing", capped(1000, 0, "Sources"), "# Sources\n", "2 words, 0 sources"},

		{"every rule that is not met, in order", capped(3, 1, "A", "Sources"), "# Sources\n- https://a\n- https://b\nc\n",
			`7 words, 2 sources; MISSING_REQUIRED_SECTION at 0 {"section":"A"}; TOO_MANY_WORDS at 0 {"max_words":3,"words":7}; ` +
				`MALFORMED_SOURCES at 4 {"line":"c","line_number":4,"reason":"NOT_BULLET"}; TOO_MANY_SOURCES at 3 {"max_sources":1,"sources":2}`},
		{"quoted text is cut to 200 characters", require("Sources"), "# Sources\n" + strings.Repeat("é", 250),
			`3 words, 0 sources; MALFORMED_SOURCES at 2 {"line":"` + strings.Repeat("é", 200) + `","line_number":2,"reason":"NOT_BULLET"}`},
		{"a title is cut in section", require(strings.Repeat("é", 250)), "",
			`0 words, 0 sources; MISSING_REQUIRED_SECTION at 0 {"section":"` + strings.Repeat("é", 200) + `"}`},
		{"bytes that are not UTF-8 are shown as U+FFFD", require("Sources"), "# Sources\n\xff\n",
			`3 words, 0 sources; MALFORMED_SOURCES at 2 {"line":"` + "\ufffd" + `","line_number":2,"reason":"NOT_BULLET"}`},
		{"the greatest cap", capped(math.MaxFloat64, math.MaxFloat64, "Sources"), "# Sources\n- https://a\n", "4 words, 1 sources"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, inLine(t, judge(t, test.contract, test.output))); diff != "" {
				t.Errorf("verdict (-want +got):\n%s", diff)
			}
			var j wave.Judge
			v := must.Get(j.Judge(test.contract, iotest.OneByteReader(strings.NewReader(test.output))))(t)
			if diff := cmp.Diff(test.want, inLine(t, v)); diff != "" {
				t.Errorf("verdict, read byte by byte (-want +got):\n%s", diff)
			}
		})
	}
}

func TestJudgeMessages(t *testing.T) {
	c := wave.Contract{MaxWords: 2000000, MaxSources: 1, Sections: []string{"Sources"}}
	for _, test := range []struct{ name, output, want string }{
		{"missing section", "", "Missing section: Sources"},
		{"words", "# Sources\n" + words(2000001), "the output has 2000003 words, the contract allows 2000000"},
		{"no item", "# Sources\n\nx\n", "line 3, in the Sources section, is not a list item"},
		{"no URL", "# Sources\n\n- x\n", "line 3, in the Sources section, has no http(s) URL"},
		{"sources", "# Sources\n- http://a\n- http://b\n", "the output lists 2 sources, the contract allows 1"},
	} {
		if got := judge(t, c, test.output).Failure().Message; got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}

// A line beyond the scanner's limit comes in pieces, cut anywhere.
func TestSourceOnALongLine(t *testing.T) {
	c := wave.Contract{MaxWords: 1e9, MaxSources: 10, Sections: []string{"Sources"}}
	long := strings.Repeat("x", markdown.MaxLine)
	for _, test := range []struct{ name, line, want string }{
		{"URL at the start", "- https://a " + long, ""},
		{"URL at the end", "- " + long + " https://a", ""},
		{"no URL", "- " + long, "MISSING_URL"},
		{"no item", long + " https://a", "NOT_BULLET"},
		{"blank", strings.Repeat(" ", markdown.MaxLine+10), "blank"},
		{"blank, of wide blanks", strings.Repeat("\u3000", markdown.MaxLine/3+10), "blank"},
		{"item after wide blanks", strings.Repeat("\u3000", markdown.MaxLine/3+10) + "- https://a", ""},
		{"item after blanks", strings.Repeat(" ", markdown.MaxLine-1) + "- https://a", ""},
		{"number after blanks", strings.Repeat(" ", markdown.MaxLine-2) + "12) https://a", ""},
		{"long number after blanks", strings.Repeat(" ", markdown.MaxLine-2) + "1234567890. https://a", "NOT_BULLET"},
		{"scheme and a wide blank at the end", "- " + long + " https://\u3000", "MISSING_URL"},
	} {
		t.Run(test.name, func(t *testing.T) {
			document := "# Sources\n" + test.line + "\n"
			for _, size := range []int{1 << 20, 4093, 7} {
				var j wave.Judge
				v := must.Get(j.Judge(c, &sized{[]byte(document), size}))(t)
				got := "blank"
				if v.Sources == 1 {
					got = ""
				}
				if f := v.Failure(); f != nil {
					reason, _ := f.Details.Get("reason")
					got = reason.(string)
					if line, _ := f.Details.Get("line"); line != test.line[:200] && !strings.HasPrefix(test.line, "\u3000") {
						t.Errorf("read by %d: the line is shown as %q", size, line)
					}
				}
				if got != test.want {
					t.Errorf("read by %d: %q, want %q", size, got, test.want)
				}
			}
		})
	}
}

// The cut between two pieces may fall anywhere in a URL or a marker.
func TestSourceCutAnywhere(t *testing.T) {
	c := wave.Contract{MaxWords: 1e9, MaxSources: 10, Sections: []string{"Sources"}}
	for shift := 0; shift < 20; shift += full.Stride(20, 7) {
		line := "- " + strings.Repeat("x", markdown.MaxLine-shift) + " HTTPS://é"
		if v := judge(t, c, "# Sources\n"+line); v.Sources != 1 {
			t.Errorf("a URL that begins %d bytes before the cut is not seen", shift)
		}
		line = "- " + strings.Repeat("x", markdown.MaxLine-shift) + " https://\u3000"
		if v := judge(t, c, "# Sources\n"+line); v.Sources != 0 {
			t.Errorf("a wide blank that is cut %d bytes further on passes for a URL", shift)
		}
		line = strings.Repeat(" ", markdown.MaxLine-shift) + "123456789. https://a"
		if v := judge(t, c, "# Sources\n"+line); v.Sources != 1 {
			t.Errorf("a marker that begins %d bytes before the cut is not seen", shift)
		}
	}
}

// sized gives its bytes in pieces of one size.
type sized struct {
	rest []byte
	size int
}

func (s *sized) Read(p []byte) (int, error) {
	if len(s.rest) == 0 {
		return 0, io.EOF
	}
	n := copy(p[:min(len(p), s.size)], s.rest)
	s.rest = s.rest[n:]
	return n, nil
}

func TestJudgeIsReusable(t *testing.T) {
	c := wave.Contract{MaxWords: 5, MaxSources: 1, Sections: []string{"A", "Sources"}}
	outputs := []string{"", "# A\n# Sources\n- https://a", "# Sources\nx\n- https://b\n- http://c", "# A\n", strings.Repeat("# A\n", 1000)}
	var j wave.Judge
	for i := range 3 * len(outputs) {
		output := outputs[i%len(outputs)]
		got := must.Get(j.Judge(c, strings.NewReader(output)))(t)
		if diff := cmp.Diff(inLine(t, judge(t, c, output)), inLine(t, got)); diff != "" {
			t.Errorf("output %d, judged again (-fresh +reused):\n%s", i, diff)
		}
	}
}

func TestJudgeReturnsTheErrorOfItsReader(t *testing.T) {
	broken := errors.New("broken")
	var j wave.Judge
	_, err := j.Judge(wave.Contract{}, iotest.ErrReader(broken))
	if !errors.Is(err, broken) {
		t.Errorf("error %v", err)
	}
}

// A contract with many sections costs no more per heading than one with few.
func TestJudgeManySections(t *testing.T) {
	const n = 20000
	var titles []string
	var output strings.Builder
	for i := range n {
		titles = append(titles, fmt.Sprint("Title ", i))
		fmt.Fprintf(&output, "# Title %d\n# Other %d\n", (i*7919)%n, i)
	}
	c := wave.Contract{MaxWords: 1e9, MaxSources: 1, Sections: append(titles, "Sources")}
	output.WriteString("# Sources\n- https://a\n# Sources\ntext\n")
	if got := inLine(t, judge(t, c, output.String())); got != "120007 words, 1 sources" {
		t.Error(got)
	}
	v := judge(t, c, strings.Replace(output.String(), "# Title 5\n", "", 1))
	if diff := cmp.Diff([]string{"Title 5"}, v.MissingSections); diff != "" {
		t.Errorf("missing sections (-want +got):\n%s", diff)
	}
}

// FuzzJudge checks the judge against its own rules in another form: counts by
// the standard library, and consistency of the verdict.
func FuzzJudge(f *testing.F) {
	f.Add([]byte("# A\n\n# Sources\n- https://a\nx\n"), "A", 3.0, 1.0)
	f.Add([]byte("```\n# A\n\xff\x00"), "A", 0.5, 0.0)
	f.Fuzz(func(t *testing.T, output []byte, title string, maxWords, maxSources float64) {
		title = strings.TrimSpace(title)
		if title == "" || math.IsNaN(maxWords) || math.IsNaN(maxSources) {
			return
		}
		c := wave.Contract{MaxWords: maxWords, MaxSources: maxSources, Sections: []string{title, "Sources"}}
		v := judge(t, c, string(output))
		text := bytes.TrimPrefix(output, []byte("\ufeff"))
		if want := len(bytes.Fields(text)); v.Words != want {
			t.Errorf("%d words, want %d", v.Words, want)
		}
		if (v.Failure() == nil) != (len(v.MissingSections) == 0 && float64(v.Words) <= maxWords && !malformed(v) && float64(v.Sources) <= maxSources) {
			t.Errorf("failure %v of %s", v.Failure(), inLine(t, v))
		}
		if len(v.MissingSections) == 0 && !bytes.Contains(output, []byte(title)) {
			t.Errorf("a title is found that the output does not hold")
		}
	})
}

func malformed(v wave.Verdict) bool {
	for _, f := range v.Faults {
		if f.Error.Code == "MALFORMED_SOURCES" {
			return true
		}
	}
	return false
}
