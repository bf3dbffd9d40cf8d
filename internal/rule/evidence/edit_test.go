package evidence_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tidegate/tidegate/internal/rule/evidence"
	"github.com/tidegate/tidegate/internal/text/markdown"
)

const edited = `## Summary

The port **grew.** [@s1] It fell then [@s2]. It is old [@s3].

## Key Findings

- Rotterdam grew [@s1].
- Genoa grew [@s2]. It is old [@s2].

### Ports

| Port | Size |
|---|---|
| Genoa | 12 [@s1] |
| Bari | 15 [@s1] |

> It is said [@s4].
`

// TestEdits: what edits make of lines of the draft above. Its sentences are c1 to c3 in
// the summary, c4 to c6 in the list, c7 the heading, c8 to c10 the table, c11 the quote.
func TestEdits(t *testing.T) {
	for name, test := range map[string]struct{ edits, old, new string }{
		"replace":                {`{"replace":[{"sentence":"c2","with":"It shrank [@s2]."}]}`, "It fell then [@s2].", "It shrank [@s2]."},
		"replace in emphasis":    {`{"replace":[{"sentence":"c1","with":"It shrank [@s2]."}]}`, "The port **grew.** [@s1]", "It shrank [@s2]."},
		"drop":                   {`{"replace":[{"sentence":"c2","with":""}]}`, "It fell then [@s2]. ", ""},
		"drop the last":          {`{"replace":[{"sentence":"c3","with":" "}]}`, "It is old [@s3].", ""},
		"drop a paragraph":       {`{"replace":[{"sentence":"c1","with":""},{"sentence":"c2","with":""},{"sentence":"c3","with":""}]}`, "The port **grew.** [@s1] It fell then [@s2]. It is old [@s3].\n", ""},
		"replace an item":        {`{"replace":[{"sentence":"c4","with":"- Bremen grew [@s1]."}]}`, "- Rotterdam grew [@s1].", "- Bremen grew [@s1]."},
		"drop an item":           {`{"replace":[{"sentence":"c4","with":""}]}`, "- Rotterdam grew [@s1].\n", ""},
		"drop one of an item":    {`{"replace":[{"sentence":"c5","with":""}]}`, "- Genoa grew [@s2]. It", "- It"},
		"drop and insert":        {`{"replace":[{"sentence":"c4","with":""}],"insert":[{"after":"c4","text":"Kiel grew [@s1]."}]}`, "- Rotterdam grew [@s1].", "-  Kiel grew [@s1]."},
		"replace a row":          {`{"replace":[{"sentence":"c9","with":"| Kiel | 9 [@s1] |"}]}`, "| Genoa | 12 [@s1] |", "| Kiel | 9 [@s1] |"},
		"drop a row":             {`{"replace":[{"sentence":"c10","with":""}]}`, "| Bari | 15 [@s1] |\n", ""},
		"drop a table":           {`{"replace":[{"sentence":"c8","with":""},{"sentence":"c9","with":""},{"sentence":"c10","with":""}]}`, "| Port | Size |\n|---|---|\n| Genoa | 12 [@s1] |\n| Bari | 15 [@s1] |\n", ""},
		"a row below the header": {`{"insert":[{"after":"c8","text":"| Kiel | 9 [@s1] |"}]}`, "|---|---|\n", "|---|---|\n| Kiel | 9 [@s1] |\n"},
		"a further row":          {`{"insert":[{"after":"c9","text":"| Kiel | 9 [@s1] |"}]}`, "12 [@s1] |\n", "12 [@s1] |\n| Kiel | 9 [@s1] |\n"},
		"replace a heading":      {`{"replace":[{"sentence":"c7","with":"Harbours"}]}`, "### Ports", "### Harbours"},
		"insert in a block":      {`{"insert":[{"after":"c2","text":"Nobody knows why [@s1]."}]}`, "then [@s2].", "then [@s2]. Nobody knows why [@s1]."},
		"insert a block":         {`{"insert":[{"after":"c2","text":"\nNobody knows why [@s1]."}]}`, "old [@s3].\n", "old [@s3].\n\nNobody knows why [@s1].\n\n"},
		"insert an item":         {`{"insert":[{"after":"c4","text":"- Kiel grew [@s1]."}]}`, "- Rotterdam grew [@s1].\n", "- Rotterdam grew [@s1].\n- Kiel grew [@s1].\n"},
		"insert below a heading": {`{"insert":[{"after":"c7","text":"Ports are large [@s1]."}]}`, "### Ports\n", "### Ports\n\nPorts are large [@s1].\n\n"},
		"insert below a section": {`{"insert":[{"after":"## Summary","text":"Ports are large [@s1]."}]}`, "## Summary\n", "## Summary\n\nPorts are large [@s1].\n"},
		"move":                   {`{"move":[{"sentence":"c3","after":"c1"}]}`, "[@s1] It fell then [@s2]. It is old [@s3].", "[@s1] It is old [@s3]. It fell then [@s2]. "},
		"move an item":           {`{"move":[{"sentence":"c4","after":"c6"}]}`, "- Rotterdam grew [@s1].\n- Genoa grew [@s2]. It is old [@s2].\n", "- Genoa grew [@s2]. It is old [@s2].\n- Rotterdam grew [@s1].\n"},
		"replace in a quote":     {`{"replace":[{"sentence":"c11","with":"> They say so [@s4]."}]}`, "> It is said [@s4].", "> They say so [@s4]."},
		"nothing":                {`{}`, "", ""},
	} {
		r := evidence.Read(markdown.Read([]byte(edited)), facts())
		e, faults := evidence.ParseEdits([]byte(test.edits))
		if len(faults) > 0 {
			t.Fatalf("%s: %v", name, faults)
		}
		got, faults := r.Apply(e, nil)
		if want := strings.Replace(edited, test.old, test.new, 1); string(got.Draft) != want || len(faults) > 0 {
			t.Errorf("%s: %v\n%s\nwant\n%s", name, faults, got.Draft, want)
		}
	}
}

func TestEditsThatAreRefused(t *testing.T) {
	r := evidence.Read(markdown.Read([]byte(edited)), facts())
	for _, test := range []struct{ edits, want string }{
		{`[]`, "SCHEMA_VALIDATION_FAILED:0"},
		{`{"replace":[{"sentence":"c1"}]}`, "SCHEMA_VALIDATION_FAILED:0"},
		{`{"rewrite":"all"}`, "SCHEMA_VALIDATION_FAILED:0"},
		{"## Summary", "INVALID_JSON:1"},
		{`{"replace":[{"sentence":"c99","with":"x"}]}`, "SCHEMA_VALIDATION_FAILED:0"},
		{`{"replace":[{"sentence":"c1","with":"x"},{"sentence":"c1","with":"y"}]}`, "SCHEMA_VALIDATION_FAILED:0"},
		{`{"replace":[{"sentence":"c1","with":"x"}],"move":[{"sentence":"c1","after":"c3"}]}`, "SCHEMA_VALIDATION_FAILED:0"},
		{`{"insert":[{"after":"Nowhere","text":"y"}]}`, "SCHEMA_VALIDATION_FAILED:0"},
		{`{"move":[{"sentence":"c1","after":"c1"}]}`, "SCHEMA_VALIDATION_FAILED:0"},
		{`{"replace":[{"sentence":"c2","with":"It rose [@s2]."}]}`, "DROP_REQUIRED:3"},
		{`{"insert":[{"after":"c1","text":"It rose [@s2]."}]}`, "DROP_REQUIRED:3"},
		{`{"replace":[{"sentence":"c2","with":""}],"insert":[{"after":"c1","text":"It is. **It** fell, then! [@s2]"}]}`, "DROP_REQUIRED:3"},
		{`{"replace":[{"sentence":"c2","with":""},{"sentence":"c3","with":"It fell then [@s3]."}]}`, "DROP_REQUIRED:3"},
		{`{"replace":[{"sentence":"c2","with":""}],"insert":[{"after":"c6","text":"\n- It fell then [@s1]."}]}`, "DROP_REQUIRED:3"},
	} {
		e, faults := evidence.ParseEdits([]byte(test.edits))
		if len(faults) == 0 {
			var drop []string
			if strings.HasPrefix(test.want, "DROP") {
				drop = []string{"c2"}
			}
			_, faults = r.Apply(e, drop)
		}
		if got := strings.Join(codes(faults), " "); got != test.want {
			t.Errorf("%s: %s, want %s", test.edits, got, test.want)
		}
	}
	e, _ := evidence.ParseEdits([]byte(`{"replace":[{"sentence":"c2","with":""}],"insert":[{"after":"c1","text":"It rose [@s2]."}]}`))
	if _, faults := r.Apply(e, []string{"c2"}); len(faults) > 0 {
		t.Errorf("another sentence is not what must go: %v", faults)
	}
}

// TestStrikesFollowWhatReplacedASentence: c2 was refused once.
func TestStrikesFollowWhatReplacedASentence(t *testing.T) {
	r := evidence.Read(markdown.Read([]byte(edited)), facts())
	for edits, want := range map[string]string{
		`{}`: "c2 It fell then.",
		`{"replace":[{"sentence":"c2","with":"It rose [@s2]. It sank [@s2]."}]}`:                    "c2 It rose.,c3 It sank.",
		`{"replace":[{"sentence":"c1","with":""},{"sentence":"c2","with":"It rose [@s2]."}]}`:       "c1 It rose.",
		`{"move":[{"sentence":"c2","after":"c6"}]}`:                                                 "c6 It fell then.",
		`{"replace":[{"sentence":"c2","with":""}],"insert":[{"after":"c1","text":"It is [@s1]."}]}`: "",
	} {
		e, _ := evidence.ParseEdits([]byte(edits))
		next, faults := r.Apply(e, nil)
		if len(faults) > 0 {
			t.Fatal(faults)
		}
		to := evidence.Read(markdown.Read(next.Draft), facts())
		carried := next.Carry(map[string]int{"c2": 1}, r, to)
		var got []string
		for _, s := range to.Sentences {
			if carried[s.ID] > 0 {
				got = append(got, s.ID+" "+s.Text)
			}
		}
		if strings.Join(got, ",") != want {
			t.Errorf("%s: %q, want %q", edits, got, want)
		}
	}
}

func TestNumberedShowsEveryId(t *testing.T) {
	r := evidence.Read(markdown.Read([]byte(edited)), facts())
	text := r.Numbered()
	for _, s := range r.Sentences {
		if strings.Count(text, "⟦"+s.ID+"⟧ ") != 1 {
			t.Errorf("%s is not there once", s.ID)
		}
	}
	for id := range 11 {
		text = strings.Replace(text, fmt.Sprintf("⟦c%d⟧ ", id+1), "", 1)
	}
	if text != edited {
		t.Errorf("the draft itself is changed:\n%s", text)
	}
}

// FuzzEdits: sentences without an entry keep their bytes.
func FuzzEdits(f *testing.F) {
	f.Add(edited, uint8(1), "")
	f.Add(honest, uint8(3), "Nobody foresaw it [@s9].")
	f.Fuzz(func(t *testing.T, draft string, at uint8, with string) {
		r := evidence.Read(markdown.Read([]byte(draft)), facts())
		if len(r.Sentences) == 0 {
			return
		}
		s := r.Sentences[int(at)%len(r.Sentences)]
		next, faults := r.Apply(evidence.Edits{Replace: []evidence.Replacement{{Sentence: s.ID, With: with}}}, nil)
		if len(faults) > 0 {
			t.Fatal(faults)
		}
		for _, other := range r.Sentences {
			if other.ID != s.ID && strings.Contains(draft, other.Text) && !strings.Contains(s.Text, other.Text) && !strings.Contains(string(next.Draft), other.Text) {
				t.Fatalf("%q is lost when %q becomes %q in %q:\n%s", other.Text, s.Text, with, draft, next.Draft)
			}
		}
	})
}
