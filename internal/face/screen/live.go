package screen

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/agent/dispatch"
	"github.com/tidegate/tidegate/internal/agent/driver"
	"github.com/tidegate/tidegate/internal/agent/job"
	"github.com/tidegate/tidegate/internal/base/archive"
	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/internal/work/reporting"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/sourcing"
)

// live shows a run on a terminal of its own until it rests.
type live struct {
	s      *Session
	screen *Screen

	mu      sync.Mutex
	events  []Event
	changed map[string]bool // jobs that must be read again
	all     bool            // everything must be read again
	sources map[string]int  // by status: how the sources were judged

	stop chan struct{}
	done chan struct{}
}

// frameEvery is the shortest time between two drawings of the
const frameEvery = 200 * time.Millisecond

// drawAgain is the key that draws everything again, Ctrl-L.
const drawAgain = 0x0c

// keptEvents is how many of the last events can be shown.
const keptEvents = 20

func newLive(s *Session) *live {
	return &live{s: s, screen: NewScreen(s.Call.Stdout), changed: map[string]bool{}, sources: map[string]int{}}
}

func (l *live) happened(e run.Entry) {
	l.mu.Lock()
	defer l.mu.Unlock()
	id := e.Entry.Get("job_id").Str()
	if id != "" {
		l.changed[id] = true
	} else {
		l.all = true
	}
	if e.Event == run.EventSources {
		for _, status := range e.Entry.Get("statuses").Members() {
			n, _ := status.Value.Int()
			l.sources[status.Key] = int(n)
		}
	}
	h, ok := reporting.InWords(e)
	if !ok {
		return
	}
	mark := Ahead
	switch h.Mark {
	case report.Pass:
		mark = Done
	case report.Fail:
		mark = Failed
	}
	l.events = append(l.events, Event{Time: e.Time.In(l.s.Now().Location()).Format("15:04:05"), Job: h.Job, Text: h.Text, Mark: mark})
	l.trim()
}

// toolWords is the tool that an agent used, as a person reads it.
func toolWords(tool string) string {
	switch tool {
	case driver.SearchCalls:
		return "search"
	case driver.FetchCalls:
		return "open a page"
	}
	return tool
}

func (l *live) begin(ctx context.Context, manifest string) {
	l.stop, l.done = make(chan struct{}), make(chan struct{})
	go func() {
		defer close(l.done)
		board, err := job.OpenBoard(context.WithoutCancel(ctx), l.s.OwnDesk(), manifest)
		if err != nil {
			<-l.stop // the driver of the run meets the same error, and reports it
			return
		}
		defer board.Close()
		l.loop(ctx, func() { l.refresh(context.WithoutCancel(ctx), board) }, func(stopping bool) View { return l.view(board, stopping) })
	}()
}

// beginJobs shows the jobs of a code change until it rests. The board is that of the
// process that drives them, and always up to date.
func (l *live) beginJobs(ctx context.Context, board *job.Board, title string) {
	l.stop, l.done = make(chan struct{}), make(chan struct{})
	go func() {
		defer close(l.done)
		l.loop(ctx, func() {}, func(stopping bool) View { return l.viewJobs(board, title, stopping) })
	}()
}

// note shows what is done by rule among the events.
func (l *live) note(text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.events = append(l.events, Event{Time: l.s.Now().Format("15:04:05"), Text: text})
	l.trim()
}

// naming is fetch, of which the screen names each source as it comes in.
func (l *live) naming(fetch sourcing.Fetch) sourcing.Fetch {
	return func(ctx context.Context, urls []string, keep func([]*archive.Packed) error) error {
		return fetch(ctx, urls, func(packed []*archive.Packed) error {
			for _, p := range packed {
				capture := p.Capture()
				text := "read " + capture.URL
				if capture.Kind != archive.Responded {
					text = "no page (" + string(capture.Kind) + "): " + capture.URL
				}
				l.note(text)
			}
			return keep(packed)
		})
	}
}

// trim keeps the last events. The caller holds the lock.
func (l *live) trim() {
	if n := len(l.events) - keptEvents; n > 0 {
		l.events = slices.Delete(l.events, 0, n)
	}
}

// rest restores the terminal, and leaves the stages so far on it.
func (l *live) rest() {
	close(l.stop)
	<-l.done
}

// loop draws what goes on until it rests. The context ends with the first Ctrl-C.
func (l *live) loop(interrupted context.Context, refresh func(), read func(stopping bool) View) {
	var keys <-chan byte
	restore := func() {}
	if l.s.Call.Terminal.Keys != nil {
		keys, restore = l.s.Call.Terminal.Keys()
	}
	ticker := time.NewTicker(frameEvery)
	defer ticker.Stop()
	top := -1
	var typed []byte
	for {
		refresh()
		view := read(interrupted.Err() != nil)
		view.Top = top
		size := l.size()
		l.screen.Draw(view.Lines(size), view.title(), size)
		select {
		case <-l.stop:
			refresh()
			view = read(false)
			l.screen.Leave()
			restore()
			for _, line := range append(view.rail(l.size()), "") {
				fmt.Fprintln(l.s.Call.Stdout, line)
			}
			return
		case <-ticker.C:
		case key, ok := <-keys:
			if !ok {
				keys = nil
				break
			}
			if key == drawAgain {
				l.screen.Leave()
				break
			}
			typed = append(typed, key)
			top, typed = scrolled(top, typed, len(view.Jobs), view.firstShown(size), size.Rows/2)
		}
	}
}

func (l *live) size() Size {
	columns, rows := l.s.Call.Terminal.Size()
	return Size{Columns: columns, Rows: rows, Color: l.s.Call.Terminal.Color}
}

// scrolled is the first job to show after some keys, and those last bytes that only
// begin a key. Below 0, the jobs at work are followed.
func scrolled(top int, typed []byte, jobs, first, page int) (int, []byte) {
	if top < 0 {
		top = first
	}
	by := 0
	switch keys := string(typed); {
	case keys == "\x1b[A" || keys == "k":
		by = -1
	case keys == "\x1b[B" || keys == "j":
		by = 1
	case keys == "\x1b[5~" || keys == "b":
		by = -page
	case keys == "\x1b[6~" || keys == " ":
		by = page
	case keys == "\x1b[H" || keys == "g":
		by = -jobs
	case keys == "\x1b[F" || keys == "G":
		return -1, nil
	case strings.HasPrefix("\x1b[5~", keys) || strings.HasPrefix("\x1b[6~", keys):
		return top, typed
	}
	return max(0, min(top+by, jobs-1)), nil
}

// refresh reads what has changed in the run.
func (l *live) refresh(ctx context.Context, board *job.Board) {
	l.mu.Lock()
	all, ids := l.all, make([]string, 0, len(l.changed))
	for id := range l.changed {
		ids = append(ids, id)
	}
	l.all, l.changed = false, map[string]bool{}
	l.mu.Unlock()
	// What cannot be read comes up again where the run is driven; until then the
	// screen shows what it had.
	switch {
	case all || slices.ContainsFunc(ids, func(id string) bool { _, err := board.Job(id); return err != nil }):
		_ = board.Reload(ctx)
	default:
		for _, id := range ids {
			_ = board.Refresh(id)
		}
	}
}

// rail are the stages as a person reads them.
var rail = []struct {
	name   string
	stages []run.Stage
}{
	{"plan", []run.Stage{run.Init, run.Perspectives}},
	{"wave 1", []run.Stage{run.Wave1}},
	{"pivot", []run.Stage{run.Pivot}},
	{"wave 2", []run.Stage{run.Wave2}},
	{"citations", []run.Stage{run.Citations}},
	{"summaries", []run.Stage{run.Summaries}},
	{"synthesis", []run.Stage{run.Synthesis}},
	{"review", []run.Stage{run.Review}},
	{"report", []run.Stage{run.Finalize}},
}

// view is the run in its current state.
func (l *live) view(board *job.Board, stopping bool) View {
	r := board.Run()
	m := r.Manifest()
	v := View{Name: r.ID(), Question: m.Query(), Status: string(m.Status()), Stages: stagesOf(m), Top: -1}
	if m.Status() == run.Created {
		v.Status = string(run.Running)
	}
	if stopping {
		v.Status = "stopping the agents"
	}
	l.mu.Lock()
	v.Events = slices.Clone(l.events)
	unusable := l.sources["blocked"] + l.sources["invalid"] + l.sources["mismatch"]
	l.mu.Unlock()
	_, driven, err := r.Folder().Claimed(run.HomeFile)
	driven = driven || err != nil
	l.addJobs(&v, board, driven)
	if left, ok := leftMeter(board, v.Jobs); ok && driven && v.Status == string(run.Running) {
		v.Meters = append(v.Meters, left)
	}
	if v.Status == string(run.Running) && slices.ContainsFunc(v.Jobs, func(j Job) bool { return j.State == leftState }) {
		v.Status = "interrupted"
	}
	v.Hints = moment{
		workers: l.s.Workers, name: l.s.Called(r), status: m.Status(), stage: m.Stage(), driven: driven, jobs: v.Jobs, unusable: unusable, meters: v.Meters,
	}.hints()
	return v
}

// addJobs adds the jobs, and what they have used of the budget. Driven says whether a
// process drives them.
func (l *live) addJobs(v *View, board *job.Board, driven bool) {
	tools := run.LastTools(board.Folder())
	now := l.s.Now()
	for _, j := range board.Jobs() {
		v.Jobs = append(v.Jobs, jobOf(board, j, toolWords(tools[j.ID]), now, driven))
	}
	budget, spent := board.Policy().Budget, board.Spent()
	v.Meters = []Meter{

		{Name: "minutes", Used: spent.Minutes, Limit: budget.MaxMinutes, Text: fmt.Sprintf("%.1f", spent.Minutes), Most: dispatch.Number(budget.MaxMinutes)},
		{Name: "tokens", Used: spent.Tokens, Limit: budget.MaxTokens, Text: dispatch.Grouped(spent.Tokens), Most: dispatch.Grouped(budget.MaxTokens)},
		{Name: "USD", Used: spent.CostUSD, Limit: budget.MaxCostUSD, Text: fmt.Sprintf("%.2f", spent.CostUSD), Most: fmt.Sprintf("%.2f", budget.MaxCostUSD)},
	}
}

// viewJobs is a code change in its current state.
func (l *live) viewJobs(board *job.Board, title string, stopping bool) View {
	v := View{Name: board.ID(), Question: title, Status: "running", Stages: stagesOfChange(board.Jobs()), Top: -1}
	if stopping {
		v.Status = "stopping the agents"
	}
	l.mu.Lock()
	v.Events = slices.Clone(l.events)
	l.mu.Unlock()
	l.addJobs(&v, board, true)
	return v
}

// stagesOfChange are the stages of the present round. A review alone is not
// implemented.
func stagesOfChange(jobs []job.Job) []Stage {
	mark := func(kind string) (Mark, bool) {
		marked, there := Done, false
		for _, j := range jobs {
			if j.Kind != kind {
				continue
			}
			there = true
			switch j.State {
			case job.Exhausted:
				return Failed, true
			case job.Open, job.Leased, job.Held:
				marked = Working
			}
		}
		return marked, there
	}
	implement, implemented := mark("implement")
	reviewed, asked := mark("code_review")
	var list []Stage
	if implemented {
		list = append(list, Stage{Name: "implement", Mark: implement})
		if implement != Done || !asked {
			reviewed = Ahead
		}
	}
	return append(list, Stage{Name: "review", Mark: reviewed})
}

func stagesOf(m run.Manifest) []Stage {
	now := slices.IndexFunc(rail, func(row struct {
		name   string
		stages []run.Stage
	}) bool {
		return slices.Contains(row.stages, m.Stage())
	})
	waved := m.Stage() == run.Wave2
	for _, moved := range m.Doc().Get("stage").Get("history").Elems() {
		waved = waved || moved.Get("to").Str() == string(run.Wave2)
	}
	var list []Stage
	for i, row := range rail {
		mark := Ahead
		switch {
		case row.stages[0] == run.Wave2 && i < now && !waved:
			mark = Skipped
		case i < now || i == now && m.Status() == run.Completed:
			mark = Done
		case i == now && (m.Status() == run.Failed || m.Status() == run.Cancelled):
			mark = Failed
		case i == now:
			mark = Working
		}
		list = append(list, Stage{Name: row.name, Mark: mark})
	}
	return list
}

// leftState is the state of a job whose process is gone, with an attempt that goes on
// once the run is driven again.
const leftState = "left"

// jobOf is a job as the list shows it.
func jobOf(board *job.Board, j job.Job, tool string, now time.Time, driven bool) Job {
	out := Job{ID: j.ID, State: string(j.State), Minutes: -1, Attempt: j.Attempt, Tries: int(board.Policy().Budget.Tries), Tool: tool}
	switch j.State {
	case job.Accepted:
		out.Mark = Done
	case job.Leased:
		out.Mark, out.State = Working, "working"
	case job.Held:
		out.State = "waits for other parts"
	case job.Exhausted:
		out.Mark = Failed
	}
	shown, err := board.Show(j.ID)
	if err != nil || len(shown.Attempts) == 0 {
		return out
	}
	out.Minutes = 0
	last := shown.Attempts[len(shown.Attempts)-1]
	left := !driven && last.Driver != "" && last.Outcome == "" && j.State != job.Accepted
	if left {
		out.Mark, out.State, out.Tool = Ahead, leftState, ""
	}
	for _, a := range shown.Attempts {
		from, _ := tidegate.ParseTime(a.StartedAt)
		to, ended := tidegate.ParseTime(a.EndedAt)
		if !ended {
			to = now
			if j.State != job.Leased || left {
				to = from // the process that drove it is gone
			}
		}
		out.Minutes += to.Sub(from).Minutes()
	}
	out.Agent = agentWords(last.Driver)
	if last.Model != "" {
		out.Agent += " " + last.Model
	}
	if out.Agent == "" {
		out.Agent = last.Holder
	}
	if j.State == job.Open && last.Outcome != "" && out.Tool == "" {
		out.Tool = last.Outcome
	}
	return out
}

// agentWords is the name of a driver as a person reads it: of a command only the
// program, of an address nothing.
func agentWords(name string) string {
	kind, rest, found := strings.Cut(name, ":")
	switch {
	case !found || name == dispatch.DemoAgents:
		return name
	case kind == "exec" || kind == "acp":
		if words := strings.Fields(rest); len(words) > 0 {
			return filepath.Base(words[0])
		}
	}
	return kind
}
