package foreign

import (
	"strconv"

	"github.com/tidegate/tidegate/internal/base/report"
)

// Comparison is what changed since an earlier audit, in the report and in its sources.
type Comparison struct {
	With      string   `json:"with" jsonschema:"the id of the earlier audit"`
	Same      bool     `json:"same_report" jsonschema:"the report has the same bytes"`
	Sentences []Change `json:"sentences"`
	Sources   []Change `json:"sources"`
}

// Change is a sentence or a source that is new, gone, or stands otherwise.
type Change struct {
	Change string `json:"change" jsonschema:"added, removed or changed"`
	Line   int    `json:"line" jsonschema:"in the report that has it, the later one first"`
	Text   string `json:"text" jsonschema:"the sentence, or the URL of the source"`
	Before string `json:"before" jsonschema:"how it stood; empty for what is new"`
	After  string `json:"after" jsonschema:"how it stands; empty for what is gone"`
}

// thing is a sentence or a source as it is compared.
type thing struct {
	line        int
	text, state string
}

// Compare says what changed since an earlier audit. Sentences are the same where their
// texts are, and sources where their URLs are.
func (r *Result) Compare(old *Result) {
	of := func(r *Result) (sentences, sources []thing) {
		for i := range r.Sentences {
			s := &r.Sentences[i]
			sentences = append(sentences, thing{s.Line, s.Text, s.State()})
		}
		for i := range r.Sources {
			s := &r.Sources[i]
			sources = append(sources, thing{s.Line, s.URL, s.Status + ", " + s.Reason})
		}
		return sentences, sources
	}
	sentences, sources := of(r)
	before, beforeSources := of(old)
	r.Compared = &Comparison{With: old.AuditID, Same: r.Audited.Digest == old.Audited.Digest, Sentences: changes(before, sentences), Sources: changes(beforeSources, sources)}
}

// changes compares two lists; of several things of one text each is compared with one.
func changes(before, after []thing) []Change {
	left := map[string][]thing{}
	for _, t := range before {
		left[t.text] = append(left[t.text], t)
	}
	out := []Change{}
	for _, t := range after {
		was := left[t.text]
		switch {
		case len(was) == 0:
			out = append(out, Change{"added", t.line, t.text, "", t.state})
			continue
		case was[0].state != t.state:
			out = append(out, Change{"changed", t.line, t.text, was[0].state, t.state})
		}
		left[t.text] = was[1:]
	}
	for _, t := range before {
		if was := left[t.text]; len(was) > 0 && was[0] == t {
			out = append(out, Change{"removed", t.line, t.text, t.state, ""})
			left[t.text] = was[1:]
		}
	}
	return out
}

// show adds what changed to a report.
func (c *Comparison) show(out *report.Report) {
	title := "Since audit " + c.With
	if n := len(c.Sentences) + len(c.Sources); n == 0 {
		out.Add(report.Heading(title), report.Paragraph("Nothing has changed, neither in the report nor in its sources."))
		return
	}
	table := report.NewTable("What", "Change", "Line", "Before", "After", "Text")
	for _, list := range []struct {
		what    string
		changes []Change
	}{{"sentence", c.Sentences}, {"source", c.Sources}} {
		for _, change := range list.changes {
			table.Row(report.None, list.what, change.Change, strconv.Itoa(change.Line), change.Before, change.After, change.Text)
		}
	}
	out.Add(report.Heading(title), table)
}
