package sourcing

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/archive"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/rule/claim"
	"github.com/tidegate/tidegate/internal/rule/evidence"
	"github.com/tidegate/tidegate/internal/rule/source"
	"github.com/tidegate/tidegate/internal/text/link"
	"github.com/tidegate/tidegate/internal/text/markdown"
	"github.com/tidegate/tidegate/internal/work/run"
)

// fetchTime is how long the author of an output waits for its sources. What is
// not fetched by then is fetched in the stage citations.
const fetchTime = 40 * time.Second

// comesBack is how long a source that failed for a moment is left alone before an
// output that names it has it fetched again.
const comesBack = time.Minute

// SourceFault is one thing for which the sources of an output are refused.
type SourceFault struct {
	Code       tidegate.Code
	Message    string
	Line       int
	ChangeNote string
}

// SubmittedSources are the arguments of [SourceChecker.Check].
type SubmittedSources struct {
	Text       []byte // the output
	MaxSources int    // how many different URLs are looked at
	// Quotations demands that quotations are on the pages whose URLs stand beside
	// them.
	Quotations bool
	// HandedIn is the line of the log by which the output was handed in, 0 where it has
	// none: what others find later is no origin of its sources, however late it is judged.
	HandedIn int
}

// SourceChecker checks the sources of the outputs of a run. It keeps the run's
// evidence, so that each output costs what it names and what was added since the one
// before. It may be used by several goroutines.
type SourceChecker struct {
	run  *run.Run
	mu   sync.Mutex
	kept *archived // nil before the first output; parts of it are handed out
}

// NewSourceChecker makes a checker for an opened run.
func NewSourceChecker(r *run.Run) *SourceChecker { return &SourceChecker{run: r} }

// evidence is what the run has about some sources at this moment: the same as if log
// and archive were read from their beginning.
func (c *SourceChecker) evidence(ctx context.Context, sources []source.Source) (*archived, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.kept == nil || !c.kept.readOn(ctx) {
		c.kept = nil
		e, err := openArchived(ctx, c.run)
		if err != nil {
			return nil, err
		}
		e.mu = &c.mu
		c.kept = e
	}
	return c.kept.about(sources), nil
}

// readOn reads what was added to the log and to the archive. It is false where they
// are not the ones that were read before, or cannot be read: then only reading them
// from the beginning says what the evidence is.
func (e *archived) readOn(ctx context.Context) bool {
	current, err := e.readLog()
	return current && err == nil && e.whole.Refresh(ctx) == nil && e.readDates(ctx) == nil
}

// Check checks the sources of an output while its author is still there:
// it fetches those that the run's archive does not have, and those whose server
// failed a minute ago or longer, and judges all of them as gate C will. A source that is invalid or a mismatch is a fault. So is every
// blocked one, where fewer than nine in ten can be used. In a run of sensitivity
// no_web, and without fetch, nothing is fetched. A source that the run's policy refuses
// is always a fault, SOURCE_NOT_ALLOWED.
//
// It returns the errors of [run.Run.Update], and CANCELLED.
func (c *SourceChecker) Check(ctx context.Context, desk run.Desk, fetch Fetch, in SubmittedSources) (CheckedSources, error) {
	sources := submittedSources(in)
	if len(sources) == 0 {
		return CheckedSources{}, nil
	}
	e, err := c.evidence(ctx, sources)
	if err != nil {
		return CheckedSources{}, err
	}
	e.until = in.HandedIn
	faults, err := e.check(ctx, desk, fetch, sources, in)
	offline := fetch != nil && e.offline(sources, desk.Now())
	return CheckedSources{faults, offline, sources, e.basis(sources)}, err
}

// CheckedSources are the sources of an output as they were found.
type CheckedSources struct {
	Faults []SourceFault
	// Offline says that the line at home is down, so that the faults say little: not one
	// of the sources could be reached, for a reason that may lie here, and nothing else
	// was in the last ten minutes.
	Offline bool
	sources []source.Source
	basis   string
}

// Holds reports whether the run's evidence about the sources is still what they were
// judged by. Others may have fetched one of them meanwhile.
func (c *SourceChecker) Holds(ctx context.Context, checked CheckedSources) (bool, error) {
	if len(checked.sources) == 0 {
		return true, nil
	}
	e, err := c.evidence(ctx, checked.sources)
	return err == nil && e.basis(checked.sources) == checked.basis, err
}

// basis names what sources are judged by: the captures, and what a person decided.
func (e *archived) basis(sources []source.Source) string {
	var b strings.Builder
	for i := range sources {
		entry, _ := e.entry(&sources[i])
		fmt.Fprintln(&b, sources[i].CID, e.attached[sources[i].CID], e.replaced[sources[i].CID], entry.Records)
	}
	return b.String()
}

// lineUp is how long something that was reached shows that the line at home is not down.
const lineUp = 10 * time.Minute

// offline is [CheckedSources.Offline] at a moment.
func (e *archived) offline(sources []source.Source, now time.Time) bool {
	asked := 0
	for i := range sources {
		entry, found := e.entry(&sources[i])
		switch {
		case !found:
		case entry.Kind != archive.Unreachable && entry.Kind != archive.TimedOut:
			return false
		default:
			asked++
		}
	}
	if asked == 0 || !e.frozen.IsZero() {
		return false
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	return !slices.ContainsFunc(e.whole.Entries(), func(entry archive.Entry) bool {
		ago := now.Sub(entry.Time)
		return entry.Kind != archive.Unreachable && entry.Kind != archive.TimedOut && entry.Kind != archive.Attached && entry.Kind != archive.Refused && entry.Kind != archive.Malformed &&
			0 <= ago && ago < lineUp
	})
}

// check is [SourceChecker.Check] by this evidence.
func (e *archived) check(ctx context.Context, desk run.Desk, fetch Fetch, sources []source.Source, in SubmittedSources) ([]SourceFault, error) {
	if fetch != nil && e.run.Manifest().Sensitivity() != noWeb {
		urls, err := e.toFetch(ctx, sources, false)
		if err != nil {
			return nil, err
		}
		urls = append(urls, e.failedBefore(sources, desk.Now())...)
		bounded, stop := context.WithTimeout(ctx, fetchTime)
		err = e.fetch(bounded, fetch, urls, sources, func([]*archive.Packed) {})
		if err == nil {
			_, err = e.lookUp(bounded, fetch, sources, func([]*archive.Packed) {})
		}
		stop()
		if err != nil && (ctx.Err() != nil || tidegate.CodeOf(err) != tidegate.Cancelled) {
			return nil, err
		}
	}
	records, err := e.judge(ctx, sources)
	if err != nil {
		return nil, err
	}
	faults := append(e.refuse(sources, records), e.ofNowhere(sources, records)...)
	if in.Quotations {
		missing, err := e.missingQuotations(ctx, in.Text, sources, records)
		if err != nil {
			return nil, err
		}
		faults = append(faults, missing...)
	}
	slices.SortStableFunc(faults, func(a, b SourceFault) int { return a.Line - b.Line })
	return faults, nil
}

// failedBefore lists the URLs whose servers failed in a way that may pass, and were
// asked last some time ago. A record from the future says that the clock was set back.
func (e *archived) failedBefore(sources []source.Source, now time.Time) []string {
	var urls []string
	if !e.frozen.IsZero() {
		return nil // nothing will change there
	}
	for i := range sources {
		entry, found := e.entry(&sources[i])
		url, fetchable := e.wanted(&sources[i])
		if ago := now.Sub(entry.Time); !found || !fetchable || 0 <= ago && ago < comesBack {
			continue
		}
		switch entry.Kind {
		case archive.Unreachable, archive.TimedOut, archive.Broken:
			urls = append(urls, url)
		case archive.Responded:
			if entry.Status >= 500 || entry.Status == 429 {
				urls = append(urls, url)
			}
		}
	}
	return urls
}

// submittedSources are the first sources of an output, in the order in which it
// names them.
func submittedSources(in SubmittedSources) []source.Source {
	var found []source.Found
	seen := map[string]bool{}
	for _, c := range source.Extract(in.Text) {
		if !seen[c.URL] && len(seen) == in.MaxSources {
			continue
		}
		seen[c.URL] = true
		found = append(found, source.Found{Cited: c, Wave: 1})
	}
	return source.Sources(found)
}

// refuse returns the faults of the sources.
func (e *archived) refuse(sources []source.Source, records []source.Record) []SourceFault {
	usable := 0
	byCID := map[string]*source.Source{}
	for i := range sources {
		byCID[sources[i].CID] = &sources[i]
	}
	for i := range records {
		usable += codec.Flag(records[i].Usable())
	}
	var faults []SourceFault
	for i := range records {
		record := &records[i]
		cited := byCID[record.CID]
		_, found := e.entry(cited)
		_, fetchable := e.wanted(cited)
		switch {
		case record.Rule == source.PolicyRule:
			faults = append(faults, SourceFault{
				Code: tidegate.SourceNotAllowed, Line: cited.FoundBy[0].Number,
				Message: fmt.Sprintf("the source %s is not allowed in this run: %s", tidegate.Cut(cited.URLs[0]), strings.TrimPrefix(record.Notes, source.PolicyRule+": ")),
				ChangeNote: "Name a source that the run allows in its place, or take out the source and what rests on it: " +
					tidegate.Cut(cited.URLs[0]),
			})
			continue
		case record.Usable(), !found && fetchable:
			continue // or it was not looked at
		case record.Status == source.Blocked && 10*usable >= 9*len(records):
			continue
		}
		faults = append(faults, SourceFault{
			Code: tidegate.SourceNotUsable, Line: cited.FoundBy[0].Number,
			Message: fmt.Sprintf("the source %s is %s: %s", tidegate.Cut(cited.URLs[0]), record.Status, record.Notes),
			ChangeNote: "Name another source that says the same, that anybody can open, in its place, or take out the source and what rests on it: " +
				tidegate.Cut(cited.URLs[0]),
		})
	}
	return faults
}

// missingQuotations are the quotations beside a URL that its page does not have.
func (e *archived) missingQuotations(ctx context.Context, text []byte, sources []source.Source, records []source.Record) ([]SourceFault, error) {
	usable := map[string]*source.Source{}
	for i := range records {
		if at := slices.IndexFunc(sources, func(s source.Source) bool { return s.CID == records[i].CID }); records[i].Usable() {
			usable[records[i].CID] = &sources[at]
		}
	}
	report, held, err := evidence.HoldText(ctx, citingByID(text, sources), func(cid string) (*claim.Page, error) {
		source := usable[cid]
		if source == nil {
			return nil, nil
		}
		page, err := e.pageOfSource(ctx, source)
		if err != nil || page == nil {
			return nil, err
		}
		return claim.PageOf(cid, source.URLs[0], page.Content()), nil
	})
	if err != nil {
		return nil, err
	}
	unlisted := unlistedBeside(text, sources)
	var faults []SourceFault
	for i, j := range held {
		for _, f := range j.Findings {
			if f.Code != tidegate.QuotationNotFound {
				continue
			}
			fault := SourceFault{
				Code: f.Code, Line: report.Sentences[i].Line,
				Message:    fmt.Sprintf("the quotation %q is not on the page whose URL stands beside it", tidegate.Cut(f.Text)),
				ChangeNote: "Quote the exact words of the page, or say it in words of your own without quotation marks: " + tidegate.Cut(f.Text),
			}
			if url := unlisted[markdown.OneLine(f.Text)]; url != "" {
				fault.Message = fmt.Sprintf("the quotation %q stands beside %s, which the section Sources does not list, so that its page was not looked at", tidegate.Cut(f.Text), tidegate.Cut(url))
				fault.ChangeNote = "List the URL under Sources, with the others: " + tidegate.Cut(url)
			}
			faults = append(faults, fault)
		}
	}
	return faults, nil
}

// unlistedBeside are the URLs beside quotations of a text that are none of its sources, by
// the words that are quoted.
func unlistedBeside(text []byte, sources []source.Source) map[string]string {
	unlisted := map[string]string{}
	for words, url := range source.Quoted(text) {
		normalized, err := link.Normalize(strings.TrimRight(string(url), ".,;:"))
		if err == nil && !slices.ContainsFunc(sources, func(s source.Source) bool { return s.CID == source.CID(normalized) }) {
			unlisted[markdown.OneLine(string(words))] = link.Mask(normalized)
		}
	}
	return unlisted
}

// citingByID is a text with citations in place of URLs.
func citingByID(text []byte, sources []source.Source) []byte {
	var pairs []string
	for i := range sources {
		for _, url := range sources[i].URLs {
			pairs = append(pairs, url, "[@"+sources[i].CID+"]")
		}
	}
	order := make([]int, len(pairs)/2) // of two that begin alike, the longer first
	for i := range order {
		order[i] = 2 * i
	}
	slices.SortStableFunc(order, func(a, b int) int { return len(pairs[b]) - len(pairs[a]) })
	sorted := make([]string, 0, len(pairs))
	for _, i := range order {
		sorted = append(sorted, pairs[i], pairs[i+1])
	}
	return []byte(strings.NewReplacer(sorted...).Replace(string(text)))
}

// pageOfSource reads what the archive has of a source.
func (e *archived) pageOfSource(ctx context.Context, source *source.Source) (*source.Page, error) {
	if page, err := e.page(ctx, attachedURL(source.CID)); err != nil || page != nil {
		return page, err
	}
	url, ok := e.wanted(source)
	if !ok {
		return nil, nil
	}
	return e.page(ctx, url)
}
