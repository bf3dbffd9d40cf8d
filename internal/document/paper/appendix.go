package paper

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/tidegate/tidegate/internal/rule/evidence"
	"github.com/tidegate/tidegate/internal/rule/synthesis"
	"github.com/tidegate/tidegate/internal/text/draft"
	"github.com/tidegate/tidegate/internal/text/markdown"
)

// section is a part of what stands behind the references. It is a document as those of the
// report are, in whose texts nothing is a mark, so that each format draws it as it draws them.
type section struct {
	ID, Title string
	text      strings.Builder
}

// part is the section as a part of a report.
func (s *section) part() *layoutPart {
	return &layoutPart{own: true, doc: draft.Read(markdown.Read([]byte(s.text.String())))}
}

func (s *section) heading(title string) { s.text.WriteString("\n\n### " + mdText(title)) }

func (s *section) paragraph(text string) { s.text.WriteString("\n\n" + mdText(shownText(text))) }

// list writes texts as a list under a heading, which may be empty.
func (s *section) list(title string, texts []string) {
	if len(texts) > 0 && title != "" {
		s.heading(title)
	}
	s.text.WriteString("\n\n")
	for _, text := range texts {
		s.text.WriteString("- " + mdText(shownText(text)) + "\n")
	}
}

// table writes rows under a heading and the names of their columns; a name that begins with >
// is that of numbers.
func (s *section) table(title string, names []string, rows [][]string) {
	if len(rows) == 0 {
		return
	}
	s.heading(title)
	line := "\n|"
	for i, name := range names {
		name, right := strings.CutPrefix(name, ">")
		names[i] = name
		line += map[bool]string{false: " --- |", true: " --: |"}[right]
	}
	s.row(names)
	s.text.WriteString(line)
	for _, row := range rows {
		s.row(row)
	}
}

func (s *section) row(cells []string) {
	s.text.WriteString("\n|")
	for _, cell := range cells {
		s.text.WriteString(" " + mdText(shownText(cell)) + " |")
	}
}

// appendix is what a reader finds behind the references:
// what changed since an earlier report, what people decided, and how the report was made.
func (l *layout) appendix() (out []*section) {
	add := func(id, title string, write func(*section)) {
		s := &section{ID: id, Title: title}
		if write(s); strings.TrimSpace(s.text.String()) != "" {
			out = append(out, s)
		}
	}
	if l.Audit != nil {
		add("whole", "The report as a whole", func(s *section) { s.list("", l.Audit.Findings) })
		return out
	}
	add("open", l.say("Questions that were left open"), l.open)
	add("since", l.say(synthesis.SinceTitle), l.since)
	add("decisions", l.say("Decisions by people"), func(s *section) { s.list("", l.Decisions) })
	add("making", l.say("How this report was made"), l.making)
	return out
}

// since is what became of the sentences of the earlier report, those that stood there
// first.
func (l *layout) since(s *section) {
	if l.Since == nil {
		return
	}
	var changed []string
	for _, c := range l.Since.Changed {
		changed = append(changed, c.Was+" → "+c.Is)
	}
	s.paragraph(l.say("Sentences that are the same as in the report of run %s: %d", shownText(l.Since.RunID), l.Since.Kept))
	s.list(l.say("Dropped"), l.Since.Dropped)
	s.list(l.say("Changed"), changed)
	s.list(l.say("Added"), l.Since.Added)
}

// making is how the report was made.
func (l *layout) making(s *section) {
	var gates, contracts, agents [][]string
	for _, g := range l.Gates {
		result := []string{l.gateWord(g)}
		if g.Accepted != "" {
			result = append(result, g.Accepted)
		}
		if l.english() && g.Notes != "" { // notes are the judge's words
			result = append(result, g.Notes)
		}
		gates = append(gates, []string{g.ID, l.say(g.Name), strings.Join(result, ": ")})
	}
	for _, c := range l.Contracts {
		contracts = append(contracts, []string{c.Title, strconv.Itoa(c.Wave), l.amount(c.Words, c.MaxWords), l.amount(c.Sources, c.MaxSources), strings.Join(c.Sections, ", ")})
	}
	for _, a := range l.Agents {
		agents = append(agents, []string{l.say(a.Role), a.Driver + " " + a.Version, cmp.Or(shownText(a.Model), l.say("not reported")), strconv.Itoa(a.Answers)})
	}
	s.table(l.say("Gates"), l.names("Gate", "Judges", "Result"), gates)
	s.table(l.say("Contracts of the outputs"), l.names("Perspective", ">Wave", ">Words", ">Sources", "Sections"), contracts)
	s.table(l.say("Agents and models"), l.names("Role", "Agent", "Model", ">Accepted answers"), agents)
	for _, text := range l.Confined {
		s.paragraph(text)
	}
	s.list(l.say("Which sources were allowed"), l.Allowed)
	if l.Cost.Known() {
		s.heading(l.say("Cost of the accepted answers"))
		s.paragraph(l.spent() + ".")
	}
}

// open are the questions that nobody closed, and what the pages do not have by the report's
// own words.
func (l *layout) open(s *section) {
	var list []string
	for _, g := range l.LeftOut {
		list = append(list, g.Priority+" "+g.Text)
	}
	for _, part := range l.Parts {
		for i := range part.Sentences {
			if part.Sentences[i].Form == evidence.Absent {
				list = append(list, part.Sentences[i].Text)
			}
		}
	}
	s.list("", list)
}

// names are those of columns in the language of the report.
func (r *Report) names(names ...string) []string {
	for i, name := range names {
		name, right := strings.CutPrefix(name, ">")
		names[i] = map[bool]string{true: ">"}[right] + r.say(name)
	}
	return names
}

func (r *Report) gateWord(g GateLine) string {
	switch {
	case g.Accepted != "":
		return r.say("accepted by a person")
	case g.Status == synthesis.GatePass:
		return r.say("passed")
	case g.Status == synthesis.GateFail:
		return r.say("failed")
	}
	return r.say("not run")
}

func (r *Report) amount(has, most int) string {
	return r.say("%s of %s", r.thousands(int64(has)), r.thousands(int64(most)))
}
