package synthesis

import (
	"errors"
	"fmt"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/rule/evidence"
	"github.com/tidegate/tidegate/internal/text/draft"
	"github.com/tidegate/tidegate/internal/text/markdown"
)

// The decisions of a review.
const (
	ReviewPass    = "PASS"
	ReviewChanges = "CHANGES_REQUIRED"
)

// The severities of a finding.
const (
	High   = "high"
	Medium = "medium"
	Low    = "low"
)

// ReviewShape is the schema of what a reviewer hands in.
var ReviewShape = codec.Table(
	codec.Field{Name: "decision", Shape: codec.OneOf(ReviewPass, ReviewChanges), About: "PASS has no directive and no high finding; CHANGES_REQUIRED has a directive"},
	codec.Field{Name: "findings", Shape: codec.List(findingShape, 0)},
	codec.Field{Name: "directives", Shape: codec.List(directiveShape, 0)},
)

var (
	findingShape = codec.Table(
		codec.Field{Name: "severity", Shape: codec.OneOf(High, Medium, Low)},
		codec.Field{Name: "line", Shape: codec.IntegerFrom(1), About: "of the reviewed draft"},
		codec.Field{Name: "message", Shape: codec.NotBlank()},
	)
	directiveShape = codec.Table(
		codec.Field{Name: "line", Shape: codec.IntegerFrom(1).OrNull(), Optional: true, About: "of the reviewed draft; null or absent when it is about the draft as a whole"},
		codec.Field{Name: "action", Shape: codec.NotBlank(), About: "what the next draft must change"},
	)
)

// Review is a review of a draft that follows the rules.
type Review struct {
	Decision   string
	Findings   []Finding
	Directives []Directive

	doc *codec.Value // as it was handed in
}

// Finding is one thing that a reviewer found.
type Finding struct {
	Severity string
	Line     int
	Message  string
}

// ParseReview reads what a reviewer handed in on a draft. It finds everything that
// is wrong with it: INVALID_JSON, SCHEMA_VALIDATION_FAILED, and LINE_NOT_FOUND for
// a line that the draft does not have. A reviewer cannot pass a draft that does
// not pass gate E. The review is to be used only where there is no fault; keys
// that the rules do not name are kept in its [Review.Bundle].
func ParseReview(data, text []byte, gateEPassed bool) (Review, []Fault) {
	doc, err := codec.ParseGiven(data)
	if err != nil {
		var syntax *codec.SyntaxError
		line := 0
		if errors.As(err, &syntax) {
			line = syntax.Line
		}
		return Review{}, []Fault{evidence.NewFault(tidegate.InvalidJSON, line,
			"Answer with one JSON object and nothing else: no text around it, no code fence, no key twice.", "the review is not JSON: %v", err)}
	}
	p := reviewParser{lines: draft.Read(markdown.Read(text)).Lines()}
	p.fields(doc)
	if doc.Kind() == codec.Object {
		p.lists(doc)
		p.decision(doc, gateEPassed)
	}
	if len(p.faults) > 0 {
		return Review{}, p.faults
	}
	p.review.doc = doc
	return p.review, nil
}

// ReviewByRule is the review of a draft whose sentences do not stand: it asks for these
// changes, and nothing else.
func ReviewByRule(directives []evidence.Directive) Review {
	r := Review{Decision: ReviewChanges, doc: codec.Of(tidegate.Pairs("decision", ReviewChanges, "findings", []any{}, "directives", directives))}
	for _, d := range directives {
		r.Directives = append(r.Directives, Directive{Line: d.Line, Action: d.Action})
	}
	return r
}

type reviewParser struct {
	lines  int // of the draft
	review Review
	faults []Fault
}

func (p *reviewParser) violation(note, format string, args ...any) {
	p.faults = append(p.faults, evidence.NewFault(tidegate.SchemaValidationFailed, 0, note, format, args...))
}

// fields checks the kinds of the three fields, but not yet what is in the lists.
func (p *reviewParser) fields(doc *codec.Value) {
	outer := codec.Table(
		codec.Field{Name: "decision", Shape: codec.OneOf(ReviewPass, ReviewChanges)},
		codec.Field{Name: "findings", Shape: codec.List(codec.Anything(), 0)},
		codec.Field{Name: "directives", Shape: codec.List(codec.Anything(), 0)},
	)
	for _, err := range outer.CheckFields("$", doc) {
		p.violation("Give the review its three fields: decision, findings and directives.", "%s", tidegate.AsError(err).Message)
	}
}

func (p *reviewParser) lists(doc *codec.Value) {
	for i, v := range doc.Get("findings").Elems() {
		path := fmt.Sprintf("$.findings[%d]", i)
		if p.entry(findingShape, path, v, "Give every finding a severity (high, medium or low), a line of the draft and a message.") {
			p.review.Findings = append(p.review.Findings, Finding{v.Get("severity").Str(), p.line(path, v), v.Get("message").Str()})
		}
	}
	for i, v := range doc.Get("directives").Elems() {
		path := fmt.Sprintf("$.directives[%d]", i)
		if p.entry(directiveShape, path, v, "Give every directive an action, and the line of the draft that it is about, or null.") {
			p.review.Directives = append(p.review.Directives, Directive{Line: p.line(path, v), Action: v.Get("action").Str()})
		}
	}
}

func (p *reviewParser) entry(shape codec.Shape, path string, v *codec.Value, note string) bool {
	violations := shape.CheckFields(path, v)
	for _, err := range violations {
		p.violation(note, "%s", tidegate.AsError(err).Message)
	}
	return len(violations) == 0
}

// line is the line that an entry names, 0 for null.
func (p *reviewParser) line(path string, v *codec.Value) int {
	n, _ := v.Get("line").Int()
	if n > int64(p.lines) {
		p.faults = append(p.faults, evidence.NewFault(tidegate.LineNotFound, 0, "Use the line numbers that stand before the lines of the draft.",
			"%s.line is %d, and the draft has %d lines", path, n, p.lines))
	}
	return int(min(n, int64(p.lines)+1))
}

func (p *reviewParser) decision(doc *codec.Value, gateEPassed bool) {
	p.review.Decision = doc.Get("decision").Str()
	directives := doc.Get("directives")
	if p.review.Decision == ReviewChanges && directives.Kind() == codec.Array && directives.Len() == 0 {
		p.violation("Say in a directive what must change, or decide PASS.", "$.directives is empty, and the decision is CHANGES_REQUIRED")
	}
	if p.review.Decision != ReviewPass {
		return
	}
	if directives.Len() > 0 {
		p.violation("Decide CHANGES_REQUIRED, or make findings of what need not change.", "$.directives asks for changes, and the decision is PASS")
	}
	for i, f := range doc.Get("findings").Elems() {
		if f.Get("severity").Str() == High {
			p.violation("Decide CHANGES_REQUIRED with a directive, or give the finding the severity that it has.",
				"$.findings[%d] is high, and the decision is PASS", i)
		}
	}
	if !gateEPassed {
		p.violation("Decide CHANGES_REQUIRED, with a directive for what the draft lacks.", "the decision is PASS, and the draft does not pass gate E")
	}
}
