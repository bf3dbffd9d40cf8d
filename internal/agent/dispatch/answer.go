package dispatch

import (
	"context"
	"fmt"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/agent/engine"
	"github.com/tidegate/tidegate/internal/agent/job"
	"github.com/tidegate/tidegate/internal/base/archive"
	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/internal/work/audit"
	"github.com/tidegate/tidegate/internal/work/library"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/sourcing"
	"github.com/tidegate/tidegate/tool"
)

// ToAnswer are the agents that a further question needs, all of them the named one where
// there is one.
func ToAnswer(named, model string, cells CellChoice) Wanted {
	return Wanted{
		Roles: []string{job.AskWriter, engine.AskReader}, Flag: "--agent", Model: model, Cells: cells, Further: true,
		Named: map[string]string{job.AskWriter: named, engine.AskReader: named},
	}
}

// Answer lets agents answer a further question, where one needs to be asked: then find
// finds them. It also returns what they took.
func (e *Env) Answer(ctx context.Context, asked *library.Asked, budget run.Budget, find func(context.Context) (*Team, error)) (library.Answered, job.Spent, error) {
	passages, err := asked.Passages(ctx)
	if err != nil {
		return library.Answered{}, job.Spent{}, err
	}
	if len(passages) == 0 {
		return engine.Answer(ctx, e.Home, asked, budget, false, engine.Options{Desk: e.OwnDesk()})
	}
	t, err := find(ctx)
	if err != nil {
		return library.Answered{}, job.Spent{}, err
	}
	defer t.Close()
	if err := t.answers(asked.Question); err != nil {
		return library.Answered{}, job.Spent{}, err
	}
	return engine.Answer(tidegate.WithActor(ctx, tidegate.Actor{Kind: tidegate.Agent}), e.Home, asked, budget, t.single(), e.Options(t))
}

// RecordedAnswer is the driver of the recording that made a report and has the answer to a
// question about it, "" where none has.
func (e *Env) RecordedAnswer(item *library.Item, question string) string {
	if r := e.recordingOf(item); r != nil && r.Further != nil && r.Further.Question == question {
		return item.Recorded
	}
	return ""
}

// recordingOf is the recording of the program that made a report, nil for another report.
func (e *Env) recordingOf(item *library.Item) *Recording {
	name, _ := strings.CutPrefix(item.Recorded, "recorded:")
	if r, found := e.Recordings[name]; found {
		return &r
	}
	return nil
}

// PagesOf is [Env.PagesAgain] for the sources of a report. Those of a recording are recorded,
// and no connection is opened.
func (e *Env) PagesOf(item *library.Item, call tool.Caller) (again library.Again, recorded bool) {
	if r := e.recordingOf(item); r != nil && e.Fetch == nil {
		return func(func(url string) []archive.Field) sourcing.Fetch { return r.Fetch }, true
	}
	return e.PagesAgain(call), false
}

// verifier is the role of the second reader of a report.
const verifier = "verifier"

// SecondReader makes the agent ready that is to read an audited report within a budget. Read
// says who it is, what it is sent and what that took. Done ends its use. It returns
// INVALID_ARGS and INVALID_STATE for an agent that cannot work.
func (e *Env) SecondReader(ctx context.Context, named string, budget map[string]float64, say func(line string)) (read audit.Reader, done func(), err error) {
	t, err := e.Team(ctx, Wanted{Roles: []string{verifier}, Flag: "--verifier", Named: map[string]string{verifier: named}})
	if err != nil {
		return nil, nil, err
	}
	if err := t.Ready(ctx, nil); err != nil {
		t.Close()
		return nil, nil, err
	}
	return e.reader(t, budget, say), t.Close, nil
}

// OfferReader asks a person whether the agent that is at hand may read so many sentences, and
// what that will probably cost. Name is "" where there is none, or the person says no: the
// report is judged by rule then, which is said.
func (e *Env) OfferReader(ctx context.Context, sentences int, budget map[string]float64, ask func(ctx context.Context, question string) (yes bool, err error), say func(line string)) (name string, read audit.Reader, done func(), err error) {
	t, err := e.Team(ctx, Wanted{Roles: []string{verifier}, Flag: "--verifier"})
	if err == nil {
		if err = t.Ready(ctx, nil); err != nil {
			t.Close()
		}
	}
	if tidegate.CodeOf(err) == tidegate.Cancelled {
		return "", nil, nil, err
	}
	if err != nil {
		say("judged by rule alone: no agent is at hand that could read the sentences; `tidegate agents` shows what is there")
		return "", nil, func() {}, nil
	}
	name = t.Agents[verifier].Driver
	tokens := float64(sentences * readingTokens)
	cost := ""
	if perMillion, how := t.pays(); perMillion > 0 {
		cost = fmt.Sprintf(", probably %.2f USD (%s)", tokens/1e6*perMillion, how)
	} else if perMillion == 0 {
		cost = "; " + how
	}
	yes, err := ask(ctx, fmt.Sprintf("Let %s read %s against their passages? It takes about %s tokens%s. Without it they are judged by rule alone. [y/N]", name, report.Counted(sentences, "sentence"), Grouped(tokens), cost))
	if err != nil || !yes {
		t.Close()
		return "", nil, func() {}, err
	}
	return name, e.reader(t, budget, say), t.Close, nil
}

// readingTokens is what reading a sentence usually takes: its passages, a third of a twin with the
// same passages, and two answers.
const readingTokens = 500

func (e *Env) reader(t *Team, budget map[string]float64, say func(line string)) audit.Reader {
	return func(ctx context.Context, parts *audit.Parts) (string, error) {
		plan, err := t.readingPlan(parts)
		if err != nil {
			return "", err
		}
		say(plan)
		why, spent, err := engine.ReadReport(tidegate.WithActor(ctx, tidegate.Actor{Kind: tidegate.Agent}), parts, run.DefaultBudget(budget), e.Options(t))
		if err == nil {
			say("it took " + SpentText(spent))
		}
		return why, Resumable(err)
	}
}

// readingPlan says who reads a report, what is sent, what that will probably cost, and how
// the agent is kept.
func (t *Team) readingPlan(parts *audit.Parts) (string, error) {
	tokens := float64(readingTokens * len(parts.Claims.Sentences)) // they are dealt once it is at work
	agent := t.Agents[verifier]
	plan := fmt.Sprintf("%s reads %s: each is sent with the passages of its pages and nothing else, about %s tokens", strings.TrimSpace(agent.Driver+" "+agent.Model),
		report.Counted(len(parts.Claims.Sentences), "sentence"), Grouped(tokens))
	if perMillion, how := t.pays(); perMillion > 0 {
		plan += fmt.Sprintf(", probably %.2f USD (%s)", tokens/1e6*perMillion, how)
	} else if perMillion == 0 {
		plan += "; " + how
	}
	kept, err := t.confinement(false)
	return strings.TrimSpace(plan + ". " + kept.String()), err
}

// Resumable says how an interrupted command goes on.
func Resumable(err error) error {
	if tidegate.CodeOf(err) == tidegate.Cancelled {
		return tidegate.Errorf(tidegate.Cancelled, nil, "stopped: the same command resumes it")
	}
	return err
}
