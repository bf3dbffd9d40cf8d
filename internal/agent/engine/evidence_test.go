package engine_test

import (
	"context"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/agent/driver"
	"github.com/tidegate/tidegate/internal/agent/engine"
	"github.com/tidegate/tidegate/internal/agent/job"
	"github.com/tidegate/tidegate/internal/rule/evidence"
	"github.com/tidegate/tidegate/internal/test/full"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/test/reader"
	"github.com/tidegate/tidegate/internal/test/runs"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/sentences"
)

// TestEverySentenceIsRead drives a run whose sentences are all read: they stand, and
// every view of them says so.
func TestEverySentenceIsRead(t *testing.T) {
	t.Parallel()
	manifest, desk := newSmallRun(t, nil)
	if out := drive(t, manifest, desk, &crew{agent: obedient}); out.Status != run.Completed {
		t.Fatal(shown(out))
	}
	claims, err := sentences.ReadClaims(runs.Open(t, manifest))
	if err != nil || claims == nil || len(claims.Sentences) != 4 {
		t.Fatal(shown(claims), err)
	}
	for _, s := range claims.Sentences {
		if s.Verdict == nil || s.Verdict.Verdict != "supported" || s.Verdict.Words == "" {
			t.Errorf("%s: %s", s.ID, shown(s.Verdict))
		}
	}
	if c := claims.Pairs; c.Asked < 3 || c.Missed != 0 || c.Hard == 0 {
		t.Errorf("the reader was tested with %+v", c)
	}
	verify(t, manifest)
}

const lie = "In 1958 the harbour office of Portem hid a grave accident from its owner."

// TestALieIsSentBack has the writer plant a lie in words that no rule can judge. The second
// reader finds it, the rule sends the report back without a review, and the writer takes
// it out.
func TestALieIsSentBack(t *testing.T) {
	t.Parallel()
	manifest, desk := researched.newRun(t, nil)
	pool := &crew{agent: func(ctx context.Context, task driver.Task) (driver.Answer, error) {
		answer, err := obedient(ctx, task)
		switch {
		case task.Job == "synthesis":
			answer.Text = strings.Replace(answer.Text, "## Evidence\n\n", "## Evidence\n\n"+strings.TrimSuffix(lie, ".")+". [@s1]\n\n", 1)
		case task.Job == "synthesis.2":
			id, _, _ := strings.Cut(strings.SplitAfter(task.Prompt, "Sentence ")[1], " ")
			if !strings.Contains(task.Prompt, "no passage says it") {
				t.Error("the writer is not told what the reader says")
			}
			answer.Text = `{"replace":[{"sentence":"` + id + `","with":""}]}`
		}
		return answer, err
	}}
	out := drive(t, manifest, desk, pool)
	if out.Status != run.Completed {
		t.Fatal(shown(out))
	}
	r := runs.Open(t, manifest)
	if r.Manifest().ReviewRounds() != 1 || !r.Manifest().RoundsByRule()[1] || pool.times("review") != 0 || pool.times("review.2") != 1 {
		t.Errorf("%d rounds, review asked %d times, review.2 %d times", r.Manifest().ReviewRounds(), pool.times("review"), pool.times("review.2"))
	}
	if pool.times("verify.2.1") != 0 {
		t.Error("sentences that were read are asked again")
	}
	text, err := r.Folder().Read(r.Layout().Synthesis())
	if err != nil || strings.Contains(string(text), "grave accident") {
		t.Errorf("the lie stands: %s, %v", text, err)
	}
	verify(t, manifest)
}

// TestAReaderThatApprovesEverythingIsUnfit has a reader miss every pair: once each part was
// answered it reads no more.
func TestAReaderThatApprovesEverythingIsUnfit(t *testing.T) {
	t.Parallel()
	manifest, desk := researched.newRun(t, nil)
	pool := &crew{agent: func(ctx context.Context, task driver.Task) (driver.Answer, error) {
		if task.Kind == "verify" {
			if strings.Contains(task.Prompt, "CONTROL_FAILED") {
				t.Error("a prompt tells what became of the last answer")
			}
			return approves(task.Prompt), nil
		}
		return obedient(ctx, task)
	}}
	out := drive(t, manifest, desk, pool)
	if out.Status != run.Running || !strings.Contains(out.Reason, "missed too much") || pool.times("verify.1") != 1 {
		t.Fatalf("asked %d times: %s", pool.times("verify.1"), shown(out))
	}
	events, err := runs.Open(t, manifest).EventsOf(run.EventUnfit)
	if err != nil || len(events) != 1 {
		t.Errorf("the log has %d lines about it, %v", len(events), err)
	}
}

// driveWith drives a run with these agents, which write and read as their roles say.
func driveWith(t *testing.T, manifest string, desk run.Desk, pool engine.Pool, agents map[string]engine.Agent) engine.Outcome {
	t.Helper()
	out := must.Get(engine.Drive(t.Context(), manifest, engine.Options{Desk: desk, Pool: pool, Fetch: new(web).fetch, Wait: noWait, Agents: agents}))(t)
	return out
}

// approves calls everything supported.
func approves(prompt string) driver.Answer {
	return driver.Answer{Text: reader.Answer(prompt, func(c reader.Claim) reader.Verdict {
		return reader.Honest(c, strings.Join(strings.Fields(c.Sentence), " "))
	})}
}

// refuses calls nothing supported.
func refuses(prompt string) driver.Answer {
	return driver.Answer{Text: reader.Answer(prompt, func(reader.Claim) reader.Verdict {
		return reader.Verdict{Verdict: "unsupported", Because: "I do not believe it"}
	})}
}

// TestTheNextReaderIsAsked has the verifier approve, or refuse, everything: an honest
// report passes all the same, because the reviewer's agent reads it then. The short form has
// the refusal; TestNoReaderStopsAnHonestReport has a reader that approves.
func TestTheNextReaderIsAsked(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		reads func(prompt string) driver.Answer
		asked int
	}{"approves": {approves, 2}, "refuses": {refuses, 2}} {
		if name == "approves" && !full.Asked() {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			manifest, desk := researched.newRun(t, nil)
			pool := &crew{agent: func(ctx context.Context, task driver.Task) (driver.Answer, error) {
				if task.Kind == "verify" && task.Role == "verifier" {
					return test.reads(task.Prompt), nil
				}
				return obedient(ctx, task)
			}}
			out := driveWith(t, manifest, desk, pool, map[string]engine.Agent{"": {Driver: "writer"}, "verifier": {Driver: "careless"}, "reviewer": {Driver: "reader"}})
			if out.Status != run.Completed || pool.times("verify.1") != test.asked {
				t.Errorf("asked %d times: %s", pool.times("verify.1"), shown(out))
			}
			verify(t, manifest)
		})
	}
}

// TestReadersThatAgreeAreBelieved has every reader refuse everything: the run goes back as
// often as it may, and then needs a person.
func TestReadersThatAgreeAreBelieved(t *testing.T) {
	t.Parallel()
	manifest, desk := researched.newRun(t, nil)
	var dropped atomic.Bool
	pool := &crew{agent: func(ctx context.Context, task driver.Task) (driver.Answer, error) {
		if task.Kind == "verify" {
			return refuses(task.Prompt), nil
		}
		if task.Kind == "synthesis" && strings.Contains(task.Prompt, "DROP_REQUIRED") {
			dropped.Store(true)
		}
		return obedient(ctx, task)
	}}
	out := drive(t, manifest, desk, pool)
	r := runs.Open(t, manifest)
	if rounds := r.Manifest().ReviewRounds(); out.Status != run.Failed || rounds == 0 || rounds > run.DefaultVerifyRounds || len(r.Manifest().RoundsByRule()) != int(rounds) {
		t.Errorf("%d rounds: %s", rounds, shown(out))
	}
	if !dropped.Load() || pool.times("review") > 0 {
		t.Errorf("what was refused twice need not go: %t; reviews: %d", !dropped.Load(), pool.times("review"))
	}
	verify(t, manifest)
}

// TestWhoWroteTheReportDoesNotReadIt: with a single agent the run waits for a person,
// unless a person said that one agent is enough.
func TestWhoWroteTheReportDoesNotReadIt(t *testing.T) {
	t.Parallel()
	only := map[string]engine.Agent{"": {Driver: "writer"}}
	manifest, desk := researched.newRun(t, nil)
	pool := &crew{agent: obedient}
	out := driveWith(t, manifest, desk, pool, only)
	if out.WaitingFor != engine.ForPerson || out.Status != run.Running || !strings.Contains(out.Help, "--one-agent") || pool.times("verify.1") > 0 {
		t.Errorf("%s, %s", shown(out), out.Help)
	}
	desk = run.Desk{Now: time.Now}
	made := runs.CreateAt(t, desk, run.InitInput{Query: "Should the harbour buy electric tugs?", RunID: "one", Evidence: run.EvidenceChoice{OneAgent: true}})
	if out := driveWith(t, filepath.Join(made.Root, run.ManifestFile), desk, &crew{agent: obedient}, only); out.Status != run.Completed {
		t.Error(shown(out))
	}
}

// TestOfThePairsNothingIsLearned leases a reading by hand: whoever wrote the report does not
// get it, an answer waits for those to the other parts, and whatever becomes of it the part is
// asked again in the same words. No view has the seed.
func TestOfThePairsNothingIsLearned(t *testing.T) {
	t.Parallel()
	manifest, desk := researched.newRun(t, nil)
	driveWith(t, manifest, desk, &crew{agent: obedient}, map[string]engine.Agent{"": {Driver: "writer"}})
	b := boardOf(t, desk, manifest)
	ctx := tidegate.WithActor(t.Context(), tidegate.Actor{Kind: tidegate.Agent})
	if err := b.MayTake("verify.1", job.Home{Driver: "writer"}); tidegate.CodeOf(err) != tidegate.SameHolder {
		t.Errorf("the writer may read: %v", err)
	}
	log := must.Read(t, filepath.Join(filepath.Dir(manifest), run.LogFile))
	seed := runs.Parse(t, must.Read(t, filepath.Join(filepath.Dir(manifest), "review", "rounds", "1", "seed.json"))).Get("seed").Str()
	if len(seed) != 32 || !strings.Contains(log, `"seed_digest"`) || strings.Contains(log, seed) {
		t.Errorf("the log has the seed %q before its round is closed, or not its digest", seed)
	}
	read := func(holder string, answer func(prompt string) driver.Answer) (prompts []string, verdicts []job.Verdict) {
		for _, id := range []string{"verify.1", "verify.2"} {
			held := must.Get(b.Lease(ctx, job.LeaseInput{Holder: holder, JobID: id}))(t)
			verdict := must.Get(b.Submit(ctx, job.SubmitInput{Token: held.Token, Answer: []byte(answer(held.PromptMD).Text)}))(t)
			prompts, verdicts = append(prompts, held.PromptMD), append(verdicts, verdict)
		}
		return prompts, verdicts
	}
	first, verdicts := read("somebody", approves)
	if v := verdicts[0]; v.Accepted || v.State != job.Held || len(v.Faults) > 0 {
		t.Errorf("the first part: %s", shown(v))
	}
	if v := verdicts[1]; v.Accepted || v.State != job.Open || len(v.Faults) != 1 || v.Faults[0].Code != "CONTROL_FAILED" || strings.ContainsAny(v.Faults[0].Message+v.Faults[0].ChangeNote, "0123456789") {
		t.Errorf("the second part: %s", shown(v))
	}
	found, err := b.Show("verify.1")
	if text := shown(found); err != nil || strings.Contains(text, seed) || strings.Contains(text, `"pairs"`) {
		t.Errorf("the pairs are shown: %s, %v", text, err)
	}
	second, verdicts := read("another", func(prompt string) driver.Answer { return driver.Answer{Text: reader.Faithful(prompt, concluded)} })
	if !slices.Equal(first, second) {
		t.Error("a part whose pairs were missed is asked in other words")
	}
	if !verdicts[1].Accepted || must.Get(b.Job("verify.1"))(t).State != job.Accepted {
		t.Errorf("whoever reads is not believed: %s", shown(verdicts))
	}
}

// TestTwoReadersAreNotTestedByOnePair: where two gave its halves and both say supported, both
// are asked again, nobody is charged, and whoever gives both halves then is tested.
func TestTwoReadersAreNotTestedByOnePair(t *testing.T) {
	t.Parallel()
	manifest, desk := researched.newRun(t, nil)
	driveWith(t, manifest, desk, &crew{agent: obedient}, map[string]engine.Agent{"": {Driver: "writer"}})
	b := boardOf(t, desk, manifest)
	ctx := tidegate.WithActor(t.Context(), tidegate.Actor{Kind: tidegate.Agent})
	submit := func(holder, id string) job.Verdict {
		held := must.Get(b.Lease(ctx, job.LeaseInput{Holder: holder, JobID: id}))(t)
		return must.Get(b.Submit(ctx, job.SubmitInput{Token: held.Token, Answer: []byte(approves(held.PromptMD).Text)}))(t)
	}
	submit("one", "verify.1")
	if v := submit("two", "verify.2"); v.Accepted || v.State != job.Open || len(v.Faults) > 0 || v.TriesLeft != 4 {
		t.Errorf("%s", shown(v))
	}
	if j := must.Get(b.Job("verify.1"))(t); j.State != job.Open || j.TriesLeft != 4 {
		t.Errorf("%s", shown(j))
	}
	submit("two", "verify.1")
	if v := submit("two", "verify.2"); len(v.Faults) != 1 || v.TriesLeft != 3 {
		t.Errorf("%s", shown(v))
	}
	_, err := b.Lease(ctx, job.LeaseInput{Holder: "two", JobID: "verify.1"})
	if tidegate.CodeOf(err) != tidegate.JobNotOpen {
		t.Errorf("who missed every pair reads on: %v", err)
	}
}

// TestPairsAreShownOnceTheRoundIsClosed: whoever looks at a reading then sees the twins, and
// which of them its readers missed.
func TestPairsAreShownOnceTheRoundIsClosed(t *testing.T) {
	t.Parallel()
	manifest, desk := researched.newRun(t, nil)
	pool := &crew{agent: func(ctx context.Context, task driver.Task) (driver.Answer, error) {
		if task.Kind != "verify" || task.Role != "verifier" {
			return obedient(ctx, task)
		}
		b := boardOf(t, desk, manifest)
		if pairs, err := b.Pairs(task.Job); err != nil || pairs != nil {
			t.Errorf("while it reads, %v is shown, %v", pairs, err)
		}
		return approves(task.Prompt), nil
	}}
	if out := driveWith(t, manifest, desk, pool, map[string]engine.Agent{"": {Driver: "writer"}, "verifier": {Driver: "hostile"}, "reviewer": {Driver: "reader"}}); out.Status != run.Completed {
		t.Fatal(shown(out))
	}
	b := boardOf(t, desk, manifest)
	claims := must.Get(sentences.ReadClaims(runs.Open(t, manifest)))(t)
	told, missed := map[int]int{}, map[int]int{} // by attempt
	for _, id := range []string{"verify.1", "verify.2"} {
		for _, p := range must.Get(b.Pairs(id))(t) {
			if p.Missed {
				missed[p.Attempt]++
			} else {
				told[p.Attempt]++
			}
			if slices.ContainsFunc(claims.Sentences, func(s evidence.Claim) bool { return s.Text == p.Sentence }) || p.Claim == 0 || p.Sentence == "" {
				t.Errorf("%+v is a sentence of the report", p)
			}
		}
	}
	if n := told[2]; n == 0 || missed[2] != 0 || told[1] != 0 || missed[1] != n || claims.Pairs.Asked != 2*n || claims.Pairs.Missed != n {
		t.Errorf("%+v: %v told, %v missed", claims.Pairs, told, missed)
	}
	found := must.Get(b.Show("verify.1"))(t)
	if found.Pairs = must.Get(b.Pairs("verify.1"))(t); len(found.Pairs) == 0 || !strings.Contains(shown(found.Report()), found.Pairs[0].Sentence) {
		t.Error("a person is not shown them")
	}
	if other, err := b.Pairs("review"); err != nil || other != nil {
		t.Errorf("another job has %v, %v", other, err)
	}
	if log := must.Read(t, filepath.Join(filepath.Dir(manifest), run.LogFile)); !strings.Contains(log, `"seed":"`) {
		t.Error("the log does not have the seed of the closed round")
	}
}

// allForms is an honest report in which every form of a sentence stands.
func allForms() string {
	s := func(k int) string { return reader.Sentence(0, k) }
	return "## Summary\n\n" + s(4) + " " + s(5) + " [@s1]\n\n" + concluded + " [inferred from @s1]\n\n" +
		"## Key Findings\n\nWhat happened in the harbours:\n\n- " + s(6) + " [@s1]\n- " + s(7) + " [@s1]\n\n### Later years\n\n" + s(8) + " [@s1]\n\n" +
		"## Evidence\n\n" + s(9) + " [@s1]\n\n" + grew + " [@s1] [calculated: 400 - 175 = 225]\n\n" +
		"## Caveats\n\n" + onRun + " [inferred from @run]\n\n" + doubted + " [inferred from @s1]\n"
}

const (
	concluded = "Owners of harbours changed many things."
	grew      = "The inspections grew by 225 under that owner."
	onRun     = "The research rests on one valid source."
	doubted   = "Other harbours may have fared otherwise."
)

// TestEveryFormIsRead has frames, lists, carried and inferred sentences, calculations and
// what is said of the run itself read like everything else. One of them is unclear at both
// looks, and is tolerated.
func TestEveryFormIsRead(t *testing.T) {
	t.Parallel()
	manifest, desk := researched.newRun(t, nil)
	pool := &crew{agent: func(ctx context.Context, task driver.Task) (driver.Answer, error) {
		switch {
		case task.Kind == "synthesis":
			return driver.Answer{Text: allForms()}, nil
		case task.Kind == "verify":
			if !reflect.DeepEqual(task.Tools, driver.Tools{}) || task.Folder != "" {
				t.Errorf("the reader gets more than its prompt: %+v", task)
			}
			return driver.Answer{Text: reader.Answer(task.Prompt, func(c reader.Claim) reader.Verdict {
				if c.Sentence == reader.Sentence(0, 9) {
					return reader.Verdict{Verdict: "unclear", Because: "which owner?"}
				}
				return reader.Honest(c, concluded, grew, onRun, doubted, "What happened in the harbours:", "Later years")
			})}, nil
		}
		return obedient(ctx, task)
	}}
	out := drive(t, manifest, desk, pool)
	claims, err := sentences.ReadClaims(runs.Open(t, manifest))
	if err != nil || claims == nil {
		attempt, _ := runs.Open(t, manifest).Folder().Read("jobs/synthesis/001/attempt.json")
		t.Fatal(shown(out), string(attempt), err)
	}
	if out.Status != run.Completed {
		t.Fatal(shown(out), shown(claims.Judge(true)))
	}
	forms := map[evidence.Form]int{}
	for _, s := range claims.Sentences {
		forms[s.Form]++
	}
	if want := (map[evidence.Form]int{evidence.Cited: 6, evidence.Carried: 1, evidence.Inferred: 3, evidence.Frame: 2}); !reflect.DeepEqual(forms, want) {
		t.Errorf("the forms are %v, want %v", forms, want)
	}
	outcome := claims.Judge(true)
	// A part of which one sentence is unclear may be asked twice: it depends on what else is in it.
	if len(outcome.Marked) != 1 || outcome.Marked[0].Text != reader.Sentence(0, 9) || outcome.Marked[0].Verdict.Look != 2 {
		t.Errorf("marked are %s", shown(outcome.Marked))
	}
	verify(t, manifest)
}
