package wave

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/perspective"
	"github.com/tidegate/tidegate/report"
)

// changeNote tells an agent what to change about the rule that its output
// fails: one imperative sentence with the numbers it needs.
func changeNote(r OutputResult) string {
	return tidegate.Cut(r.instruction(r.faults[0]))
}

// Note is one fault of an output with what its author must change.
type Note struct {
	Code    tidegate.Code
	Message string
	Line    int // 0 when the fault has none
	Change  string
}

// Notes lists every fault of a verdict that was made by the contract, in the
// order of judgement.
func (v Verdict) Notes(contract perspective.Contract) []Note {
	r := OutputResult{contract: &contract, faults: v.Faults, Metrics: Metrics{Words: v.Words, Sources: v.Sources, MissingSections: v.MissingSections}}
	notes := make([]Note, 0, len(v.Faults))
	for _, f := range v.Faults {
		notes = append(notes, Note{f.Error.Code, f.summary(r), f.Line, r.instruction(f)})
	}
	return notes
}

// instruction says how to mend one fault.
func (r OutputResult) instruction(f Fault) string {
	switch f.Error.Code {
	case tidegate.MissingRequiredSection:
		missing := r.Metrics.MissingSections
		switch {
		case len(missing) == 1 && missing[0] == "Sources":
			return "Add missing required section 'Sources' and include only bullet URL entries."
		case len(missing) == 1:
			return fmt.Sprintf("Add missing required section '%s' under a heading with exactly that text.", missing[0])
		}
		return fmt.Sprintf("Add these missing required sections, each under a heading with exactly that text: %s.", joinTitles(missing))
	case tidegate.TooManyWords:
		allowed := most(r.contract.MaxWords)
		return fmt.Sprintf("Shorten the output by at least %s: it has %d and may have at most %d, markup and URLs included.",
			report.Counted(r.Metrics.Words-allowed, "word"), r.Metrics.Words, allowed)
	case tidegate.MalformedSources:
		return fmt.Sprintf("Rewrite %s in the Sources section as a list item with an http(s):// URL, such as '- Title https://example.org/page', or remove it.", f.where())
	}
	allowed := most(r.contract.MaxSources)
	return fmt.Sprintf("Remove at least %s from the Sources section: it lists %d and may list at most %d.",
		report.Counted(r.Metrics.Sources-allowed, "source"), r.Metrics.Sources, allowed)
}

// where names the lines of a fault: "line 12", "each of the lines 12, 14 and 5 more".
func (f Fault) where() string {
	if f.more == 0 {
		return "line " + strconv.Itoa(f.Line)
	}
	numbers := make([]string, len(f.lines))
	for i, n := range f.lines {
		numbers[i] = strconv.Itoa(n)
	}
	list := strings.Join(numbers, ", ")
	if unlisted := f.more + 1 - len(numbers); unlisted > 0 {
		list += " and " + strconv.Itoa(unlisted) + " more"
	}
	return "each of the lines " + list
}

func joinTitles(titles []string) string { return "'" + strings.Join(titles, "', '") + "'" }
