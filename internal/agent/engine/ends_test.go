package engine_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tidegate/tidegate/internal/agent/driver"
	"github.com/tidegate/tidegate/internal/agent/engine"
	"github.com/tidegate/tidegate/internal/agent/job"
	"github.com/tidegate/tidegate/internal/base/config"
	"github.com/tidegate/tidegate/internal/test/full"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/test/runs"
	"github.com/tidegate/tidegate/internal/work/reporting"
	"github.com/tidegate/tidegate/internal/work/run"
)

// errKilled ends a home in these tests: its work stays as the files have it.
var errKilled = errors.New("killed")

// moody is a crew of agents that do anything: answer well, badly, with nothing
// or not at all.
type moody struct {
	mu     sync.Mutex
	random *rand.Rand
	good   float64 // how often they follow the prompt
	kill   func()  // ends the home
	kills  int     // how many are left
	asked  map[string]int
}

func (m *moody) Cancel(context.Context, string) error { return nil }

func (m *moody) Do(ctx context.Context, task driver.Task, _ func(driver.Event)) (driver.Answer, error) {
	m.mu.Lock()
	m.asked[task.Job]++
	mood, fate := m.random.Float64(), m.random.IntN(14)
	if m.kills > 0 && m.random.IntN(6) == 0 {
		m.kills--
		m.kill()
	}
	m.mu.Unlock()
	if ctx.Err() != nil {
		return driver.Answer{}, context.Cause(ctx)
	}
	answer, err := obedient(ctx, task)
	if mood < m.good {
		if fate%2 == 0 {
			answer.Session = "s"
		}
		return answer, err
	}
	failures := []driver.Kind{driver.Rate, driver.Unavailable, driver.Refused, driver.Idle, driver.Deadline, driver.Flood, driver.Died, driver.Empty}
	switch {
	case fate < len(failures):
		return driver.Answer{}, &driver.Error{Kind: failures[fate], Message: "moody"}
	case fate == 8:
		answer.Text = "Here is the report:\n\n```markdown\n" + answer.Text + "\n```\n"
	case fate == 9:
		answer.Text = strings.Repeat("word ", 5000)
	case fate == 10:
		answer.Text = "{}"
	case fate == 11:
		answer.Text = "no"
		answer.Session = "s"
	case fate == 12:
		answer.Text = "## Gaps\n\n- something\n"
	default:
		answer.Text = "\x00\xff"
	}
	return answer, nil
}

// TestEveryRunEnds drives runs with random agents, and with homes that are
// stopped at random points, until each has ended: with everything done that
// agents have to do here, or failed with a reason.
func TestEveryRunEnds(t *testing.T) {
	t.Parallel()
	runs := 2
	if full.Asked() {
		runs = 10_000
	}
	for i := range runs {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(7, uint64(i)))
			tries := float64(1 + random.IntN(4))
			manifest, desk := newRun(t, map[string]float64{"tries": tries, "max_parallel": float64(1 + random.IntN(4))})
			crew := &moody{random: random, good: random.Float64(), kills: random.IntN(4), asked: map[string]int{}}
			out := driveOn(t, manifest, desk, crew)
			if out.Status != run.Failed && out.Status != run.Completed {
				t.Fatalf("the run ended as %s", shown(out))
			}
			if out.Status == run.Failed && out.Reason == "" {
				t.Error("it failed without a reason")
			}
			account(t, manifest, desk, int(tries))
			verify(t, manifest)
		})
	}
}

// driveOn drives a run, again after every kill.
func driveOn(t *testing.T, manifest string, desk run.Desk, crew *moody) engine.Outcome {
	for range 100 {
		ctx, kill := context.WithCancelCause(t.Context())
		crew.mu.Lock()
		crew.kill = func() { kill(errKilled) }
		crew.mu.Unlock()
		out, err := engine.Drive(ctx, manifest, engine.Options{Desk: desk, Pool: crew, Fetch: new(web).fetch, Wait: noWait})
		killed := context.Cause(ctx) == errKilled
		kill(nil)
		if err == nil {
			return out
		}
		if !killed {
			t.Fatal(err)
		}
	}
	t.Fatal("the run does not end")
	return engine.Outcome{}
}

// account checks the attempts on disk: each has ended, none follows an accepted
// one, and no job has more than it may have.
func account(t *testing.T, manifest string, desk run.Desk, tries int) {
	t.Helper()
	b := must.Get(job.OpenBoard(t.Context(), desk, manifest))(t)
	defer b.Close()
	leased := leases(t, b.Run())
	for _, j := range b.Jobs() {
		if n := leased[j.ID]; n != j.Attempt {
			t.Errorf("%s has %d attempts, and was leased %d times", j.ID, j.Attempt, n)
		}
		shown := must.Get(b.Show(j.ID))(t)
		if n := len(shown.Attempts); n > tries+10 {
			t.Errorf("%s has %d attempts", j.ID, n)
		}
		for i, a := range shown.Attempts {
			if a.Number != i+1 {
				t.Errorf("%s: attempt %d has the number %d", j.ID, i+1, a.Number)
			}
			if a.Outcome == "" && j.State != job.Leased && !(i == len(shown.Attempts)-1 && j.State == job.Open) {
				t.Errorf("%s: attempt %d has no end, and the job is %s", j.ID, a.Number, j.State)
			}
			if a.Outcome == job.OutcomeAccepted && i != len(shown.Attempts)-1 {
				t.Errorf("%s was asked for again after attempt %d was accepted", j.ID, a.Number)
			}
			for _, s := range a.Submissions {
				there, err := b.Run().Folder().Exists(filepath.ToSlash(filepath.Join(run.AttemptDir(j.ID, a.Number), s.Answer)))
				if err != nil || !there {
					t.Errorf("%s: %s is lost", j.ID, s.Answer)
				}
			}
		}
	}
}

// leases counts in the log how often each job was leased. It checks that each lease
// is the next attempt, that none follows an accepted answer, and that every answer
// was judged once.
func leases(t *testing.T, r *run.Run) map[string]int {
	t.Helper()
	events := must.Get(r.Events())(t)
	leased, accepted, judged := map[string]int{}, map[string]bool{}, map[string]bool{}
	for _, e := range events {
		id := e.Entry.Get("job_id").Str()
		attempt, _ := e.Entry.Get("attempt").Int()
		switch e.Entry.Get("kind").Str() {
		case "job_lease":
			if leased[id]++; int(attempt) != leased[id] {
				t.Errorf("line %d: lease %d of %s is attempt %d", e.Number, leased[id], id, attempt)
			}
			if accepted[id] {
				t.Errorf("line %d: %s was leased after an answer was accepted", e.Number, id)
			}
		case "job_verdict":
			answer, _ := e.Entry.Get("answer").Int()
			key := fmt.Sprint(id, attempt, answer)
			if judged[key] || accepted[id] {
				t.Errorf("line %d: answer %d to %s, attempt %d, was judged again, or after one was accepted", e.Number, answer, id, attempt)
			}
			judged[key] = true
			accepted[id] = e.Entry.Get("accepted").Bool()
		}
	}
	return leased
}

// TestLeasesByHandBesideAHome has one job done by hand while a home does the others:
// somewhere in between, and right after the home has read the jobs, before it follows
// the log.
func TestLeasesByHandBesideAHome(t *testing.T) {
	t.Parallel()
	for name, byHand := range map[string]func(submit func()) engine.Options{
		"meanwhile": func(submit func()) engine.Options {
			go submit()
			return engine.Options{}
		},
		"once the jobs are read": func(submit func()) engine.Options {
			return engine.Options{Watch: func(*job.Board) func() {
				submit()
				return func() {}
			}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			manifest, desk := newRun(t, nil)
			drive(t, manifest, desk, &crew{agent: func(ctx context.Context, task driver.Task) (driver.Answer, error) {
				if task.Kind == "perspectives" {
					return obedient(ctx, task)
				}
				return driver.Answer{}, &driver.Error{Kind: driver.Auth, Message: "stop here"}
			}})
			b := must.Get(job.OpenBoard(t.Context(), desk, manifest))(t)
			defer b.Close()
			a := must.Get(b.Lease(t.Context(), job.LeaseInput{Holder: "by hand", JobID: "wave1.records", For: time.Hour}))(t)
			submitted := make(chan struct{})
			options := byHand(func() {
				defer close(submitted)
				answer, _ := obedient(t.Context(), driver.Task{Kind: "wave1", Job: a.JobID, Prompt: a.PromptMD})
				verdict, err := b.Submit(t.Context(), job.SubmitInput{Token: a.Token, Answer: []byte(answer.Text)})
				if err != nil || !verdict.Accepted {
					t.Errorf("%+v, %v", verdict, err)
				}
			})
			options.Desk, options.Fetch = desk, new(web).fetch
			options.Pool = &crew{agent: func(ctx context.Context, task driver.Task) (driver.Answer, error) {
				if task.Job == "wave1.records" {
					t.Error("the home took a job that somebody holds")
				}
				return obedient(ctx, task)
			}}
			// A home that does not notice waits until the lease ends.
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			out, err := engine.Drive(ctx, manifest, options)
			<-submitted
			if err != nil || out.Status != run.Completed {
				t.Errorf("%s, %v", shown(out), err)
			}
		})
	}
}

// TestABudgetThatIsUsedUpIsSaid has a lease by hand alive when the minutes of the run are
// used up: what waits for what is said at once, and the run needs a person afterwards.
func TestABudgetThatIsUsedUpIsSaid(t *testing.T) {
	t.Parallel()
	manifest, desk := newSmallRun(t, nil)
	now := desk.Now()
	desk.Now = func() time.Time { return now }
	board := must.Get(job.OpenBoard(t.Context(), desk, manifest))(t)
	defer board.Close()
	must.Get(board.Lease(t.Context(), job.LeaseInput{Holder: "by hand", JobID: "perspectives", For: time.Hour}))(t)
	setBudget(t, desk, manifest, map[string]float64{"max_minutes": 1})
	now = now.Add(2 * time.Minute)
	out := must.Get(engine.Settle(t.Context(), desk, nil, manifest, 0))(t)
	if out.WaitingFor != engine.ForAgents || !strings.Contains(out.Reason, "max_minutes is used up (1)") {
		t.Errorf("got %s: %s", out.WaitingFor, out.Reason)
	}
	now = now.Add(2 * time.Hour)
	if out = must.Get(engine.Settle(t.Context(), desk, nil, manifest, 0))(t); out.WaitingFor != engine.ForPerson || !strings.Contains(out.Reason, "max_minutes") {
		t.Errorf("after the lease: got %s: %s", out.WaitingFor, out.Reason)
	}
}

// TestProgramsCostNothing: what the plan says of programs without a price, the report says,
// too. Of a client that does not say what it costs, nobody knows, unless a person gave its
// tokens a price.
func TestProgramsCostNothing(t *testing.T) {
	t.Parallel()
	for name, known := range map[string]bool{"exec:agent": true, "acp:agent --stdio": true, "codex": false, "opencode": true} {
		var price *config.Price
		if name == "opencode" {
			price = &config.Price{Input: 3, Output: 15}
		}
		manifest, desk := newSmallRun(t, nil)
		told := func(ctx context.Context, task driver.Task) (driver.Answer, error) {
			answer, err := obedient(ctx, task)
			if price != nil {
				answer.Usage = &driver.Usage{Input: 1000, Output: 100}
			}
			return answer, err
		}
		out := driveWith(t, manifest, desk, &crew{agent: told}, map[string]engine.Agent{"": {Driver: name, Price: price}, "reviewer": {Driver: name, Model: "another", Price: price}})
		if out.Status != run.Completed {
			t.Fatalf("%s: %s", name, shown(out))
		}
		reported := must.Get(reporting.ReadReport(t.Context(), runs.OpenAt(t, desk, manifest), false, "test"))(t)
		if cost := reported.Report.Cost; cost.Priced != known || (cost.USD > 0) != (price != nil) {
			t.Errorf("%s: %+v", name, cost)
		}
	}
}
