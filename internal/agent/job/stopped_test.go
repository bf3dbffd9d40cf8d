package job_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/agent/job"
	"github.com/tidegate/tidegate/internal/base/archive"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/work/run"
)

const other = "## Findings\n\nTugs are loud.\n\n## Gaps\n\n- (P2) Costs.\n\n## Sources\n\n- Port https://example.org/port\n"

// handInAndStop hands in an answer and stops while it is judged. It returns the
// token, and the board of the process that comes next.
func handInAndStop(t *testing.T, manifest string, desk run.Desk, text string) (string, *job.Board) {
	t.Helper()
	b := open(t, desk, manifest)
	a := lease(t, b, "wave1.a")
	ctx, stop := context.WithCancel(t.Context())
	b.Fetch = func(ctx context.Context, _ []string, _ func([]*archive.Packed) error) error {
		stop()
		return tidegate.Errorf(tidegate.Cancelled, nil, "stopped: %w", ctx.Err())
	}
	if _, err := submit(ctx, b, a.Token, text); err == nil {
		t.Fatal("judging was not stopped")
	}
	return a.Token, open(t, desk, manifest)
}

func TestAStoppedJudgeDoesNotBlockItsHolder(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		first, second string
		later         time.Duration
		code          tidegate.Code
		text          string // that is accepted
	}{
		"the same answer at once":       {first: good, second: good, text: good},
		"the same answer later":         {first: good, second: good, later: 3 * time.Minute, text: good},
		"another answer at once":        {first: good, second: other, code: tidegate.JobNotOpen},
		"another answer later":          {first: good, second: other, later: 3 * time.Minute, text: good},
		"the same bad answer later":     {first: bad, second: bad, later: 3 * time.Minute},
		"a good answer after a bad one": {first: bad, second: good, later: 3 * time.Minute, text: good},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			manifest, set, desk := inWave1(t, "a")
			token, b := handInAndStop(t, manifest, desk, c.first)
			set.pass(c.later)
			verdict, err := submit(t.Context(), b, token, c.second)
			if tidegate.CodeOf(err) != c.code {
				t.Fatalf("%+v, %v", verdict, err)
			}
			if verdict.Accepted != (c.text != "") {
				t.Errorf("%+v", verdict)
			}
			if c.text != "" && read(t, manifest, "wave-1/a.md") != c.text {
				t.Error("the output is another answer")
			}
			verified(t, manifest)
		})
	}
}

// bad has a source that is looked at before it is refused.
const bad = "## Findings\n\nTugs.\n\n## Sources\n\n- Port https://example.org/port\n"

// TestAStepJudgesWhatAStoppedJudgeLeft has a rule judge the answer, while the
// lease of its author still lives.
func TestAStepJudgesWhatAStoppedJudgeLeft(t *testing.T) {
	t.Parallel()
	manifest, set, desk := inWave1(t, "a")
	_, b := handInAndStop(t, manifest, desk, good)
	if ids, _, err := b.JudgeLeftOver(t.Context()); err != nil || len(ids) != 0 {
		t.Errorf("%v, %v: somebody may still be judging it", ids, err)
	}
	set.pass(3 * time.Minute)
	if ids, _, err := b.JudgeLeftOver(t.Context()); err != nil || len(ids) != 1 {
		t.Errorf("%v, %v", ids, err)
	}
	if j, err := b.Job("wave1.a"); err != nil || j.State != job.Accepted {
		t.Errorf("%+v, %v", j, err)
	}
}

// TestAVerdictStandsOnWhatTheLogHasBeforeIt has a source fail for one judge and come
// back for another, whose verdict is recorded first: the answer of the first is judged
// again, by the page that the log has by then.
func TestAVerdictStandsOnWhatTheLogHasBeforeIt(t *testing.T) {
	manifest, set, desk := inWave1(t, "grid", "cost")
	first, second := open(t, desk, manifest), open(t, desk, manifest)
	text := good + "- Mill https://example.org/mill\n"
	page := func(url string, down bool) *archive.Packed {
		c := archive.Capture{URL: url, Kind: archive.Unreachable, Time: desk.Now()}
		if !down {
			c.Kind, c.Hops = archive.Responded, []archive.Hop{{URL: url, Time: desk.Now(), Status: 200, Header: []archive.Field{{Name: "Content-Type", Value: "text/html"}},
				Body: []byte("<title>Port and mill</title><p>" + strings.Repeat("The port handled some 4,200 calls in that year. ", 40))}}
		}
		packed := must.Get(archive.Pack(c))(t)
		return packed
	}
	fetch := func(down string, then func()) func(context.Context, []string, func([]*archive.Packed) error) error {
		return func(_ context.Context, urls []string, keep func([]*archive.Packed) error) error {
			var batch []*archive.Packed
			for _, url := range urls {
				batch = append(batch, page(url, url == down))
			}
			err := keep(batch)
			then()
			return err
		}
	}
	mine, theirs := lease(t, first, "wave1.grid"), lease(t, second, "wave1.cost")
	second.Fetch = fetch("", func() {})
	meanwhile := 0
	first.Fetch = fetch("https://example.org/mill", func() {
		if meanwhile++; meanwhile > 1 {
			return
		}
		set.pass(2 * time.Minute)
		if verdict, err := submit(t.Context(), second, theirs.Token, text); err != nil || !verdict.Accepted {
			t.Errorf("%+v, %v", verdict, err)
		}
	})
	if verdict, err := submit(t.Context(), first, mine.Token, text); err != nil || !verdict.Accepted || meanwhile != 1 {
		t.Errorf("%+v, %v after %d fetches", verdict, err, meanwhile)
	}
}

// TestTimeBetweenHomesIsNotSpent has a home leave its attempt, or die, and another one
// take it over ten hours later.
func TestTimeBetweenHomesIsNotSpent(t *testing.T) {
	for name, ends := range map[string]func(*job.Board, string) error{
		"left":   func(b *job.Board, token string) error { return b.Leave(t.Context(), token) },
		"killed": func(*job.Board, string) error { return nil },
	} {
		t.Run(name, func(t *testing.T) {
			manifest, set, desk := inWave1(t, "grid")
			b := open(t, desk, manifest)
			a := must.Get(b.Lease(t.Context(), job.LeaseInput{Holder: "home", JobID: "wave1.grid", For: time.Hour, Home: &job.Home{Driver: "exec"}}))(t)
			set.pass(3 * time.Minute)
			must.Do(t, ends(b, a.Token))
			set.pass(10 * time.Hour)
			b = open(t, desk, manifest)
			held, err := b.TakeOver(t.Context(), "next home", time.Hour, func(string) job.Home { return job.Home{} }, func(job.Job) bool { return true })
			if err != nil || len(held) != 1 {
				t.Fatalf("%+v, %v", held, err)
			}
			set.pass(5 * time.Minute)
			for _, when := range []string{"at work", "accepted"} {
				if spent := b.Spent(); spent.Minutes > 60 || spent.Minutes < 5 {
					t.Errorf("%s: %v minutes are spent", when, spent.Minutes)
				}
				if when == "at work" {
					if verdict, err := submit(t.Context(), b, held[0].Token, good); err != nil || !verdict.Accepted {
						t.Errorf("%+v, %v", verdict, err)
					}
				}
			}
		})
	}
}
