package web

import (
	"cmp"
	"net"
	"net/url"
	"strings"

	"github.com/tidegate/tidegate/internal/rule/source"
	"github.com/tidegate/tidegate/internal/work/run"
)

type sourcesView struct {
	cut
	Statuses tallies
	Matrix   matrix
	Sources  []sourceRow
}

type sourceRow struct {
	source.Record
	State state
	Link  string // "" where the address cannot be followed
	Why   string // "" where nothing is wrong with it
	By    []string
}

// sourcesPage lists what the outputs cite, and how it was judged.
func (l *visit) sourcesPage(query url.Values) (*page, error) {
	var found []source.Record
	for _, r := range l.records {
		if s := query.Get("state"); s != "" && s != string(r.Status) {
			continue
		}
		if matches(query.Get("q"), r.NormalizedURL, r.Title, r.Publisher, r.Notes, r.CID) {
			found = append(found, r)
		}
	}
	view := sourcesView{cut: cutAt(query, len(found), l.size, l.link("sources", l.id)), Statuses: l.sourceTally()}
	titles := map[string]string{}
	for _, c := range l.perspectives() {
		titles[c.ID] = c.Title
	}
	for _, r := range piece(view.cut, found) {
		row := sourceRow{Record: r, State: sourceState(string(r.Status)), Link: webAddress(r.URLOriginal)}
		if r.Notes != "ok" {
			row.Why = r.Notes
		}
		for _, by := range r.FoundBy {
			row.By = append(row.By, short(80, cmp.Or(titles[by.Perspective], by.Perspective)))
		}
		view.Sources = append(view.Sources, row)
	}
	view.Matrix = l.matrix(piece(view.cut, found))
	return l.page("sources", "Sources", view), nil
}

// webAddress is an address that a reader may follow, or "".
func webAddress(raw string) string {
	u, err := url.Parse(raw)
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") || strings.HasSuffix(u.Host, ".invalid") || onThisMachine(u.Hostname()) {
		return ""
	}
	return raw
}

// onThisMachine reports whether a browser takes a host for the machine that it runs on: such
// a server would be sent our cookie, whatever its port. Browsers read a last label that
// begins with a digit as a part of an address, in many spellings.
func onThisMachine(host string) bool {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if ip := net.ParseIP(host); ip != nil {
		return ip.IsLoopback() || ip.IsUnspecified()
	}
	last := host[strings.LastIndexByte(host, '.')+1:]
	return last == "localhost" || last == "" || '0' <= last[0] && last[0] <= '9'
}

// matrix shows which perspectives cite which sources, and how many sentences of the report
// rest on each.
type matrix struct {
	Columns []matrixColumn
	Rows    []matrixRow
}

type matrixColumn struct{ ID, Title string }

type matrixRow struct {
	CID, Title string
	State      state
	Cites      []bool // by column
	Sentences  int
}

// maxColumns is how many perspectives a matrix has: more are no picture.
const maxColumns = 24

// perspectives are those that are researched.
func (l *visit) perspectives() []matrixColumn {
	var out []matrixColumn
	for _, j := range l.board.Jobs() {
		if id, ok := strings.CutPrefix(j.ID, j.Kind+"."); ok && (j.Kind == string(run.Wave1) || j.Kind == string(run.Wave2)) {
			out = append(out, matrixColumn{id, j.Title})
		}
	}
	return out
}

// matrix is that of some sources; it has no columns where there is nothing to compare.
func (l *visit) matrix(records []source.Record) matrix {
	out := matrix{Columns: l.perspectives()}
	column := map[string]int{}
	for i, c := range out.Columns {
		column[c.ID] = i
	}
	if len(out.Columns) < 2 || len(out.Columns) > maxColumns || len(records) < 2 {
		return matrix{}
	}
	rests := map[string]int{}
	if reported, err := l.readReport(l.ctx, l.site.Version); err == nil { // else its page says what is wrong
		for _, part := range reported.Report.Parts {
			for i := range part.Sentences {
				seen := map[string]bool{}
				for _, w := range part.Sentences[i].Windows {
					if !seen[w.CID] {
						seen[w.CID] = true
						rests[w.CID]++
					}
				}
			}
		}
	}
	for i := range records {
		r := &records[i]
		row := matrixRow{CID: r.CID, Title: cmp.Or(r.Title, r.NormalizedURL), State: sourceState(string(r.Status)), Cites: make([]bool, len(out.Columns)), Sentences: rests[r.CID]}
		for _, by := range r.FoundBy {
			if at, ok := column[by.Perspective]; ok {
				row.Cites[at] = true
			}
		}
		out.Rows = append(out.Rows, row)
	}
	return out
}
