package foreign

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/internal/rule/claim"
	"github.com/tidegate/tidegate/internal/rule/evidence"
	"github.com/tidegate/tidegate/internal/rule/source"
	"github.com/tidegate/tidegate/internal/text/figure"
	"github.com/tidegate/tidegate/internal/text/link"
	"github.com/tidegate/tidegate/internal/text/markdown"
	"github.com/tidegate/tidegate/internal/text/quotation"
)

// Options say what a report is judged for.
type Options struct {
	NoFetch bool     `json:"no_fetch"` // no page is looked at: only the form of the report is judged
	FailOn  []string `json:"fail_on"`  // kinds that make the report fail

	Verifier string `json:"verifier,omitzero"` // the agent that reads the sentences, too
}

// The kinds that can make a report fail.
const (
	FailMissing   = "missing"
	FailWeak      = "weak"
	FailDead      = "dead"
	FailUncited   = "uncited"
	FailUnchecked = "unchecked"
	FailUnread    = "unread"
)

// Kinds are the kinds that can make a report fail.
var Kinds = []string{FailMissing, FailWeak, FailDead, FailUncited, FailUnchecked, FailUnread}

// Sources are the sources of a report, as runs have them. Each URL that an entry or a
// citation names belongs to one. The title is that of the list: what a link shows in a
// sentence says something else.
func (d *Document) Sources() []source.Source {
	var found []source.Found
	seen := map[string]bool{}
	add := func(url, title string, line int) {
		url = PageURL(url)
		if key := url + "\x00" + title; !seen[key] {
			seen[key] = true
			found = append(found, source.Found{Cited: source.Cited{URL: url, Title: title, Number: line}})
		}
	}
	for i := range d.Entries {
		e := &d.Entries[i]
		for _, url := range e.URLs {
			title := e.Title
			if len(e.URLs) > 1 {
				title = "" // which of them it names is not known
			}
			add(url, title, e.Line)
		}
	}
	for i := range d.Citations {
		for _, url := range d.Citations[i].URLs {
			add(url, "", d.Citations[i].Line)
		}
	}
	return source.Sources(found)
}

// PageURL is the URL of a page, whatever part of it a link leads to.
func PageURL(url string) string {
	if at := strings.IndexByte(url, '#'); at >= 0 && !strings.HasPrefix(url[at:], "#!") {
		return url[:at]
	}
	return url
}

// judging is a report with what is known of its sources.
type judging struct {
	*Document
	options Options
	sources []source.Source
	records []source.Record
	of      map[string]int // URL of a page → source
	cids    map[string]int
	held    map[int]claim.Judgement // by sentence
	out     *Result
}

// Judge judges a report by what the archive has of each URL, and of the registries'
// answers. The same evidence gives the same result. It returns the errors of evidence
// and of ctx.
func Judge(ctx context.Context, name string, body []byte, d *Document, options Options, evidence source.Evidence) (*Result, error) {
	j := &judging{Document: d, options: options, sources: d.Sources(), of: map[string]int{}, cids: map[string]int{}, held: map[int]claim.Judgement{}}
	if options.NoFetch {
		evidence = source.Evidence{Page: func(context.Context, string) (*source.Page, error) { return nil, nil }}
	}
	for i := range j.sources {
		j.cids[j.sources[i].CID] = i
		for _, url := range j.sources[i].URLs {
			j.of[url] = i
		}
	}
	var err error
	if j.records, err = source.Judge(ctx, j.sources, evidence); err != nil {
		return nil, err
	}
	styles := []string{}
	for _, s := range d.Styles {
		styles = append(styles, string(s))
	}
	j.out = &Result{
		Audited:   About{Name: link.Mask(name), Format: d.Format, Styles: styles, Language: d.Language, Digest: codec.DigestBytes(body), Bytes: len(body)},
		Citations: []Citation{}, Sentences: []Judged{}, Sources: []Source{}, Findings: []Finding{}, document: d,
	}
	if err := j.judgeSentences(ctx, evidence.Page); err != nil {
		return nil, err
	}
	for i := range d.Citations {
		c := d.Citations[i]
		c.Text, c.URLs = link.Mask(c.Text), masked(c.URLs)
		j.out.Citations = append(j.out.Citations, c)
	}
	j.listSources()
	j.judgeReport()
	j.out.count()
	j.out.judge(options)
	return j.out, nil
}

func masked(urls []string) []string {
	out := make([]string, len(urls))
	for i, url := range urls {
		out[i] = link.Mask(url)
	}
	return out
}

// judgeSentences holds the sentences that cite something against their pages.
func (j *judging) judgeSentences(ctx context.Context, pages func(ctx context.Context, url string) (*source.Page, error)) error {
	var asked []claim.Question
	var of []int
	quoted := evidence.Quotations(len(j.Document.Sentences), func(i int) *evidence.Sentence { return &j.Document.Sentences[i].Sentence })
	for i := range j.Document.Sentences {
		s := &j.Document.Sentences[i]
		s.CIDs = j.citedBy(s)
		judged := Judged{Line: s.Line, Text: s.Text, Form: s.Form, URLs: masked(s.URLs), Findings: []claim.Finding{}, Windows: []Window{}}
		switch {
		case s.Form == Uncited:
			judged.Findings = j.bare(s, quoted[i])
		case s.Form == Structural:
		case j.options.NoFetch || len(s.URLs) == 0:
			judged.Standing = claim.NoText
		default:
			asked, of = append(asked, claim.Question{Text: s.Text, Language: j.Language, CIDs: s.CIDs, Quotations: quoted[i]}), append(of, i)
		}
		j.out.Sentences = append(j.out.Sentences, judged)
	}
	var titles []string
	for i := range j.records {
		titles = append(titles, j.records[i].Title)
	}
	for i := range j.Entries {
		titles = append(titles, j.Entries[i].Title)
	}
	page := func(cid string) (*claim.Page, error) {
		i := j.cids[cid]
		url, ok := j.sources[i].FetchURL()
		if !ok || !j.records[i].Usable() {
			return nil, nil
		}
		read, err := pages(ctx, url)
		if err != nil || read == nil {
			return nil, err
		}
		return claim.PageOf(cid, j.records[i].URL, read.Content()), nil
	}
	known := claim.NewTitles(titles)
	held, err := claim.Judge(ctx, asked, page, known)
	if err != nil {
		return err
	}
	for k, i := range of {
		j.stand(i, held[k])
	}
	if err := j.calculations(ctx, page, known); err != nil || j.options.Verifier == "" {
		return err
	}
	j.out.questions, j.out.shown = j.ask(page), j.shown
	return nil
}

// citedBy are the sources that bear a sentence.
func (j *judging) citedBy(s *Sentence) (cids []string) {
	for _, url := range s.URLs {
		cids = append(cids, j.sources[j.of[PageURL(url)]].CID)
	}
	return cids
}

// stand says how a sentence stands.
func (j *judging) stand(i int, held claim.Judgement) {
	judged := &j.out.Sentences[i]
	if j.options.Verifier != "" {
		j.held[i] = held
	}
	judged.Standing, judged.Findings = held.Standing, []claim.Finding{}
	for _, f := range held.Findings {
		if n, is := j.cids[f.Text]; is {
			f.Text = j.url(n) // a citation, which rules name by its id
		}
		judged.Findings = append(judged.Findings, f)
	}
	judged.Windows = j.shown(held.Windows)
}

// shown are windows as a result has them.
func (j *judging) shown(windows []claim.Window) []Window {
	shown := []Window{}
	for _, w := range windows {
		shown = append(shown, Window{URL: j.url(j.cids[w.CID]), Start: w.Start, End: w.End, Text: w.Text, Title: w.Title, Heading: w.Heading})
	}
	return shown
}

// maxCalculating is how many sentences a paragraph with calculations has at most: those of
// ours have few.
const maxCalculating = 40

// calculations judges the paragraphs with a calculation, which only reports of our own
// have, as such reports are judged: a result counts where it is right and its numbers
// stand on the pages.
func (j *judging) calculations(ctx context.Context, page func(cid string) (*claim.Page, error), titles claim.Titles) error {
	all := j.Document.Sentences
	for from := 0; from < len(all); {
		to, sums := from, 0
		var draft strings.Builder
		facts := evidence.Facts{Template: evidence.Briefing, Language: j.Language}
		for to < len(all) && all[to].Paragraph == all[from].Paragraph {
			draft.WriteString(escaped(all[to].Text))
			for _, cid := range all[to].CIDs {
				draft.WriteString(" [@" + cid + "]")
				facts.Sources = append(facts.Sources, evidence.Source{CID: cid})
			}
			if all[to].sum != "" {
				draft.WriteString(" " + all[to].sum)
				sums++
			}
			draft.WriteByte(' ')
			to++
		}
		if sums > 0 && to-from <= maxCalculating && !j.options.NoFetch {
			report := evidence.Read(markdown.Read([]byte("## Summary\n\n"+draft.String()+"\n")), facts)
			held, err := report.Hold(ctx, j.Language, page, titles)
			if err != nil {
				return err
			}
			for k := 0; k < len(held) && len(held) == to-from; k++ {
				if j.out.Sentences[from+k].Standing != "" && held[k].Standing != "" {
					j.stand(from+k, held[k])
				}
			}
		}
		from = to
	}
	return nil
}

// escaped is a text that Markdown takes for nothing else.
func escaped(text string) string {
	var out strings.Builder
	for _, r := range text {
		if strings.ContainsRune("\\`*_{}[]<>#+-!|~&$", r) {
			out.WriteByte('\\')
		}
		out.WriteRune(r)
	}
	return out.String()
}

// bare are the numbers and quotations of a sentence that cites nothing.
func (j *judging) bare(s *Sentence, quoted []quotation.Quotation) []claim.Finding {
	findings := []claim.Finding{}
	var languages []string
	if j.Language != "" {
		languages = []string{j.Language}
	}
	plain, figures := figure.Claimed(s.Text, languages)
	for _, f := range figures {
		findings = append(findings, claim.Finding{Rule: "numbers", Level: claim.Warn, Text: strings.TrimSpace(plain[f.Start:f.End])})
	}
	for _, q := range quoted {
		findings = append(findings, claim.Finding{Rule: "quotations", Level: claim.Warn, Text: q.Text})
	}
	return findings
}

// url is a source as the report names it.
func (j *judging) url(i int) string { return link.Mask(j.sources[i].URLs[0]) }

// listSources lists the sources in the order in which the report names them.
func (j *judging) listSources() {
	order := make([]int, len(j.sources))
	ids, lines, titles, count := make([][]string, len(order)), make([]int, len(order)), make([]string, len(order)), make([]int, len(order))
	for i := range order {
		order[i] = i
		lines[i] = j.sources[i].FoundBy[0].Number
		for _, f := range j.sources[i].FoundBy {
			if titles[i] == "" {
				titles[i] = f.Title
			}
		}
	}
	for e := len(j.Entries) - 1; e >= 0; e-- { // the list says where a source stands
		for _, url := range j.Entries[e].URLs {
			lines[j.of[PageURL(url)]] = j.Entries[e].Line
		}
	}
	note := func(urls, of []string) {
		for _, url := range urls {
			if i, known := j.of[PageURL(url)]; known {
				for _, id := range of {
					if !slices.Contains(ids[i], id) && len(ids[i]) < maxCited {
						ids[i] = append(ids[i], id)
					}
				}
			}
		}
	}
	for i := range j.Entries {
		note(j.Entries[i].URLs, j.Entries[i].IDs)
	}
	for i := range j.Document.Citations {
		if c := &j.Document.Citations[i]; c.style == NumberLink || c.style == Footnote && len(c.URLs) == 1 {
			note(c.URLs, c.IDs)
		}
	}
	for i := range j.Document.Sentences {
		if s := &j.Document.Sentences[i]; s.Form == evidence.Cited {
			for _, url := range s.URLs {
				count[j.of[PageURL(url)]]++
			}
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return lines[a] - lines[b] })
	for _, i := range order {
		r := &j.records[i]
		s := Source{URL: j.url(i), IDs: ids[i], Title: link.Mask(titles[i]), Line: lines[i], Status: string(r.Status), Reason: r.Notes, Cited: count[i], Findings: []claim.Finding{}}
		if s.IDs == nil {
			s.IDs = []string{}
		}
		switch r.Rule {
		case "not-checked":
			s.Status, s.Reason = Unchecked, source.NotChecked
		case "refused-address":
			s.Status, s.Reason = Unchecked, notAllowed
		}
		if to := link.Key(r.URL); r.Usable() && to != link.Key(s.URL) {
			s.Findings = append(s.Findings, claim.Finding{Rule: "moved", Level: claim.Remark, Text: "it is at " + link.Mask(r.URL) + " today"})
		}
		if len(s.IDs) > 1 {
			s.Findings = append(s.Findings, claim.Finding{Rule: "repeated", Level: claim.Warn, Text: "it stands under " + strings.Join(s.IDs, ", ")})
		}
		if first, is := j.cids[r.SameAs]; is {
			s.Findings = append(s.Findings, claim.Finding{Rule: "duplicate", Level: claim.Remark, Text: "it is the same page as " + j.url(first)})
		}
		j.out.Sources = append(j.out.Sources, s)
	}
}

// notAllowed is said of a source on this machine or its own network, which nobody was asked for.
const notAllowed = "not allowed here: its address is not public; `fetch.allow` in tidegate.toml lets it be fetched"

// manySources is how many sources of one sentence are too many to look at.
const manySources = 6

// judgeReport finds what is wrong with the report as a whole.
func (j *judging) judgeReport() {
	add := func(code string, level claim.Level, line int, format string, args ...any) {
		j.out.Findings = append(j.out.Findings, Finding{code, level, line, link.Mask(fmt.Sprintf(format, args...))})
	}
	if j.Left > 0 {
		add("LEFT_OUT", claim.Remark, 1, "%s of code or beside the main part of the page: not read", report.Counted(j.Left, "block"))
	}
	if j.NotMatched != "" {
		add("LIST_NOT_MATCHED", claim.Fault, 1, "%s", j.NotMatched)
	}
	used := map[string]bool{}
	for i := range j.Document.Citations {
		c := &j.Document.Citations[i]
		for _, url := range c.URLs {
			used[PageURL(url)] = true
		}
		if len(c.URLs) == 0 {
			add("ENTRY_MISSING", claim.Fault, c.Line, "%s: no entry of a list of sources has a URL for it", c.Text)
		}
	}
	for i := range j.Entries {
		e := &j.Entries[i]
		if !slices.ContainsFunc(e.URLs, func(url string) bool { return used[PageURL(url)] }) && (len(e.IDs) > 0 || len(e.URLs) > 0) {
			add("ENTRY_NOT_CITED", claim.Remark, e.Line, "no sentence cites the entry %s", strings.TrimSpace(strings.Join(e.IDs, ", ")+" "+e.Title))
		}
	}
	for i := range j.out.Sources {
		if s := &j.out.Sources[i]; len(s.IDs) > 1 {
			add("SAME_URL", claim.Warn, s.Line, "%s stands under %d numbers: %s", s.URL, len(s.IDs), strings.Join(s.IDs, ", "))
		}
	}
	for i := range j.Document.Sentences {
		if s := &j.Document.Sentences[i]; s.Form == evidence.Cited && len(s.URLs) >= manySources {
			add("TOO_MANY_CITATIONS", claim.Warn, s.Line, "one sentence cites %s sources", strconv.Itoa(len(s.URLs)))
		}
	}
	slices.SortStableFunc(j.out.Findings, func(a, b Finding) int { return a.Line - b.Line })
}
