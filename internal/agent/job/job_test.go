package job_test

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/agent/driver"
	"github.com/tidegate/tidegate/internal/agent/job"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/rule/evidence"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/test/runs"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/sourcing"
	"github.com/tidegate/tidegate/internal/work/stage"
	"github.com/tidegate/tidegate/internal/work/step"
)

func state(t *testing.T, b *job.Board, id string) job.Job {
	t.Helper()
	j := must.Get(b.Job(id))(t)
	return j
}

// verified fails the test unless the run's log and files agree.
func verified(t *testing.T, manifest string) {
	t.Helper()
	r := must.Get(run.Open(t.Context(), runs.Pinned, manifest))(t)
	defer r.Close()
	if err := r.CheckRecord(); err != nil {
		t.Error(err)
	}
	recorded := must.Get(r.Recorded())(t)
	for name, digest := range recorded {
		there, err := r.Folder().Exists(name)
		if err != nil || there != (digest != "") {
			t.Errorf("%s: recorded %q, there: %v, %v", name, digest, there, err)
		}
	}
}

func TestAnAcceptedAnswerBecomesTheOutput(t *testing.T) {
	manifest, _, desk := inWave1(t, "grid", "cost")
	b := open(t, desk, manifest)
	if got := len(b.Jobs()); got != 2 {
		t.Fatalf("%d jobs", got)
	}
	a := lease(t, b, "wave1.grid")
	if j := state(t, b, "wave1.grid"); j.State != job.Leased || *j.Holder != "tester" || j.Attempt != 1 {
		t.Errorf("after the lease: %+v", j)
	}
	verdict, err := submit(t.Context(), b, a.Token, good)
	if err != nil || !verdict.Accepted || verdict.State != job.Accepted {
		t.Fatalf("%+v, %v", verdict, err)
	}
	dir := filepath.Dir(manifest)
	if text, err := os.ReadFile(filepath.Join(dir, "wave-1/grid.md")); err != nil || string(text) != good {
		t.Errorf("the output is %q, %v", text, err)
	}
	for _, name := range []string{"jobs/wave1.grid/001/prompt.md", "jobs/wave1.grid/001/answer-1.md", "jobs/wave1.grid/001/attempt.json"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Error(err)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "jobs/wave1.grid/lease.json")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the lease is still there: %v", err)
	}
	_, err = b.Lease(t.Context(), job.LeaseInput{Holder: "other", JobID: "wave1.grid"})
	runs.WantCode(t, err, tidegate.JobNotOpen)
	_, err = submit(t.Context(), b, a.Token, good)
	runs.WantCode(t, err, tidegate.LeaseLost)
	// Nobody else writes the output of a job that was done.
	_, err = step.Ingest(t.Context(), desk, step.IngestInput{ManifestPath: manifest, Wave: "wave1", Outputs: []step.Submission{{PerspectiveID: "grid", Markdown: good + "\n"}}})
	runs.WantCode(t, err, tidegate.JobNotOpen)
	verified(t, manifest)
}

func TestARefusedAnswerCanBeRepairedFourTimes(t *testing.T) {
	manifest, _, desk := inWave1(t, "grid")
	b := open(t, desk, manifest)
	a := lease(t, b, "wave1.grid")
	for n := 1; n <= job.MaxSubmissions; n++ {
		verdict, err := submit(t.Context(), b, a.Token, "## Findings\n\nNothing else.\n")
		if err != nil || verdict.Accepted || len(verdict.Faults) != 1 || verdict.Faults[0].Code != "MISSING_REQUIRED_SECTION" {
			t.Fatalf("answer %d: %+v, %v", n, verdict, err)
		}
		want := job.Leased
		if n == job.MaxSubmissions {
			want = job.Open
		}
		if verdict.State != want {
			t.Errorf("answer %d leaves the job %s", n, verdict.State)
		}
	}
	_, err := submit(t.Context(), b, a.Token, good)
	runs.WantCode(t, err, tidegate.LeaseLost)
	j := state(t, b, "wave1.grid")
	if j.TriesLeft != 3 {
		t.Errorf("%d tries are left", j.TriesLeft)
	}
	again := lease(t, b, "wave1.grid")
	if again.Attempt != 2 || !strings.Contains(again.PromptMD, "MISSING_REQUIRED_SECTION") || !strings.Contains(again.PromptMD, "Nothing else.") {
		t.Errorf("the second prompt does not carry the faults and the answer:\n%s", again.PromptMD)
	}
	verified(t, manifest)
}

func TestTriesAreUsedUpAndGivenBack(t *testing.T) {
	manifest, set, desk := inWave1(t, "grid")
	b := open(t, desk, manifest)
	// Released before anything was handed in: given back, ten times.
	for n := range 10 {
		a := lease(t, b, "wave1.grid")
		must.Get(b.Release(t.Context(), a.Token, "not for me"))(t)
		if j := state(t, b, "wave1.grid"); j.TriesLeft != 4 || j.Attempt != n+1 {
			t.Fatalf("after %d releases: %+v", n+1, j)
		}
	}
	a := lease(t, b, "wave1.grid")
	must.Get(b.Release(t.Context(), a.Token, "not for me"))(t)
	if j := state(t, b, "wave1.grid"); j.TriesLeft != 3 {
		t.Errorf("the eleventh release is given back: %+v", j)
	}
	// Released after an answer, expired without one.
	a = lease(t, b, "wave1.grid")
	must.Get(submit(t.Context(), b, a.Token, "no"))(t)
	must.Get(b.Release(t.Context(), a.Token, "enough"))(t)
	lease(t, b, "wave1.grid")
	set.pass(2 * time.Hour)
	if j := state(t, b, "wave1.grid"); j.State != job.Open {
		t.Errorf("a lease that has run out leaves the job %s", j.State)
	}
	last := lease(t, b, "wave1.grid") // closes the one before
	if j := state(t, b, "wave1.grid"); j.TriesLeft != 1 {
		t.Errorf("%d tries are left", j.TriesLeft)
	}
	must.Get(b.End(t.Context(), last.Token, job.Ending{Outcome: "died"}))(t)
	if j := state(t, b, "wave1.grid"); j.State != job.Exhausted {
		t.Errorf("%+v", j)
	}
	_, err := b.Lease(t.Context(), job.LeaseInput{Holder: "x", JobID: "wave1.grid"})
	runs.WantCode(t, err, tidegate.JobNotOpen)
	ctx := tidegate.WithActor(t.Context(), tidegate.Actor{Kind: tidegate.Person})
	if j, err := b.Retry(ctx, "wave1.grid", "look at the port's own pages", job.AnyAttempt); err != nil || j.State != job.Open || j.TriesLeft != 4 {
		t.Errorf("after a retry: %+v, %v", j, err)
	}
	if again := lease(t, b, "wave1.grid"); again.Attempt != 15 || !strings.Contains(again.PromptMD, "look at the port's own pages") {
		t.Errorf("attempt %d:\n%s", again.Attempt, again.PromptMD)
	}
	verified(t, manifest)
}

// TestALeaseThatRanOutIsATry, before anybody has closed its attempt.
func TestALeaseThatRanOutIsATry(t *testing.T) {
	manifest, set, desk := inWave1(t, "grid")
	for n := range 4 {
		b := open(t, desk, manifest)
		if a := lease(t, b, "wave1.grid"); a.Attempt != n+1 || a.TriesLeft != 4-n {
			t.Fatalf("attempt %d with %d tries left", a.Attempt, a.TriesLeft)
		}
		set.pass(2 * time.Hour)
	}
	b := open(t, desk, manifest)
	if j := state(t, b, "wave1.grid"); j.State != job.Exhausted || j.TriesLeft != 0 {
		t.Errorf("%+v", j)
	}
	_, err := b.Lease(t.Context(), job.LeaseInput{Holder: "x", JobID: "wave1.grid"})
	runs.WantCode(t, err, tidegate.JobNotOpen)
	ctx := tidegate.WithActor(t.Context(), tidegate.Actor{Kind: tidegate.Person})
	if j, err := b.Retry(ctx, "wave1.grid", "once more", job.AnyAttempt); err != nil || j.State != job.Open || j.TriesLeft != 4 {
		t.Errorf("after a retry: %+v, %v", j, err)
	}
	verified(t, manifest)
}

func TestALateAnswerIsKeptAndNeverJudged(t *testing.T) {
	manifest, set, desk := inWave1(t, "grid")
	b := open(t, desk, manifest)
	late := lease(t, b, "wave1.grid")
	set.pass(2 * time.Hour)
	now := lease(t, b, "wave1.grid")
	_, err := submit(t.Context(), b, late.Token, good)
	runs.WantCode(t, err, tidegate.LeaseLost)
	_, err = submit(t.Context(), b, late.Token, good+"again")
	runs.WantCode(t, err, tidegate.LeaseLost)
	dir := filepath.Dir(manifest)
	if kept, err := os.ReadFile(filepath.Join(dir, "jobs/wave1.grid/001/late.md")); err != nil || string(kept) != good {
		t.Errorf("the late answer is %q, %v", kept, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "wave-1/grid.md")); err == nil {
		t.Error("a late answer became the output")
	}
	_, err = b.Extend(t.Context(), late.Token, time.Minute)
	runs.WantCode(t, err, tidegate.LeaseLost)
	_, err = b.Release(t.Context(), late.Token, "")
	runs.WantCode(t, err, tidegate.LeaseLost)
	if verdict, err := submit(t.Context(), b, now.Token, good); err != nil || !verdict.Accepted {
		t.Errorf("%+v, %v", verdict, err)
	}
	verified(t, manifest)
}

// TestAnAnswerInARunThatStandsStillIsTaken has a person pause the run while
// somebody has a job.
func TestAnAnswerInARunThatStandsStillIsTaken(t *testing.T) {
	t.Parallel()
	manifest, _, desk := inWave1(t, "a", "b")
	a := lease(t, open(t, desk, manifest), "wave1.a")
	must.Get(stage.Pause(tidegate.WithActor(t.Context(), tidegate.Actor{Kind: tidegate.Person}), desk, stage.ControlInput{ManifestPath: manifest}))(t)
	b := open(t, desk, manifest)
	_, err := b.Lease(t.Context(), job.LeaseInput{Holder: "another"})
	runs.WantCode(t, err, tidegate.InvalidState)
	if verdict, err := submit(t.Context(), b, a.Token, good); err != nil || !verdict.Accepted {
		t.Errorf("%+v, %v", verdict, err)
	}
	verified(t, manifest)
}

func TestExtensionsLastADayAtMost(t *testing.T) {
	manifest, set, desk := inWave1(t, "grid")
	b := open(t, desk, manifest)
	a := lease(t, b, "wave1.grid")
	began := desk.Now()
	for range 40 {
		until := must.Get(b.Extend(t.Context(), a.Token, 2*time.Hour))(t)
		at, _ := tidegate.ParseTime(until)
		if at.After(began.Add(24 * time.Hour)) {
			t.Fatalf("extended until %s", until)
		}
		set.pass(time.Hour)
		if desk.Now().After(began.Add(23 * time.Hour)) {
			break
		}
	}
	set.pass(2 * time.Hour)
	_, err := b.Extend(t.Context(), a.Token, time.Hour)
	runs.WantCode(t, err, tidegate.LeaseLost)
}

func TestSixteenHoldersNeverHoldOneJobTogether(t *testing.T) {
	ids := []string{"a", "b", "c", "d", "e"}
	manifest, _, desk := inWave1(t, ids...)
	var mu sync.Mutex
	held := map[string]int{}
	accepted := map[string]int{}
	var holders sync.WaitGroup
	for range 16 {
		holders.Go(func() {
			b, err := job.OpenBoard(t.Context(), desk, manifest)
			if err != nil {
				t.Error(err)
				return
			}
			defer b.Close()
			for {
				a, err := b.Lease(t.Context(), job.LeaseInput{Holder: "one of sixteen"})
				if err != nil {
					t.Error(err)
					return
				}
				if a == nil {
					return
				}
				mu.Lock()
				if held[a.JobID]++; held[a.JobID] > 1 {
					t.Errorf("%s is held twice", a.JobID)
				}
				mu.Unlock()
				text := good
				if a.Attempt == 1 {
					text = "no"
				}
				verdict, err := submit(t.Context(), b, a.Token, text)
				if err != nil {
					t.Error(err)
				}
				mu.Lock()
				held[a.JobID]--
				if verdict.Accepted {
					accepted[a.JobID]++
				}
				mu.Unlock()
				if !verdict.Accepted {
					if _, err := b.Release(t.Context(), a.Token, "refused"); err != nil {
						t.Error(err)
					}
				}
				if err := b.Reload(t.Context()); err != nil {
					t.Error(err)
				}
			}
		})
	}
	holders.Wait()
	for _, id := range ids {
		if accepted["wave1."+id] != 1 {
			t.Errorf("wave1.%s was accepted %d times", id, accepted["wave1."+id])
		}
	}
	verified(t, manifest)
}

func TestPerspectivesAreJudgedAndTaken(t *testing.T) {
	manifest, _, desk := newRun(t, nil)
	b := open(t, desk, manifest)
	a := lease(t, b, job.PerspectivesID)
	if a.AnswerFormat != "json" {
		t.Errorf("format %s", a.AnswerFormat)
	}
	codes := func(v job.Verdict) []string {
		var list []string
		for _, f := range v.Faults {
			list = append(list, f.Code)
		}
		return list
	}
	verdict, err := submit(t.Context(), b, a.Token, "I would rather not.")
	if err != nil || !slices.Equal(codes(verdict), []string{"INVALID_JSON"}) {
		t.Errorf("%+v, %v", verdict, err)
	}
	bad := `{"schema_version":"perspectives.v1","perspectives":[
	  {"id":"a","title":"A","track":"standard","agent_type":"r","prompt_contract":{"max_words":300,"max_sources":0,"tool_budget":{},"must_include_sections":["Findings","Sources"]}}]}`
	verdict, err = submit(t.Context(), b, a.Token, bad)
	if err != nil || !slices.Equal(codes(verdict), []string{"CAP_LEAVES_NO_SOURCE", "NO_GAPS_SECTION"}) {
		t.Errorf("%v, %v", codes(verdict), err)
	}
	verdict, err = submit(t.Context(), b, a.Token, "```json\n"+strings.ReplaceAll(strings.ReplaceAll(bad, `"max_sources":0`, `"max_sources":2`), `"Sources"]`, `"Gaps","Sources"]`)+"\n```")
	if err != nil || !verdict.Accepted {
		t.Fatalf("%+v, %v", verdict, err)
	}
	data, err := os.ReadFile(filepath.Join(filepath.Dir(manifest), "perspectives.json"))
	if err != nil || !strings.Contains(string(data), `"run_id": "harbour"`) {
		t.Errorf("%s, %v", data, err)
	}
	verified(t, manifest)
}

func TestBudgetStopsLeasing(t *testing.T) {
	manifest, _, desk := inWave1(t, "grid", "cost")
	r := must.Get(run.Open(t.Context(), desk, manifest))(t)
	defer r.Close()
	must.Get(r.Update(t.Context(), func(u *run.Update) error { return u.SetBudget("max_tokens", 10, "test") }))(t)
	b := open(t, desk, manifest)
	a := lease(t, b, "wave1.grid")
	verdict, err := b.Submit(t.Context(), job.SubmitInput{Token: a.Token, Answer: []byte(good), Usage: &driver.Charge{InputTokens: 1}})
	if err != nil || !verdict.Accepted {
		t.Fatalf("%+v, %v", verdict, err)
	}
	if spent := b.Spent(); spent.Tokens < float64(len(good))/4 {
		t.Errorf("an agent that reports too little is charged %v tokens", spent.Tokens)
	}
	_, err = b.Lease(t.Context(), job.LeaseInput{Holder: "x"})
	runs.WantCode(t, err, tidegate.BudgetExhausted)
}

// TestFetchingIsTimeOfTheRun: minutes in which a rule was at work count like those
// of a lease, and minutes of both count once.
func TestFetchingIsTimeOfTheRun(t *testing.T) {
	manifest, now, desk := inWave1(t, "grid")
	a := lease(t, open(t, desk, manifest), "wave1.grid")
	r := open(t, desk, manifest).Run()
	for _, wait := range []time.Duration{30 * time.Second, 30 * time.Second} {
		now.pass(wait)
		must.Get(r.Update(t.Context(), func(u *run.Update) error {
			u.Log(run.EventFetched, "test", nil)
			return nil
		}))(t)
	}
	b := open(t, desk, manifest)
	if spent := b.Spent(); spent.Minutes != 1 {
		t.Errorf("fetched under a lease of a minute: %v minutes", spent.Minutes)
	}
	must.Get(b.Release(t.Context(), a.Token, "test"))(t)
	now.pass(30 * time.Second)
	must.Get(r.Update(t.Context(), func(u *run.Update) error {
		u.Log(run.EventFetched, "test", nil)
		return nil
	}))(t)
	if spent := open(t, desk, manifest).Spent(); spent.Minutes != 1.5 {
		t.Errorf("fetched for half a minute after a lease of a minute: %v minutes", spent.Minutes)
	}
}

// TestWhatIsSpentStaysANumber puts into attempts what no answer can have taken:
// the budget is used up, and a person can raise it.
func TestWhatIsSpentStaysANumber(t *testing.T) {
	manifest, _, desk := inWave1(t, "grid", "cost", "law")
	b := open(t, desk, manifest)
	for _, id := range []string{"wave1.grid", "wave1.cost"} {
		a := lease(t, b, id)
		must.Get(b.End(t.Context(), a.Token, job.Ending{Outcome: "refused", Usage: &driver.Charge{InputTokens: 1}}))(t)
		file := filepath.Join(filepath.Dir(manifest), "jobs", id, "001/attempt.json")
		text := must.Get(os.ReadFile(file))(t)
		astray := strings.NewReplacer(`"input_tokens": 1,`, `"input_tokens": -4611686018427387906,`, `"cost_usd": null`, `"cost_usd": 1.7e308`).Replace(string(text))
		must.Do(t, os.WriteFile(file, []byte(astray), 0o644))
	}
	b = open(t, desk, manifest)
	if spent := b.Spent(); spent.Tokens != 2*driver.MaxTokens || spent.CostUSD != 2*driver.MaxCostUSD {
		t.Errorf("spent are %+v", spent)
	}
	budget := func(tokens, cost float64) {
		t.Helper()
		for name, value := range map[string]float64{"max_tokens": tokens, "max_cost_usd": cost} {
			must.Get(b.Run().Update(t.Context(), func(u *run.Update) error { return u.SetBudget(name, value, "test") }))(t)
		}
		b = open(t, desk, manifest)
	}
	for limit, want := range map[float64]float64{1000: 4 * driver.MaxTokens, 1.5 * driver.MaxTokens: 3 * driver.MaxTokens} {
		budget(limit, 10)
		if name, to := b.Raised(); name != "max_tokens" || to != want {
			t.Errorf("of %v, %s is raised to %v", limit, name, to)
		}
	}
	_, err := b.Lease(t.Context(), job.LeaseInput{Holder: "x"})
	runs.WantCode(t, err, tidegate.BudgetExhausted)
	if _, err := codec.Marshal(tidegate.AsError(err).Details); err != nil {
		t.Error(err)
	}
	budget(4*driver.MaxTokens, 4*driver.MaxCostUSD)
	lease(t, b, "wave1.law")
}

// TestUsageOfAnAttemptStopsAtTheMost: a client that tidegate drives is not asked
// for less, it is charged the most.
func TestUsageOfAnAttemptStopsAtTheMost(t *testing.T) {
	manifest, _, desk := inWave1(t, "grid", "cost")
	b := open(t, desk, manifest)
	a, fortune := lease(t, b, "wave1.grid"), 1.7e308
	must.Get(b.End(t.Context(), a.Token, job.Ending{Outcome: "refused", Usage: &driver.Charge{InputTokens: math.MaxInt64, OutputTokens: math.MinInt64, CostUSD: &fortune}}))(t)
	if spent := b.Spent(); spent.Tokens != 2*driver.MaxTokens || spent.CostUSD != driver.MaxCostUSD {
		t.Errorf("spent are %+v", spent)
	}
}

// TestNamesOfToolsAreShown: a contract names tools, and its author is an agent.
func TestNamesOfToolsAreShown(t *testing.T) {
	manifest, _, desk := newRun(t, nil)
	doc := perspectives("grid")
	doc.Get("perspectives").Elems()[0].Get("prompt_contract").Set("tool_budget", codec.Of(tidegate.Pairs("a\x1b[2J\u009b\u202eb", 5)))
	ctx := tidegate.WithActor(t.Context(), tidegate.Actor{Kind: tidegate.Rule})
	dir := filepath.Dir(manifest)
	must.Get(step.WritePerspectives(ctx, desk, step.PerspectivesInput{PerspectivesPath: filepath.Join(dir, "perspectives.json"), Value: doc, Reason: "test"}))(t)
	must.Get(step.Plan(ctx, desk, step.PlanInput{ManifestPath: manifest, Reason: "test"}))(t)
	must.Get(stage.Advance(ctx, desk, stage.AdvanceInput{ManifestPath: manifest, GatesPath: filepath.Join(dir, "gates.json"), Reason: "test"}))(t)
	lease(t, open(t, desk, manifest), "wave1.grid")
	prompt := read(t, manifest, "jobs/wave1.grid/001/prompt.md")
	if strings.ContainsAny(prompt, "\x1b\u009b\u202e") || !strings.Contains(prompt, "aU+001B[2JU+009BU+202Eb") {
		t.Errorf("the prompt shows the name otherwise:\n%q", prompt)
	}
}

func TestATitleThatNoOutputCanHaveIsRefused(t *testing.T) {
	doc := perspectives("grid")
	doc.Get("perspectives").Elems()[0].Get("prompt_contract").Set("must_include_sections", codec.Of([]string{"Findings", "Gaps", "Sources", "Cost\u202es"}))
	faults, _, err := job.CheckPerspectives(doc, 6)
	if err != nil || len(faults) != 1 || faults[0].Code != "TITLE_INVISIBLE" {
		t.Errorf("got %+v, %v", faults, err)
	}
}

func TestArgumentsOfASubmission(t *testing.T) {
	manifest, _, desk := inWave1(t, "grid")
	b := open(t, desk, manifest)
	a := lease(t, b, "wave1.grid")
	cost, fortune := -1.0, 1.7e308
	for name, in := range map[string]job.SubmitInput{
		"blank":         {Token: a.Token, Answer: []byte(" \n")},
		"too large":     {Token: a.Token, Answer: make([]byte, 513<<10)},
		"no token":      {Token: "nonsense", Answer: []byte(good)},
		"negative cost": {Token: a.Token, Answer: []byte(good), Usage: &driver.Charge{CostUSD: &cost}},
		"all the money": {Token: a.Token, Answer: []byte(good), Usage: &driver.Charge{CostUSD: &fortune}},
		"all numbers":   {Token: a.Token, Answer: []byte(good), Usage: &driver.Charge{InputTokens: math.MaxInt64}},
		"too many":      {Token: a.Token, Answer: []byte(good), Usage: &driver.Charge{OutputTokens: driver.MaxTokens + 1}},
	} {
		if _, err := b.Submit(t.Context(), in); tidegate.CodeOf(err) != tidegate.InvalidArgs {
			t.Errorf("%s: %v", name, err)
		}
	}
	_, err := submit(t.Context(), b, strings.Replace(a.Token, "wave1.grid", "wave1.none", 1), good)
	runs.WantCode(t, err, tidegate.JobNotFound)
	stolen := strings.Repeat("0", 32) + a.Token[32:]
	_, err = submit(t.Context(), b, stolen, good)
	runs.WantCode(t, err, tidegate.LeaseLost)
	if _, err := os.Stat(filepath.Join(filepath.Dir(manifest), "jobs/wave1.grid/001/late.md")); err == nil {
		t.Error("an answer with a token that nobody was given was kept")
	}
}

// TestNoLeaseOfThePastLivesAgain sets the clock back after a lease by hand has run out,
// and while one is alive that its holder could not have begun yet.
func TestNoLeaseOfThePastLivesAgain(t *testing.T) {
	for name, passes := range map[string]time.Duration{"run out": 3 * time.Hour, "alive": time.Minute} {
		t.Run(name, func(t *testing.T) {
			manifest, set, desk := inWave1(t, "grid")
			b := open(t, desk, manifest)
			first := lease(t, b, "wave1.grid")
			set.pass(passes)
			set.pass(-26 * time.Hour)
			b = open(t, desk, manifest)
			if j := state(t, b, "wave1.grid"); j.State != job.Open {
				t.Fatalf("the job is %+v", j)
			}
			second := lease(t, b, "wave1.grid")
			_, err := submit(t.Context(), b, first.Token, good)
			runs.WantCode(t, err, tidegate.LeaseLost)
			if verdict, err := submit(t.Context(), b, second.Token, good); err != nil || !verdict.Accepted {
				t.Errorf("%+v, %v", verdict, err)
			}
			ended := must.Get(codec.Parse([]byte(read(t, manifest, "jobs/wave1.grid/001/attempt.json"))))(t)
			if from, to := ended.Get("started_at").Str(), ended.Get("ended_at").Str(); to < from {
				t.Errorf("the attempt began at %s and ended at %s", from, to)
			}
			if spent := b.Spent(); spent.Minutes < 0 || spent.Minutes > 24*60 {
				t.Errorf("spent are %+v", spent)
			}
		})
	}
}

// TestABriefRunOverDocumentsIsPlannedSmall: its planner hears of the length, and that two or
// three perspectives are enough. Where there is no web, its example allows no searches.
func TestABriefRunOverDocumentsIsPlannedSmall(t *testing.T) {
	dir := t.TempDir()
	must.Do(t, os.WriteFile(filepath.Join(dir, "tugs.md"), []byte("# Tugs\n\nThe tugs of the harbour are old.\n"), 0o600))
	desk := run.Desk{Reach: artifact.Everywhere, Now: time.Now}
	documents := must.Get(sourcing.ReadDocuments(desk, dir))(t)
	for length, want := range map[string]string{"brief": "from 2 to 3 perspectives. The report will have 400 words, give or take a fifth", "": "from 3 to 6 perspectives. Choose"} {
		made := runs.CreateAt(t, desk, run.InitInput{Query: "Are the tugs old?", Sensitivity: "no_web", Shape: evidence.Shape{Length: length}})
		must.Do(t, sourcing.AttachDocuments(tidegate.WithActor(t.Context(), tidegate.Actor{Kind: tidegate.Person}), desk, made.ManifestPath, documents))
		if a := lease(t, open(t, desk, made.ManifestPath), job.PerspectivesID); !strings.Contains(a.PromptMD, want) || strings.Contains(a.PromptMD, `"search_calls":`) {
			t.Errorf("length %q:\n%s", length, a.PromptMD)
		}
	}
}
