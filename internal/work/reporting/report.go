package reporting

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/document/paper"
	"github.com/tidegate/tidegate/internal/rule/claim"
	"github.com/tidegate/tidegate/internal/rule/evidence"
	"github.com/tidegate/tidegate/internal/rule/source"
	"github.com/tidegate/tidegate/internal/text/link"
	"github.com/tidegate/tidegate/internal/text/markdown"
	"github.com/tidegate/tidegate/internal/work/gates"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/sentences"
	"github.com/tidegate/tidegate/internal/work/sourcing"
	"github.com/tidegate/tidegate/internal/work/step"
	"github.com/tidegate/tidegate/wave"
)

// Reported is a run as its report shows it.
type Reported struct {
	Report  paper.Report
	Records []source.Record // of the sources that the report cites, each page once
}

// Format is one that a report can be had in.
type Format struct {
	Name   string
	Title  string // as pages call it
	Ending string // of its file
	Media  string
	Binary bool // it is no text
	write  func(Reported) ([]byte, error)
}

// Formats are those of a report. CSL-JSON, BibTeX and RIS have the sources that it cites.
var Formats = []Format{
	{"markdown", "Markdown", "md", "text/markdown; charset=utf-8", false,
		func(r Reported) ([]byte, error) { return r.Report.Markdown(), nil }},
	{"text", "Text", "txt", "text/plain; charset=utf-8", false,
		func(r Reported) ([]byte, error) { return r.Report.Text(0, false), nil }},
	{"html", "HTML", "html", "text/html; charset=utf-8", false,
		func(r Reported) ([]byte, error) { return r.Report.HTML(), nil }},
	{"docx", "Word", "docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document", true,
		func(r Reported) ([]byte, error) { return r.Report.Docx(), nil }},
	{"csl-json", "CSL-JSON", "json", "application/json", false,
		func(r Reported) ([]byte, error) { return source.CSLJSON(r.Records) }},
	{"bibtex", "BibTeX", "bib", "application/x-bibtex; charset=utf-8", false,
		func(r Reported) ([]byte, error) { return source.BibTeX(r.Records), nil }},
	{"ris", "RIS", "ris", "application/x-research-info-systems", false,
		func(r Reported) ([]byte, error) { return source.RIS(r.Records), nil }},
	{"pdf", "PDF", "pdf", "application/pdf", true, nil},
}

// Printer prints a page as PDF, with the time that the file names.
type Printer func(ctx context.Context, page []byte, created string) ([]byte, error)

// Export is the report in a format, Markdown where there is none of that name. Only PDF
// needs a printer: it returns NOT_FOUND where there is none, and the errors of that.
func (r Reported) Export(ctx context.Context, name string, print Printer) ([]byte, error) {
	i := max(0, slices.IndexFunc(Formats, func(f Format) bool { return f.Name == name }))
	switch write := Formats[i].write; {
	case write != nil:
		return write(r)
	case print == nil:
		return nil, tidegate.Errorf(tidegate.FileNotFound, nil, "nothing here prints PDF: download the HTML and print that")
	}
	return print(ctx, r.Report.PrintHTML(), r.Report.CreatedAt)
}

// ReadReport reads what the report of a run shows: its synthesis, with each claim
// checked against the archived pages, its sources and how it was made. Program names
// the program that makes the report. For a run that is not completed there is only a
// partial report: the synthesis as far as it exists, else the summaries, else the
// outputs. It writes nothing.
//
// It returns INVALID_STATE for a run that is not completed, and the errors of
// reading it.
func ReadReport(ctx context.Context, r *run.Run, partial bool, program string) (Reported, error) {
	m := r.Manifest()
	out := Reported{Report: paper.Report{Question: m.Query(), RunID: r.ID(), CreatedAt: m.Doc().Get("created_at").Str(), Program: program}}
	if m.Status() != run.Completed {
		if !partial {
			return Reported{}, tidegate.Errorf(tidegate.InvalidState, tidegate.Pairs("status", m.Status(), "stage", m.Stage()),
				"the run is %s in stage %s and not completed; --partial shows what there is", m.Status(), m.Stage())
		}
	}
	w := reportReader{ctx: ctx, run: r, out: &out}
	shape, err := r.Shape()
	if err != nil {
		return Reported{}, err
	}
	template, err := shape.Sections()
	if err != nil {
		return Reported{}, err
	}
	out.Report.Language, out.Report.AnswerTitle = shape.Language, template.Answer()
	if m.Status() != run.Completed {
		out.Report.Partial = notEnded(shape.Language, m.Status(), m.Stage())
	}
	trust, err := sentences.ReadTrust(r)
	if err != nil {
		return Reported{}, err
	}
	out.Report.Trust, w.trust = trust.In(shape.Language), trust
	for _, read := range []func() error{w.sources, w.parts, w.gates, w.contracts, w.agents, w.spent, w.decisions, w.leftOut, w.since} {
		if err := read(); err != nil {
			return Reported{}, err
		}
	}
	w.cite()
	return out, nil
}

// stageWords say in other languages than English what happens in a stage.
var stageWords = map[run.Stage]string{
	run.Init: "planning", run.Perspectives: "planning", run.Wave1: "research", run.Pivot: "research", run.Wave2: "research", run.Citations: "checking sources",
	run.Summaries: "summaries", run.Synthesis: "writing", run.Review: "review", run.Finalize: "the end",
}

// notEnded says why a report is partial.
func notEnded(language string, status run.Status, stage run.Stage) string {
	at := string(stage)
	if language != "" && language != "en" {
		at = evidence.Say(language, cmp.Or(stageWords[stage], at))
	}
	return evidence.Say(language, "The run has not ended: it is %s, in stage %s.", evidence.Say(language, string(status)), at)
}

type reportReader struct {
	ctx     context.Context
	run     *run.Run
	out     *Reported
	trust   sentences.Trust
	texts   *sourcing.Texts
	records []source.Record
}

// read is a file of the run, nil where it does not exist.
func (w *reportReader) read(name string) ([]byte, error) {
	data, err := w.run.Folder().Read(name)
	return data, artifact.UnlessMissing(err)
}

func (w *reportReader) sources() (err error) {
	if w.texts, err = sourcing.OpenTexts(w.ctx, w.run); err != nil {
		return err
	}
	name := w.run.Layout().Citations
	data, err := w.read(name)
	if err != nil || data == nil {
		return err
	}
	if w.records, err = source.ParseRecords(w.run.Path(name), data); err != nil {
		return err
	}
	for i := range w.records {
		r := &w.records[i]
		s := paper.Source{CID: r.CID, SameAs: r.SameAs, Title: r.Title, Author: r.Author, Publisher: r.Publisher, Date: r.Published, URL: r.URLOriginal, ReplacedBy: r.ReplacedBy,
			File: source.OwnName(r.NormalizedURL), Attached: r.Attached, Undated: r.Undated, Origin: r.Origin.In(w.out.Report.Language), Status: string(r.Status)}
		if s.URL == "" {
			s.URL = r.NormalizedURL
		}
		if r.Status != source.Valid {
			s.Reason = r.Notes
		}
		if r.Archived() {
			s.FetchedAt = r.CheckedAt
		}
		w.out.Report.Sources = append(w.out.Report.Sources, s)
	}
	return nil
}

// parts finds the text of the report: the synthesis, otherwise what exists so far.
func (w *reportReader) parts() error {
	for _, name := range []string{w.run.Layout().Synthesis(), w.run.Layout().Draft()} {
		text, err := w.read(name)
		if err != nil {
			return err
		}
		if text != nil {
			return w.part("", text)
		}
	}
	for _, find := range []func(run.Stage, string) string{
		func(_ run.Stage, id string) string { return w.run.Layout().SummariesDir + "/" + id + ".md" }, w.run.Output,
	} {
		err := w.eachPerspective(func(stage run.Stage, p wave.Perspective) error {
			text, err := w.read(find(stage, p.ID))
			if err != nil || text == nil {
				return err
			}
			return w.part(p.Title, text)
		})
		if err != nil || len(w.out.Report.Parts) > 0 {
			return err
		}
	}
	return nil
}

func (w *reportReader) part(title string, text []byte) error {
	part := paper.Part{Title: title, Text: text}
	if c := w.trust.Claims; c != nil && c.SynthesisDigest == codec.DigestBytes(text) {
		facts, _, err := sentences.ReportFacts(w.run, text)
		if err != nil {
			return err
		}
		w.out.Report.AnswerTitle = facts.Template.Answer()
		if part.Sentences, err = w.sentences(c, evidence.Read(markdown.Read(text), facts), w.trust.Reader); err != nil {
			return err
		}
	} else {
		claims, read, err := sentences.CheckText(w.ctx, w.run, text)
		if err != nil {
			return err
		}
		shown, err := w.sentences(&claims, read, false)
		if err != nil {
			return err
		}
		part.Sentences = slices.DeleteFunc(shown, func(s paper.ShownSentence) bool { return len(s.CIDs) == 0 }) // need no form
	}
	w.out.Report.Parts = append(w.out.Report.Parts, part)
	return nil
}

// sentences are those of a text with how each stands and where it is.
func (w *reportReader) sentences(claims *evidence.Claims, read evidence.Report, reader bool) (shown []paper.ShownSentence, err error) {
	places := read.Sentences
	for i, stand := range claims.Stands(reader) {
		s := paper.ShownSentence{Claim: claims.Sentences[i], Stand: stand}
		if len(places) == len(claims.Sentences) && places[i].Text == s.Text { // else an older program read it
			s.Start, s.End = places[i].Start, places[i].End
		}
		if s.Verdict != nil {
			if s.Reader, err = sentences.ReaderOf(w.run, s.Verdict); err != nil {
				return nil, err
			}
		}
		for _, cid := range s.CIDs {
			w.texts.Text(cid) // sources are shown with what was found on them
		}
		for _, window := range s.Windows {
			start, end, _ := s.Place(window)
			s.Links = append(s.Links, link.TextLink(w.texts.URL(window.CID), w.texts.Shown[window.CID], start, end))
		}
		shown = append(shown, s)
	}
	return shown, w.texts.Err
}

// eachPerspective visits the perspectives of all waves that the run planned. Those of
// the second wave are titled by the gap that each closes, which is what a reader knows.
func (w *reportReader) eachPerspective(visit func(run.Stage, wave.Perspective) error) error {
	waves, err := w.run.Waves()
	if err != nil {
		return err
	}
	plan, err := step.ReadWave2Plan(w.run)
	if err != nil {
		return err
	}
	gaps := map[string]string{}
	for _, e := range plan.Get("entries").Elems() {
		gaps[e.Get("perspective_id").Str()] = e.Get("text").Str()
	}
	for _, stage := range waves {
		name := w.run.ContractsOf(stage)
		if there, err := step.Existing(w.run, name); err != nil || len(there) == 0 {
			return err
		}
		doc, err := step.ReadPerspectives(w.run.Desk(), "perspectives_path", w.run.Path(name), wave.Contracts)
		if err != nil {
			return err
		}
		for _, p := range doc.List {
			if gap := gaps[p.ID]; stage == run.Wave2 && gap != "" {
				p.Title = evidence.Say(w.out.Report.Language, "Gap: %s", tidegate.Cut(gap))
			}
			if err := visit(stage, p); err != nil {
				return err
			}
		}
	}
	return nil
}

func (w *reportReader) gates() error {
	gates, err := w.run.Gates()
	if err != nil {
		return err
	}
	usable := slices.ContainsFunc(w.records, func(r source.Record) bool { return r.Usable() })
	for _, row := range run.GateTable {
		state, err := w.run.GateState(gates, row.ID)
		if err != nil {
			return err
		}
		if row.ID == "C" && state.Passed() && state.Accepted != nil && !usable {
			w.out.Report.Unsourced = true
		}
		w.out.Report.Gates = append(w.out.Report.Gates, paper.GateLine{ID: row.ID, Name: row.Name, Status: state.Counts(),
			Accepted: state.Accepted.Get("reason").Str(), Notes: gates.Gate(row.ID).Get("notes").Str()})
	}
	return nil
}

func (w *reportReader) contracts() error {
	var judge wave.Judge
	return w.eachPerspective(func(stage run.Stage, p wave.Perspective) error {
		file, err := w.run.Folder().Open(w.run.Output(stage, p.ID))
		if err != nil {
			return artifact.UnlessMissing(err)
		}
		defer file.Close()
		verdict, err := judge.Judge(p.Contract, artifact.Until(w.ctx, file))
		if err != nil {
			return err
		}
		number := 1
		if stage == run.Wave2 {
			number = 2
		}
		w.out.Report.Contracts = append(w.out.Report.Contracts, paper.Contract{ID: p.ID, Title: p.Title, Wave: number, Words: verdict.Words, MaxWords: int(p.Contract.MaxWords),
			Sources: verdict.Sources, MaxSources: int(p.Contract.MaxSources), Sections: p.Contract.Sections})
		return nil
	})
}

// decisions are what people decided, how agents were kept, and which sources were
// allowed.
func (w *reportReader) decisions() error {
	decided, err := w.run.Decisions()
	if err != nil {
		return err
	}
	for _, d := range decided {
		w.out.Report.Decisions = append(w.out.Report.Decisions, d.In(w.out.Report.Language))
	}
	kept, err := w.run.Confinements()
	for _, c := range kept {
		w.out.Report.Confined = append(w.out.Report.Confined, c.In(w.out.Report.Language))
	}
	if err != nil {
		return err
	}
	policy, err := w.run.Policy()
	w.out.Report.Allowed = append(policy.Frozen.Lines(w.out.Report.Language), policy.Sources.Lines(w.out.Report.Language)...)
	return err
}

// spent is what the whole run took, as a terminal says it when the run ends.
func (w *reportReader) spent() error {
	spent, err := gates.SpentOf(w.run)
	for _, s := range spent {
		switch s.Name {
		case "max_cost_usd":
			w.out.Report.Cost.All = s.Used
		case "max_minutes":
			w.out.Report.Minutes = int(math.Round(s.Used))
		}
	}
	return err
}

func (w *reportReader) leftOut() (err error) {
	w.out.Report.LeftOut, err = step.OpenGaps(w.run)
	return err
}

// cite gives the sources that the report cites their texts, and lists their
// records.
func (w *reportReader) cite() {
	cited := map[string]bool{}
	for _, part := range w.out.Report.Parts {
		for _, m := range claim.Inspect(part.Text).Mentions {
			cited[m.CID] = cited[m.CID] || m.Visible
		}
		for _, s := range part.Sentences {
			for _, cid := range s.CIDs {
				cited[cid] = true
			}
		}
	}
	for i := range w.records {
		r := &w.records[i]
		w.out.Report.Sources[i].Text = w.texts.Shown[r.CID]
		if r.SameAs != "" && cited[r.CID] {
			cited[r.SameAs] = true
		}
	}
	for _, r := range w.records {
		if cited[r.CID] && r.SameAs == "" {
			w.out.Records = append(w.out.Records, r)
		}
	}
}
