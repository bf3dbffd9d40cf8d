package web

import (
	"strconv"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/agent/job"
	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/internal/work/run"
)

// jobView is one job: what was asked, what was answered, what is wrong with it,
// and what changed.
type jobView struct {
	jobRow
	Attempts []attemptView
	Prompt   listing // of the next attempt, where none has begun
	HasNext  bool
}

type attemptView struct {
	*job.Attempt
	StateWord state
	Agent     string
	Took      string
	Prompt    listing
	Answers   []answerView
	Pairs     []job.Pair // whose twins a second reader was shown, once the round is closed
}

// answerView is an answer with its faults at their lines, and how it differs from
// the next one.
type answerView struct {
	Number   int
	File     string
	At       string
	Unread   bool // it was not judged
	Text     listing
	Faults   []job.Fault
	Warnings []job.Fault
	Wrong    int // how many faults there are, including those that are not shown
	Warned   int
	Left     int // faults and warnings that are not shown
	Open     bool
	Next     string // the answer that the difference leads to, "" for the last one
	Changes  []change
	Added    int
	Removed  int
}

// listing is a text with its lines.
type listing struct {
	Lines []line
	More  int    // lines that are not shown
	Bytes int    // of the whole
	Raw   string // where the whole text is
	// Anchor begins the ids of the lines that have faults.
	Anchor string
}

type line struct {
	N      int
	Text   string
	More   int // characters that are not shown
	Faults []job.Fault
	Warns  []job.Fault
}

// The limits of a text that a page shows; the whole text is behind a link.
const (
	maxLines = 3000
	maxLine  = 2000
	// An answer can break a rule in every line.
	maxFaults = 200
)

// newListing is a text as a page shows it, with faults at their lines.
func newListing(text, raw string, faults, warnings []job.Fault) listing {
	out := listing{Bytes: len(text), Raw: raw}
	at := func(list []job.Fault) map[int][]job.Fault {
		lines := map[int][]job.Fault{}
		for _, f := range list {
			if f.Line != nil {
				lines[*f.Line] = append(lines[*f.Line], f)
			}
		}
		return lines
	}
	wrong, warned := at(faults), at(warnings)
	number := 0
	for part := range strings.Lines(strings.ReplaceAll(text, "\r\n", "\n")) {
		number++
		if number > maxLines && wrong[number] == nil && warned[number] == nil {
			out.More++
			continue
		}
		part = strings.TrimSuffix(part, "\n")
		l := line{N: number, Faults: wrong[number], Warns: warned[number]}
		if runes := []rune(part); len(runes) > maxLine {
			part, l.More = string(runes[:maxLine]), len(runes)-maxLine
		}
		l.Text = report.Visible(part)
		out.Lines = append(out.Lines, l)
	}
	return out
}

func (l *visit) jobPage(id string) (*page, error) {
	shown, err := l.board.Show(id)
	if err != nil {
		return nil, err
	}
	view := jobView{jobRow: l.jobRow(shown.Job)}
	pairs, err := l.board.Pairs(id)
	if err != nil {
		return nil, err
	}
	var texts []string
	var answers []*answerView
	for _, a := range shown.Attempts {
		v := attemptView{Attempt: a, StateWord: l.attemptState(a), Agent: agentOf(a), Took: l.took(a)}
		prompt, raw := l.readText(a, "prompt.md")
		v.Prompt = newListing(prompt, raw, nil, nil)
		v.Answers = make([]answerView, len(a.Submissions))
		for i, s := range a.Submissions {
			text, raw := l.readText(a, s.Answer)
			text = job.AsJudged(a.Kind, []byte(text))
			texts = append(texts, text)
			faults, warnings := s.Faults[:min(len(s.Faults), maxFaults)], s.Warnings[:min(len(s.Warnings), maxFaults)]
			v.Answers[i] = answerView{Number: i + 1, File: s.Answer, At: s.HandedInAt, Unread: !s.Judged, Faults: faults, Warnings: warnings, Wrong: len(s.Faults), Warned: len(s.Warnings),
				Left: len(s.Faults) - len(faults) + len(s.Warnings) - len(warnings), Text: newListing(text, raw, faults, warnings)}
			v.Answers[i].Text.Anchor = "l-" + strconv.Itoa(a.Number) + "-" + strconv.Itoa(i+1) + "-"
			answers = append(answers, &v.Answers[i])
		}
		for _, p := range pairs {
			if p.Attempt == a.Number {
				v.Pairs = append(v.Pairs, p)
			}
		}
		view.Attempts = append(view.Attempts, v)
	}
	for i := range answers {
		answers[i].Open = i >= len(answers)-2
		if i+1 < len(answers) {
			answers[i].Next = "the next answer"
			answers[i].Changes, answers[i].Added, answers[i].Removed = compare(texts[i], texts[i+1])
		}
	}
	if shown.Job.State == job.Open {
		if next, err := l.board.Prompt(l.ctx, id); err == nil {
			view.Prompt, view.HasNext = newListing(next.PromptMD, "", nil, nil), true
		}
	}
	p := l.page("job", id, view)
	return p, nil
}

// readText reads a file of an attempt, and says where all of it is.
func (l *visit) readText(a *job.Attempt, name string) (text, raw string) {
	data, err := l.run.Folder().Read(run.AttemptDir(a.JobID, a.Number) + "/" + name)
	if err != nil {
		return "(" + tidegate.AsError(err).Message + ")", ""
	}
	return string(data), l.link("text", l.id, a.JobID, strconv.Itoa(a.Number), name)
}

// attemptFile is the prompt or an answer of an attempt. It returns JOB_NOT_FOUND,
// and NOT_FOUND for every other file.
func (l *visit) attemptFile(id, attempt, name string) ([]byte, error) {
	shown, err := l.board.Show(id)
	if err != nil {
		return nil, err
	}
	for _, a := range shown.Attempts {
		if strconv.Itoa(a.Number) != attempt {
			continue
		}
		known := name == "prompt.md"
		for _, s := range a.Submissions {
			known = known || s.Answer == name
		}
		if known {
			return l.run.Folder().Read(run.AttemptDir(a.JobID, a.Number) + "/" + name)
		}
	}
	return nil, tidegate.Errorf(tidegate.FileNotFound, nil, "the attempt has no such file")
}
