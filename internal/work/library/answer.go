package library

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/internal/document/paper"
	"github.com/tidegate/tidegate/internal/rule/asking"
	"github.com/tidegate/tidegate/internal/rule/claim"
	"github.com/tidegate/tidegate/internal/rule/drift"
	"github.com/tidegate/tidegate/internal/rule/evidence"
	"github.com/tidegate/tidegate/internal/text/link"
	"github.com/tidegate/tidegate/internal/text/markdown"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/sentences"
	"github.com/tidegate/tidegate/internal/work/sourcing"
	"github.com/tidegate/tidegate/internal/work/store"
)

const answerSchema = "answer.v1"

// Asked is a further question about finished reports, with what may answer it.
type Asked struct {
	*asking.Case
	ID        string           // of the answer, once it is begun
	CreatedAt string           // likewise
	Folder    *artifact.Folder // likewise; it keeps what agents were asked and answered

	desk    run.Desk
	of      []Subject
	sources []AnsweredSource
}

// AnsweredSource is a page that an answer may cite.
type AnsweredSource struct {
	ID    string `json:"id" jsonschema:"as the answer cites it"`
	Of    string `json:"of" jsonschema:"the run or audit that archived it"`
	CID   string `json:"cid"`
	URL   string `json:"url"`
	Title string `json:"title"`
}

// Answered is what became of a question.
type Answered struct {
	OK         codec.True       `json:"ok"`
	Pass       bool             `json:"pass" jsonschema:"the question was answered, and every sentence of the answer stands"`
	AnswerID   string           `json:"answer_id"`
	AnswerPath string           `json:"answer_path" jsonschema:"the folder that keeps what was asked and answered"`
	Of         []Subject        `json:"of"`
	Question   string           `json:"question"`
	Answer     string           `json:"answer" jsonschema:"in Markdown; the fixed sentence where the archived pages do not answer the question; empty where the agent failed"`
	Why        string           `json:"why" jsonschema:"why there is no answer; empty where there is one"`
	Trust      string           `json:"trust" jsonschema:"how the sentences of the answer were checked"`
	Sentences  []evidence.Claim `json:"sentences"`
	Sources    []AnsweredSource `json:"sources" jsonschema:"those that the answer cites"`
	Next       string           `json:"next" jsonschema:"what to type for new research; empty where there is an answer"`
}

// Passed reports whether the question was answered.
func (a Answered) Passed() bool { return a.Pass }

// AskOf puts a question to finished reports: every page of theirs that may be cited is at
// hand, once. It returns INVALID_ARGS without a question, INVALID_STATE where no page has a
// text, and the errors of reading the archives.
func AskOf(ctx context.Context, question string, items ...*Item) (*Asked, error) {
	if strings.TrimSpace(question) == "" {
		return nil, tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("question", question), "the question must not be empty")
	}
	a := &Asked{}
	var pages []*claim.Page
	seen := map[string]bool{}
	for _, item := range items {
		a.of = append(a.of, item.Subject)
		for i := range item.all {
			record := &item.all[i]
			if seen[record.CID] || !record.Usable() || record.SameAs != "" {
				continue
			}
			from, err := item.source(ctx, record.CID)
			if err != nil {
				return nil, err
			}
			if from == nil || from.Capture == nil {
				continue
			}
			id := fmt.Sprintf("s%d", len(pages)+1)
			p := claim.PageOf(id, record.URL, sourcing.PageOf(*from.Capture).Content())
			if p.Text == "" {
				continue
			}
			seen[record.CID] = true
			pages = append(pages, p)
			a.sources = append(a.sources, AnsweredSource{id, item.ID, record.CID, link.Mask(record.NormalizedURL), record.Title})
		}
	}
	if len(pages) == 0 {
		return nil, tidegate.Errorf(tidegate.InvalidState, nil, "no archived page has a text that could answer a question")
	}
	a.Case = asking.NewCase(strings.TrimSpace(question), items[0].Language, pages)
	return a, nil
}

// Begin makes the folder of the answer beside the runs. One that was begun before for the
// same question about the same reports, and has no result, goes on. It returns READ_FAILED
// and WRITE_FAILED.
func (a *Asked) Begin(ctx context.Context, desk run.Desk, runs string) error {
	a.desk = desk
	begun, path, err := a.begun(ctx, runs)
	if err == nil && path == "" {
		begun, path, err = create(desk, store.Answers.Home(runs), Held{SchemaVersion: answerSchema, Question: a.Question, Of: a.of}, nil)
	}
	if err != nil {
		return err
	}
	a.ID, a.CreatedAt = begun.ID, begun.CreatedAt
	a.Folder, err = desk.Reach.Open("answer", path)
	return err
}

// begun is the answer to the same question that has no result, with its folder; "" for none.
func (a *Asked) begun(ctx context.Context, runs string) (was Held, path string, err error) {
	failed := store.Answers.Each(a.desk.Reach, store.Answers.Home(runs), func(home *artifact.Folder, id string) {
		var held Held
		data, unread := home.Read(id + "/" + store.AboutFile)
		if path != "" || unread != nil || json.Unmarshal(data, &held) != nil || held.ID != id || held.SchemaVersion != answerSchema ||
			held.Question != a.Question || !slices.Equal(held.Of, a.of) {
			return
		}
		if ended, unknown := a.ended(ctx, home, id); unknown != nil || !ended {
			was, path, err = held, filepath.Join(home.Path(), id), unknown
		}
	})
	return was, path, cmp.Or(err, failed)
}

// ended reports whether an answer has a result. One whose writing was interrupted is rolled
// forward or back before.
func (a *Asked) ended(ctx context.Context, home *artifact.Folder, id string) (bool, error) {
	folder, err := home.Folder(id)
	if err != nil {
		return false, err
	}
	defer folder.Close()
	folder.Settle(ctx)
	return folder.Exists(store.ResultFile)
}

// Keep keeps the answer in the folder that was begun. Why says why there is none; the answer
// is then the fixed sentence, or empty where the agent failed, which says nothing about the
// pages. It returns READ_FAILED and WRITE_FAILED.
func (a *Asked) Keep(ctx context.Context, answer asking.Answer, trust, why string, failed bool) (Answered, error) {
	out := Answered{AnswerID: a.ID, Of: a.of, Question: a.Question, Answer: a.Refusal(), Why: why, Sentences: []evidence.Claim{}, Sources: []AnsweredSource{}}
	if failed {
		out.Answer = ""
	}
	if why == "" {
		out.Pass, out.Answer, out.Trust, out.Sentences, out.Sources = true, answer.Text, trust, answer.Claims.Sentences, a.cited(&answer)
	} else {
		out.Next = "tidegate research " + report.ShellWord(a.Question)
	}
	result, err := codec.MarshalFile(out) // without a path: a folder can be moved
	if err != nil {
		return out, err
	}
	out.AnswerPath = a.Folder.Path()
	lock, err := a.Folder.Lock(ctx, a.desk.Now)
	if err != nil {
		return out, err
	}
	defer lock.Unlock()
	files, err := sentences.AttemptFiles(a.Folder)
	if err != nil {
		return out, err
	}
	tx := lock.Begin()
	_, err = tx.WritePlain(store.ResultFile, result)
	if err == nil {
		err = tx.Record(run.LogFile, judged(a.desk, result, files))
	}
	if err != nil {
		tx.Rollback()
		return out, err
	}
	return out, tx.Commit()
}

// Report shows the answer with its sources, or that there is none.
func (a Answered) Report() report.Report {
	r := report.Report{Name: "ask", Title: a.Question, Status: report.PassIf(a.Pass), Summary: a.Trust}
	r.Add(report.Paragraph(a.Answer))
	if !a.Pass {
		r.Summary = a.Why
	}
	if a.Answer == "" {
		r.Blocks = []report.Block{report.Paragraph("The agent failed: whether the archived pages answer this question is not known. Another agent may find out.")}
	} else if !a.Pass {
		r.Add(report.Paragraph("New research may answer it:"), report.Preformatted(a.Next))
	}
	if len(a.Sources) > 0 {
		table := report.NewTable("Id", "Source", "Of")
		for _, s := range a.Sources {
			table.Row(report.None, s.ID, strings.TrimSpace(s.Title+" "+s.URL), s.Of)
		}
		r.Add(table)
	}
	for _, s := range a.Sentences {
		for n, w := range s.Windows {
			if n == 0 && s.Form != evidence.Frame {
				r.Add(report.Fields{{Name: s.ID, Value: s.Text}, {Name: w.CID, Value: markdown.OneLine(w.Text)}})
			}
		}
	}
	r.Add(report.Fields{{Name: "kept in", Value: a.AnswerPath}})
	return r
}

// MostAsked is how many runs and audits one question may be about.
const MostAsked = 20

// AskInput are the arguments of [Consult].
type AskInput struct {
	Of       []string `json:"of" minitems:"1" jsonschema:"the finished runs or audits to ask, by their ids; 20 at most"`
	Question string   `json:"question" jsonschema:"the question"`
	Answer   string   `json:"answer,omitzero" jsonschema:"your answer by the rules of prompt_md, to be judged; leave it out to get prompt_md"`

	// Runs is the home of runs.
	Runs string `json:"-"`
}

// Consulted is a further question for an agent: first what may answer it, then how its
// answer stands.
type Consulted struct {
	OK       codec.True       `json:"ok"`
	Pass     bool             `json:"pass" jsonschema:"an answer was handed in, and every sentence of it stands by rule"`
	Of       []Subject        `json:"of"`
	PromptMD string           `json:"prompt_md" jsonschema:"passages and rules to answer by; empty once an answer was handed in, and where no passage is about the question"`
	Answer   string           `json:"answer" jsonschema:"the answer that stands, or the fixed sentence where the archived pages do not answer the question; empty where there is none yet"`
	Faults   []evidence.Fault `json:"faults" jsonschema:"everything for which the answer does not stand, each with what to change"`
	Trust    string           `json:"trust" jsonschema:"how the sentences of the answer were checked"`
	Sources  []AnsweredSource `json:"sources" jsonschema:"those that prompt_md shows, or that the answer cites"`
}

// Passed reports whether there is an answer that stands.
func (c Consulted) Passed() bool { return c.Pass }

// Consult puts a further question about finished reports to the caller itself: without an
// answer it returns the passages and the rules, with one it judges the answer by rule. No
// other agent is asked, nothing is fetched and nothing is kept. It returns INVALID_ARGS,
// PATH_TRAVERSAL for an id that is a path, the errors of [Open] and [AskOf], and CANCELLED.
func Consult(ctx context.Context, desk run.Desk, in AskInput) (Consulted, error) {
	out := Consulted{Faults: []evidence.Fault{}, Sources: []AnsweredSource{}}
	if len(in.Of) > MostAsked {
		return out, tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("of", len(in.Of)), "of names at most %d runs and audits, got %d", MostAsked, len(in.Of))
	}
	var items []*Item
	for _, id := range in.Of {
		if err := run.CheckID(id); err != nil {
			return out, err
		}
		item, err := Open(ctx, desk, in.Runs, in.Runs, id)
		if err != nil {
			return out, err
		}
		defer item.Close()
		items = append(items, item)
	}
	asked, err := AskOf(ctx, in.Question, items...)
	if err != nil {
		return out, err
	}
	out.Of = asked.of
	if in.Answer == "" {
		return out, asked.show(ctx, &out)
	}
	answer, err := asked.Judge(ctx, in.Answer)
	if err != nil {
		return out, err
	}
	if answer.Refused {
		out.Answer = answer.Text
		return out, nil
	}
	out.Sources = asked.cited(&answer)
	out.Faults = append(append(out.Faults, answer.Faults...), asking.Refusals(answer.Claims.Judge(false))...)
	if len(out.Faults) == 0 {
		out.Pass, out.Answer, out.Trust = true, answer.Text, evidence.TrustLine(&answer.Claims, evidence.Readers{None: true})
	}
	return out, nil
}

// show hands out the passages that may answer the question, or the fixed sentence.
func (a *Asked) show(ctx context.Context, out *Consulted) error {
	passages, err := a.Passages(ctx)
	if err != nil || len(passages) == 0 {
		out.Answer = a.Refusal()
		return err
	}
	out.PromptMD = a.Prompt(passages, "", nil)
	shown := map[string]bool{}
	for _, p := range passages {
		shown[p.CID] = true
	}
	out.Sources = a.sourcesOf(shown)
	return nil
}

// cited are the sources that an answer cites.
func (a *Asked) cited(answer *asking.Answer) []AnsweredSource {
	ids := map[string]bool{}
	for _, p := range answer.Claims.Pages {
		ids[p.CID] = true
	}
	return a.sourcesOf(ids)
}

func (a *Asked) sourcesOf(ids map[string]bool) []AnsweredSource {
	out := []AnsweredSource{}
	for _, s := range a.sources {
		if ids[s.ID] {
			out = append(out, s)
		}
	}
	return out
}

// Paper is the answer as a report: its text with its sentences, and the sources that it cites.
func (a Answered) Paper() paper.Report {
	out := paper.Report{Question: a.Question, Trust: a.Trust}
	facts := evidence.Facts{Template: evidence.Template{Name: "answer"}, Question: a.Question, SecondReader: true}
	for _, s := range a.Sources {
		facts.Sources = append(facts.Sources, evidence.Source{CID: s.ID})
		out.Sources = append(out.Sources, paper.Source{CID: s.ID, URL: s.URL, Title: s.Title, Status: "valid"})
	}
	part := paper.Part{Text: []byte(a.Answer)}
	places := evidence.Read(markdown.Read(part.Text), facts).Sentences
	for i, stand := range (&evidence.Claims{Sentences: a.Sentences}).Stands(true) {
		s := paper.ShownSentence{Claim: a.Sentences[i], Stand: stand}
		if len(places) == len(a.Sentences) && places[i].Text == s.Text { // else an older program read it
			s.Start, s.End = places[i].Start, places[i].End
		}
		part.Sentences = append(part.Sentences, s)
	}
	if len(places) != len(a.Sentences) || len(places) > 0 && part.Sentences[0].End == 0 {
		part = paper.Laid(part.Sentences)
	}
	out.Parts = []paper.Part{part}
	return out
}

// Paper are the sentences that were looked at again, for a report that is no longer there.
func (u Updated) Paper() paper.Report {
	var sentences []paper.ShownSentence
	for _, s := range u.Sentences {
		shown := paper.ShownSentence{Claim: evidence.Claim{ID: s.ID, Line: s.Line, Text: s.Text, Form: evidence.Cited}}
		shown.Words = "stands on the cited page"
		sentences = append(sentences, shown)
	}
	return paper.Report{Question: u.Of.Title, Parts: []paper.Part{paper.Laid(sentences)}}
}

// Mark marks in a report the sentences that no longer stand, with what their pages say now.
func (u Updated) Mark(r *paper.Report) {
	urls := u.urls()
	for p := range r.Parts {
		for i := range r.Parts[p].Sentences {
			s := &r.Parts[p].Sentences[i]
			at := slices.IndexFunc(u.Sentences, func(now UpdatedSentence) bool {
				return now.ID == s.ID || now.ID == "" && now.Line == s.Line && now.Text == s.Text
			})
			if at < 0 || !u.Sentences[at].fell() {
				continue
			}
			s.Drift = &paper.Drift{Words: map[drift.State]string{drift.Walled: "behind a wall now"}[u.Sentences[at].State]}
			if s.Drift.Words == "" {
				s.Drift.Words = string(u.Sentences[at].State)
			}
			for _, on := range u.Sentences[at].Pages {
				if on.State == drift.Stands {
					continue
				}
				page := paper.DriftPage{Title: urls[on.CID], Link: urls[on.CID], Why: on.Why}
				for _, passage := range on.Passages {
					then, now, added := sides(passage)
					page.Then, page.Now = append(page.Then, then...), append(page.Now, now...)
					if s.Drift.Now == "" {
						s.Drift.Now = added
					}
				}
				s.Drift.Pages = append(s.Drift.Pages, page)
			}
		}
	}
}

// fell reports whether pages were read, and no longer say the sentence.
func (s *UpdatedSentence) fell() bool {
	return s.State == drift.Changed || s.State == drift.Gone || s.State == drift.Walled
}

// sides are what a page said and what it says now, and what is new in that.
func sides(p drift.Passage) (then, now []paper.PieceView, added string) {
	var fresh []string
	facts := claim.Facts(claim.Question{Text: p.Now}, []claim.Window{{Text: p.Now}})
	for _, piece := range p.Difference {
		view := paper.PieceView{Text: piece.Text, Marked: piece.Op != drift.Same}
		if piece.Op != drift.Added {
			then = append(then, view)
		}
		if piece.Op != drift.Removed && p.Now != "" {
			now = append(now, view)
		}
		if piece.Op == drift.Added && p.Now != "" {
			words := strings.TrimSpace(piece.Text)
			if i := slices.IndexFunc(facts, func(f claim.Fact) bool { return strings.HasPrefix(f.Text, words) }); i >= 0 {
				words = facts[i].Text // a number has its unit
			}
			fresh = append(fresh, words)
		}
	}
	return then, now, strings.Join(fresh, " … ")
}
