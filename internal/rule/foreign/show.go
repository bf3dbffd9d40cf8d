package foreign

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/tidegate/tidegate/internal/text/markdown"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/internal/rule/claim"
	"github.com/tidegate/tidegate/internal/rule/evidence"
	"github.com/tidegate/tidegate/internal/rule/source"
)

// shownSentences is how many sentences a person is shown, the worst first.
const shownSentences = 20

// Report shows the counts, what is wrong with the worst sentences, and the sources that
// are not what they should be.
func (r Result) Report() report.Report {
	s := &r.Summary
	out := report.Report{Name: "report_audit", Title: "Audit of " + r.Audited.Name, Status: report.PassIf(r.Pass), Summary: r.Line(), OutcomeFirst: true}
	if r.Explain {
		r.explain(&out)
	}
	out.Add(r.kinds())
	if read := s.Read; read != nil {
		out.Add(report.Paragraph(read.Tested()))
	}
	if worst := r.worst(); len(worst) > 0 {
		out.Add(report.Heading("The worst sentences"))
		for _, i := range worst {
			out.Add(r.Sentences[i].blocks()...)
		}
	}
	sources := report.NewTable("Source", ">Cited", "Status", "Why")
	for i := range r.Sources {
		if src := &r.Sources[i]; src.Status != string(source.Valid) && (src.Status != Unchecked || s.Sources.Unchecked < s.Sources.Total) || len(src.Findings) > 0 {
			why := src.Reason
			for _, f := range src.Findings {
				why += "; " + f.Text
			}
			sources.Row(statusOf(src), strings.TrimSpace(strings.Join(src.IDs, ", ")+" "+src.URL), src.Cited, src.Status, why)
		}
	}
	if len(sources.Rows) > 0 {
		out.Add(report.Heading("Sources to look at"), sources)
	}
	if len(r.Findings) > 0 {
		var list []string
		for _, f := range r.Findings[:min(len(r.Findings), shownSentences)] {
			list = append(list, "line "+strconv.Itoa(f.Line)+": "+f.Text)
		}
		if more := len(r.Findings) - len(list); more > 0 {
			list = append(list, "and "+strconv.Itoa(more)+" more")
		}
		out.Add(report.Heading("The report as a whole"), report.Bullets(list))
	}
	if r.Compared != nil {
		r.Compared.show(&out)
	}
	out.Add(report.Fields{{Name: "kept", Value: r.AuditPath}})
	r.cases(&out)
	return out
}

// Line is the outcome in one line.
func (r *Result) Line() string {
	s := &r.Summary
	if s.Found+s.Weak+s.Missing == 0 {
		return fmt.Sprintf("%s, %d cited, %d carried, %d uncited; no page was looked at", report.Counted(s.Sentences, "sentence"), s.Cited, s.Carried, s.Uncited)
	}
	line := fmt.Sprintf("%s: %d found on the cited page, %d weak, %d missing there, %d unchecked, %d uncited; %s, %d of them dead",
		report.Counted(s.Sentences, "sentence"), s.Found, s.Weak, s.Missing, s.Unchecked, s.Uncited, report.Counted(s.Sources.Total, "source"), s.Sources.Invalid)
	if read := s.Read; read != nil {
		line += fmt.Sprintf("; by a second reader %d supported, %d partly, %d unclear, %d unsupported, %d not read", read.Supported, read.Partly, read.Unclear, read.Unsupported, read.Unread)
	}
	return line
}

// Tested says how the second reader was tested.
func (r *Readings) Tested() string {
	if r.Controls.Planted == 0 {
		return "The second reader, " + r.By + ", was not tested."
	}
	return fmt.Sprintf("The second reader, %s, was tested with %s, %d of them with every word on the page, and caught all.", r.By, report.Counted(r.Controls.Planted, "planted error"), r.Controls.Hard)
}

// kinds is the table of counts, each with what it is counted of.
func (r *Result) kinds() *report.Table {
	s := &r.Summary
	table := report.NewTable("Kind", ">Count", ">Of")
	borne := s.Cited + s.Carried
	type counted struct {
		kind  string
		n, of int
		bad   bool
	}
	rows := []counted{
		{"sentences cited", s.Cited, s.Sentences, false}, {"carried by the next citation", s.Carried, s.Sentences, false},
		{"structural", s.Structural, s.Sentences, false}, {"uncited", s.Uncited, s.Sentences, true},
		{"uncited with a number", s.UncitedNumbers, s.Uncited, true}, {"uncited with a quotation", s.UncitedQuotations, s.Uncited, true},
		{"found on the cited page", s.Found, borne, false}, {"weak", s.Weak, borne, true}, {"missing", s.Missing, borne, true}, {"unchecked", s.Unchecked, borne, true},
		{"sources valid", s.Sources.Valid, s.Sources.Total, false}, {"behind a paywall", s.Sources.Paywalled, s.Sources.Total, false},
		{"blocked", s.Sources.Blocked, s.Sources.Total, true}, {"another page", s.Sources.Mismatch, s.Sources.Total, true},
		{"dead", s.Sources.Invalid, s.Sources.Total, true}, {"not checked", s.Sources.Unchecked, s.Sources.Total, true},
	}
	if read := s.Read; read != nil {
		of := s.Found + s.Weak + s.Missing
		rows = append(rows, counted{"supported, by the second reader", read.Supported, of, false}, counted{"partly", read.Partly, of, true}, counted{"unclear", read.Unclear, of, true},
			counted{"unsupported", read.Unsupported, of, true}, counted{"not read", read.Unread, of, true})
	}
	for _, row := range rows {
		status := report.None
		if row.bad && row.n > 0 {
			status = report.Warn
		}
		table.Row(status, row.kind, row.n, row.of)
	}
	return table
}

// worst are the sentences that a reader should look at first.
func (r *Result) worst() []int {
	rank := func(s *Judged) int {
		switch {
		case s.Standing == claim.Missing || s.Verdict == evidence.Unsupported:
			return 0
		case s.Form == Uncited && len(s.Findings) > 0:
			return 2
		case s.Standing == claim.NoText && len(s.Findings) > 0:
			return 3
		case s.Standing == claim.Weak && s.Verdict != evidence.Supported, s.Verdict == evidence.Partly, s.Verdict == evidence.Unclear:
			return 1
		}
		return 9
	}
	var worst []int
	for i := range r.Sentences {
		if rank(&r.Sentences[i]) < 9 {
			worst = append(worst, i)
		}
	}
	slices.SortStableFunc(worst, func(a, b int) int { return cmp.Compare(rank(&r.Sentences[a]), rank(&r.Sentences[b])) })
	return worst[:min(len(worst), shownSentences)]
}

// State is how a sentence stands, in a word.
func (s *Judged) State() string {
	if s.Standing != "" {
		return string(s.Standing)
	}
	return string(s.Form)
}

// blocks show a sentence with why and with its first passage.
func (s *Judged) blocks() []report.Block {
	var why []string
	for _, f := range s.Findings {
		why = append(why, said(f))
	}
	if s.Verdict != "" {
		why = append(why, s.heard())
	}
	if len(s.Windows) > 0 {
		why = append(why, "the page says: "+beginning(markdown.OneLine(s.Windows[0].Text))+" ("+s.Windows[0].URL+")")
	}
	out := []report.Block{report.Paragraph(fmt.Sprintf("line %d, %s: %s", s.Line, s.State(), s.Text))}
	if len(why) > 0 {
		out = append(out, report.Bullets(why))
	}
	return out
}

// beginning is how a text begins, in whole words.
func beginning(text string) string {
	cut := tidegate.Cut(text)
	if i := strings.LastIndexByte(cut, ' '); i > 0 && cut != text {
		return cut[:i] + " …"
	}
	return cut
}

// Against is what the rules hold against a sentence.
func (s *Judged) Against() string {
	var why []string
	for _, f := range s.Findings {
		if f.Level != claim.Remark {
			why = append(why, said(f))
		}
	}
	return strings.Join(why, "; ")
}

// heard is what the second reader said of a sentence.
func (s *Judged) heard() string {
	return "the second reader: " + s.Verdict + strings.TrimRight(": "+cmp.Or(s.Because, s.Words), ": ")
}

// said is a finding of a sentence as a person reads it.
func said(f claim.Finding) string {
	if f.Level == claim.Fault && f.Rule != "citation" {
		return f.Rule + ", not on a cited page: " + f.Text
	}
	return f.Rule + ": " + f.Text
}

// explain shows what was recognised.
func (r *Result) explain(out *report.Report) {
	out.Add(report.Fields{
		{Name: "read as", Value: r.Audited.Format}, {Name: "cites by", Value: strings.Join(r.Audited.Styles, ", ")}, {Name: "language", Value: cmp.Or(r.Audited.Language, "not known")},
		{Name: "entries", Value: strconv.Itoa(r.Summary.Entries)}, {Name: "marks", Value: strconv.Itoa(r.Summary.Citations)},
	})
	table := report.NewTable(">Line", "Form", "Sentence", "Cites")
	for i := range r.Sentences {
		s := &r.Sentences[i]
		table.Row(report.None, s.Line, string(s.Form), s.Text, strings.Join(s.URLs, " "))
	}
	out.Add(table)
	var lost []string
	for _, c := range r.Citations {
		if len(c.URLs) == 0 {
			lost = append(lost, fmt.Sprintf("line %d: %s", c.Line, c.Text))
		}
	}
	if len(lost) > 0 {
		out.Add(report.Heading("Marks that lead nowhere"), report.Bullets(lost))
	}
}

func statusOf(s *Source) report.Status {
	switch s.Status {
	case string(source.Valid), string(source.Paywalled):
		return report.Pass
	case string(source.Invalid):
		return report.Fail
	}
	return report.Warn
}

var levels = map[claim.Level]report.Level{claim.Fault: report.LevelError, claim.Warn: report.LevelWarning, claim.Remark: report.LevelNote}

// cases has everything for programs.
func (r *Result) cases(out *report.Report) {
	file := cmp.Or(r.File, r.Audited.Name)
	for i := range r.Sentences {
		s := &r.Sentences[i]
		c := report.Case{Name: "sentence " + strconv.Itoa(i+1), File: file, Status: report.PassIf(s.Standing != claim.Missing), Note: s.Text}
		if s.Standing != claim.NoText { // what is wrong then is its source
			for _, f := range s.Findings {
				c.Findings = append(c.Findings, report.Finding{Rule: strings.ToUpper(f.Rule), Level: levels[f.Level], Message: said(f) + "\n" + s.Text, Line: s.Line})
			}
		}
		if s.Verdict == evidence.Unsupported {
			c.Status = report.Fail
			c.Findings = append(c.Findings, report.Finding{Rule: "UNSUPPORTED", Level: report.LevelError, Message: s.heard() + "\n" + s.Text, Line: s.Line})
		}
		if s.Form == Uncited && len(s.Findings) == 0 {
			c.Findings = append(c.Findings, report.Finding{Rule: "UNCITED", Level: report.LevelNote, Message: "no citation covers: " + s.Text, Line: s.Line})
		}
		out.AddCase(c)
	}
	for i := range r.Sources {
		s := &r.Sources[i]
		c := report.Case{Name: "source " + strconv.Itoa(i+1), File: file, Status: report.PassIf(s.Status != string(source.Invalid)), Note: s.URL}
		if s.Status != string(source.Valid) && s.Status != Unchecked {
			level := report.LevelWarning
			if s.Status == string(source.Invalid) {
				level = report.LevelError
			}
			c.Findings = append(c.Findings, report.Finding{Rule: "SOURCE_" + strings.ToUpper(s.Status), Level: level, Message: s.URL + ": " + s.Reason, Line: s.Line})
		}
		out.AddCase(c)
	}
	whole := report.Case{Name: "report", File: file, Status: report.PassIf(r.Pass)}
	for _, f := range r.Findings {
		whole.Findings = append(whole.Findings, report.Finding{Rule: f.Code, Level: levels[f.Level], Message: f.Text, Line: f.Line})
	}
	out.AddCase(whole)
}
