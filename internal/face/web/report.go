package web

import (
	"context"
	"html/template"
	"net/url"
	"path/filepath"
	"slices"
	"unicode/utf8"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/document/paper"
	"github.com/tidegate/tidegate/internal/work/audit"
	"github.com/tidegate/tidegate/internal/work/library"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/store"
)

// documentView is a report, an audit, an answer or an update: the text with its evidence, as
// package paper draws it, and what came after it.
type documentView struct {
	Doc      template.HTML
	Again    *againView // of an update
	Empty    bool
	Ask      asking
	Next     string // what to type where there is no answer
	Tasks    []taskRow
	Answers  []answerRow
	Updates  []updateRow
	Document string // its address as one file
	Download bool
}

// reportPage is the report of the run, as far as there is one.
func (l *visit) reportPage() (*page, error) {
	r, err := l.marked()
	if err != nil {
		return nil, err
	}
	id := l.id
	view := documentView{Empty: len(r.Parts) == 0, Document: l.link("document", id), Download: !l.files}
	frame := paper.Frame{Links: []paper.Link{{Words: "How it was made", Address: l.link("made", id)}}}
	if !l.files {
		frame.Archived = func(cid, sentence string) string {
			return l.link("archived", id, cid) + queryOf(url.Values{"s": {sentence}})
		}
	}
	view.Doc = r.Document(frame)
	return l.asked(view)
}

// marked is the report of the run. Where its pages were fetched again, it shows which
// sentences no longer stand.
func (l *visit) marked() (paper.Report, error) {
	reported, err := l.readReport(l.ctx, l.site.Version)
	if err != nil {
		return paper.Report{}, err
	}
	r := reported.Report
	if u, ok := l.site.lastUpdate(l.id); ok {
		markDrift(&r, u)
	}
	return r, nil
}

// readDocument is the report as one file.
func (l *visit) readDocument() ([]byte, error) {
	r, err := l.marked()
	if err != nil {
		return nil, err
	}
	return r.HTML(), nil
}

// markDrift marks in a copy of a report what no longer stands. The report itself is shared.
func markDrift(r *paper.Report, u library.Updated) {
	r.Parts = slices.Clone(r.Parts)
	for i := range r.Parts {
		r.Parts[i].Sentences = slices.Clone(r.Parts[i].Sentences)
	}
	u.Mark(r)
}

// lastUpdate is the last update of a report that could be read. An update never changes: each
// is read once.
func (s *Site) lastUpdate(id string) (library.Updated, bool) {
	_, updates := s.keptAbout(id)
	for _, held := range updates {
		s.mu.Lock()
		u, known := s.kept.read[held.ID]
		s.mu.Unlock()
		var err error
		if !known {
			if u, err = library.ReadUpdate(s.Desk, s.Home, held.ID); err != nil {
				continue
			}
		}
		s.mu.Lock()
		if s.kept.read == nil {
			s.kept.read = map[string]library.Updated{}
		}
		s.kept.read[held.ID] = u
		s.mu.Unlock()
		return u, true
	}
	return library.Updated{}, false
}

// auditReport is an audit as package paper draws it.
func (s *Site) auditReport(ctx context.Context, id string) (paper.Report, error) {
	if run.CheckID(id) != nil {
		return paper.Report{}, tidegate.Errorf(tidegate.FileNotFound, nil, "there is no audit of that name")
	}
	result, err := audit.Show(ctx, s.Desk, filepath.Join(store.Audits.Home(s.Home), id, audit.File))
	if err != nil {
		return paper.Report{}, err
	}
	r := paper.AuditOf(&result)
	if u, ok := s.lastUpdate(id); ok {
		markDrift(&r, u)
	}
	return r, nil
}

func (s *Site) auditPage(ctx context.Context, id string, link linker) (*page, error) {
	r, err := s.auditReport(ctx, id)
	if err != nil {
		return nil, err
	}
	_, updates := s.keptAbout(id)
	return s.documentPage("Audit "+id, documentView{Doc: r.Document(paper.Frame{}), Updates: s.updateRows(updates)}, link), nil
}

// demoPage is the audit of a report with lies in it, which every server has.
func (s *Site) demoPage(ctx context.Context, _ url.Values, link linker) (*page, error) {
	if s.Demo == nil {
		return nil, tidegate.Errorf(tidegate.FileNotFound, nil, "there is no sample here")
	}
	result, err := s.Demo(ctx)
	if err != nil {
		return nil, err
	}
	return s.documentPage("A report with lies in it", documentView{Doc: paper.AuditOf(&result).Document(paper.Frame{})}, link), nil
}

func (s *Site) documentPage(title string, view documentView, link linker) *page {
	return &page{View: "report", Title: title, Data: view, Now: s.Desk.Now(), link: link}
}

func (s *Site) answerPage(_ context.Context, id string, link linker) (*page, error) {
	a, err := library.ReadAnswer(s.Desk, s.Home, id)
	if err != nil {
		return nil, err
	}
	r, frame := a.Paper(), paper.Frame{Kind: "Answer", Links: subjects(a.Of, link)}
	if !a.Pass {
		frame.Kind = "Not answered"
		r.Partial, r.Trust = "The archived pages do not answer it. "+a.Why, ""
	}
	return s.documentPage("Answer "+id, documentView{Doc: r.Document(frame), Next: a.Next}, link), nil
}

// subjects lead to what something is about.
func subjects(of []library.Subject, link linker) (links []paper.Link) {
	for _, o := range of {
		view := "audit"
		if o.Kind == library.Run {
			view = "report"
		}
		links = append(links, paper.Link{Words: short(120, o.Title), Address: link(view, o.ID)})
	}
	return links
}

// updatePage is the report that was looked at again, with what that found.
func (s *server) updatePage(ctx context.Context, id string, link linker) (*page, error) {
	u, err := library.ReadUpdate(s.site.Desk, s.site.Home, id)
	if err != nil {
		return nil, err
	}
	r, err := s.reportOf(ctx, u.Of)
	if tidegate.CodeOf(err) == tidegate.FileNotFound {
		r, err = u.Paper(), nil
	}
	if err != nil {
		return nil, err
	}
	markDrift(&r, u)
	return s.site.documentPage("Update "+id, documentView{Again: againOf(u), Doc: r.Document(paper.Frame{Links: subjects([]library.Subject{u.Of}, link)})}, link), nil
}

// reportOf is the report of a run or an audit, as it was written. It returns NOT_FOUND where
// that is no longer there.
func (s *server) reportOf(ctx context.Context, of library.Subject) (paper.Report, error) {
	if of.Kind != library.Run {
		return s.site.auditReport(ctx, of.ID)
	}
	if err := run.CheckID(of.ID); err != nil {
		return paper.Report{}, err
	}
	found, done, err := s.site.snapshot(ctx, filepath.Join(s.site.Home, of.ID, run.ManifestFile))
	if err != nil {
		return paper.Report{}, err
	}
	defer done()
	reported, err := found.readReport(ctx, s.site.Version)
	return reported.Report, err
}

// againView says how an update ended, and what became of each source.
type againView struct {
	State   state
	Words   string
	Sources []againRow
}

type againRow struct {
	library.UpdatedSource
	State state
	Link  string
}

func againOf(u library.Updated) *againView {
	view := &againView{State: updateState(u), Words: u.Report().Summary}
	for _, source := range u.Sources {
		view.Sources = append(view.Sources, againRow{source, driftState(source.State), webAddress(source.URL)})
	}
	return view
}

// passagePart is a run of words of a passage.
type passagePart struct {
	Text   string
	Marked bool
}

// runeAt is the place of the rune that a byte of a text belongs to.
func runeAt(text string, at int) int {
	for at > 0 && at < len(text) && !utf8.RuneStart(text[at]) {
		at--
	}
	return at
}
