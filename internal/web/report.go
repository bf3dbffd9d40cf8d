package web

import (
	"net/url"
	"strings"

	"github.com/tidegate/tidegate/citation"
	"github.com/tidegate/tidegate/report"
	"github.com/tidegate/tidegate/synthesis"
)

// reportView is the report with each of its claims beside the passage of its
// source.
type reportView struct {
	cut
	Partial string
	Empty   bool
	Claims  []claimRow
	Counts  []meter
	Filters []string
}

type claimRow struct {
	Line    int
	State   state
	Verdict string
	Text    string
	Matches []matchRow
}

// matchRow is a quotation or number of a claim and where it stands.
type matchRow struct {
	Text                string
	Found               bool
	Source, Link        string
	Before, Mark, After string
}

// beside is how much of a page stands on either side of a match.
const beside = 200

func (l *looked) reportPage(query url.Values) (*page, error) {
	reported, err := l.readReport(l.ctx, l.site.Version)
	if err != nil {
		return nil, err
	}
	r := reported.Report
	view := reportView{Partial: r.Partial, Empty: len(r.Parts) == 0}
	sources := map[string]synthesis.Source{}
	for _, s := range r.Sources {
		sources[s.CID] = s
	}
	counts := map[citation.Verdict]int{}
	var rows []claimRow
	for _, part := range r.Parts {
		lines := strings.Split(string(part.Text), "\n")
		for _, c := range part.Claims {
			counts[c.Verdict]++
			row := claimRow{Line: c.Line, State: verdictState(c.Verdict), Verdict: string(c.Verdict), Text: passage(lines, c.Line)}
			for _, m := range append(append([]citation.Match{}, c.Quotations...), c.Numbers...) {
				row.Matches = append(row.Matches, l.match(m, sources))
			}
			if s := query.Get("state"); s != "" && s != row.Verdict || !matches(query.Get("q"), row.Text) {
				continue
			}
			rows = append(rows, row)
		}
	}
	all := 0
	for _, v := range verdicts {
		all += counts[v]
		view.Filters = append(view.Filters, string(v))
	}
	for _, v := range verdicts {
		m := counted(counts[v], all, "claims "+string(v))
		m.Name, m.State = string(v), verdictState(v)
		view.Counts = append(view.Counts, m)
	}
	view.cut = cutAt(query, len(rows), l.size, l.link("report", l.run.ID()))
	view.Claims = piece(view.cut, rows)
	return l.page("report", "Report", view), nil
}

var verdicts = []citation.Verdict{citation.Grounded, citation.Partly, citation.Ungrounded, citation.Unchecked}

func verdictState(v citation.Verdict) state {
	switch v {
	case citation.Grounded:
		return good("grounded")
	case citation.Partly:
		return person("partly grounded")
	case citation.Ungrounded:
		return bad("ungrounded")
	}
	return waiting("not checked")
}

// passage is the paragraph or list item that begins on a line.
func passage(lines []string, from int) string {
	var text []string
	for i := from - 1; i >= 0 && i < len(lines) && len(text) < 30; i++ {
		trimmed := strings.TrimSpace(lines[i])
		if trimmed == "" || i >= from && (strings.HasPrefix(trimmed, "- ") || strings.HasPrefix(trimmed, "#")) {
			break
		}
		text = append(text, trimmed)
	}
	return short(maxLine, shortCitations(strings.Join(text, " ")))
}

// shortCitations shows the ids of sources as what they are: marks.
func shortCitations(text string) string {
	var b strings.Builder
	for {
		i := strings.Index(text, "[@")
		if i < 0 {
			break
		}
		j := strings.IndexByte(text[i:], ']')
		if j < 0 {
			break
		}
		id := text[i+2 : i+j]
		b.WriteString(text[:i])
		b.WriteString("[" + id[:min(len(id), 12)] + "]")
		text = text[i+j+1:]
	}
	return b.String() + text
}

func (l *looked) match(m citation.Match, sources map[string]synthesis.Source) matchRow {
	row := matchRow{Text: report.Visible(m.Text), Found: m.Found}
	s, ok := sources[m.CID]
	if !ok || !m.Found {
		return row
	}
	row.Source = report.Visible(s.Title)
	if row.Source == "" {
		row.Source = report.Visible(s.URL)
	}
	row.Link = webAddress(s.URL)
	if text := s.Text; m.Start >= 0 && m.End <= len(text) && m.Start < m.End {
		row.Before = short(beside+1, text[wordAt(text, m.Start-beside):m.Start])
		row.Mark = short(maxLine, text[m.Start:m.End])
		row.After = short(beside+1, text[m.End:wordAt(text, m.End+beside)])
	}
	return row
}

// wordAt is the place of a rune near a byte of a text.
func wordAt(text string, at int) int {
	at = max(0, min(at, len(text)))
	for at > 0 && at < len(text) && text[at]&0xC0 == 0x80 {
		at--
	}
	return at
}
