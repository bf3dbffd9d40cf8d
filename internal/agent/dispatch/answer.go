package dispatch

import (
	"context"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/agent/engine"
	"github.com/tidegate/tidegate/internal/agent/job"
	"github.com/tidegate/tidegate/internal/base/archive"
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

// PagesOf is [Env.PagesAgain] for the sources of a report. Those of a recording are recorded.
func (e *Env) PagesOf(item *library.Item, call tool.Caller) library.Again {
	if r := e.recordingOf(item); r != nil && e.Fetch == nil {
		return func(func(url string) []archive.Field) sourcing.Fetch { return r.Fetch }
	}
	return e.PagesAgain(call)
}
