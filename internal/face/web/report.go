package web

import (
	"cmp"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tidegate/tidegate/internal/rule/claim"
	"github.com/tidegate/tidegate/internal/rule/evidence"
	"github.com/tidegate/tidegate/internal/rule/synthesis"
)

// reportView is the report with each of its sentences beside the passages that it was
// held against.
type reportView struct {
	cut
	Stands  state // how far it can be trusted
	Why     string
	Partial string
	Trust   string
	Checked bool // its sentences were; else its quotations and numbers
	Empty   bool
	Reading []readingBlock // the whole text, nil where it is not checked, or part of it is asked for
	Opened  string         // the archived page that is shown first
	Chosen  string         // the sentence that the address names, "" for none
	Claims  []claimRow
	Counts  tallies
	Strip   []stripPart // every sentence, in the order of the text
}

type claimRow struct {
	ID      string // of the sentence, "" for a claim of an older run
	Link    string // to this sentence, "" where there is none
	Line    int
	State   state
	Verdict string
	Text    string
	Form    string
	Why     string
	Said    string // by the second reader, and who it is
	Because string
	Formula string
	Hint    bool // nearly the words of the page
	Found   []passageRow
}

// passageRow is a piece of a source in which what was looked for is marked, or what
// is not on the pages of the claim.
type passageRow struct {
	Missing      string
	Source, Link string
	Cut          bool // the page has more before it
	Parts        []passagePart
}

// passagePart is a run of words of a passage.
type passagePart struct {
	Text   string
	Marked bool
}

// beside is how much of a page is shown on either side of a match.
const beside = 200

func (l *visit) reportPage(query url.Values) (*page, error) {
	reported, err := l.readReport(l.ctx, l.site.Version)
	if err != nil {
		return nil, err
	}
	r := reported.Report
	view := reportView{Counts: tallies{Link: l.filtering("report")}, Partial: r.Partial, Trust: r.Trust, Empty: len(r.Parts) == 0}
	decided, err := l.run.Decisions()
	if err != nil {
		return nil, err
	}
	view.Stands, view.Why = l.trust(decided)
	sources := map[string]synthesis.Source{}
	for _, s := range r.Sources {
		sources[s.CID] = s
	}
	if len(r.Parts) == 1 && r.Parts[0].Sentences != nil {
		if !l.files && query.Get("q")+query.Get("state")+query.Get("page") == "" {
			view.Reading = l.reading(&r.Parts[0])
			view.Opened, view.Chosen = openedLink(view.Reading, query.Get("s"))
		}
		view.sentences(query, r.Parts[0].Sentences, sources)
		for i := range view.Claims {
			c := &view.Claims[i]
			if c.Link = "?s=" + c.ID + "#" + c.ID; l.files {
				c.Link = "#l-" + c.ID
			}
		}
		view.finish(l, query)
		return l.page("report", "Report", view), nil
	}
	counts := map[claim.Verdict]int{}
	var rows []claimRow
	for _, part := range r.Parts {
		lines := strings.Split(string(part.Text), "\n")
		for _, c := range part.Claims {
			counts[c.Verdict]++
			row := claimRow{Line: c.Line, State: verdictState(c.Verdict), Verdict: string(c.Verdict), Text: passage(lines, c.Line)}
			row.Found = passages(slices.Concat(c.Quotations, c.Numbers), sources)
			if s := query.Get("state"); s != "" && s != row.Verdict || !matches(query.Get("q"), row.Text) {
				continue
			}
			rows = append(rows, row)
		}
	}
	for _, v := range verdicts {
		if counts[v] > 0 {
			view.Counts.Counts = append(view.Counts.Counts, tally{verdictState(v), counts[v], string(v)})
		}
	}
	view.Claims = rows
	view.finish(l, query)
	return l.page("report", "Report", view), nil
}

// finish keeps the piece of the rows that is asked for.
func (v *reportView) finish(l *visit, query url.Values) {
	v.cut = cutAt(query, len(v.Claims), l.size, l.link("report", l.run.ID()))
	v.Claims = piece(v.cut, v.Claims)
}

// The groups under which sentences are counted, each under one.
var groups = []string{"stands", "inferred", "frame", "accepted", "not confirmed"}

func groupOf(s *synthesis.ShownSentence) string {
	switch {
	case s.Accepted != nil:
		return "accepted"
	case s.Doubted:
		return "not confirmed"
	case s.Form == evidence.Inferred || s.Form == evidence.Frame:
		return string(s.Form)
	}
	return "stands"
}

func groupState(group, words string) state {
	switch group {
	case "stands", "inferred":
		return good(words)
	case "accepted":
		return person(words)
	case "not confirmed":
		return bad(words)
	}
	return waiting(words)
}

// sentences lists every sentence, and counts all of them.
func (v *reportView) sentences(query url.Values, all []synthesis.ShownSentence, sources map[string]synthesis.Source) {
	v.Checked, v.Strip = true, stripOf(all)
	counts := map[string]int{}
	for i := range all {
		s := &all[i]
		group := groupOf(s)
		counts[group]++
		if asked := query.Get("state"); asked != "" && asked != group || !matches(query.Get("q"), s.Text) {
			continue
		}
		row := claimRow{ID: s.ID, Line: s.Line, State: groupState(group, s.Words), Verdict: group, Text: short(maxLine, s.Text), Form: string(s.Form), Why: s.Why, Hint: s.NearlyQuoted()}
		if s.Verdict != nil {
			row.Said, row.Because = s.Verdict.Verdict, s.Verdict.Because
			if s.Reader != "" {
				row.Said += ", by " + s.Reader
			}
		}
		if s.Calculation != nil {
			row.Formula = s.Calculation.Text
		}
		for _, w := range s.Windows {
			row.Found = append(row.Found, windowRow(s, w, sources[w.CID]))
		}
		v.Claims = append(v.Claims, row)
	}
	for _, group := range groups {
		if counts[group] > 0 {
			v.Counts.Counts = append(v.Counts.Counts, tally{groupState(group, group), counts[group], group})
		}
	}
}

// windowRow is a passage that a sentence was held against, with the words that count.
func windowRow(s *synthesis.ShownSentence, w evidence.Window, of synthesis.Source) passageRow {
	row := passageRow{Source: cmp.Or(w.Title, of.Title, of.URL, "about this run"), Link: webAddress(of.URL), Cut: w.Start > 0}
	from, to := s.WordsIn(w)
	for _, part := range []passagePart{{w.Text[:from], false}, {w.Text[from:to], true}, {w.Text[to:], false}} {
		if part.Text != "" {
			part.Text = spaced(part.Text)
			row.Parts = append(row.Parts, part)
		}
	}
	return row
}

var verdicts = []claim.Verdict{claim.Grounded, claim.Partly, claim.Ungrounded, claim.Unchecked}

func verdictState(v claim.Verdict) state {
	switch v {
	case claim.Grounded:
		return good("grounded")
	case claim.Partly:
		return waiting("partly grounded")
	case claim.Ungrounded:
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
	return short(maxLine, strings.TrimPrefix(shortCitations(strings.Join(text, " ")), "- "))
}

// shortCitations shortens the ids of sources to marks.
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

// passages are the pieces of the sources in which something was found, each once
// with everything that was found in it, and what was not found.
func passages(matches []claim.Match, sources map[string]synthesis.Source) []passageRow {
	var out []passageRow
	found := map[string][][2]int{} // by source
	var cids []string
	for _, m := range matches {
		s, ok := sources[m.CID]
		switch {
		case !m.Found || !ok:
			out = append(out, passageRow{Missing: m.Text})
		case m.Start < 0 || m.End > len(s.Text) || m.Start >= m.End:
			out = append(out, newPassage(s, "", nil, 0, 0))
		default:
			if found[m.CID] == nil {
				cids = append(cids, m.CID)
			}
			found[m.CID] = append(found[m.CID], [2]int{m.Start, m.End})
		}
	}
	for _, cid := range cids {
		s, places := sources[cid], found[cid]
		slices.SortFunc(places, func(a, b [2]int) int { return cmp.Or(a[0]-b[0], b[1]-a[1]) })
		for len(places) > 0 {
			n, end := 1, places[0][1]
			for n < len(places) && places[n][0] <= end+beside {
				end = max(end, places[n][1])
				n++
			}
			out = append(out, newPassage(s, s.Text, places[:n], wordBefore(s.Text, places[0][0]-beside), wordAfter(s.Text, end+beside)))
			places = places[n:]
		}
	}
	return out
}

// newPassage is a piece of the text of a source with marks at those places.
func newPassage(s synthesis.Source, text string, places [][2]int, from, to int) passageRow {
	row := passageRow{Source: cmp.Or(s.Title, s.URL), Link: webAddress(s.URL), Cut: from > 0}
	at := from
	add := func(end int, marked bool) {
		if end > at {
			row.Parts = append(row.Parts, passagePart{spaced(text[at:end]), marked})
			at = end
		}
	}
	for _, place := range places {
		add(place[0], false)
		add(place[1], true)
	}
	add(to, false)
	return row
}

// spaced is a text on one line, with a blank at each end that had white space.
func spaced(text string) string {
	out := short(maxLine, text)
	if trimmed := strings.TrimLeft(text, " \t\r\n"); trimmed != text {
		out = " " + out
	}
	if trimmed := strings.TrimRight(text, " \t\r\n"); trimmed != text {
		out += " "
	}
	return out
}

// wordBefore is where the word at a byte of a text begins, and wordAfter where it
// ends; in a text without whitespace it is a place nearby.
func wordBefore(text string, at int) int {
	at = max(0, min(at, len(text)))
	for near := at; near > 0 && near > at-40; near-- {
		if text[near-1] == ' ' || text[near-1] == '\n' {
			return near
		}
	}
	return runeAt(text, at)
}

func wordAfter(text string, at int) int {
	at = max(0, min(at, len(text)))
	for near := at; near < len(text) && near < at+40; near++ {
		if text[near] == ' ' || text[near] == '\n' {
			return near
		}
	}
	return runeAt(text, at)
}

// runeAt is the place of the rune that a byte of a text belongs to.
func runeAt(text string, at int) int {
	for at > 0 && at < len(text) && !utf8.RuneStart(text[at]) {
		at--
	}
	return at
}
