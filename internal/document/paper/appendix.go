package paper

import (
	"strconv"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/rule/synthesis"
)

// section is a part of what stands behind the references. Each format writes the same
// sections.
type section struct {
	ID, Title string
	Entries   []entry
	marked    bool // pages mark in the text what it lists
}

// entry is a paragraph, a list or a table under a title, which may be empty.
type entry struct {
	Title, Text string
	Items       []item
	Table       *table
}

type item struct{ Lead, Text string } // the lead stands out

// plain is an item as formats have it that let nothing stand out.
func (i item) plain() string { return strings.TrimSpace(i.Lead + " " + i.Text) }

type table struct {
	Columns []column
	Rows    [][]cell
}

type column struct {
	Name  string
	Right bool // it holds numbers
}

// cell is a text and, after it, what people and judges say of it.
type cell struct{ Text, Class, Quote, Aside string }

// plain is a cell as formats have it that know no classes.
func (c cell) plain() string {
	for _, more := range []string{c.Quote, c.Aside} {
		if more != "" {
			c.Text += ": " + more
		}
	}
	return c.Text
}

// table is a table with these columns; a name that begins with > is that of numbers.
func (r *Report) table(names ...string) *table {
	t := &table{}
	for _, name := range names {
		name, right := strings.CutPrefix(name, ">")
		t.Columns = append(t.Columns, column{r.say(name), right})
	}
	return t
}

func (t *table) row(texts ...string) {
	cells := make([]cell, len(texts))
	for i, text := range texts {
		cells[i].Text = shownText(text)
	}
	t.Rows = append(t.Rows, cells)
}

// items are texts as a list.
func items(texts []string) []item {
	out := make([]item, len(texts))
	for i, text := range texts {
		out[i].Text = shownText(text)
	}
	return out
}

// appendix is what a reader finds behind the references: what is not on the cited pages,
// what changed since an earlier report, what people decided, and how the report was made.
func (l *layout) appendix() []section {
	if l.Audit != nil {
		if len(l.Audit.Findings) == 0 {
			return nil
		}
		return []section{{ID: "whole", Title: "The report as a whole", Entries: []entry{{Items: items(l.Audit.Findings)}}}}
	}
	all := []section{
		{ID: "missing", Title: l.say("Not found on the cited pages"), Entries: l.ungrounded(), marked: true},
		{ID: "since", Title: l.say(synthesis.SinceTitle), Entries: l.since()},
		{ID: "decisions", Title: l.say("Decisions by people"), Entries: []entry{{Items: items(l.Decisions)}}},
		{ID: "making", Title: l.say("How this report was made"), Entries: l.making()},
	}
	var out []section
	for _, s := range all {
		var entries []entry
		for _, e := range s.Entries {
			if e.Text != "" || len(e.Items) > 0 || e.Table != nil && len(e.Table.Rows) > 0 {
				entries = append(entries, e)
			}
		}
		if s.Entries = entries; len(entries) > 0 || s.ID == "making" {
			out = append(out, s)
		}
	}
	return out
}

// ungrounded is what the cited pages do not have.
func (l *layout) ungrounded() []entry {
	var list []item
	for _, part := range l.parts {
		for _, p := range part.doc.Passages {
			for _, text := range notFound(part.claims[p]) {
				list = append(list, item{Text: l.say("“%s” in “%s”", tidegate.Cut(shownText(text)), beginningOf(p))})
			}
		}
	}
	return []entry{{Items: list}}
}

// since is what became of the sentences of the earlier report, those that stood there
// first.
func (l *layout) since() []entry {
	s := l.Since
	if s == nil {
		return nil
	}
	var changed []string
	for _, c := range s.Changed {
		changed = append(changed, c.Was+" → "+c.Is)
	}
	return []entry{
		{Text: l.say("Sentences that are the same as in the report of run %s: %d", shownText(s.RunID), s.Kept)},
		{Title: l.say("Dropped"), Items: items(s.Dropped)}, {Title: l.say("Changed"), Items: items(changed)}, {Title: l.say("Added"), Items: items(s.Added)},
	}
}

// making is how the report was made.
func (l *layout) making() []entry {
	gates := l.table("Gate", "Judges", "Result")
	for _, g := range l.Gates {
		gates.row(g.ID, l.say(g.Name), "")
		result := &gates.Rows[len(gates.Rows)-1][2]
		result.Text, result.Class = l.gateWord(g)
		result.Quote = shownText(g.Accepted)
		if l.english() { // notes are the judge's words
			result.Aside = shownText(g.Notes)
		}
	}
	contracts := l.table("Perspective", ">Wave", ">Words", ">Sources", "Sections")
	for _, c := range l.Contracts {
		contracts.row(c.Title, strconv.Itoa(c.Wave), l.amount(c.Words, c.MaxWords), l.amount(c.Sources, c.MaxSources), strings.Join(c.Sections, ", "))
	}
	agents := l.table("Role", "Agent", "Model", ">Accepted answers")
	for _, a := range l.Agents {
		model := shownText(a.Model)
		if model == "" {
			model = l.say("not reported")
		}
		agents.row(l.say(a.Role), a.Driver+" "+a.Version, model, strconv.Itoa(a.Answers))
	}
	out := []entry{
		{Title: l.say("Gates"), Table: gates}, {Title: l.say("Contracts of the outputs"), Table: contracts}, {Title: l.say("Agents and models"), Table: agents},
	}
	for _, text := range l.Confined {
		out = append(out, entry{Text: shownText(text)})
	}
	out = append(out, entry{Title: l.say("Which sources were allowed"), Items: items(l.Allowed)})
	if l.Cost.Known() {
		out = append(out, entry{Title: l.say("Cost of the accepted answers"), Text: l.spent() + "."})
	}
	var open []item
	for _, g := range l.LeftOut {
		open = append(open, item{shownText(g.Priority), shownText(g.Text)})
	}
	return append(out, entry{Title: l.say("Questions that were left open"), Items: open})
}

func (r *Report) gateWord(g GateLine) (word, class string) {
	switch {
	case g.Accepted != "":
		return r.say("accepted by a person"), "fair"
	case g.Status == synthesis.GatePass:
		return r.say("passed"), "good"
	case g.Status == synthesis.GateFail:
		return r.say("failed"), "bad"
	}
	return r.say("not run"), ""
}

func (r *Report) amount(has, most int) string {
	return r.say("%s of %s", r.thousands(int64(has)), r.thousands(int64(most)))
}
