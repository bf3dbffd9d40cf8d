package library

import (
	"fmt"
	"strings"

	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/internal/rule/drift"
)

// shades say how states are shown.
var shades = map[drift.State]report.Status{drift.Stands: report.Pass, drift.Changed: report.Fail, drift.Gone: report.Fail, drift.Walled: report.Fail,
	drift.Unreachable: report.Warn, drift.Unchecked: report.None}

// levels are those of findings by state.
var levels = map[drift.State]report.Level{drift.Unreachable: report.LevelWarning, drift.Unchecked: report.LevelNote}

// Report shows what no longer stands, with both passages, and the sources.
func (u Updated) Report() report.Report {
	s := u.Summary
	r := report.Report{Name: "run_update", Title: "Does it still stand: " + u.Of.Title, Status: report.PassIf(u.Pass)}
	var parts []string
	stand, cite := "stand", " that cite: "
	if s.Stands == 1 {
		stand = "stands"
	}
	if s.Sentences == 1 {
		cite = " that cites: "
	}
	for _, p := range []struct {
		n    int
		what string
	}{{s.Stands, stand}, {s.Changed, "changed"}, {s.Gone, "gone"}, {s.Walled, "behind a wall now"}, {s.Unreachable, "not reachable"}, {s.Unchecked, "without a text to compare"}} {
		if p.n > 0 {
			parts = append(parts, fmt.Sprint(p.n)+" "+p.what)
		}
	}
	r.Summary = report.Counted(s.Sentences, "sentence") + cite + strings.Join(parts, ", ")
	for i := range u.Sentences {
		sentence := &u.Sentences[i]
		c := report.Case{Name: fmt.Sprintf("%s line %d", sentence.ID, sentence.Line), Status: shades[sentence.State]}
		if sentence.State != drift.Stands {
			message := sentence.Text
			r.Add(report.Heading(fmt.Sprintf("Line %d: %s", sentence.Line, sentence.State)), report.Paragraph(sentence.Text), sentence.fields(u.urls()))
			for _, on := range sentence.Pages {
				message += "\n" + on.Why
			}
			c.Findings = append(c.Findings, report.Finding{Rule: "sentence-" + string(sentence.State), Level: levels[sentence.State], Message: message, Line: sentence.Line})
		}
		r.AddCase(c)
	}
	table := report.NewTable("Source", "Page", "Text", ">Cited", "Why")
	for _, source := range u.Sources {
		why := source.Why
		if source.Compared != "" {
			why = strings.TrimPrefix(why+"; compared: "+source.Compared, "; ")
		}
		if source.MovedTo != "" {
			why = strings.TrimPrefix(why+"; moved to "+source.MovedTo, "; ")
		}
		table.Row(shades[source.State], source.URL, string(source.State), source.Text, source.Cited, why)
	}
	r.Add(report.Heading("Sources"), table, report.Fields{{Name: "kept in", Value: u.UpdatePath}})
	return r
}

// urls are the URLs of the sources by id.
func (u Updated) urls() map[string]string {
	urls := map[string]string{}
	for _, s := range u.Sources {
		urls[s.CID] = s.URL
	}
	return urls
}

// fields show on which page a sentence no longer stands, and how the passages differ.
func (s *UpdatedSentence) fields(urls map[string]string) report.Fields {
	var fields report.Fields
	for _, on := range s.Pages {
		if on.State == drift.Stands {
			continue
		}
		fields = append(fields, report.Field{Name: string(on.State), Value: urls[on.CID] + ": " + on.Why})
		for _, p := range on.Passages {
			if p.Now == "" {
				fields = append(fields, report.Field{Name: "was", Value: p.Then})
			} else {
				fields = append(fields, report.Field{Name: "difference", Value: drift.Marked(p.Difference)})
			}
		}
	}
	return fields
}
