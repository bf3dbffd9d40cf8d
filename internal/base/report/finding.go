package report

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/tidegate/tidegate/internal/base/codec"
)

// occurrence is a finding completed with what its surroundings supply.
type occurrence struct {
	Finding
	Case  string
	Place Place // file relative to the root
}

// occurrences lists all findings in the order of the report, with nothing left
// to default: rule, level, message, place and a unique id.
func (r Report) occurrences(root string) []occurrence {
	var all []occurrence
	taken := make(map[string]int)
	for _, c := range r.Cases {
		for _, f := range c.Findings {
			f.Level = f.Level.known()
			f.Rule = f.ruleID()
			if strings.TrimSpace(f.Message) == "" {
				f.Message = firstOf(f.Title, f.Rule)
			}
			f.File = relative(root, cmp.Or(f.File, c.File))
			if f.ID == "" {
				f.ID = codec.Digest([]string{c.Name, f.Rule, f.File, f.Title})
			}
			taken[f.ID]++
			if n := taken[f.ID]; n > 1 {
				f.ID += "/" + strconv.Itoa(n)
			}
			all = append(all, occurrence{Finding: f, Case: c.Name, Place: Place{f.File, f.Line}})
		}
	}
	return all
}

// ruleID is the rule, or a general name where none is given: formats for
// programs need one.
func (f Finding) ruleID() string { return firstOf(f.Rule, "finding") }

// explanation is title, message and help as plain text of several lines.
func (f Finding) explanation() string {
	var parts []string
	for _, part := range []string{f.Title, f.Message} {
		if strings.TrimSpace(part) != "" && (len(parts) == 0 || parts[0] != part) {
			parts = append(parts, part)
		}
	}
	if strings.TrimSpace(f.Help) != "" {
		parts = append(parts, "What to do: "+f.Help)
	}
	return strings.Join(parts, "\n")
}

// prose is everything about a finding except rule, level and place, for formats
// that have room for only one text.
func (f Finding) prose() string {
	lines := []string{f.explanation()}
	if f.Category != "" {
		lines = append(lines, "Category: "+f.Category)
	}
	for _, p := range f.Properties {
		lines = append(lines, p.Name+": "+p.Value)
	}
	return strings.Join(lines, "\n")
}

// headline is the finding in one line.
func (f Finding) headline() string {
	message, _, _ := strings.Cut(strings.TrimSpace(lineEnds.Replace(f.Message)), "\n")
	return firstOf(f.Title, message, f.ruleID())
}

// firstOf is the first text that is not blank.
func firstOf(texts ...string) string {
	if i := slices.IndexFunc(texts, func(text string) bool { return strings.TrimSpace(text) != "" }); i >= 0 {
		return texts[i]
	}
	return ""
}

// matters says for people how much a finding matters: in the words of who found it, where
// those are known.
func (f Finding) matters() string {
	for _, p := range f.Properties {
		if p.Name == SeverityProperty {
			return p.Value
		}
	}
	return string(f.Level.known())
}

// SeverityProperty is the property with the severity in the words of who found it.
const SeverityProperty = "severity"

// facts are the other properties in one line.
func (f Finding) facts() string {
	var parts []string
	for _, p := range f.Properties {
		if p.Name != SeverityProperty {
			parts = append(parts, OneLine(p.Name)+": "+OneLine(p.Value))
		}
	}
	return strings.Join(parts, "; ")
}

// last is the last line that a finding is about.
func (f Finding) last() int { return max(f.Line, f.EndLine) }
