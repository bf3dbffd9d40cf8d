package synthesis_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/tidegate/tidegate/internal/rule/synthesis"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/text/markdown"
)

// sections make a whole draft of a body; they stand below it, so that its lines
// keep their numbers.
const sections = "\n\n## Summary\n\nTugs are loud.\n\n## Key Findings\n\n- They are loud [@a].\n\n## Evidence\n\nThe harbour says so.\n\n## Caveats\n\nNone.\n"

// TestCorpus judges drafts with planted faults, and clean ones: no fault is
// missed, and none is invented. The folder is the list.
func TestCorpus(t *testing.T) {
	files := must.Get(filepath.Glob("testdata/corpus/*.txtar"))(t)
	clean, planted := 0, 0
	for _, file := range files {
		archive := must.Get(txtar.ParseFile(file))(t)
		for _, f := range archive.Files {
			name := strings.TrimSuffix(filepath.Base(file), ".txtar") + "/" + strings.TrimSuffix(f.Name, ".md")
			t.Run(name, func(t *testing.T) {
				c := readCase(t, string(f.Data))
				result := synthesis.Judge(markdown.Read([]byte(c.draft)), c.facts)
				faults := slices.Clone(result.Faults)
				for i, n := range result.Uncited {
					if i == 0 || n.Line != result.Uncited[i-1].Line {
						faults = append(faults, synthesis.Fault{Code: "UNCITED_NUMBER", Line: n.Line})
					}
				}
				slices.SortStableFunc(faults, func(a, b synthesis.Fault) int { return a.Line - b.Line })
				if diff := cmp.Diff(c.want, lines(faults)); diff != "" {
					t.Errorf("faults (-planted +found):\n%s", diff)
				}
				if diff := cmp.Diff(c.warn, lines(result.Warnings)); diff != "" {
					t.Errorf("warnings (-planted +found):\n%s", diff)
				}
				for _, f := range append(result.Faults, result.Warnings...) {
					if f.Message == "" || f.ChangeNote == "" {
						t.Errorf("%+v does not say what to change", f)
					}
				}
				if c.want == "" {
					clean++
				} else {
					planted++
				}
			})
		}
	}
	if clean < 40 || planted < 80 {
		t.Errorf("only %d clean drafts and %d with faults were judged", clean, planted)
	}
}

type corpusCase struct {
	draft      string
	facts      synthesis.Facts
	want, warn string
}

// readCase reads the lines before a body: "want: CODE line, …" and what else is
// known of the draft.
func readCase(t *testing.T, text string) corpusCase {
	c := corpusCase{facts: synthesis.Facts{Citations: []synthesis.Citation{{CID: "a"}, {CID: "b", SameAs: "a"}, {CID: "p"}}}}
	end, ends := sections, "\n"
	answers := ""
	for {
		key, rest, found := strings.Cut(text, ":")
		value, after, _ := strings.Cut(rest, "\n")
		value = strings.TrimSpace(value)
		if !found {
			break
		}
		var line int
		switch key {
		case "want":
			c.want = value
		case "warn":
			c.warn = value
		case "whole":
			end = ""
		case "ends":
			ends = map[string]string{"crlf": "\r\n", "cr": "\r"}[value]
		case "unsourced":
			c.facts.Unsourced, c.facts.Citations = true, nil
			end = strings.ReplaceAll(end, " [@a]", "")
		case "answers":
			answers = value
		case "raw":
			var url string
			if _, err := fmt.Sscanf(value, "%d %s", &line, &url); err != nil {
				t.Fatalf("raw: %v", err)
			}
			c.facts.RawURLs = append(c.facts.RawURLs, synthesis.Place{Line: line, Text: url})
		default:
			return c.complete(text+end, ends, answers)
		}
		text = after
	}
	return c.complete(text+end, ends, answers)
}

// complete gives a case its draft, and the review that the draft answers: a line,
// and the first line of the reviewed draft where it was different.
func (c corpusCase) complete(draft, ends, answers string) corpusCase {
	c.draft = strings.ReplaceAll(draft, "\n", ends)
	if answers == "" {
		return c
	}
	number, first, changed := strings.Cut(answers, " ")
	reviewed := draft
	if changed {
		_, rest, _ := strings.Cut(draft, "\n")
		reviewed = first + "\n" + rest
	}
	var line int
	_, _ = fmt.Sscan(number, &line)
	c.facts.Answers = &synthesis.Answered{Draft: []byte(reviewed), Directives: []synthesis.Directive{{Line: line, Action: "Change it."}}}
	return c
}

// lines shows faults as a case has them.
func lines(faults []synthesis.Fault) string {
	var out []string
	for _, f := range faults {
		text := string(f.Code)
		if f.Line > 0 {
			text += fmt.Sprintf(" %d", f.Line)
		}
		out = append(out, text)
	}
	return strings.Join(out, ", ")
}
