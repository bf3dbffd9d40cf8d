package sentences

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/rule/claim"
	"github.com/tidegate/tidegate/internal/rule/evidence"
	"github.com/tidegate/tidegate/internal/rule/source"
	"github.com/tidegate/tidegate/internal/rule/synthesis"
	"github.com/tidegate/tidegate/internal/text/link"
	"github.com/tidegate/tidegate/internal/text/markdown"
	"github.com/tidegate/tidegate/internal/text/page"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/sourcing"
	"github.com/tidegate/tidegate/internal/work/step"
	"github.com/tidegate/tidegate/internal/work/store"
)

// ReadClaims reads the sentences of the run's synthesis with what is known of each;
// nil where the run has none: it has no synthesis, or no sources. It returns READ_FAILED and SCHEMA_VALIDATION_FAILED.
func ReadClaims(r *run.Run) (*evidence.Claims, error) { return ReadClaimsAt(r, r.Layout().Claims()) }

// ReadClaimsAt reads those of the synthesis of a round ([run.Layout.RoundClaims]), as
// [ReadClaims] does.
func ReadClaimsAt(r *run.Run, name string) (*evidence.Claims, error) {
	data, err := r.Folder().ReadIfThere(name)
	if data == nil || err != nil {
		return nil, err
	}
	claims, err := store.Recall(r.Desk().Memory, "claims "+codec.DigestBytes(data), func() (*evidence.Claims, error) { return evidence.ParseClaims(data) })
	if err != nil {
		return nil, tidegate.WithDetails(err, tidegate.Pairs("path", r.Path(name)))
	}
	own := *claims
	own.Sentences, own.Parts = slices.Clone(claims.Sentences), slices.Clone(claims.Parts)
	return &own, nil
}

// checkedSentences are the sentences of a draft, each held against its pages.
type checkedSentences struct {
	heldText
	claims   evidence.Claims
	pages    *citedPages
	language string
	question string
}

// checkSentences reads a draft into sentences and holds each against the pages that it
// cites. Verdicts of sentences that stand in before as they stand in the draft are taken
// over.
func checkSentences(ctx context.Context, r *run.Run, text *markdown.Text, before *evidence.Claims) (*checkedSentences, error) {
	facts, records, err := ReportFacts(r, text.Raw)
	if err != nil {
		return nil, err
	}
	return holdSentences(ctx, r, text, facts, records, before)
}

func holdSentences(ctx context.Context, r *run.Run, text *markdown.Text, facts evidence.Facts, records []source.Record, before *evidence.Claims) (*checkedSentences, error) {
	pages, err := openPages(ctx, r, records, facts)
	if err != nil {
		return nil, err
	}
	held, err := pages.hold(ctx, text, facts)
	if err != nil {
		return nil, err
	}
	c := &checkedSentences{heldText: *held, pages: pages, language: facts.Language, question: facts.Question}
	digest := codec.DigestBytes(text.Raw)
	c.claims = evidence.Assemble(c.report, digest, pages.cited(c.report), c.held, before)
	return c, nil
}

// CheckText holds the sentences of a text that is no report, such as a summary, against the
// pages that they cite. Both are empty where no source of the run has been judged.
func CheckText(ctx context.Context, r *run.Run, text []byte) (claims evidence.Claims, report evidence.Report, err error) {
	facts, records, err := ReportFacts(r, text)
	if err != nil || len(facts.Sources) == 0 {
		return claims, report, artifact.UnlessMissing(err)
	}
	facts.Template, facts.Whole = evidence.Template{Sections: []evidence.Section{{}}}, false
	checked, err := holdSentences(ctx, r, markdown.Read(text), facts, records, nil)
	if err != nil {
		return claims, report, err
	}
	return checked.claims, checked.report, nil
}

// heldText is a text as sentences, each held against the pages that it cites.
type heldText struct {
	report evidence.Report
	forms  []evidence.Fault // of the report, before its sentences were held against pages
	held   []claim.Judgement
}

// hold holds the sentences of a text against their pages. What it returns is shared.
func (p *citedPages) hold(ctx context.Context, text *markdown.Text, facts evidence.Facts) (*heldText, error) {
	return store.Recall(p.texts.Memory, "held "+p.digest(facts)+codec.DigestBytes(text.Raw), func() (*heldText, error) { return p.holdAnew(ctx, text, facts) })
}

// holdAnew is hold, and remembers nothing.
func (p *citedPages) holdAnew(ctx context.Context, text *markdown.Text, facts evidence.Facts) (*heldText, error) {
	t := &heldText{report: evidence.Read(text, facts)}
	t.forms = slices.Clone(t.report.Faults)
	var err error
	t.held, err = t.report.Hold(ctx, facts.Language, p.page, p.titles)
	return t, err
}

// digest stands for everything but the text itself that its sentences are judged by.
func (p *citedPages) digest(facts evidence.Facts) string {
	return codec.Digest([]any{p.texts.Name, facts, p.quoted, p.about.Text})
}

// found is what the rules say of the sentences. Without grounding, only their forms are
// required.
func (c *checkedSentences) found(grounding bool) synthesis.Sentences {
	if grounding {
		return synthesis.Sentences{Faults: c.report.Faults, Grounding: c.report.Count(c.held)}
	}
	found := synthesis.Sentences{Faults: c.forms, Grounding: c.report.Count(c.held)}
	for _, f := range c.report.Faults {
		if !slices.Contains(c.forms, f) {
			found.Warnings = append(found.Warnings, f)
		}
	}
	return found
}

// further are the windows that a second look at a sentence adds.
func (c *checkedSentences) further(id string) []claim.Window {
	for i := range c.report.Sentences {
		if kept := c.claims.Find(id); c.report.Sentences[i].ID == id && kept != nil && kept.Text == c.report.Sentences[i].Text {
			return c.held[i].Further(kept.Windows)
		}
	}
	return nil
}

// ReportFacts is what the reading of a draft needs to know of its run, with the records
// of the run's sources.
func ReportFacts(r *run.Run, draft []byte) (evidence.Facts, []source.Record, error) {
	name := r.Layout().Citations
	data, err := r.Folder().Read(name)
	if err != nil {
		return evidence.Facts{}, nil, tidegate.WithDetails(err, tidegate.Pairs("citations_path", r.Path(name)))
	}
	records, err := source.ParseRecords(r.Path(name), data)
	if err != nil {
		return evidence.Facts{}, nil, err
	}
	policy, err := r.Policy()
	if err != nil {
		return evidence.Facts{}, nil, err
	}
	shape, err := r.Shape()
	if err != nil {
		return evidence.Facts{}, nil, err
	}
	facts := evidence.Facts{Language: cmp.Or(shape.Language, page.Language(string(draft))), Question: r.Manifest().Query(), Whole: true, Brief: shape.Brief(), InParts: shape.InParts(), SecondReader: policy.Evidence.Reader}
	if facts.Template, err = shape.Sections(); err != nil {
		return evidence.Facts{}, nil, err
	}
	facts.Least, facts.Most = shape.Range(r.Manifest().ReviewRounds() > 0)
	for i := range records {
		if rec := &records[i]; rec.Usable() {
			facts.Sources = append(facts.Sources, evidence.Source{CID: rec.CID, SameAs: rec.SameAs, Perspectives: perspectivesOf(rec), Silent: rec.Snippet == ""})
		}
	}
	slices.SortFunc(facts.Sources, func(a, b evidence.Source) int { return strings.Compare(a.CID, b.CID) })
	for i := range facts.Sources {
		facts.Sources[i].ID = fmt.Sprintf("s%d", i+1)
	}
	return facts, records, nil
}

// citedPages are the pages of the sources that a report may cite, each read once.
type citedPages struct {
	texts   *sourcing.Texts
	sources []evidence.Source
	titles  claim.Titles
	about   *claim.Page // what @run stands for
	said    []string    // the same in sentences

	quoted map[string][]string // what accepted outputs quote, by source

	mu   sync.Mutex
	read map[string]*claim.Page // nil for one without text
}

func openPages(ctx context.Context, r *run.Run, records []source.Record, facts evidence.Facts) (*citedPages, error) {
	texts, err := sourcing.OpenTexts(ctx, r)
	if err != nil {
		return nil, err
	}
	p := &citedPages{texts: texts, sources: facts.Sources, read: map[string]*claim.Page{}}
	if p.quoted, err = quotedByOutputs(r); err != nil {
		return nil, err
	}
	var titles []string
	languages := map[string]bool{}
	for _, s := range facts.Sources {
		page, err := p.page(s.CID)
		if err != nil {
			return nil, err
		}
		if page != nil {
			titles = append(append(titles, page.Title), page.Headings...)
			languages[page.Language] = page.Language != ""
		}
	}
	p.titles = claim.NewTitles(titles)
	maps.DeleteFunc(languages, func(_ string, known bool) bool { return !known })
	about, err := aboutRun(r, records, slices.Sorted(maps.Keys(languages)))
	if err != nil {
		return nil, err
	}
	p.about, p.said = &claim.Page{CID: evidence.RunCID, Text: evidence.RunText(about), Language: "en"}, evidence.RunSentences(about)
	return p, nil
}

// page is the page of a source, nil for one without text.
func (p *citedPages) page(cid string) (*claim.Page, error) {
	if cid == evidence.RunCID {
		return p.about, nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if page, known := p.read[cid]; known {
		return page, nil
	}
	content, ok := p.texts.Content(cid)
	if ok {
		read := claim.PageOf(cid, p.texts.URL(cid), content)
		if name := source.OwnName(p.texts.URL(cid)); name != "" { // titles of documents are often the same
			read.Title = strings.TrimPrefix(read.Title+" – "+name, " – ")
		}
		p.read[cid] = read
		p.read[cid].Quoted = p.quoted[cid]
	} else {
		p.read[cid] = nil
	}
	return p.read[cid], p.texts.Err
}

// maxQuoted is how many quotations of one source are looked for on its page.
const maxQuoted = 40

// quotedByOutputs are the words that outputs of the run quote, by source.
func quotedByOutputs(r *run.Run) (map[string][]string, error) {
	quoted := map[string][]string{}
	waves, err := r.Waves()
	if err != nil {
		return nil, err
	}
	for _, wave := range waves {
		contracts, _, err := step.Contracts(r, wave)
		if tidegate.CodeOf(err) == tidegate.FileNotFound {
			continue // its outputs were written without
		}
		if err != nil {
			return nil, err
		}
		for _, p := range contracts.List {
			text, err := r.Folder().Read(r.Output(wave, p.ID))
			if tidegate.CodeOf(err) == tidegate.FileNotFound {
				continue
			}
			if err != nil {
				return nil, err
			}
			for words, url := range source.Quoted(text) {
				normalized, err := link.Normalize(strings.TrimRight(string(url), ".,;:"))
				if cid := source.CID(normalized); err == nil && len(quoted[cid]) < maxQuoted {
					quoted[cid] = append(quoted[cid], string(words))
				}
			}
		}
	}
	return quoted, nil
}

// text is the readable text of a source, "" for one without.
func (p *citedPages) text(cid string) string {
	page, err := p.page(cid)
	if err != nil || page == nil {
		return ""
	}
	return page.Text
}

// cited are the pages that sentences cite, in byte order of their ids.
func (p *citedPages) cited(report evidence.Report) []evidence.Page {
	pages := []evidence.Page{}
	seen := map[string]bool{}
	for _, s := range report.Sentences {
		for _, cid := range s.CIDs {
			if seen[cid] {
				continue
			}
			seen[cid] = true
			digest := ""
			if text := p.text(cid); text != "" {
				digest = codec.DigestBytes([]byte(text))
			}
			pages = append(pages, evidence.Page{CID: cid, Digest: digest})
		}
	}
	slices.SortFunc(pages, func(a, b evidence.Page) int { return strings.Compare(a.CID, b.CID) })
	return pages
}

// aboutRun is what caveats may say of the run.
func aboutRun(r *run.Run, records []source.Record, languages []string) (evidence.RunFacts, error) {
	m := r.Manifest()
	facts := evidence.RunFacts{Question: m.Query(), Sensitivity: m.Sensitivity(), Languages: languages}
	created := m.Doc().Get("created_at").Str()
	facts.Day = created[:min(len(created), len("2006-01-02"))]
	waves, err := r.Waves()
	if err != nil {
		return facts, err
	}
	for _, wave := range waves {
		contracts, _, err := step.Contracts(r, wave)
		if tidegate.CodeOf(err) == tidegate.FileNotFound {
			continue // its outputs were written without
		}
		if err != nil {
			return facts, err
		}
		facts.Perspectives += len(contracts.List)
	}
	statuses, reasons, years := map[string]int{}, map[string]int{}, map[string]bool{}
	for i := range records {
		rec := &records[i]
		statuses[string(rec.Status)]++
		if !rec.Usable() {
			reasons[rec.Rule]++
		} else if len(rec.Published) >= len("2006") {
			years[rec.Published[:len("2006")]] = true
		}
	}
	facts.Sources, facts.Reasons, facts.Years = counted(statuses), counted(reasons), slices.Sorted(maps.Keys(years))
	gaps, err := step.OpenGaps(r)
	if err != nil {
		return facts, err
	}
	facts.OpenGaps = len(gaps)
	return facts, nil
}

// counted are counts in byte order of what they count.
func counted(counts map[string]int) []evidence.Count {
	var out []evidence.Count
	for _, of := range slices.Sorted(maps.Keys(counts)) {
		out = append(out, evidence.Count{Of: of, N: counts[of]})
	}
	return out
}
