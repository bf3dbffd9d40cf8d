package wave

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/internal/text/markdown"
)

// Verdict is the judgement of one output.
type Verdict struct {
	Words           int
	Sources         int      // well-formed source lines, whatever the verdict
	MissingSections []string // in contract order
	Faults          []Fault  // every rule that is not met, in the order of judgement
}

// Fault is one rule that an output does not meet.
type Fault struct {
	Error      *tidegate.Error // of class [tidegate.NotMet]
	Line       int             // where it is, 1-based; 0 when it has no line
	ChangeNote string          // what to change, one imperative sentence with the numbers it needs

	// hint is what to put after the message: what may have misled the author, or
	// how many more lines have the same fault.
	hint string
}

// Message says what is wrong, in a line.
func (f Fault) Message() string { return f.Error.Message + f.hint }

// Failure is the first rule that is not met, or nil when all are.
func (v Verdict) Failure() *tidegate.Error {
	if len(v.Faults) == 0 {
		return nil
	}
	return v.Faults[0].Error
}

// Judge judges outputs one after the other. The zero value is ready; it keeps
// its buffers, and must not be used by two goroutines at once.
type Judge struct {
	scanner markdown.Scanner
	sources sourceLines
	found   []bool         // by index of the contract's sections
	byTitle map[string]int // the same index, of a contract with many sections
	near    nearHeadings
}

// Judge reads one output to its end and judges it by the contract, in this
// order: MISSING_REQUIRED_SECTION, TOO_MANY_WORDS, MALFORMED_SOURCES,
// TOO_MANY_SOURCES. The only errors are those of r.
func (j *Judge) Judge(contract Contract, r io.Reader) (Verdict, error) {
	sourcesAt := sourcesIndex(contract)
	j.require(contract.Sections)
	j.sources.reset(contract.MaxSources)
	j.near.reset(contract.Sections)
	words, err := j.scanner.Scan(io.TeeReader(r, &j.near), markdown.Events{
		Heading: func(h markdown.Heading) bool {
			i := j.section(contract.Sections, h.Text)
			if i < 0 {
				j.near.heading(contract.Sections, h.Text, h.Line)
			}
			if i < 0 || j.found[i] {
				return false
			}
			j.found[i] = true
			return i == sourcesAt
		},
		Line: j.sources.line,
	})
	if err != nil {
		return Verdict{}, err
	}
	v := Verdict{Words: words, Sources: j.sources.count}
	for i, title := range contract.Sections {
		if !j.found[i] {
			v.MissingSections = append(v.MissingSections, title)
		}
	}
	v.findFaults(contract, &j.sources)
	if len(v.MissingSections) > 0 {
		v.Faults[0].hint = j.near.hint(j.found)
	}
	return v, nil
}

// fewSections are found faster without an index.
const fewSections = 16

func (j *Judge) require(sections []string) {
	j.found = append(j.found[:0], make([]bool, len(sections))...)
	if len(sections) <= fewSections {
		return
	}
	j.byTitle = make(map[string]int, len(sections))
	for i, title := range sections {
		j.byTitle[title] = i
	}
}

// section is the index of the section with that title, or -1.
func (j *Judge) section(sections []string, title []byte) int {
	if len(sections) > fewSections {
		if i, ok := j.byTitle[string(title)]; ok {
			return i
		}
		return -1
	}
	return slices.IndexFunc(sections, func(section string) bool { return section == string(title) })
}

// sourcesIndex is the index of the section that is judged as Sources, or -1.
func sourcesIndex(contract Contract) int {
	return slices.IndexFunc(contract.Sections, func(title string) bool { return strings.ToLower(title) == "sources" })
}

func (v *Verdict) findFaults(contract Contract, sources *sourceLines) {
	if len(v.MissingSections) > 0 {
		first := v.MissingSections[0]
		details := tidegate.Pairs("section", tidegate.Cut(first))
		if len(v.MissingSections) > 1 {
			details = append(details, tidegate.Pairs("missing_sections", v.MissingSections)...)
		}
		v.add(Fault{ChangeNote: addSections(v.MissingSections)}, tidegate.MissingRequiredSection, details, "Missing section: %s", first)
	}
	if float64(v.Words) > contract.MaxWords {
		v.add(Fault{ChangeNote: removeWords(v.Words, contract)}, tidegate.TooManyWords, tidegate.Pairs("max_words", contract.MaxWords, "words", v.Words),
			"the output has %s, the contract allows %s", report.Counted(v.Words, "word"), limitText(contract.MaxWords))
	}
	if sources.malformed > 0 {
		what := "is not a list item"
		if sources.fault == missingURL {
			what = "has no http(s) URL"
		}
		line := sources.lines[0]
		fault := Fault{Line: line, ChangeNote: rewriteSources(sources)}
		if more := sources.malformed - 1; more > 0 {
			fault.hint = "; " + report.Counted(more, "more line") + " likewise malformed"
		}
		v.add(fault, tidegate.MalformedSources,
			tidegate.Pairs("line", sources.faultText, "line_number", line, "reason", sources.fault),
			"line %d, in the Sources section, %s", line, what)
	}
	if float64(v.Sources) > contract.MaxSources {
		v.add(Fault{Line: sources.overLine, ChangeNote: removeSources(v.Sources, contract)}, tidegate.TooManySources, tidegate.Pairs("max_sources", contract.MaxSources, "sources", v.Sources),
			"the output lists %s, the contract allows %s", report.Counted(v.Sources, "source"), limitText(contract.MaxSources))
	}
}

func (v *Verdict) add(f Fault, code tidegate.Code, details tidegate.Details, format string, args ...any) {
	f.Error = tidegate.AsError(tidegate.Errorf(code, details, format, args...))
	v.Faults = append(v.Faults, f)
}

// limitText is a cap as a person writes it.
func limitText(limit float64) string {
	if limit < 1e15 {
		return strconv.FormatFloat(limit, 'f', -1, 64)
	}
	return strconv.FormatFloat(limit, 'g', -1, 64)
}

// most is the greatest count within the cap.
func most(limit float64) int {
	return int(math.Min(math.Floor(limit), 1<<53))
}

// The functions below make the change notes of faults: what the agent has to
// change, one imperative sentence with the numbers it needs.

func addSections(missing []string) string {
	switch {
	case len(missing) == 1 && missing[0] == "Sources":
		return "Add missing required section 'Sources' and include only bullet URL entries."
	case len(missing) == 1:
		return fmt.Sprintf("Add missing required section '%s' under a heading with exactly that text.", missing[0])
	}
	return fmt.Sprintf("Add these missing required sections, each under a heading with exactly that text: %s.", joinTitles(missing))
}

func removeWords(words int, contract Contract) string {
	allowed := most(contract.MaxWords)
	return fmt.Sprintf("Shorten the output by at least %s: it has %d and may have at most %d, markup and URLs included.",
		report.Counted(words-allowed, "word"), words, allowed)
}

func rewriteSources(sources *sourceLines) string {
	return fmt.Sprintf("Rewrite %s in the Sources section as a list item with an http(s):// URL, such as '- Title https://example.org/page', or remove it.",
		theLines(sources.lines, sources.malformed))
}

func removeSources(sources int, contract Contract) string {
	allowed := most(contract.MaxSources)
	return fmt.Sprintf("Remove at least %s from the Sources section: it lists %d and may list at most %d.",
		report.Counted(sources-allowed, "source"), sources, allowed)
}

// theLines names lines, of which only the first are known by number: "line 12",
// "each of the lines 12, 14 and 5 more".
func theLines(first []int, count int) string {
	if count == 1 {
		return "line " + strconv.Itoa(first[0])
	}
	numbers := make([]string, len(first))
	for i, n := range first {
		numbers[i] = strconv.Itoa(n)
	}
	list := strings.Join(numbers, ", ")
	if unlisted := count - len(numbers); unlisted > 0 {
		list += " and " + strconv.Itoa(unlisted) + " more"
	}
	return "each of the lines " + list
}

func joinTitles(titles []string) string { return "'" + strings.Join(titles, "', '") + "'" }
