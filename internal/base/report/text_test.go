package report_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/internal/test/full"
)

func checkText(t *testing.T, s string) {
	t.Helper()
	got := string(render(t, "text", everywhere(s, s), report.Options{}))
	want := string(render(t, "text", everywhere(calm(s)), report.Options{}))
	if g, w := strings.Count(got, "\n"), strings.Count(want, "\n"); g != w {
		t.Errorf("%q: %d lines, want %d:\n%s", s, g, w, got)
	}
	const width = 40
	narrow := string(render(t, "text", everywhere(s, s), report.Options{Width: width}))
	for _, out := range []string{got, narrow} {
		if !utf8.ValidString(out) {
			t.Errorf("%q: not UTF-8: %q", s, out)
		}
		for line := range strings.SplitSeq(out, "\n") {
			if i := strings.IndexFunc(line, dangerous); i >= 0 {
				t.Errorf("%q: raw %q in %q", s, line[i:i+1], line)
			}
			if strings.HasPrefix(strings.TrimSpace(line), "::") || strings.Contains(line, "##[") || strings.Contains(line, "##vso[") {
				t.Errorf("%q: a CI log would obey %q", s, line)
			}
		}
	}
	for line := range strings.SplitSeq(narrow, "\n") {
		if breakable(line, width+1) { // one more where a command was broken up
			t.Errorf("%q: line of %d columns: %q", s, report.Columns(line), line)
		}
	}
}

// breakable holds for a line that is wider than width though it is more than one
// long word after an indent, a mark or a name.
func breakable(line string, width int) bool {
	longest := 0
	for word := range strings.FieldsSeq(line) {
		longest = max(longest, report.Columns(word))
	}
	const before = 15
	return report.Columns(line) > width && report.Columns(line) > longest+before
}

// dangerous is a second statement of what may not reach a terminal.
func dangerous(r rune) bool {
	switch {
	case r < 0x20, r >= 0x7f && r < 0xa0, r == 0xad, r == 0x34f, r == 0x61c, r == 0x3164, r == 0xfeff,
		r >= 0x200b && r <= 0x200f, r >= 0x2028 && r <= 0x202e, r >= 0x2060 && r <= 0x206f,
		r >= 0xfe00 && r <= 0xfe0f, r >= 0xe0000 && r <= 0xe0fff:
		return true
	}
	return unicode.Is(unicode.Cf, r)
}

func TestVisible(t *testing.T) {
	for _, test := range []struct{ name, in, want string }{
		{"text stays", "naïve – 漢字 \"'`", "naïve – 漢字 \"'`"},
		{"terminal escape", "\x1b[31m", `\x1b[31m`},
		{"override", "a\u202eb", `a\u202eb`},
		{"empty braille", "\u2800", `\u2800`},
		{"tag", "\U000e0041", `\U000e0041`},
		{"bytes that are no characters", "a\xffb", `a\xffb`},
		{"line ends", "a\r\nb\rc\nd", "a\nb\nc\nd"},
		{"other line ends", "a\u0085b\u2028c\vd", `a\x85b\u2028c\x0bd`},
		{"blanks", "a\tb\u00a0c\u3000d", "a b c d"},
		{"emoji", "\u26a0\ufe0f PARTIAL", "\u26a0 PARTIAL"},
		{"emoji mark where it makes none", "a\ufe0f\ufe0f", `a\ufe0f\ufe0f`},
		{"replacement character", "\ufffd", "\ufffd"},
		{"log command", "##[error]x ##vso[y] ## [z] ##", `#\#[error]x #\#vso[y] ## [z] ##`},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := report.Visible(test.in); got != test.want {
				t.Errorf("Visible(%q) = %q, want %q", test.in, got, test.want)
			}
		})
	}
}

func TestWrappedCellsKeepEveryWord(t *testing.T) {
	words := strings.Repeat("several words of different lengths, and-one-that-is-rather-long-for-a-column ", 20)
	for width := 20; width < 200; width += 7 {
		table := report.NewTable("Name", "Text")
		table.Row(report.Fail, "n", words)
		out := string(render(t, "text", report.Report{Blocks: []report.Block{table}}, report.Options{Width: width}))
		squeeze := func(s string) string { return strings.Join(strings.Fields(s), "") }
		if got := squeeze(out); !strings.Contains(got, squeeze(words)) {
			t.Errorf("width %d loses words:\n%s", width, out)
		}
		for line := range strings.SplitSeq(out, "\n") {
			if breakable(line, width) {
				t.Errorf("width %d: line of %d columns: %q", width, report.Columns(line), line)
			}
		}
	}
}

func TestWithoutWidthARowIsALine(t *testing.T) {
	table := report.NewTable("Name", "Text")
	for range 3 {
		table.Row(report.Pass, "n", strings.Repeat("long text\n", 1000))
	}
	out := render(t, "text", report.Report{Blocks: []report.Block{table}}, report.Options{})
	if got := strings.Count(string(out), "\n"); got != 5 {
		t.Errorf("head, rule and three rows are %d lines, want 5", got)
	}
}

func TestMarksDoNotNeedColour(t *testing.T) {
	table := report.NewTable("Name")
	for _, s := range []report.Status{report.Pass, report.Fail, report.Warn, report.Skip, report.None} {
		table.Row(s, "n")
	}
	r := report.Report{Blocks: []report.Block{table}}
	seen := make(map[string]bool)
	lines := strings.Split(string(render(t, "text", r, report.Options{})), "\n")[2:7]
	for _, line := range lines {
		seen[line] = true
	}
	if len(seen) != len(lines) {
		t.Errorf("two statuses look alike: %q", lines)
	}
	coloured := string(render(t, "text", r, report.Options{Color: true}))
	for _, line := range lines {
		if word, _, _ := strings.Cut(line, "  "); !strings.Contains(coloured, word) {
			t.Errorf("coloured text lacks %q", word)
		}
	}
}

func TestHugeCellsAreWrappedInLinearTime(t *testing.T) {
	table := report.NewTable("Name", "Text")
	size := 4 << 20 / full.Stride(4, 1)
	table.Row(report.Fail, strings.Repeat("x", size), strings.Repeat("y ", size/2))
	out := string(render(t, "text", report.Report{Blocks: []report.Block{table}}, report.Options{Width: 80}))
	if got := strings.Count(out, "x"); got < size {
		t.Errorf("%d of %d characters shown", got, size)
	}
}

func TestADocumentStandsAtTheMarginAsItIs(t *testing.T) {
	const text = "# Title\n\n> \n> two blanks  \n    code\n"
	document := report.Report{Blocks: []report.Block{report.Preformatted(text)}}
	if got := string(render(t, "text", document, report.Options{Width: 20})); got != text {
		t.Errorf("got %q, want %q", got, text)
	}
	hostile := report.Report{Blocks: []report.Block{report.Preformatted("::error::x\n\x1b[2J\n")}}
	if got := string(render(t, "text", hostile, report.Options{})); strings.HasPrefix(got, "::") || strings.Contains(got, "\x1b") {
		t.Errorf("a terminal or a CI log would obey %q", got)
	}
	document.Title = "Notes"
	if got := string(render(t, "text", document, report.Options{})); !strings.Contains(got, "  # Title\n") {
		t.Errorf("beside other text it is not set off: %q", got)
	}
}

// TestTablesBecomeRecords: what fits is a table at any width, what does not fit is
// no longer one below 100 columns, and no word is ever broken.
func TestTablesBecomeRecords(t *testing.T) {
	const (
		id   = "cid_40613445f84d1cea7c1a86f8e5f0f93fdb2a63a1b3d4e5f60718293a4b5c6d7e"
		when = "2026-11-16T06:18:02.736Z"
		path = "jobs/wave1.operations/001/events.jsonl"
		text = "shows where a run is and what it waits for, and names the command that comes next"
	)
	table := report.NewTable("Job", ">Tries", "Time", "File", "Nothing", "Id", "Text")
	table.Row(report.Pass, "wave1.operations", 3, when, path, "", id, text)
	table.Row(report.Fail, "wave1.grid", 1, when, path, "", id, "short")
	small := report.NewTable("Gate", "Name")
	small.Row(report.Pass, "A", "Planning completeness")
	for width := 20; width <= 260; width += 5 {
		out := string(render(t, "text", report.Report{Blocks: []report.Block{table}}, report.Options{Width: width}))
		for _, whole := range []string{id, when, path} {
			if strings.Count(out, whole) != len(table.Rows) {
				t.Errorf("width %d breaks %s:\n%s", width, whole, out)
			}
		}
		if strings.Contains(out, "Nothing") {
			t.Errorf("width %d shows a column that is empty:\n%s", width, out)
		}
		if records := strings.Contains(out, "Job: wave1.grid"); records == strings.Contains(out, "------") || width < 100 && !records || width > 240 && records {
			t.Errorf("width %d: records %v:\n%s", width, records, out)
		}
		for line := range strings.SplitSeq(out, "\n") {
			if breakable(line, width) {
				t.Errorf("width %d: line of %d columns: %q", width, report.Columns(line), line)
			}
		}
		fits := width >= 35
		out = string(render(t, "text", report.Report{Blocks: []report.Block{small}}, report.Options{Width: width}))
		if got := strings.Contains(out, "------"); got != fits {
			t.Errorf("width %d: a small table is a table: %v, want %v:\n%s", width, got, fits, out)
		}
	}
}

func TestWrapped(t *testing.T) {
	for _, test := range []struct {
		name, in, want string
		width          int
	}{
		{"no width", "a line of words", "a line of words", 0},
		{"lines keep their indent", "one two three\n  four five six\n", "one two\n  three\n  four\n    five\n    six\n", 8},
		{"a long word stays whole", "see /a/path/that/is/long now", "see\n  /a/path/that/is/long\n  now", 12},
		{"wide characters take two columns", "漢字漢字 漢字", "漢字漢\n  字 漢\n  字", 7},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := report.Wrapped(test.in, test.width); got != test.want {
				t.Errorf("Wrapped(%q, %d) = %q, want %q", test.in, test.width, got, test.want)
			}
		})
	}
}
