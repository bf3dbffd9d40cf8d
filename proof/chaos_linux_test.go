package proof_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/agent/driver"
	"github.com/tidegate/tidegate/internal/agent/engine"
	"github.com/tidegate/tidegate/internal/agent/job"
	"github.com/tidegate/tidegate/internal/agent/replay"
	"github.com/tidegate/tidegate/internal/base/archive"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/test/full"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/stage"
)

// longest is how many episodes a run has before the test says that it does not end.
const longest = 120

// errStruck ends a home, which loses everything but its files.
var errStruck = errors.New("struck")

// TestChaos takes runs from their question to their end while everything breaks:
// agents, sources, the process, the disk and the clock. A second program drives the
// run, others hand in what nobody asked them for, and a person pauses, cancels and goes
// on. Each seed has its run twice, which must come to the same end.
func TestChaos(t *testing.T) {
	t.Parallel()
	seeds := 1
	if full.Asked() {
		seeds = 500
	}
	var mu sync.Mutex
	ends, struck := map[string]int{}, map[string]int{}
	runs := 0
	t.Cleanup(func() { t.Logf("%d runs: %v; struck by %v", runs, ends, struck) })
	for seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			var outcomes [2]map[string]string
			for i := range outcomes {
				c := newChaos(t, storm{Seed: uint64(seed)}, i)
				outcomes[i] = c.through(t)
				mu.Lock()
				ends[outcomes[i]["end"]]++
				runs++
				for name, n := range c.struck {
					struck[name] += n
				}
				mu.Unlock()
			}
			if diff := cmp.Diff(outcomes[0], outcomes[1]); diff != "" {
				t.Errorf("the same seed has two ends (-one +other):\n%s", diff)
			}
		})
	}
}

// chaos is one run in a storm.
type chaos struct {
	folder
	storm
	twin     int // of the two runs of a seed; what strikes differs
	clock    *stepping
	parallel int
	calls    int               // of agents, in all episodes
	accepted map[string]string // digests of accepted answers, by job
	tokens   []string          // of leases that ended
	struck   map[string]int
}

func newChaos(t *testing.T, s storm, twin int) *chaos {
	t.Helper()
	c := &chaos{storm: s, twin: twin, clock: &stepping{at: time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)}, parallel: 1 + s.draw(4, "parallel", twin),
		accepted: map[string]string{}, struck: map[string]int{}}
	o := newOffice(t)
	o.env.Now = c.clock.now
	o.env.Fetch = c.fetch
	c.folder = o.run("tides")
	budget := map[string]float64{"tries": float64(1 + s.draw(4, "tries")), "max_parallel": float64(c.parallel), "max_minutes": 100_000}
	if s.stingy() {
		budget["max_tokens"] = 3000
	}
	o.call(t, "deep_research_run_init", tidegate.Pairs("query", question, "run_id", c.id))
	for _, name := range slices.Sorted(maps.Keys(budget)) {
		c.person(t, "deep_research_run_limit", tidegate.Pairs("manifest_path", c.manifest(), "name", name, "value", budget[name], "reason", "r"))
	}
	return c
}

// through takes the run to its end, and returns what it comes to.
func (c *chaos) through(t *testing.T) map[string]string {
	t.Helper()
	for episode := range longest {
		c.Episode = episode
		c.episode(t, episode)
		c.check(t)
		if end := c.helped(t); end != "" {
			return c.end(t, end)
		}
	}
	t.Fatalf("the run does not end: it is %s in stage %s", c.status(t), c.stage(t))
	return nil
}

func (c *chaos) status(t *testing.T) string { return c.json(t, "manifest.json").Get("status").Str() }

// episode is the life of one home.
func (c *chaos) episode(t *testing.T, number int) {
	t.Helper()
	if !c.calm() {
		c.byHand(t, number)
		if c.draw(8, "process", number, c.twin) == 0 {
			c.inProcess(t, number)
			return
		}
	}
	ctx, kill := context.WithCancelCause(t.Context())
	defer kill(nil)
	var once, cancel sync.Once
	at, what := 1+c.draw(4, "at", number, c.twin), c.draw(7, "what", number, c.twin)
	pool := &agents{storm: c.storm, late: func() { c.clock.step(3 * time.Hour) }}
	pool.strike = func(call int, stopped <-chan struct{}) {
		if n := c.cancels(); n > 0 && c.calls+call >= n {
			cancel.Do(func() { c.person(t, "deep_research_run_cancel", c.decision()) })
			<-stopped
			return
		}
		if c.calm() || call < at {
			return
		}
		once.Do(func() { c.strike(t, what, func() { kill(errStruck) }, stopped) })
	}
	_, err := engine.Drive(ctx, c.manifest(), c.options(pool))
	c.calls += pool.calls
	if err != nil && context.Cause(ctx) != errStruck {
		t.Fatalf("driving: %v", err)
	}
}

func (c *chaos) options(pool engine.Pool) engine.Options {
	return engine.Options{Desk: run.Desk{Now: c.clock.now}, Pool: pool, Fetch: c.fetch, Wait: func(_ context.Context, d time.Duration) { c.clock.step(d) }}
}

func (c *chaos) fetch(_ context.Context, urls []string, keep func([]*archive.Packed) error) error {
	for _, url := range urls {
		packed, err := archive.Pack(c.page(url, c.clock.now()))
		if err != nil {
			return err
		}
		if err := keep([]*archive.Packed{packed}); err != nil {
			return err
		}
	}
	return nil
}

func (c *chaos) decision() tidegate.Details {
	return tidegate.Pairs("manifest_path", c.manifest(), "reason", "r")
}

// strike is what happens while an agent is at work, once in an episode.
func (c *chaos) strike(t *testing.T, what int, kill func(), stopped <-chan struct{}) {
	name := ""
	switch what {
	case 0:
		name = "end of the home"
		kill()
		<-stopped
	case 1:
		name = "pause"
		c.person(t, "deep_research_run_pause", c.decision())
		<-stopped // the home obeys
	case 2:
		name = "clock forward"
		c.clock.step(26 * time.Hour)
	case 3:
		name = "clock back"
		c.clock.step([]time.Duration{-5 * time.Minute, -26 * time.Hour}[c.storm.draw(2, "back", c.twin)])
	case 4:
		name = "second program"
		if _, err := engine.Drive(t.Context(), c.manifest(), c.options(&agents{storm: c.storm})); tidegate.CodeOf(err) != tidegate.LockHeld {
			t.Errorf("a second home answers %v", err)
		}
	case 5:
		name = "lease beside the home"
		answer := c.call(t, "deep_research_job_lease", tidegate.Pairs("manifest_path", c.manifest(), "holder", "another"))
		if code := codeOf(answer); code != tidegate.JobNotOpen && code != tidegate.BudgetExhausted && code != tidegate.InvalidState {
			t.Errorf("an agent is given a job of a run that a home drives: %s", asJSON(answer))
		}
	case 6:
		name = "late answers"
		c.handInLate(t)
	}
	c.struck[name]++
}

// byHand is an agent that takes a job while nobody drives the run, and then does
// anything with it. It is gone before the next home begins.
func (c *chaos) byHand(t *testing.T, number int) {
	t.Helper()
	what := c.draw(12, "hand", number, c.twin)
	if what > 4 {
		return
	}
	c.call(t, "deep_research_run_step", tidegate.Pairs("manifest_path", c.manifest()))
	answer := c.call(t, "deep_research_job_lease", tidegate.Pairs("manifest_path", c.manifest(), "holder", "by hand", "lease_seconds", 30))
	leased := answer.Get("job")
	if leased.Kind() != codec.Object {
		return
	}
	c.struck["lease by hand"]++
	id := leased.Get("job_id").Str()
	task := driver.Task{Job: id, Kind: leased.Get("kind").Str(), Prompt: leased.Get("prompt_md").Str()}
	token := leased.Get("token").Str()
	submit := func(text string) {
		if text != "" {
			c.call(t, "deep_research_job_submit", tidegate.Pairs("manifest_path", c.manifest(), "token", token, "answer", text))
		}
	}
	switch {
	case what == 0 && id != c.cursed():
		submit(c.reply(task))
	case what == 1:
		submit("no")
	case what == 2:
		c.call(t, "deep_research_job_release", tidegate.Pairs("manifest_path", c.manifest(), "token", token, "reason", "r"))
	case what == 3 && id != "review": // the answer to another job
		submit(`{"decision":"PASS","findings":[],"directives":[]}`)
	}
	c.tokens = append(c.tokens, token)
	c.clock.step(time.Hour) // whatever it still holds has run out
}

// handInLate hands in answers for leases that are over. None counts.
func (c *chaos) handInLate(t *testing.T) {
	for _, token := range c.tokens {
		answer := c.call(t, "deep_research_job_submit", tidegate.Pairs("manifest_path", c.manifest(), "token", token, "answer", "late"))
		if code := codeOf(answer); code != tidegate.LeaseLost && code != tidegate.JobNotFound && code != tidegate.InvalidState {
			t.Errorf("a late answer gives %s", asJSON(answer))
		}
	}
}

// helped is what the person does when nobody drives the run: the end of the run, or
// "" when it can go on.
func (c *chaos) helped(t *testing.T) string {
	t.Helper()
	switch status := c.status(t); status {
	case "completed", "cancelled":
		return status
	case "paused":
		c.person(t, "deep_research_run_resume", c.decision())
	case "failed":
		board := must.Get(job.OpenBoard(t.Context(), run.Desk{Now: c.clock.now}, c.manifest()))(t)
		defer board.Close()
		if limit, spent := board.Limit(); limit != "" {
			return c.more(t, board, limit, spent)
		}
		for _, each := range board.Jobs() {
			if each.State != job.Exhausted {
				continue
			}
			if each.ID == c.cursed() {
				return "failed: " + each.ID
			}
			c.clock.step(2 * time.Minute) // in which a source may come back
			c.person(t, "deep_research_job_retry", tidegate.Pairs("manifest_path", c.manifest(), "job_id", each.ID, "note", "once more"))
		}
		if c.status(t) == "failed" {
			c.person(t, "deep_research_citations_fetch", tidegate.Pairs("manifest_path", c.manifest(), "again", true))
			c.person(t, "deep_research_run_resume", append(c.decision(), tidegate.Detail{Key: "accept", Value: true}))
		}
	}
	return ""
}

// more checks what was spent when a limit stopped the run, and raises the limit.
func (c *chaos) more(t *testing.T, board *job.Board, limit string, spent job.Spent) string {
	t.Helper()
	if limit == "max_tokens" {
		most := board.Policy().Budget.MaxTokens
		// For each agent at work there may be one whose answer is being written down.
		if over, largest := spent.Tokens-most, c.largest(t); over > float64(2*c.parallel*largest) {
			t.Errorf("%.0f tokens were spent of %.0f, and the largest attempt has %d, %d at once", spent.Tokens, most, largest, c.parallel)
		}
		if !c.generous() {
			return "failed: " + limit
		}
	}
	c.person(t, "deep_research_run_limit", tidegate.Pairs("manifest_path", c.manifest(), "name", limit, "value", 100_000_000, "reason", "r"))
	return ""
}

// largest is how many tokens the largest attempt has.
func (c *chaos) largest(t *testing.T) int {
	t.Helper()
	sizes := map[string]int{}
	for name, data := range snapshot(t, c.path("jobs")) {
		if base := filepath.Base(name); strings.HasPrefix(base, "prompt") || strings.HasPrefix(base, "answer") {
			sizes[filepath.Dir(name)] += len(data)/4 + 1
		}
	}
	return slices.Max(slices.Collect(maps.Values(sizes)))
}

// check demands what holds after every episode.
func (c *chaos) check(t *testing.T) {
	t.Helper()
	verdict, err := run.Verify(t.Context(), run.Desk{}, run.VerifyInput{ManifestPath: c.manifest(), Follows: stage.Follows})
	if err != nil || !verdict.Pass {
		t.Fatalf("the run does not agree with its record: %v %+v", err, verdict.Findings)
	}
	r := must.Get(run.Open(t.Context(), run.Desk{}, c.manifest()))(t)
	defer r.Close()
	events := must.Get(r.Events())(t)
	leased, accepted := map[string]int{}, map[string]bool{}
	for _, e := range events {
		id := e.Entry.Get("job_id").Str()
		attempt, _ := e.Entry.Get("attempt").Int()
		switch e.Entry.Get("kind").Str() {
		case "job_lease":
			leased[id]++
			if accepted[id] || int(attempt) != leased[id] {
				t.Fatalf("line %d: %s is leased as attempt %d, after %d others, accepted: %v", e.Number, id, attempt, leased[id]-1, accepted[id])
			}
		case "job_verdict":
			if accepted[id] {
				t.Fatalf("line %d: %s is judged after an answer was accepted", e.Number, id)
			}
			if accepted[id] = e.Entry.Get("accepted").Bool(); !accepted[id] {
				continue
			}
			number, _ := e.Entry.Get("answer").Int()
			found, err := filepath.Glob(c.path(fmt.Sprintf("%s/answer-%d.*", run.AttemptDir(id, int(attempt)), number)))
			if err != nil || len(found) != 1 {
				t.Fatalf("the accepted answer to %s is lost: %v", id, err)
			}
			data := must.Get(os.ReadFile(found[0]))(t)
			if was := c.accepted[id]; was != "" && was != codec.DigestBytes(data) {
				t.Fatalf("the accepted answer to %s has changed", id)
			}
			c.accepted[id] = codec.DigestBytes(data)
		}
	}
	for id := range c.accepted {
		if !accepted[id] {
			t.Fatalf("that an answer to %s was accepted is lost", id)
		}
	}
}

// end demands what holds at the end of a run, and says what the run came to.
func (c *chaos) end(t *testing.T, end string) map[string]string {
	t.Helper()
	c.handInLate(t)
	c.check(t)
	if wrong := forged(t, c.folder); len(wrong) > 0 {
		t.Errorf("gates %v pass, and their judges say otherwise: %s", wrong, refused(t, c.folder, wrong[0]))
	}
	r := must.Get(run.Open(t.Context(), run.Desk{}, c.manifest()))(t)
	defer r.Close()
	replayed := must.Get(replay.Run(t.Context(), r, ""))(t)
	for _, s := range replayed.Steps {
		if !s.Same {
			t.Errorf("replay: %s: %s", s.What, s.Difference)
		}
	}
	out := map[string]string{"end": end}
	if end != "completed" {
		return out
	}
	if got := strings.Join(counting(t, c.folder), ""); got != "ABCDEF" {
		t.Errorf("the run is completed, and of its gates %s count", got)
	}
	for name, data := range snapshot(t, c.root) {
		if strings.HasPrefix(name, "wave-") && strings.HasSuffix(name, ".md") || strings.HasPrefix(name, "summaries/") || name == "synthesis/final-synthesis.md" {
			out[name] = string(withoutTimes(name, data))
		}
	}
	return out
}

// homeVariable makes the test binary the home of a run in a storm; its value is a
// [struckHome].
const homeVariable = "PROOF_STORM"

// struckHome is a home in a process of its own, which kills itself when agents are
// asked for the nth time.
type struckHome struct {
	Manifest string
	Storm    storm
	Now      time.Time
	Dies     int // 0: it is struck from outside
}

func init() {
	text := os.Getenv(homeVariable)
	if text == "" {
		return
	}
	var h struckHome
	if err := json.Unmarshal([]byte(text), &h); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	c := &chaos{storm: h.Storm, clock: &stepping{at: h.Now}}
	pool := &agents{storm: h.Storm, late: func() { c.clock.step(3 * time.Hour) }}
	pool.strike = func(call int, _ <-chan struct{}) {
		if call == h.Dies {
			syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
	}
	_, err := engine.Drive(context.Background(), h.Manifest, c.options(pool))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// inProcess is an episode whose home is a process of its own, which is killed or
// loses its disk.
func (c *chaos) inProcess(t *testing.T, number int) {
	t.Helper()
	if c.cancels() > 0 {
		return // the person is here, and does not see what happens there
	}
	self := must.Get(os.Executable())(t)
	h := struckHome{Manifest: c.manifest(), Storm: c.storm, Now: c.clock.now()}
	drawn := func(n int, what string) int { return c.draw(n, what, number, c.twin) }
	name, around := "", []string(nil)
	inject := func(calls, how string) []string {
		return []string{"strace", "-f", "--seccomp-bpf", "-qq", "-o", os.DevNull, "-e", "trace=" + calls, "-e", "inject=" + calls + ":" + how}
	}
	at := 1 + drawn(300, "point")
	switch what := drawn(6, "injury"); what {
	case 0, 1:
		name, h.Dies = "kill", 1+drawn(5, "dies")
	case 2:
		name, around = "kill at a system call", inject("fsync,renameat,unlinkat", fmt.Sprintf("signal=KILL:when=%d", at))
	case 3:
		name, around = "full disk", []string{"prlimit", fmt.Sprintf("--fsize=%d", 1<<(8+drawn(9, "size")))}
	case 4:
		name, around = "broken disk", inject("fsync,renameat,write", fmt.Sprintf("error=%s:when=%d..%d", []string{"EIO", "ENOSPC"}[at%2], at, at+drawn(40, "while")))
	case 5:
		name, around = "slow disk", inject("fsync,renameat", fmt.Sprintf("delay_exit=3000:when=%d..%d", at, at+50))
	}
	if len(around) > 0 {
		if _, err := exec.LookPath(around[0]); err != nil {
			return
		}
	}
	words := append(around, self)
	value := must.Get(json.Marshal(h))(t)
	command := exec.CommandContext(t.Context(), words[0], words[1:]...)
	command.Env = append(os.Environ(), homeVariable+"="+string(value))
	out, err := command.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatalf("%v: %v\n%s", words, err, out)
	}
	if strings.Contains(string(out), "panic:") || strings.Contains(string(out), "fatal error") {
		t.Fatalf("%s: the home crashes:\n%s", name, out)
	}
	c.struck[name]++
	c.clock.step(time.Hour)
}
