package report_test

import (
	"strings"
	"testing"

	"github.com/tidegate/tidegate/internal/base/report"
)

func TestProse(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"Plain words.", "Plain words."},
		{"`a_b` and `c*d` stay code", "`a_b` and `c*d` stay code"},
		{"a_b and c*d are words", `a\_b and c\*d are words`},
		{"``x ` y`` too", "``x ` y`` too"},
		{"an open ` is a mark", "an open \\` is a mark"},
		{"Do this:\n\n```go\nif err != nil {\n\treturn err\n}\n```\nThen that.", "Do this:\n\n```\nif err != nil {\n    return err\n}\n```\nThen that."},
		{"```suggestion\nrm -rf /\n```", "```\nrm -rf /\n```"},
		{"~~~\n```\nx\n```\n~~~", "````\n```\nx\n```\n````"},
		{"```\nnever closed", "```\nnever closed\n```"},
		{"- one\n* two\n1) three", "- one\n- two\n1. three"},
		{"# heading\n> quote\n---\n| a | b |", "\\# heading\n&gt; quote\n\\---\n&#124; a &#124; b &#124;"},
		{"ask @octocat, fixes #12, closes GH-3", "ask `@octocat`, fixes `#12`, closes `GH-3`"},
		{"![x](https://evil.example/a.png) <img src=x>", "`![x](https://evil.example/a.png)` &lt;img src=x&gt;"},
		{"- [x] done", "- \\[x\\] done"},
		{"hid\u202eden", "hid\\\\u202eden"},
		{"`@octocat`", "`@octocat`"},
		{"`a|b`", "`a`&#124;`b`"},
		{"``` inline ```", "`inline`"},
	} {
		got := report.Prose(test.text)
		if got != test.want {
			t.Logf("%q:\n%s\nwant\n%s", test.text, got, test.want)
			t.Errorf("%q: %q, want %q", test.text, got, test.want)
		}
	}
	if got := report.Inline("two\nlines `x`"); got != "two lines `x`" {
		t.Errorf("Inline: %q", got)
	}
	if got := report.Fenced("a\n```\nb\n", "suggestion"); got != "````suggestion\na\n```\nb\n````" || strings.Count(got, "````") != 2 {
		t.Errorf("Fenced: %q", got)
	}
}
