package engine_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/agent/client"
	"github.com/tidegate/tidegate/internal/agent/driver"
	"github.com/tidegate/tidegate/internal/agent/engine"
	"github.com/tidegate/tidegate/internal/agent/job"
	"github.com/tidegate/tidegate/internal/base/archive"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/test/full"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/test/reader"
	"github.com/tidegate/tidegate/internal/test/runs"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/sourcing"
	"github.com/tidegate/tidegate/internal/work/stage"
	"github.com/tidegate/tidegate/internal/work/step"
)

// TestObedientAgentsTakeAQuestionThroughBothWaves drives a run as far as rules
// and agents' outputs lead.
func TestObedientAgentsTakeAQuestionThroughBothWaves(t *testing.T) {
	t.Parallel()
	manifest, desk := newRun(t, nil)
	runs.Put(t, filepath.Dir(manifest), "summaries/figures.md", "What a pack leaves that was built early.\n")
	pool := &crew{agent: func(ctx context.Context, task driver.Task) (driver.Answer, error) {
		for _, told := range []string{"\n- Day of the research: 20", "\n- Language to write in: English (en)"} {
			if task.Kind != "verify" && !strings.Contains(task.Prompt, told) {
				t.Errorf("the prompt of %s lacks %q", task.Job, told)
			}
		}
		return obedient(ctx, task)
	}}
	out := drive(t, manifest, desk, pool)
	if out.Status != run.Completed {
		t.Fatalf("the run ended in %s: %s", out.Stage, shown(out))
	}
	for _, id := range []string{"perspectives", "wave1.figures", "wave1.doubts", "wave1.records", "summary.figures"} {
		if n := pool.times(id); n != 1 {
			t.Errorf("%s was asked for %d times", id, n)
		}
	}
	b := must.Get(job.OpenBoard(t.Context(), desk, manifest))(t)
	defer b.Close()
	wave2 := 0
	for _, j := range b.Jobs() {
		if j.State != job.Accepted || j.Attempt != 1 {
			t.Errorf("%+v", j)
		}
		if j.Kind == "wave2" {
			wave2++
		}
	}
	if wave2 != 1 {
		t.Errorf("the second wave has %d jobs", wave2)
	}
	verify(t, manifest)
}

// TestARuleSummarizesWhatFits: an output of which every finding fits is its own summary, with
// citations in the place of addresses and nothing of its sources and gaps; one that loses
// something is summarized by an agent.
func TestARuleSummarizesWhatFits(t *testing.T) {
	t.Parallel()
	manifest, desk := newRun(t, nil)
	pool := &crew{agent: func(ctx context.Context, task driver.Task) (driver.Answer, error) {
		answer, err := obedient(ctx, task)
		if findings, rest, found := strings.Cut(answer.Text, "## Gaps"); found && task.Kind == "wave1" {
			findings += "- " + reader.Sentence(0, 0) + " (https://example.org/port)\n- Nobody counts fish.\n\n"
			if task.Job == "wave1.doubts" {
				findings += "- https://example.org/port/9\n\n"
			}
			answer.Text = findings + "## Gaps" + rest
		}
		return answer, err
	}}
	if out := drive(t, manifest, desk, pool); out.Status != run.Completed {
		t.Fatalf("the run ended in %s: %s", out.Stage, shown(out))
	}
	for id, asked := range map[string]int{"summary.figures": 0, "summary.records": 0, "summary.doubts": 1} {
		if n := pool.times(id); n != asked {
			t.Errorf("%s was asked for %d times", id, n)
		}
	}
	text := string(must.Get(os.ReadFile(filepath.Join(filepath.Dir(manifest), "summaries", "figures.md")))(t))
	if !regexp.MustCompile(`^- [^\n]*\[@cid_[0-9a-f]{64}\][^\n]*\n- Nobody counts fish\.\n$`).MatchString(text) {
		t.Errorf("the summary is %q", text)
	}
	verify(t, manifest)
}

// TestGapsThatNobodyCanClose: without web a second wave is asked only where the documents
// have something that the first was not shown; what stays open stands in the report.
func TestGapsThatNobodyCanClose(t *testing.T) {
	t.Parallel()
	const gap = "What the tug costs in winter."
	for _, test := range []struct {
		name, hidden string
		left, asked  int
	}{
		{"all was shown", "", 1, 0},
		{"a passage that nobody saw", "\n\nIn winter months each tug costs twice as much.", 0, 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			dir, desk := t.TempDir(), run.Desk{Now: time.Now, Reach: artifact.Everywhere}
			text := reader.Page(0)
			if test.hidden != "" { // far from what the question asks, in more than prompts show
				text += strings.Repeat("<p>Harbour tugs: should the harbour buy electric tugs?</p>", 6000) + "<p>" + test.hidden + "</p>"
			}
			must.Do(t, os.WriteFile(filepath.Join(dir, "port.html"), []byte(text), 0o600))
			documents := must.Get(sourcing.ReadDocuments(desk, dir))(t)
			made := runs.CreateAt(t, desk, run.InitInput{Query: "Should the harbour buy electric tugs?", RunID: "harbour", Sensitivity: "no_web"})
			manifest := filepath.Join(made.Root, run.ManifestFile)
			must.Do(t, sourcing.AttachDocuments(tidegate.WithActor(t.Context(), tidegate.Actor{Kind: tidegate.Person}), desk, manifest, documents))
			told := false
			pool := &crew{agent: func(ctx context.Context, task driver.Task) (driver.Answer, error) {
				if task.Kind == "perspectives" && !strings.Contains(task.Prompt, "- port.html "+documents.List[0].URL) {
					t.Error("the planner is not shown the list of the documents")
				}
				if task.Kind == "verify" && (!strings.Contains(task.Prompt, " – port.html / ") || !strings.Contains(task.Prompt, "\nShould the harbour buy electric tugs?\n")) {
					t.Errorf("the reader sees neither document nor question:\n%s", task.Prompt)
				}
				if researches := strings.HasPrefix(task.Kind, "wave"); researches != (task.Home != nil && len(task.Home.Offers) == 2) {
					t.Errorf("%s may read the documents: %v", task.Job, !researches)
				}
				if task.Kind == "wave2" {
					told = strings.Contains(task.Prompt, gap)
				}
				answer, err := obedient(ctx, task)
				answer.Text = strings.ReplaceAll(answer.Text, "What it costs.", gap)
				answer.Text = strings.ReplaceAll(answer.Text, "Port statistics https://example.org/port", "port.html "+documents.List[0].URL)
				return answer, err
			}}
			out := drive(t, manifest, desk, pool)
			r := runs.OpenAt(t, desk, manifest)
			plan := must.Get(step.ReadWave2Plan(r))(t)
			left := plan.Get("left_out").Elems()
			if out.Status != run.Completed || len(left) != test.left || len(plan.Get("entries").Elems()) != test.asked || pool.times("wave2.gap_figures_1") != test.asked {
				t.Fatalf("%s, %d left out, asked %d times: %s", out.Status, len(left), pool.times("wave2.gap_figures_1"), shown(out))
			}
			open := must.Get(step.OpenGaps(r))(t)
			if len(open) != test.left || test.left > 0 && (left[0].Get("reason").Str() != "nothing_unseen" || open[0].Text != gap) {
				t.Errorf("left out %v, open %v", left, open)
			}
			if verify(t, manifest); told != (test.asked > 0) {
				t.Error("the job does not carry the text of its gap")
			}
		})
	}
}

// TestHowAnAgentWasKept: an attempt has it, and of another machine it is only that one's
// word.
func TestHowAnAgentWasKept(t *testing.T) {
	t.Parallel()
	for _, far := range []bool{false, true} {
		manifest, desk := newSmallRun(t, nil)
		drive(t, manifest, desk, &crew{agent: func(ctx context.Context, task driver.Task) (driver.Answer, error) {
			answer, err := obedient(ctx, task)
			answer.Kept = &driver.Kept{Confined: task.Kind != "review", System: "linux", ABI: 7, Network: "model", Elsewhere: far}
			return answer, err
		}})
		text, err := os.ReadFile(filepath.Join(filepath.Dir(manifest), run.AttemptDir("wave1.figures", 1)+"/attempt.json"))
		if err != nil {
			t.Fatal(err)
		}
		if has := strings.Contains(string(text), `"said_by": "worker"`); has != far || !strings.Contains(string(text), `"mode": "confined"`) {
			t.Errorf("elsewhere %v: the attempt is %s", far, text)
		}
		result, err := run.Verify(t.Context(), desk, run.VerifyInput{ManifestPath: manifest, Follows: stage.Follows})
		if err != nil || !result.Passed() {
			t.Fatalf("%v: %s", err, shown(result))
		}
		var said []string
		for _, c := range result.Confinements {
			said = append(said, c.String())
		}
		want := ""
		if far {
			want = "Said by the worker: Agents are confined to cells (linux, Landlock ABI 7; network: model).\n" +
				"Said by the worker: Agents are not confined: they work with the rights of the person who starts them, on that person's files."
		}
		if got := strings.Join(said, "\n"); got != want {
			t.Errorf("elsewhere %v: verify says %q, want %q", far, got, want)
		}
		if len(result.Decisions) != 0 {
			t.Errorf("elsewhere %v: a worker's word is a decision: %v", far, result.Decisions)
		}
	}
}

// verify fails the test unless the run's log and files agree.
func verify(t *testing.T, manifest string) {
	t.Helper()
	result, err := run.Verify(t.Context(), reviewClock, run.VerifyInput{ManifestPath: manifest, Follows: stage.Follows})
	if err != nil {
		t.Fatal(err)
	}
	if !result.Passed() {
		t.Errorf("run verify: %s", shown(result))
	}
}

func TestStepIsIdempotent(t *testing.T) {
	t.Parallel()
	manifest, desk := newSmallRun(t, nil)
	first, err := engine.Settle(t.Context(), desk, nil, manifest, 0)
	if err != nil || first.WaitingFor != engine.ForAgents || len(first.Jobs) != 1 || first.Jobs[0].ID != job.PerspectivesID {
		t.Fatalf("%s, %v", shown(first), err)
	}
	pool := &crew{agent: obedient}
	drive(t, manifest, desk, pool)
	before := must.Get(run.Log(t.Context(), desk, run.LogInput{ManifestPath: manifest}))(t)
	again, err := engine.Settle(t.Context(), desk, nil, manifest, 0)
	if err != nil || len(again.Did) != 0 {
		t.Errorf("%s, %v", shown(again), err)
	}
	after, err := run.Log(t.Context(), desk, run.LogInput{ManifestPath: manifest})
	if err != nil || after.Lines != before.Lines {
		t.Errorf("a step with nothing to do wrote %d lines, %v", after.Lines-before.Lines, err)
	}
}

// TestAUsedUpBudgetNeedsAPerson: whoever steps the run must not be sent for jobs that
// nobody is given.
func TestAUsedUpBudgetNeedsAPerson(t *testing.T) {
	t.Parallel()
	manifest, desk := newRun(t, map[string]float64{"max_tokens": 10})
	b := must.Get(job.OpenBoard(t.Context(), desk, manifest))(t)
	defer b.Close()
	a := must.Get(b.Lease(t.Context(), job.LeaseInput{Holder: "x"}))(t)
	must.Get(b.Submit(t.Context(), job.SubmitInput{Token: a.Token, Answer: []byte("I would rather not, and this is why.")}))(t)
	if out, err := engine.Settle(t.Context(), desk, nil, manifest, 0); err != nil || out.WaitingFor != engine.ForAgents {
		t.Errorf("while somebody has the job: %s, %v", shown(out), err)
	}
	must.Get(b.End(t.Context(), a.Token, job.Ending{Outcome: job.OutcomeRefused}))(t)
	out, err := engine.Settle(t.Context(), desk, nil, manifest, 0)
	if err != nil || out.WaitingFor != engine.ForPerson || out.Status != run.Failed || !strings.Contains(out.Reason, "max_tokens") {
		t.Errorf("%s, %v", shown(out), err)
	}
}

func TestExhaustedJobsNeedAPerson(t *testing.T) {
	t.Parallel()
	manifest, desk := newRun(t, map[string]float64{"tries": 2})
	bad := &crew{agent: func(ctx context.Context, task driver.Task) (driver.Answer, error) {
		if task.Job == "wave1.doubts" {
			return driver.Answer{Text: "I know nothing."}, nil
		}
		return obedient(ctx, task)
	}}
	out := drive(t, manifest, desk, bad)
	if out.Status != run.Failed || out.WaitingFor != engine.ForPerson || !strings.Contains(out.Reason, "wave1.doubts") {
		t.Fatalf("%s", shown(out))
	}
	if n := bad.times("wave1.doubts"); n != 2 {
		t.Errorf("the job was tried %d times", n)
	}
	// Driving it again changes nothing.
	if out := drive(t, manifest, desk, &crew{agent: obedient}); out.Status != run.Failed {
		t.Errorf("%s", shown(out))
	}
	ctx := tidegate.WithActor(t.Context(), tidegate.Actor{Kind: tidegate.Person})
	must.Get(stage.Resume(ctx, desk, stage.ResumeInput{ManifestPath: manifest, Accept: true, Reason: "try others"}))(t)
	good := &crew{agent: obedient}
	if out := drive(t, manifest, desk, good); out.Status != run.Completed {
		t.Errorf("%s", shown(out))
	}
	if good.times("wave1.figures") != 0 {
		t.Error("an accepted answer was asked for again")
	}
	verify(t, manifest)
}

func TestRepairGoesBackIntoTheSessionOnce(t *testing.T) {
	t.Parallel()
	manifest, desk := newSmallRun(t, nil)
	var turns []int
	pool := &crew{agent: func(ctx context.Context, task driver.Task) (driver.Answer, error) {
		answer, err := obedient(ctx, task)
		if task.Job == "wave1.figures" {
			turns = append(turns, task.Turn)
			answer.Session = "s-1"
			if task.Turn == 1 {
				answer.Text = "No headings."
			} else {
				if task.Session != "s-1" || !strings.Contains(task.Prompt, "MISSING_REQUIRED_SECTION") {
					t.Errorf("the repair has session %q and the prompt %q", task.Session, task.Prompt)
				}
				answer.Text = "## Findings\n\n## Gaps\n\n## Sources\n"
			}
		}
		return answer, err
	}}
	drive(t, manifest, desk, pool)
	if len(turns) != 2 || turns[0] != 1 || turns[1] != 2 {
		t.Errorf("the turns were %v", turns)
	}
	r := runs.Open(t, manifest)
	if has, err := r.Jobs().Of("wave1.figures"); err != nil || len(has.Attempts) != 1 {
		t.Errorf("%v attempts, %v", has.Attempts, err)
	}
}

func TestFailuresOfAgentsAreTriesOrGivenBack(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		kind driver.Kind
		back bool
	}{
		{driver.Rate, true}, {driver.Unavailable, true}, {driver.Died, false}, {driver.Empty, false}, {driver.Flood, false},
		{driver.Deadline, false}, {driver.Idle, false}, {driver.Refused, false},
	} {
		t.Run(string(c.kind), func(t *testing.T) {
			t.Parallel()
			manifest, desk := newRun(t, map[string]float64{"tries": 3})
			pool := &crew{agent: func(_ context.Context, task driver.Task) (driver.Answer, error) {
				return driver.Answer{}, &driver.Error{Kind: c.kind, Message: "so it is"}
			}}
			out := drive(t, manifest, desk, pool)
			want := 3
			if c.back {
				want = 13
			}
			if n := pool.times("perspectives"); n != want || out.Status != run.Failed {
				t.Errorf("tried %d times, want %d; %s", n, want, shown(out))
			}
			verify(t, manifest)
		})
	}
}

func TestMissingLoginLeavesTheRunAsItIs(t *testing.T) {
	t.Parallel()
	manifest, desk := newSmallRun(t, nil)
	out := drive(t, manifest, desk, &crew{agent: func(context.Context, driver.Task) (driver.Answer, error) {
		return driver.Answer{}, &driver.Error{Kind: driver.Auth, Message: "not logged in", Help: "claude auth login"}
	}})
	if out.Status == run.Failed || out.WaitingFor != engine.ForPerson || out.Help != "claude auth login" {
		t.Errorf("%s", shown(out))
	}
	pool := &crew{agent: obedient}
	if out := drive(t, manifest, desk, pool); out.Status != run.Completed {
		t.Errorf("%s", shown(out))
	}
	r := runs.Open(t, manifest)
	if has, err := r.Jobs().Of("perspectives"); err != nil || len(has.Attempts) != 1 {
		t.Errorf("the attempt was not begun again under its own number: %v, %v", has.Attempts, err)
	}
}

func TestAMissingProgramEndsDrivingAtOnce(t *testing.T) {
	t.Parallel()
	manifest, desk := newRun(t, nil)
	agents := func(names ...string) *engine.Local {
		var list []driver.Driver
		for _, name := range names {
			d := must.Get(client.New(driver.Settings{Driver: name}, driver.Host{Temp: t.TempDir()}))(t)
			list = append(list, d)
		}
		return &engine.Local{Drivers: func(string) []driver.Driver { return list }}
	}
	out := drive(t, manifest, desk, agents("exec:nosuchprogram", "recorded:"+t.TempDir()+"/none"))
	if out.Status == run.Failed || out.WaitingFor != engine.ForPerson || !strings.Contains(out.Reason, "recorded answers cannot be read") {
		t.Errorf("%s", shown(out))
	}
	out = drive(t, manifest, desk, agents("exec:nosuchprogram"))
	if out.Status == run.Failed || out.WaitingFor != engine.ForPerson || !strings.Contains(out.Reason, "nosuchprogram cannot be started") {
		t.Errorf("%s", shown(out))
	}
	b := must.Get(job.OpenBoard(t.Context(), desk, manifest))(t)
	defer b.Close()
	if j, err := b.Job("perspectives"); err != nil || j.Attempt != 1 || j.TriesLeft != 4 {
		t.Errorf("%+v, %v: a try was used", j, err)
	}
	// The next driver of a role is asked where one is missing.
	out = drive(t, manifest, desk, agents("exec:nosuchprogram", "exec:echo {}"))
	if out.Status != run.Failed || !strings.Contains(out.Reason, "perspectives") {
		t.Errorf("%s", shown(out))
	}
}

func TestASecondHomeIsRefusedAtOnce(t *testing.T) {
	t.Parallel()
	manifest, desk := newRun(t, nil)
	inside := make(chan struct{})
	release := make(chan struct{})
	var first atomic.Bool
	pool := &crew{agent: func(ctx context.Context, task driver.Task) (driver.Answer, error) {
		if first.CompareAndSwap(false, true) {
			close(inside)
			<-release
		}
		return obedient(ctx, task)
	}}
	ended := make(chan engine.Outcome)
	go func() {
		out, err := engine.Drive(t.Context(), manifest, engine.Options{Desk: desk, Pool: pool, Fetch: new(web).fetch, Wait: noWait})
		if err != nil {
			t.Error(err)
		}
		ended <- out
	}()
	<-inside
	_, err := engine.Drive(t.Context(), manifest, engine.Options{Desk: desk, Pool: pool, Fetch: new(web).fetch, Wait: noWait})
	if tidegate.CodeOf(err) != tidegate.LockHeld {
		t.Errorf("a second home gives %v", err)
	}
	b := must.Get(job.OpenBoard(t.Context(), desk, manifest))(t)
	defer b.Close()
	if _, err := b.Lease(t.Context(), job.LeaseInput{Holder: "an agent"}); tidegate.CodeOf(err) != tidegate.JobNotOpen {
		t.Errorf("an agent beside a home gets %v", err)
	}
	close(release)
	if out := <-ended; out.Status != run.Completed {
		t.Errorf("%s", shown(out))
	}
}

func TestHomeObeysWhatAPersonWrites(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		do   func(ctx context.Context, desk run.Desk, manifest string) error
		want run.Status
	}{
		{"pause", func(ctx context.Context, desk run.Desk, manifest string) error {
			_, err := stage.Pause(ctx, desk, stage.ControlInput{ManifestPath: manifest})
			return err
		}, run.Paused},
		{"cancel", func(ctx context.Context, desk run.Desk, manifest string) error {
			_, err := stage.Cancel(ctx, desk, stage.ControlInput{ManifestPath: manifest})
			return err
		}, run.Cancelled},
		{"limit", func(ctx context.Context, desk run.Desk, manifest string) error {
			r, err := run.Open(ctx, desk, manifest)
			if err != nil {
				return err
			}
			defer r.Close()
			_, err = r.Update(ctx, func(u *run.Update) error { return u.SetBudget("max_minutes", 0, "enough") })
			return err
		}, run.Failed},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			manifest, desk := newRun(t, nil)
			inside := make(chan struct{})
			pool := &crew{agent: func(ctx context.Context, task driver.Task) (driver.Answer, error) {
				close(inside)
				<-ctx.Done() // an agent that never answers
				return driver.Answer{}, ctx.Err()
			}}
			go func() {
				<-inside
				if err := c.do(tidegate.WithActor(context.Background(), tidegate.Actor{Kind: tidegate.Person}), desk, manifest); err != nil {
					t.Error(err)
				}
			}()
			out := drive(t, manifest, desk, pool)
			if out.Status != c.want {
				t.Errorf("%s", shown(out))
			}
			verify(t, manifest)
		})
	}
}

// TestHomeIsOvertakenByAPerson decides about a run right before its home writes the
// answer of an agent, or what follows from a page: the home ends as the person wants,
// and not with the refusal of its write. The short form takes the two decisions in turn, up to the
// pages.
func TestHomeIsOvertakenByAPerson(t *testing.T) {
	t.Parallel()
	decide := map[run.Status]func(context.Context, run.Desk, stage.ControlInput) (stage.ControlResult, error){run.Cancelled: stage.Cancel, run.Paused: stage.Pause}
	for want, decision := range decide {
		for i, job := range []string{"perspectives", "a page", "a page of the stage citations", "synthesis", "review"} {
			if !full.Asked() && (i > 2 || (i%2 == 0) != (want == run.Paused)) {
				continue
			}
			t.Run(string(want)+" at "+job, func(t *testing.T) {
				t.Parallel()
				manifest, desk := newRun(t, nil)
				var once sync.Once
				now := func() {
					once.Do(func() {
						if _, err := decision(tidegate.WithActor(context.Background(), tidegate.Actor{Kind: tidegate.Person}), desk, stage.ControlInput{ManifestPath: manifest}); err != nil {
							t.Error(err)
						}
					})
				}
				pool := &crew{agent: func(ctx context.Context, task driver.Task) (driver.Answer, error) {
					if task.Job == job {
						now()
					}
					return obedient(ctx, task)
				}}
				fetch := func(ctx context.Context, urls []string, keep func([]*archive.Packed) error) error {
					text, err := os.ReadFile(manifest)
					if err != nil {
						return err
					}
					late := strings.Contains(string(text), `"current": "citations"`)
					switch {
					case job == "a page", late:
						now()
					case job == "a page of the stage citations":
						return nil // as if it took too long
					}
					return new(web).fetch(ctx, urls, keep)
				}
				out, err := engine.Drive(t.Context(), manifest, engine.Options{Desk: desk, Pool: pool, Fetch: fetch, Wait: noWait})
				if err != nil || out.Status != want {
					t.Errorf("%s %v", shown(out), err)
				}
				verify(t, manifest)
			})
		}
	}
}

// TestHomeTakesOverALeaseThatNobodyHas leaves a lease of a home that no home works on
// while one drives the run. That happens when a lease has run out, its attempt was given
// up, and the clock is set back.
func TestHomeTakesOverALeaseThatNobodyHas(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // it would wait for hours
	defer cancel()
	manifest, desk := newRun(t, nil)
	lost := ""
	pool := &crew{agent: func(ctx context.Context, task driver.Task) (driver.Answer, error) {
		if lost == "" && task.Kind == "wave1" {
			board, err := job.OpenBoard(ctx, desk, manifest)
			if err != nil {
				t.Error(err)
				return obedient(ctx, task)
			}
			defer board.Close()
			lost, _ = board.Next(func(id string) bool { return id != task.Job })
			if _, err := board.Lease(ctx, job.LeaseInput{Holder: "nobody", JobID: lost, For: time.Hour, Home: &job.Home{Driver: "exec"}}); err != nil {
				t.Error(err)
			}
		}
		return obedient(ctx, task)
	}}
	out, err := engine.Drive(ctx, manifest, engine.Options{Desk: desk, Pool: pool, Fetch: new(web).fetch, Wait: noWait, Parallel: 1})
	if err != nil || out.Status != run.Completed || lost == "" {
		t.Errorf("%s %v, with %q lost", shown(out), err, lost)
	}
	verify(t, manifest)
}

func TestInterruptedHomeResumesUnderTheSameAttempt(t *testing.T) {
	t.Parallel()
	manifest, desk := newSmallRun(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	pool := &crew{agent: func(own context.Context, task driver.Task) (driver.Answer, error) {
		cancel()
		<-own.Done()
		return driver.Answer{}, own.Err()
	}}
	_, err := engine.Drive(ctx, manifest, engine.Options{Desk: desk, Pool: pool, Wait: noWait})
	if tidegate.CodeOf(err) != tidegate.Cancelled {
		t.Fatalf("got %v", err)
	}
	if out := drive(t, manifest, desk, &crew{agent: obedient}); out.Status != run.Completed {
		t.Errorf("%s", shown(out))
	}
	r := runs.Open(t, manifest)
	if has, err := r.Jobs().Of("perspectives"); err != nil || len(has.Attempts) != 1 {
		t.Errorf("%v, %v", has.Attempts, err)
	}
}

// TestAFinishedAnswerIsKept has an agent that answers just when its home stops, as
// the others do whose home ends on a full disk.
func TestAFinishedAnswerIsKept(t *testing.T) {
	t.Parallel()
	manifest, desk := newSmallRun(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	pool := &crew{agent: func(own context.Context, task driver.Task) (driver.Answer, error) {
		cancel()
		<-own.Done()
		return obedient(own, task)
	}}
	if _, err := engine.Drive(ctx, manifest, engine.Options{Desk: desk, Pool: pool, Wait: noWait}); tidegate.CodeOf(err) != tidegate.Cancelled {
		t.Fatalf("got %v", err)
	}
	next := &crew{agent: obedient}
	if out := drive(t, manifest, desk, next); out.Status != run.Completed || next.times("perspectives") != 0 {
		t.Errorf("asked %d more times: %s", next.times("perspectives"), shown(out))
	}
	verify(t, manifest)
}

func TestLocalPoolJoinsATaskOfTheSameID(t *testing.T) {
	t.Parallel()
	var started atomic.Int32
	hold := make(chan struct{})
	pool := &engine.Local{Drivers: func(string) []driver.Driver {
		return []driver.Driver{driverFunc(func(ctx context.Context, task driver.Task, event func(driver.Event)) (driver.Answer, error) {
			started.Add(1)
			select {
			case <-hold:
			case <-ctx.Done():
				return driver.Answer{}, context.Cause(ctx)
			}
			return driver.Answer{Text: "done"}, nil
		})}
	}}
	task := driver.Task{ID: "sha256:1"}
	gone, leave := context.WithCancelCause(t.Context())
	why := errors.New("nobody waits")
	first := make(chan error)
	go func() {
		_, err := pool.Do(gone, task, func(driver.Event) {})
		first <- err
	}()
	for started.Load() == 0 {
		time.Sleep(time.Millisecond)
	}
	leave(why)
	if err := <-first; err != why {
		t.Errorf("the end of ctx gives %v", err)
	}
	second := make(chan driver.Answer)
	go func() {
		answer, err := pool.Do(t.Context(), task, func(driver.Event) {})
		if err != nil {
			t.Error(err)
		}
		second <- answer
	}()
	close(hold)
	if answer := <-second; answer.Text != "done" {
		t.Errorf("joined: %+v", answer)
	}
}

type driverFunc func(context.Context, driver.Task, func(driver.Event)) (driver.Answer, error)

func (f driverFunc) Run(ctx context.Context, task driver.Task, event func(driver.Event)) (driver.Answer, error) {
	return f(ctx, task, event)
}
