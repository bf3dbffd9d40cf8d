package wave

import (
	"io"
	"slices"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/markdown"
	"github.com/tidegate/tidegate/perspective"
)

// Verdict is the judgement of one output.
type Verdict struct {
	Words           int
	Sources         int             // well-formed source lines, whatever the verdict
	MissingSections []string        // in contract order
	Failure         *tidegate.Error // the first rule that is not met, nil when all are
	Line            int             // where the failure is, 0 when it has no line
}

// Judge judges outputs one after the other. The zero value is ready; it keeps
// its buffers, and must not be used by two goroutines at once.
type Judge struct {
	scanner markdown.Scanner
	sources sourceLines
	found   []bool // by index of the contract's sections
}

// Judge reads one output to its end and judges it by the contract. The order is
// fixed, and the first rule that is not met is the failure:
// MISSING_REQUIRED_SECTION, TOO_MANY_WORDS, MALFORMED_SOURCES,
// TOO_MANY_SOURCES. The only errors are those of r.
func (j *Judge) Judge(contract perspective.Contract, r io.Reader) (Verdict, error) {
	sourcesAt := slices.IndexFunc(contract.Sections, func(title string) bool { return strings.EqualFold(title, "Sources") })
	j.found = append(j.found[:0], make([]bool, len(contract.Sections))...)
	j.sources.reset(contract.MaxSources)
	words, err := j.scanner.Scan(r, markdown.Events{
		Heading: func(h markdown.Heading) bool {
			for i, title := range contract.Sections {
				if !j.found[i] && string(h.Text) == title {
					j.found[i] = true
					return i == sourcesAt
				}
			}
			return false
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
	v.fail(contract, &j.sources)
	return v, nil
}

func (v *Verdict) fail(contract perspective.Contract, sources *sourceLines) {
	switch {
	case len(v.MissingSections) > 0:
		first := v.MissingSections[0]
		details := tidegate.D("section", tidegate.Cut(first))
		if len(v.MissingSections) > 1 {
			details = append(details, tidegate.D("missing_sections", v.MissingSections)...)
		}
		v.refuse(0, tidegate.MissingRequiredSection, details, "Missing section: %s", first)
	case float64(v.Words) > contract.MaxWords:
		v.refuse(0, tidegate.TooManyWords, tidegate.D("max_words", contract.MaxWords, "words", v.Words),
			"the output has %d words, the contract allows %v", v.Words, contract.MaxWords)
	case sources.fault != "":
		what := "is not a list item"
		if sources.fault == missingURL {
			what = "has no http(s) URL"
		}
		v.refuse(sources.faultLine, tidegate.MalformedSources,
			tidegate.D("line", tidegate.Cut(sources.faultText), "line_number", sources.faultLine, "reason", sources.fault),
			"line %d of the Sources section %s", sources.faultLine, what)
	case float64(v.Sources) > contract.MaxSources:
		v.refuse(sources.overLine, tidegate.TooManySources, tidegate.D("max_sources", contract.MaxSources, "sources", v.Sources),
			"the output lists %d sources, the contract allows %v", v.Sources, contract.MaxSources)
	}
}

func (v *Verdict) refuse(line int, code tidegate.Code, details tidegate.Details, format string, args ...any) {
	v.Failure, v.Line = tidegate.AsError(tidegate.Errorf(code, details, format, args...)), line
}
