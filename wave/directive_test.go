package wave_test

import "testing"

func TestChangeNotes(t *testing.T) {
	for _, tt := range []struct {
		name     string
		contract contract
		output   string
		want     string
	}{
		{"Sources alone is missing", contract{sections: []string{"Findings", "Sources"}}, "# Findings\n",
			"Add missing required section 'Sources' and include only bullet URL entries."},
		{"another section alone", contract{sections: []string{"Sources", "Gaps"}}, "# Sources\n",
			"Add missing required section 'Gaps' under a heading with exactly that text."},
		{"sources in another letter case", contract{sections: []string{"sources"}}, "# Sources\n",
			"Add missing required section 'sources' under a heading with exactly that text."},
		{"Sources and another one, in contract order", contract{sections: []string{"Sources", "Gaps"}}, "",
			"Add these missing required sections, each under a heading with exactly that text: 'Sources', 'Gaps'."},
		{"words", contract{maxWords: 2}, "one two three",
			"Shorten the output by at least 1 word: it has 3 and may have at most 2, markup and URLs included."},
		{"words over a cap with a fraction", contract{maxWords: 1.9}, "one two three",
			"Shorten the output by at least 2 words: it has 3 and may have at most 1, markup and URLs included."},
		{"a malformed source", contract{sections: []string{"Sources"}}, "# Sources\n- https://a\ntext\n",
			"Rewrite line 3 in the Sources section as a list item with an http(s):// URL, such as '- Title https://example.org/page', or remove it."},
		{"malformed sources", contract{sections: []string{"Sources"}}, "# Sources\n- a\n- https://a\ntext\n",
			"Rewrite each of the lines 2, 4 in the Sources section as a list item with an http(s):// URL, such as '- Title https://example.org/page', or remove it."},
		{"sources", contract{maxSources: 1, sections: []string{"Sources"}}, "# Sources\n- https://a\n- https://b\n",
			"Remove at least 1 source from the Sources section: it lists 2 and may list at most 1."},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.contract.id = "p1"
			outputs := given(t, []contract{tt.contract}, map[string]string{"p1": tt.output})
			if got := review(t, outputs).RetryDirectives[0].ChangeNote; got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}
