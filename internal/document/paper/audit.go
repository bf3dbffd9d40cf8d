package paper

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/internal/rule/claim"
	"github.com/tidegate/tidegate/internal/rule/evidence"
	"github.com/tidegate/tidegate/internal/rule/foreign"
)

// Audit is what the page of an audit says instead of the run that made a report.
type Audit struct {
	ID, Digest string
	Findings   []string // about the report as a whole
	Language   string   // of the report, in two letters, "" where it cannot be told
}

// Dir is the direction of the report's text.
func (a *Audit) Dir() string { return evidence.Direction(a.Language) }

// AuditOf shows an audit as a report: the text that was audited, with its sentences marked
// by how they stand, and its sources.
func AuditOf(r *foreign.Result) Report {
	trust := map[foreign.Outcome]string{foreign.Passed: "✓ passes: ", foreign.Failed: "✕ fails: "}[r.Outcome]
	trust += r.Line() + ". The rules say what stands on a page, not what is true. Read as " + r.Audited.Format +
		"; it cites by " + strings.Join(r.Audited.Styles, ", ") + "."
	if n := r.Summary.Structural; n > 0 {
		trust += " What only introduces others or asks is not counted below: " + report.Counted(n, "sentence") + "."
	}
	if read := r.Summary.Read; read != nil {
		trust += " " + read.Tested()
	}
	out := Report{Question: "Audit of " + report.Visible(r.Audited.Name), Trust: trust, Parts: []Part{auditPart(r)},
		Audit: &Audit{ID: r.AuditID, Digest: r.Audited.Digest, Language: r.Audited.Language}}
	for _, f := range r.Findings {
		out.Audit.Findings = append(out.Audit.Findings, fmt.Sprintf("line %d: %s", f.Line, report.Visible(f.Text)))
	}
	titles := map[string]string{} // of the pages themselves
	for _, s := range r.Sentences {
		for _, w := range s.Windows {
			titles[w.URL] = w.Title
		}
	}
	for i := range r.Sources {
		s := &r.Sources[i]
		why := s.Reason
		for _, f := range s.Findings {
			why += "; " + f.Text
		}
		why = strings.TrimPrefix(why+"; cited by "+report.Counted(s.Cited, "sentence"), "; ")
		out.Sources = append(out.Sources, Source{CID: s.URL, URL: s.URL, Title: report.Visible(cmp.Or(s.Title, titles[s.URL])), Status: s.Status, Reason: report.Visible(why)})
	}
	return out
}

// auditPart is the text of an audited report as its author laid it out, whatever it was
// written in, as Markdown.
func auditPart(r *foreign.Result) (p Part) {
	var text strings.Builder
	headings, paragraph, columns, last := r.Headings(), 0, 0, ""
	var widths []int // of the marks of the items that are open
	untilSentence := func(i int) {
		for ; len(headings) > 0 && headings[0].Before <= i; headings = headings[1:] {
			text.WriteString("\n\n" + strings.Repeat("#", min(max(headings[0].Level, 1), 4)) + " " + mdText(report.Visible(headings[0].Text)))
		}
	}
	for i := range r.Sentences {
		before := text.Len()
		untilSentence(i)
		in, kind := r.Paragraph(i)
		switch {
		case i > 0 && in == paragraph && text.Len() == before:
			text.WriteString(" ")
		case kind == "item":
			if last != kind || text.Len() > before {
				text.WriteString("\n")
				widths = nil
			}
			level, number := r.Item(i)
			mark := "- "
			if number > 0 {
				mark = strconv.Itoa(number) + ". "
			}
			widths = append(widths[:min(len(widths), max(level-1, 0))], len(mark))
			indent := -len(mark)
			for _, n := range widths {
				indent += n
			}
			text.WriteString("\n" + strings.Repeat(" ", indent) + mark)
		case kind == "row":
			cells, names := r.Cells(i)
			if text.Len() > before || last != kind || names != nil {
				columns = max(len(cells), len(names))
				text.WriteString("\n\n" + row(names, columns) + "\n" + strings.Repeat("|---", columns))
			}
			text.WriteString("\n")
		default:
			text.WriteString("\n\n")
		}
		paragraph, last = in, kind
		s := auditSentence(&r.Sentences[i], "s"+strconv.Itoa(i+1))
		s.Start = text.Len()
		if cells, _ := r.Cells(i); kind == "row" {
			text.WriteString(row(cells, columns))
		} else {
			text.WriteString(mdText(s.Text))
		}
		s.End = text.Len()
		for _, mark := range r.Marks(i) {
			if mark = report.Visible(tidegate.Cut(mark)); !strings.ContainsAny(mark, "[【") {
				mark = "[" + mark + "]"
			}
			text.WriteString(" " + mdText(mark))
		}
		p.Sentences = append(p.Sentences, s)
	}
	untilSentence(len(r.Sentences))
	p.Text = []byte(text.String())
	return p
}

// row is a row of a table in Markdown; cells beyond its columns stand in the last.
func row(cells []string, columns int) (out string) {
	for i, cell := range cells {
		out += map[bool]string{true: "| ", false: " / "}[i < columns] + strings.ReplaceAll(mdText(strings.TrimSpace(report.Visible(cell))), "|", `\|`) + " "
	}
	return strings.TrimRight(out, " ")
}

// Laid are sentences whose text is not kept as one: each is a paragraph.
func Laid(sentences []ShownSentence) (p Part) {
	var text strings.Builder
	for _, s := range sentences {
		s.Start = text.Len()
		text.WriteString(mdText(shownText(s.Text)))
		s.End = text.Len()
		text.WriteString("\n\n")
		p.Sentences = append(p.Sentences, s)
	}
	p.Text = []byte(text.String())
	return p
}

func auditSentence(s *foreign.Judged, id string) (out ShownSentence) {
	state := s.State()
	out.Claim = evidence.Claim{ID: id, Line: s.Line, Text: report.Visible(s.Text), Form: evidence.Form(state),
		Standing: s.Standing, Findings: s.Findings}
	out.Unsure = s.Standing != claim.Found && s.Form != foreign.Structural && s.Verdict != evidence.Supported
	out.ByRule = s.Standing == claim.Found && s.Verdict == ""
	out.Stand = evidence.Stand{Words: s.Words(), Why: report.Visible(cmp.Or(s.Against(), s.Noted())),
		Doubted: s.Standing == claim.Missing || s.Verdict == evidence.Unsupported}
	for _, w := range s.Windows {
		out.Windows = append(out.Windows, claim.Window{CID: w.URL, Start: w.Start, End: w.End, Text: report.Visible(w.Text),
			Title: report.Visible(w.Title), Heading: report.Visible(w.Heading)})
	}
	if s.Verdict != "" {
		out.Verdict = &evidence.Verdict{Verdict: s.Verdict, Words: report.Visible(s.Quoted), Because: report.Visible(s.Because)}
	}
	return out
}
