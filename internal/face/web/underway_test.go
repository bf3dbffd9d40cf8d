package web_test

import (
	"context"
	"html"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/agent/client"
	"github.com/tidegate/tidegate/internal/agent/driver"
	"github.com/tidegate/tidegate/internal/agent/engine"
	"github.com/tidegate/tidegate/internal/face/demo"
	"github.com/tidegate/tidegate/internal/face/web"
	"github.com/tidegate/tidegate/internal/test/full"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/sourcing"
)

// underWay is a run that is driven with recorded agents. Each answers when the test
// says so.
type underWay struct {
	site     *web.Site
	manifest string
	ended    chan engine.Outcome
	turn     chan struct{}
	asked    chan driver.Task
	uses     chan string // tools that the agent that was asked uses
	local    engine.Local
}

const question = "Harbour: should the port replace two of its four tugs with electric ones?"

// drive begins a run whose agents answer from a folder of recordings.
func drive(t testing.TB, s *web.Site, answers string, fetch sourcing.Fetch, budget map[string]float64) *underWay {
	t.Helper()
	made := must.Get(run.Create(tidegate.WithActor(t.Context(), tidegate.Actor{Kind: tidegate.Person}), s.Desk, s.Home, run.InitInput{Query: question, RunID: "harbour", Shape: demo.Shape, Budget: budget, Evidence: run.EvidenceChoice{OneAgent: true}}))(t)
	recorded := must.Get(client.New(driver.Settings{Driver: "recorded:" + answers}, driver.Host{}))(t)
	u := &underWay{site: s, manifest: filepath.Join(made.Root, run.ManifestFile), ended: make(chan engine.Outcome, 1), turn: make(chan struct{}), asked: make(chan driver.Task, 1), uses: make(chan string)}
	u.local.Drivers = func(string) []driver.Driver { return []driver.Driver{recorded} }
	ctx, stop := context.WithCancel(tidegate.WithActor(t.Context(), tidegate.Actor{Kind: tidegate.Rule}))
	done := make(chan struct{})
	t.Cleanup(func() {
		stop()
		<-done // it writes to the folder until then
	})
	go func() {
		defer close(done)
		outcome, err := engine.Drive(ctx, u.manifest, engine.Options{Desk: s.Desk, Pool: u, Fetch: fetch, Parallel: 1,
			Agents: map[string]engine.Agent{"": {Driver: "recorded", Recording: &driver.Recording{Attempt: func(string, int) []byte { return nil }}}}})
		if err != nil && ctx.Err() == nil {
			t.Error(err)
		}
		u.ended <- outcome
	}()
	return u
}

// Do waits for its turn.
func (u *underWay) Do(ctx context.Context, task driver.Task, note func(driver.Event)) (driver.Answer, error) {
	select {
	case u.asked <- task:
	case <-ctx.Done():
		return driver.Answer{}, context.Cause(ctx)
	}
	for {
		select {
		case tool := <-u.uses:
			note(driver.Event{Kind: driver.ToolCall, Tool: tool})
			continue
		case <-u.turn:
		case <-ctx.Done():
			return driver.Answer{}, context.Cause(ctx)
		}
		return u.local.Do(ctx, task, note)
	}
}

// Cancel stops nothing: an agent that waits for its turn ends with its context.
func (u *underWay) Cancel(ctx context.Context, id string) error { return u.local.Cancel(ctx, id) }

// next is the task that an agent was given, false when the run has ended.
func (u *underWay) next(t testing.TB) (driver.Task, bool) {
	t.Helper()
	select {
	case task := <-u.asked:
		return task, true
	case outcome := <-u.ended:
		u.ended <- outcome
		return driver.Task{}, false
	case <-t.Context().Done():
		t.Fatal("the run has neither ended nor asked an agent")
	}
	panic("unreachable")
}

// answer lets the agent that was asked answer.
func (u *underWay) answer() { u.turn <- struct{}{} }

// recordings is a folder of the answers of the demo.
func recordings(t testing.TB) string {
	t.Helper()
	folder, remove := must.Both(demo.UnpackAgents())(t)
	t.Cleanup(remove)
	return folder
}

// pages are the pages of the demo.
func pages(s *web.Site) sourcing.Fetch { return demo.Pages{Now: s.Desk.Now}.Fetch }

// failedRun is a run whose agents give no answer, so it needs a person.
func failedRun(t *testing.T) *underWay {
	t.Helper()
	u := drive(t, site(t.TempDir()), t.TempDir(), nil, map[string]float64{"tries": 1})
	for {
		if _, more := u.next(t); !more {
			return u
		}
		u.answer()
	}
}

// TestPagesOfARunUnderWay: from its first job to its last, the page of a run says
// what is being worked on, and at the end that the run is completed.
func TestPagesOfARunUnderWay(t *testing.T) {
	full.Story(t)
	t.Parallel()
	s := site(t.TempDir())
	u := drive(t, s, recordings(t), pages(s), nil)
	b := visit(t, s, nil)
	for {
		task, more := u.next(t)
		if !more {
			break
		}
		if _, page := b.get(t, "/runs/harbour"); !strings.Contains(page, `data-layout="at work"`) || !strings.Contains(page, " at work") || strings.Contains(page, " and took ") || !strings.Contains(page, `href="/runs/harbour/jobs/`+task.Job+`"`) {
			t.Errorf("%s is at work and not on the page:\n%s", task.Job, page)
		}
		u.answer()
	}
	if outcome := <-u.ended; outcome.Status != run.Completed {
		t.Errorf("the run ended as %+v", outcome)
	}
	if _, page := b.get(t, "/runs/harbour"); !strings.Contains(page, `data-layout="done"`) || !strings.Contains(page, "<title>✓ completed") {
		t.Errorf("the run has ended and the page does not say so:\n%s", page)
	}
	if _, page := b.get(t, "/runs/harbour/made"); !strings.Contains(page, "The run is completed.") || strings.Contains(page, " at work") {
		t.Errorf("the run has ended and how it was made does not say so:\n%s", page)
	}
}

// TestThePageShowsTheLastToolOfAnAgent: a stream says when an agent uses another tool,
// and the page that is asked for then shows it, as text.
func TestThePageShowsTheLastToolOfAnAgent(t *testing.T) {
	full.Story(t)
	t.Parallel()
	s := site(t.TempDir())
	u := drive(t, s, recordings(t), pages(s), nil)
	b := visit(t, s, nil)
	task, more := u.next(t)
	if !more {
		t.Fatal("the run asks no agent")
	}
	_, page := b.get(t, "/runs/harbour/jobs/"+task.Job)
	inOrder(t, page, "At work for", "No answer yet.")
	stream := b.follow(t, "/runs/harbour/events", "")
	for _, tool := range []string{"search", "<b>open</b>"} {
		b.get(t, "/runs/harbour") // one that is kept for others
		u.uses <- tool
		for stream.Scan() && stream.Text() != "data: tools" {
		}
		if _, page := b.get(t, "/runs/harbour"); !strings.Contains(page, "last tool <code>"+html.EscapeString(tool)+"</code>") {
			t.Errorf("the agent uses %s and the page does not show it:\n%s", tool, page)
		}
	}
	stream.stop()
}

// TestTheFeedShowsWhatComesIn: while agents work, the pages that they name come in with title
// and verdict, and an answer that is refused with the sentences and why, the newest first.
func TestTheFeedShowsWhatComesIn(t *testing.T) {
	t.Parallel()
	s := site(t.TempDir())
	u := drive(t, s, recordings(t), pages(s), nil)
	b := visit(t, s, nil)
	for task, more := u.next(t); more && (task.Job != "wave1.operations" || task.Attempt == 1); task, more = u.next(t) {
		u.answer()
	}
	_, page := b.get(t, "/runs/harbour")
	_, feed, _ := strings.Cut(html.UnescapeString(page), `<ol class="feed">`)
	feed, _, _ = strings.Cut(feed, "</ol>")
	for _, want := range []string{
		`href="https://tuglogs.example/analysis/duty-cycles">Duty cycles from position logs</a> <span class="quiet">valid</span>`,
		`How a working day of a tug fits a battery</a>: refused<span class="refused">`,
		`<q dir="auto">Interviews with crews, `,
		`redirected to a home page`,
	} {
		if !strings.Contains(feed, want) {
			t.Errorf("the feed has no %s:\n%s", want, feed)
		}
	}
}

// TestAStepThatComesAgainIsOpen: what was done once is not done while an earlier step is at work.
func TestAStepThatComesAgainIsOpen(t *testing.T) {
	t.Parallel()
	s := site(t.TempDir())
	u := drive(t, s, recordings(t), pages(s), nil)
	b := visit(t, s, nil)
	task, more := u.next(t)
	for read := false; more && task.Job != "synthesis.2"; task, more = u.next(t) {
		if !read && strings.HasPrefix(task.Job, "verify.") {
			read = true
			_, page := b.get(t, "/runs/harbour")
			if inOrder(t, page, ": refused", "energy used stays below 60 %", `<del dir="auto">60 %</del>: the page says <ins dir="auto">70 %</ins>`); strings.Contains(page, "[@s") {
				t.Error("a refused sentence has its marks")
			}
		}
		u.answer()
	}
	if !more {
		t.Fatal("no second draft was asked for")
	}
	_, page := b.get(t, "/runs/harbour")
	inOrder(t, page, `>Summing up</span> <span class="word">done`, `aria-current="step"`, `>Writing the report</span> <span class="word">running`, `>Reading and reviewing</span> <span class="word">again`)
}
