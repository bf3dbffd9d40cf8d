package library

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/archive"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/internal/rule/claim"
	"github.com/tidegate/tidegate/internal/rule/drift"
	"github.com/tidegate/tidegate/internal/rule/scholar"
	"github.com/tidegate/tidegate/internal/rule/source"
	"github.com/tidegate/tidegate/internal/text/link"
	"github.com/tidegate/tidegate/internal/text/markdown"
	"github.com/tidegate/tidegate/internal/work/reporting"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/sourcing"
	"github.com/tidegate/tidegate/internal/work/store"
)

const updateSchema = "update.v1"

// Updated is the result of [Update].
type Updated struct {
	OK         codec.True        `json:"ok"`
	Pass       bool              `json:"pass" jsonschema:"every sentence that cites something stands"`
	UpdateID   string            `json:"update_id"`
	UpdatePath string            `json:"update_path" jsonschema:"the folder that keeps what was fetched and this result"`
	Of         Subject           `json:"of"`
	Summary    UpdateSummary     `json:"summary"`
	Sentences  []UpdatedSentence `json:"sentences" jsonschema:"those that cite something, in the order of the report"`
	Sources    []UpdatedSource   `json:"sources"`
}

// UpdateSummary counts the sentences of a report by how they stand.
type UpdateSummary struct {
	Sentences   int `json:"sentences"`
	Stands      int `json:"stands"`
	Beside      int `json:"beside" jsonschema:"those that stand with something new right beside them"`
	Changed     int `json:"changed"`
	Gone        int `json:"gone"`
	Walled      int `json:"walled"`
	Unreachable int `json:"unreachable"`
	Unchecked   int `json:"unchecked" jsonschema:"the archive has no text of their pages"`
	Uncited     int `json:"uncited" jsonschema:"they cite no page, and are not among the sentences"`
}

// UpdatedSentence is a sentence with how it stands.
type UpdatedSentence struct {
	ID   string `json:"id" jsonschema:"empty in an audit"`
	Line int    `json:"line"`
	Text string `json:"text"`
	drift.Outcome
}

// UpdatedSource is a source with what became of its page.
type UpdatedSource struct {
	CID      string      `json:"cid"`
	URL      string      `json:"url"`
	State    drift.State `json:"state" jsonschema:"of the page, whatever its text says: stands, changed (retracted), gone, walled, unreachable or unchecked"`
	Why      string      `json:"why"`
	Text     string      `json:"text" jsonschema:"same or other; empty where it could not be compared"`
	Compared string      `json:"compared" jsonschema:"which bytes were compared with the archived ones; empty where none were"`
	MovedTo  string      `json:"moved_to" jsonschema:"where the page is now; empty where it did not move"`
	Cited    int         `json:"cited" jsonschema:"by how many sentences"`
}

// Passed reports whether every sentence stands.
func (u Updated) Passed() bool { return u.Pass }

// Reached reports whether every page could be looked at, or something was found on those
// that could.
func (u Updated) Reached() bool {
	return u.Summary.Unreachable == 0 || u.Summary.Changed+u.Summary.Gone+u.Summary.Walled > 0
}

// Again makes a fetcher for pages of which something is known, see [archive.Capture.Known].
type Again func(known func(url string) []archive.Field) sourcing.Fetch

// Update fetches the sources of a finished report again and says of each sentence whether
// it still stands. What it fetched and found is kept in a folder of its own under the home
// beside runs, which appears when all is done; the run or audit is only read.
//
// It returns INVALID_STATE for a run that may not fetch, the errors of reading the report,
// WRITE_FAILED and CANCELLED. Pages that cannot be reached are a result.
func Update(ctx context.Context, desk run.Desk, runs string, again Again, item *Item) (Updated, error) {
	if item.noWeb {
		return Updated{}, tidegate.Errorf(tidegate.InvalidState, tidegate.Pairs("run_id", item.ID), "the sensitivity of run %q is no_web, so nothing is fetched for it", item.ID)
	}
	sources, err := item.Sources(ctx)
	if err != nil {
		return Updated{}, err
	}
	now := &fetched{sources: sources, captures: map[string]archive.Capture{}}
	if err := now.fetch(ctx, again); err != nil {
		return Updated{}, err
	}
	if err := now.offline(); err != nil {
		return Updated{}, err
	}
	out, err := judgeAgain(ctx, item, now)
	if err != nil {
		return Updated{}, err
	}
	_, _, err = create(desk, store.Updates.Home(runs), Held{SchemaVersion: updateSchema, Of: []Subject{item.Subject}}, func(d *artifact.Draft, path string) error {
		out.UpdateID, out.UpdatePath = filepath.Base(path), path
		return out.keep(desk, d, now.packed)
	})
	return out, err
}

// keep writes what was fetched, and the result.
func (u Updated) keep(desk run.Desk, d *artifact.Draft, packed []*archive.Packed) error {
	u.UpdatePath = "" // a folder can be moved
	result, err := codec.MarshalFile(u)
	if err != nil {
		return err
	}
	d.Write(store.ResultFile, result)
	var records []archive.Ref
	if len(packed) > 0 {
		data, laid := archive.Lay(0, packed...)
		d.Write(run.ArchiveFile, data)
		for _, entry := range laid {
			records = append(records, entry.Records...)
		}
	}
	for part := range slices.Chunk(records, store.RecordsPerLine) {
		d.Record(run.LogFile, desk.Writer().Line("fetched", tidegate.Pairs("archive", run.ArchiveFile, "records", part)))
	}
	return d.Record(run.LogFile, judged(desk, result, nil))
}

// fetched is what a later fetch brought.
type fetched struct {
	sources  []*Source
	captures map[string]archive.Capture // by URL
	packed   []*archive.Packed
}

// fetch fetches the pages of the sources, and asks the registries about papers and books.
func (f *fetched) fetch(ctx context.Context, again Again) error {
	known := map[string][]archive.Field{}
	var urls []string
	for _, s := range f.sources {
		if s.URL == "" {
			continue
		}
		urls = append(urls, s.URL)
		if s.Capture != nil {
			if url, fields := s.Capture.Known(); fields != nil {
				known[url] = fields
			}
		}
	}
	fetch := again(func(url string) []archive.Field { return known[url] })
	take := func(batch []*archive.Packed) error {
		for _, p := range batch {
			f.captures[p.Entry().URL] = p.Capture()
		}
		f.packed = append(f.packed, batch...)
		return nil
	}
	if err := fetch(ctx, urls, take); err != nil {
		return err
	}
	for range scholar.MostQuestions {
		var urls []string
		for _, s := range f.sources {
			id, _ := scholar.Parse(s.Record.Identifier)
			if url := id.Missing(f.answer); url != "" && !slices.Contains(urls, url) {
				urls = append(urls, url)
			}
		}
		if len(urls) == 0 {
			break
		}
		if err := fetch(ctx, urls, take); err != nil {
			return err
		}
	}
	slices.SortFunc(f.packed, func(a, b *archive.Packed) int { return strings.Compare(a.Entry().URL, b.Entry().URL) })
	return nil
}

// offline returns INVALID_STATE where sources were asked for and not one host was reached: that
// says nothing of the pages.
func (f *fetched) offline() error {
	asked, why := 0, ""
	for _, p := range f.packed {
		entry := p.Entry()
		if entry.Kind.Answered() {
			return nil
		}
		if entry.Kind != archive.Refused {
			asked++
			why = cmp.Or(why, entry.Detail)
		}
	}
	if asked == 0 {
		return nil
	}
	return tidegate.Errorf(tidegate.InvalidState, tidegate.Pairs("sources", asked, "help", "nothing was judged; see whether a host still exists, and what `tidegate doctor` says of network and proxy"),
		"not one of %s could be reached: %s", report.Counted(asked, "source"), tidegate.Cut(why))
}

// answer is what a registry answered, nil where it was not asked.
func (f *fetched) answer(address string) *scholar.Answer {
	answered, _ := sourcing.Answers(func(address string) (archive.Capture, bool, error) {
		capture, asked := f.captures[address]
		return capture, asked, nil
	})
	return answered(address)
}

const notModified = 304

// page is the page of a source as it is now: what the archive has where the server says
// that this has not changed, nil where it was not fetched. Only a server that was asked about
// the archived bytes, at the address that sent them, can say so.
func (f *fetched) page(s *Source) (page *source.Page, same bool) {
	capture, found := f.captures[s.URL]
	switch {
	case !found || s.URL == "":
		return nil, false
	case capture.Kind == archive.Responded && capture.Last().Status == notModified && s.Capture != nil:
		if url, asked := s.Capture.Known(); asked != nil && capture.Last().URL == url {
			return sourcing.PageOf(*s.Capture), true
		}
	}
	return sourcing.PageOf(capture), false
}

// judgeAgain says how each sentence of a report stands by what was fetched.
func judgeAgain(ctx context.Context, item *Item, now *fetched) (Updated, error) {
	out := Updated{Of: item.Subject, Sentences: []UpdatedSentence{}, Sources: []UpdatedSource{}}
	compared := map[string]*drift.Source{}
	place := map[string]int{}
	for i, s := range now.sources {
		then, shown, err := now.compare(ctx, s)
		if err != nil {
			return Updated{}, err
		}
		compared[s.CID], place[s.CID] = then, i
		out.Sources = append(out.Sources, shown)
	}
	for i := range item.Sentences {
		s := &item.Sentences[i]
		if len(s.CIDs) == 0 {
			out.Summary.Uncited++
			continue
		}
		judged, err := drift.Judge(ctx, claim.Question{Text: s.Text, Language: item.Language, CIDs: s.CIDs}, compared)
		if err != nil {
			return Updated{}, err
		}
		for _, cid := range s.CIDs {
			if at, found := place[cid]; found {
				out.Sources[at].Cited++
			}
		}
		out.Sentences = append(out.Sentences, UpdatedSentence{s.ID, s.Line, s.Text, judged})
		out.Summary.count(judged.State)
		if out.Sentences[len(out.Sentences)-1].touched() {
			out.Summary.Beside++
		}
	}
	sum := out.Summary
	out.Pass = sum.Stands > 0 && sum.Changed+sum.Gone+sum.Walled+sum.Unreachable == 0
	return out, nil
}

func (s *UpdateSummary) count(state drift.State) {
	s.Sentences++
	*map[drift.State]*int{drift.Stands: &s.Stands, drift.Changed: &s.Changed, drift.Gone: &s.Gone, drift.Walled: &s.Walled,
		drift.Unreachable: &s.Unreachable, drift.Unchecked: &s.Unchecked}[state]++
}

// compare puts a source as it was beside what was fetched of it.
func (f *fetched) compare(ctx context.Context, s *Source) (*drift.Source, UpdatedSource, error) {
	then := &drift.Source{CID: s.CID}
	shown := UpdatedSource{CID: s.CID, URL: link.Mask(s.Normalized), State: drift.Stands}
	if s.Capture != nil && s.Record.Usable() {
		then.Then = claim.PageOf(s.CID, s.Record.URL, sourcing.PageOf(*s.Capture).Content())
	}
	if s.URL == "" {
		then.Now, shown.Why = then.Then, "a person's own file, which nobody fetches"
		return then, shown, nil
	}
	page, same := f.page(s)
	records, err := source.Judge(ctx, []source.Source{s.Source}, source.Evidence{
		Page:     func(context.Context, string) (*source.Page, error) { return page, nil },
		Replaced: map[string]string{s.CID: s.URL},
		Work:     func(_ context.Context, id scholar.ID) (*scholar.Work, error) { return id.Work(f.answer), nil },
	})
	if err != nil {
		return nil, shown, err
	}
	then.Record = &records[0]
	if page != nil && (then.Record.Usable() || page.Status >= 200 && page.Status < 300) {
		then.Now = claim.PageOf(s.CID, then.Record.URL, page.Content())
	}
	shown.State = then.PageState()
	if same {
		shown.Compared = "the archived bytes, of which the server says that they have not changed"
	} else if page != nil && then.Now != nil {
		shown.Compared = "what " + link.Mask(page.FinalURL) + " sent"
	}
	if shown.State != drift.Stands || then.Record.Rule != "valid" {
		shown.Why = then.Record.Notes
	}
	switch {
	case then.Then == nil || then.Now == nil:
	case then.Then.Text == then.Now.Text:
		if shown.Text = "same"; same {
			shown.Why = cmp.Or(shown.Why, "the server says that the archived page has not changed")
		}
	default:
		shown.Text = "other"
	}
	if then.Then == nil {
		shown.State = drift.Unchecked
	}
	if before := s.Capture; page != nil && !same && before != nil && page.FinalURL != "" && page.FinalURL != before.Last().URL {
		shown.MovedTo = link.Mask(page.FinalURL)
	}
	return then, shown, nil
}

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
	if s.Beside > 0 {
		stand += fmt.Sprintf(" (%d with something new right beside it, which no rule understands)", s.Beside)
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
		} else if sentence.touched() {
			r.Add(report.Heading(fmt.Sprintf("Line %d: stands, and the page says something new beside it", sentence.Line)), report.Paragraph(sentence.Text), sentence.fields(u.urls()))
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

// touched reports whether the sentence stands, but something new stands beside its passages.
func (s *UpdatedSentence) touched() bool {
	return s.State == drift.Stands && slices.ContainsFunc(s.Pages, func(on drift.On) bool { return len(on.Beside) > 0 })
}

// fields show on which page a sentence no longer stands, how the passages differ, and what is
// new beside those that stand.
func (s *UpdatedSentence) fields(urls map[string]string) report.Fields {
	var fields report.Fields
	for _, on := range s.Pages {
		for _, text := range on.Beside {
			fields = append(fields, report.Field{Name: "new beside it", Value: urls[on.CID] + ": " + text})
		}
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

// EarlierOf is what a run takes from a finished one that it builds on, with where that is
// and its sensitivity. With an update of it, the sentences that no longer stand are open,
// too, and their pages are fetched again. It returns NOT_FOUND, INVALID_STATE for a run that
// is not completed or whose sentences were not checked, and the errors of reading it.
func EarlierOf(ctx context.Context, desk run.Desk, manifest string, updated *Updated) (earlier *run.Earlier, from run.Frozen, sensitivity string, err error) {
	r, err := run.Open(ctx, desk, manifest)
	if err != nil {
		return nil, from, "", err
	}
	defer r.Close()
	item, err := readRun(ctx, r)
	if err != nil {
		return nil, from, "", err
	}
	from = run.Frozen{RunID: item.ID, Root: r.Root(), Head: item.Head}
	earlier = &run.Earlier{SchemaVersion: run.EarlierVersion, RunID: item.ID, Head: item.Head, Question: item.Title, Sentences: []run.EarlierSentence{}, Changed: []string{}}
	urls := map[string]string{}
	sources, err := item.Sources(ctx)
	if err != nil {
		return nil, from, "", err
	}
	for _, s := range sources {
		urls[s.CID] = s.URL
	}
	for _, s := range item.Sentences {
		kept := run.EarlierSentence{ID: s.ID, Text: s.Text, Standing: string(s.Standing), URLs: []string{}}
		for _, cid := range s.CIDs {
			if urls[cid] != "" {
				kept.URLs = append(kept.URLs, urls[cid])
			}
		}
		earlier.Sentences = append(earlier.Sentences, kept)
	}
	if updated != nil {
		earlier.Open = updated.open()
		for _, s := range updated.Sources {
			if url := urls[s.CID]; url != "" && (s.Text != "same" || s.State != drift.Stands) {
				earlier.Changed = append(earlier.Changed, url)
			}
		}
	}
	open, err := reporting.OpenQuestions(ctx, r)
	earlier.Open = append(slices.Clip(earlier.Open), open...)
	return earlier, from, r.Manifest().Sensitivity(), err
}

// open are the sentences that no longer stand, with what their pages said and say, and those
// that stand beside something new, which a reader has to judge.
func (u Updated) open() []run.OpenQuestion {
	var open []run.OpenQuestion
	for _, s := range u.Sentences {
		text := markdown.OneLine(s.Text) // the prompt says before it that it changed
		switch {
		case s.touched():
			text = "something new stands beside it: " + text
		case s.State == drift.Gone || s.State == drift.Walled:
			text = string(s.State) + ": " + text
		case s.State != drift.Changed:
			continue
		}
		for _, on := range s.Pages {
			for _, beside := range on.Beside {
				text += " New there: " + markdown.OneLine(beside)
			}
			if on.State == drift.Stands {
				continue
			}
			text += " (" + markdown.OneLine(on.Why) + ")"
			for _, p := range on.Passages {
				text += " The page: " + markdown.OneLine(drift.Marked(p.Difference))
			}
		}
		open = append(open, run.OpenQuestion{Kind: run.OpenChanged, Text: text})
	}
	return open
}
