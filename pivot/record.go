package pivot

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/report"
)

// DocumentVersion is the schema_version of the document of a decision.
const DocumentVersion = "pivot_decision.v1"

// Shape is the table of pivot_decision.v1.
func Shape() codec.Shape {
	count := codec.IntegerFrom(0)
	var rules []string
	for _, r := range Rules {
		rules = append(rules, r.ID)
	}
	report := codec.Table(
		codec.Field{Name: "ok", Shape: codec.Truth()},
		codec.Field{Name: "perspective_id", Shape: codec.NotBlank()},
		codec.Field{Name: "markdown_path", Shape: codec.NotBlank()},
		codec.Field{Name: "words", Shape: codec.NumberFrom(0)},
		codec.Field{Name: "sources", Shape: codec.NumberFrom(0)},
		codec.Field{Name: "missing_sections", Shape: codec.List(codec.Text(), 0)},
	)
	return codec.Table(
		codec.Field{Name: "schema_version", Shape: codec.Version(DocumentVersion)},
		codec.Field{Name: "run_id", Shape: codec.NotBlank()},
		codec.Field{Name: "generated_at", Shape: codec.NotBlank()},
		codec.Field{Name: "inputs_digest", Shape: codec.NotBlank(), About: "digest of gaps and validator reports"},
		codec.Field{Name: "actor", Shape: codec.NotBlank(), Optional: true, About: "on whose authority it was decided: person, agent or rule"},
		codec.Field{Name: "early", Shape: codec.NotBlank(), Optional: true, About: "the stage of the run in which it was decided, where that was before stage pivot; such a decision moves no run"},
		codec.Field{Name: "wave1", Shape: codec.Table(
			codec.Field{Name: "outputs", About: "by perspective_id", Shape: codec.List(codec.Table(
				codec.Field{Name: "perspective_id", Shape: codec.NotBlank()},
				codec.Field{Name: "output_md", Shape: codec.NotBlank(), About: "run-root-relative path where the output lies in the run, else absolute"},
				codec.Field{Name: "digest", Shape: codec.NotBlank(), Optional: true, About: "of the output's bytes when it was decided"},
				codec.Field{Name: "validator_report", Shape: report},
			), 1)},
		)},
		codec.Field{Name: "gaps", About: "by priority, then by gap_id", Shape: codec.List(codec.Table(
			codec.Field{Name: "gap_id", Shape: codec.NotBlank()},
			codec.Field{Name: "priority", Shape: codec.OneOf(Priorities...)},
			codec.Field{Name: "text", Shape: codec.NotBlank()},
			codec.Field{Name: "tags", Shape: codec.List(codec.NotBlank(), 0), About: "each once, in byte order"},
			codec.Field{Name: "source", Shape: codec.OneOf(Explicit, Parsed)},
			codec.Field{Name: "from_perspective_id", Shape: codec.NotBlank(), Optional: true},
		), 0)},
		codec.Field{Name: "decision", Shape: codec.Table(
			codec.Field{Name: "wave2_required", Shape: codec.Truth()},
			codec.Field{Name: "rule_hit", Shape: codec.OneOf(rules...)},
			codec.Field{Name: "metrics", Shape: codec.Table(
				codec.Field{Name: "p0_count", Shape: count},
				codec.Field{Name: "p1_count", Shape: count},
				codec.Field{Name: "p2_count", Shape: count},
				codec.Field{Name: "p3_count", Shape: count},
				codec.Field{Name: "total_gaps", Shape: count},
			)},
			codec.Field{Name: "explanation", Shape: codec.NotBlank()},
			codec.Field{Name: "wave2_gap_ids", Shape: codec.List(codec.NotBlank(), 0), About: "what a second wave is to close"},
		)},
	)
}

// Document is a decision as a run keeps it, pivot_decision.v1, with the outputs
// that it was made from, in the order of the wave's. Early is the stage of a run that
// has not come to its pivot, else "".
func (w Wave1) Document(runID, now string, actor tidegate.ActorKind, early string, d Decision, outputs []RecordedOutput) any {
	var list []tidegate.Details
	for i, o := range outputs {
		list = append(list, tidegate.Pairs("perspective_id", o.PerspectiveID, "output_md", o.Name, "digest", o.Digest, "validator_report", w.reports[i]))
	}
	doc := tidegate.Pairs("schema_version", DocumentVersion, "run_id", runID, "generated_at", now, "inputs_digest", d.InputsDigest, "actor", actor)
	if early != "" {
		doc = append(doc, tidegate.Detail{Key: "early", Value: early})
	}
	return append(doc, tidegate.Pairs("wave1", tidegate.Pairs("outputs", list), "gaps", d.Gaps,
		"decision", tidegate.Pairs("wave2_required", d.Wave2Required, "rule_hit", d.RuleHit, "metrics", d.Metrics,
			"explanation", d.Explanation, "wave2_gap_ids", d.Wave2GapIDs))...)
}

// Recorded is a decision as it stands in a run.
type Recorded struct {
	Wave2Required bool
	GapIDs        []string // what a second wave is to close, in gap order
	Gaps          []Gap
	Actor         tidegate.ActorKind // "" in documents of the earlier system
	Early         string             // the stage before pivot in which it was made, "" when it was made there
	Outputs       []RecordedOutput
}

// RecordedOutput is one of the outputs that a decision was made from.
type RecordedOutput struct {
	PerspectiveID string
	Name          string // relative to the run, or an absolute path
	Digest        string // "" in documents of the earlier system
}

// ReadRecorded reads a decision document in both its forms: the documented one
// and the earlier top-level run_wave2. Problem is "" when it is well-formed.
func ReadRecorded(doc *codec.Value) (d Recorded, problem string) {
	decision := doc.Get("decision")
	required := decision.Get("wave2_required")
	if required.Kind() != codec.Bool {
		required = doc.Get("run_wave2")
	}
	if required.Kind() != codec.Bool {
		return Recorded{}, "pivot.run_wave2 missing"
	}
	ids := decision.Get("wave2_gap_ids")
	if ids.Kind() != codec.Array {
		ids = doc.Get("wave2_gap_ids")
	}
	for _, id := range ids.Elems() {
		if id.Kind() != codec.String {
			return Recorded{}, "pivot.wave2_gap_ids invalid"
		}
		d.GapIDs = append(d.GapIDs, id.Str())
	}
	for _, g := range doc.Get("gaps").Elems() {
		d.Gaps = append(d.Gaps, Gap{ID: g.Get("gap_id").Str(), Priority: g.Get("priority").Str(), Text: g.Get("text").Str(),
			Source: g.Get("source").Str(), From: g.Get("from_perspective_id").Str()})
	}
	for _, o := range doc.Get("wave1").Get("outputs").Elems() {
		d.Outputs = append(d.Outputs, RecordedOutput{o.Get("perspective_id").Str(), o.Get("output_md").Str(), o.Get("digest").Str()})
	}
	d.Wave2Required, d.Actor, d.Early = required.Bool(), tidegate.ActorKind(doc.Get("actor").Str()), doc.Get("early").Str()
	return d, ""
}

// Report shows the gaps by priority with where they stand, the counts, the rule
// that hit and what happens next.
func (d Decision) Report() report.Report {
	r := report.Report{Name: "pivot_decide", Title: "Pivot decision", Summary: d.Explanation}
	if len(d.Gaps) > 0 {
		r.Add(report.Heading("Gaps"), d.gapTable())
	}
	m := d.Metrics
	r.Add(report.Heading("Decision"), report.Fields{
		{Name: "second wave", Value: wave2Word(d.Wave2Required)},
		{Name: "rule", Value: d.RuleHit + ": " + d.condition()},
		{Name: "gaps", Value: fmt.Sprintf("%d (%d P0, %d P1, %d P2, %d P3)", m.Total, m.P0, m.P1, m.P2, m.P3)},
		{Name: "written to", Value: d.written()},
	})
	if short := d.notReached(); len(short) > 0 {
		r.Add(report.Heading("Rules tried before, and not reached"), report.Bullets(short))
	}
	r.Add(report.Heading("What happens next"), report.Bullets(d.next()))
	return r
}

func (d Decision) gapTable() *report.Table {
	inWave2 := make(map[string]bool, len(d.Wave2GapIDs))
	for _, id := range d.Wave2GapIDs {
		inWave2[id] = true
	}
	table := report.NewTable("Priority", "Gap", "Perspective", "Where", "In wave 2", "Text")
	for _, g := range d.Gaps {
		where := any(g.Source)
		if g.File != "" {
			where = report.Place{File: g.File, Line: g.Line}
		}
		taken := "no"
		if inWave2[g.ID] {
			taken = "yes"
		}
		table.Row(report.None, g.Priority, g.ID, g.From, where, taken, tidegate.Cut(g.Text))
	}
	return table
}

func (d Decision) condition() string {
	for _, r := range Rules {
		if r.ID == d.RuleHit {
			return r.Condition()
		}
	}
	return ""
}

// notReached says, for each rule before the one that hit, what it asks for and
// what was counted.
func (d Decision) notReached() []string {
	var lines []string
	for _, r := range Rules {
		if r.ID == d.RuleHit {
			break
		}
		var counts []string
		for _, c := range r.When {
			counts = append(counts, fmt.Sprintf("%s is %d", c.Quantity, quantity(c.Quantity, d.Metrics)))
		}
		lines = append(lines, fmt.Sprintf("%s asks for %s; %s.", r.ID, r.Condition(), strings.Join(counts, ", ")))
	}
	return lines
}

func (d Decision) written() string {
	if d.PivotPath == nil {
		return "no file; the decision was only made"
	}
	return *d.PivotPath
}

func (d Decision) next() []string {
	next := []string{"The second wave is skipped: the run continues with the citations."}
	if d.Wave2Required {
		next = []string{"The run continues with a second wave, which is to close the " + report.Counted(len(d.Wave2GapIDs), "gap") + " marked above."}
	}
	if d.Agents != nil && float64(len(d.Wave2GapIDs)) > math.Trunc(*d.Agents) {
		return append(next, "Its manifest allows only "+strconv.FormatFloat(math.Trunc(*d.Agents), 'f', -1, 64)+
			" for wave 2 (max_wave2_agents): raise the limit, or decide again with fewer explicit gaps.")
	}
	if d.PivotPath != nil {
		next = append(next, "`tidegate run advance` moves it there.")
	}
	return next
}
