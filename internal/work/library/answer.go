package library

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/internal/rule/asking"
	"github.com/tidegate/tidegate/internal/rule/claim"
	"github.com/tidegate/tidegate/internal/rule/evidence"
	"github.com/tidegate/tidegate/internal/text/link"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/step"
)

// Answers is the folder of answers beside the folder of runs.
func Answers(runs string) string { return filepath.Join(filepath.Dir(runs), "answers") }

const answerSchema = "answer.v1"

// Asked is a further question about finished reports, with what may answer it.
type Asked struct {
	*asking.Case
	of      []Subject
	sources []AnsweredSource
	files   []file
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
	Answer     string           `json:"answer" jsonschema:"in Markdown; the fixed sentence where the archived pages do not answer the question"`
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
			p := claim.PageOf(id, record.URL, step.PageOf(*from.Capture).Content())
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

// Note keeps what an agent was asked, or what it answered, under a name.
func (a *Asked) Note(name, text string) {
	a.files = append(a.files, file{"asked/" + name, []byte(text)})
}

// Keep keeps the answer in a folder of its own beside the runs, whole or not at all. Why
// says why there is none; the answer is then the fixed sentence. It returns WRITE_FAILED.
func (a *Asked) Keep(desk run.Desk, runs string, answer asking.Answer, trust, why string) (Answered, error) {
	out := Answered{Of: a.of, Question: a.Question, Answer: a.Refusal(), Why: why, Sentences: []evidence.Claim{}, Sources: []AnsweredSource{}}
	if why == "" {
		out.Pass, out.Answer, out.Trust, out.Sentences, out.Sources = true, answer.Text, trust, answer.Claims.Sentences, a.cited(&answer)
	} else {
		out.Next = "tidegate research " + report.ShellWord(a.Question)
	}
	err := keep(desk, Answers(runs), answerSchema, a.of, a.files, nil, func(id, path string) ([]byte, error) {
		out.AnswerID, out.AnswerPath = id, path
		kept := out
		kept.AnswerPath = "" // a folder can be moved
		return codec.MarshalFile(kept)
	})
	return out, err
}

// Report shows the answer with its sources, or that there is none.
func (a Answered) Report() report.Report {
	r := report.Report{Name: "ask", Title: a.Question, Status: report.PassIf(a.Pass), Summary: a.Trust}
	r.Add(report.Paragraph(a.Answer))
	if !a.Pass {
		r.Summary = a.Why
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
				r.Add(report.Fields{{Name: s.ID, Value: s.Text}, {Name: w.CID, Value: strings.Join(strings.Fields(w.Text), " ")}})
			}
		}
	}
	r.Add(report.Fields{{Name: "kept in", Value: a.AnswerPath}})
	return r
}
