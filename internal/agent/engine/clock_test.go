package engine_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"github.com/tidegate/tidegate/internal/agent/driver"
	"github.com/tidegate/tidegate/internal/agent/engine"
	"github.com/tidegate/tidegate/internal/agent/job"
	"github.com/tidegate/tidegate/internal/base/archive"
	"github.com/tidegate/tidegate/internal/rule/evidence"
	"github.com/tidegate/tidegate/internal/test/full"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/work/run"
)

// set is a time as it is after the clock of the machine was set: the time of day is
// another one, and the monotonic reading goes on. No function of package time makes one.
func set(t time.Time, by time.Duration) time.Time {
	*(*uint64)(unsafe.Pointer(&t)) += uint64(by/time.Second) << 30 // the seconds of a time with such a reading
	return t
}

// TestTheClockIsSetWhileARunIsDriven sets the clock forward or back by hours when the home
// looks at it for the nth time. The run is completed in one attempt at each job, nobody is
// asked twice but to repair an answer, which everybody may, and what the clock leapt over is
// not charged.
func TestTheClockIsSetWhileARunIsDriven(t *testing.T) {
	t.Parallel()
	if at := time.Now(); set(at, time.Hour).Sub(at) != 0 || set(at, time.Hour).Round(0).Sub(at.Round(0)) != time.Hour {
		t.Fatal("a time is made otherwise than this test knows")
	}
	points := []int{60, 200}
	if full.Asked() {
		points = nil
		for at := 1; at < 600; at += 4 {
			points = append(points, at)
		}
	}
	var last atomic.Int64
	t.Cleanup(func() { t.Logf("%d points, a home looks at the clock %d times", len(points), last.Load()) })
	for i, at := range points {
		by := []time.Duration{5 * time.Hour, -5 * time.Hour, 40 * 24 * time.Hour, -40 * 24 * time.Hour}[i%4]
		t.Run(fmt.Sprintf("%v at %d", by, at), func(t *testing.T) {
			t.Parallel()
			manifest, desk := newRun(t, map[string]float64{"max_minutes": 30})
			var looks atomic.Int64
			desk.Now = func() time.Time {
				if looks.Add(1) >= int64(at) {
					return set(time.Now(), by)
				}
				return time.Now()
			}
			wall := func() time.Time {
				if looks.Load() >= int64(at) {
					return time.Now().Add(by).Round(0)
				}
				return time.Now().Round(0)
			}
			var whole sync.Map // prompts of the first wave, whose agents have to repair their answers
			pool := &crew{agent: func(ctx context.Context, task driver.Task) (driver.Answer, error) {
				if task.Kind == "wave1" && task.Turn == 1 {
					whole.Store(task.Job, task.Prompt)
					return driver.Answer{Text: "no", Session: "s"}, nil
				}
				if first, ok := whole.Load(task.Job); ok {
					task.Prompt = first.(string)
				}
				return obedient(ctx, task)
			}}
			out, err := engine.Drive(t.Context(), manifest, engine.WithWall(
				engine.Options{Desk: desk, Pool: pool, Fetch: new(web).fetch, Wait: noWait, Agents: agents}, wall))
			if err != nil || out.Status != run.Completed {
				t.Fatalf("%s, %v", shown(out), err)
			}
			last.Store(looks.Load())
			b := must.Get(job.OpenBoard(t.Context(), desk, manifest))(t)
			defer b.Close()
			if minutes := b.Spent().Minutes; minutes > 20 {
				t.Errorf("%v minutes are charged", minutes)
			}
			for _, j := range b.Jobs() {
				want := 1
				if j.Kind == "wave1" {
					want = 2
				}
				if n := pool.times(j.ID); j.Attempt != 1 || n != want {
					t.Errorf("%s was asked for %d times in %d attempts", j.ID, n, j.Attempt)
				}
			}
			verify(t, manifest)
		})
	}
}

// TestALeapWhileAnAnswerIsJudged: the clock is set forward by a month while a home judges an
// answer. Nobody else takes the judge for dead or the job for open, neither before nor after
// the home has kept the leap.
func TestALeapWhileAnAnswerIsJudged(t *testing.T) {
	t.Parallel()
	manifest, desk := newLong(t, evidence.Shape{}, 1)
	must.Get(engine.Settle(t.Context(), desk, nil, manifest, 0))(t)
	var off time.Duration
	desk.Now = func() time.Time { return set(time.Now(), off) }
	b := must.Get(job.OpenBoard(t.Context(), desk, manifest))(t)
	defer b.Close()
	leased := must.Get(b.Lease(t.Context(), job.LeaseInput{Holder: "home", JobID: "wave1.p0", Home: &job.Home{Driver: "claude"}}))(t)
	look := func(when string) {
		if judged, _, err := b.JudgeLeftOver(t.Context()); err != nil || len(judged) > 0 {
			t.Errorf("%s others judge %q, %v", when, judged, err)
		}
		if work := b.Work(); work[job.Leased] != 1 {
			t.Errorf("%s the jobs are %v", when, work)
		}
	}
	began := time.Now()
	b.Fetch = func(ctx context.Context, urls []string, keep func([]*archive.Packed) error) error {
		if off == 0 {
			off = 31 * 24 * time.Hour
			look("after the leap")
			if err := b.Unspent(ctx, leased.Token, run.Span{From: began, To: desk.Now()}); err != nil {
				t.Error(err)
			}
			look("when the leap is kept")
		}
		return library(ctx, urls, keep)
	}
	answer := must.Get((&author{}).answer(t.Context(), driver.Task{Kind: "wave1", Job: "wave1.p0"}))(t)
	if verdict, err := b.Submit(t.Context(), job.SubmitInput{Token: leased.Token, Answer: []byte(answer.Text), Home: &job.HomeAnswer{}}); err != nil || !verdict.Accepted || off == 0 {
		t.Errorf("%s, %v", shown(verdict), err)
	}
}

// TestALeaseOutlivesAClockThatIsSetBackForAMoment: the clock is five hours slow at one look
// of a home that takes a job, extends its lease or hands in an answer, and right again at
// the next. The lease lives.
func TestALeaseOutlivesAClockThatIsSetBackForAMoment(t *testing.T) {
	t.Parallel()
	const jobs = 13
	manifest, desk := newLong(t, evidence.Shape{}, jobs)
	must.Get(engine.Settle(t.Context(), desk, nil, manifest, 0))(t)
	looks, slow := 0, 0
	desk.Now = func() time.Time {
		if looks++; looks == slow {
			return set(time.Now(), -5*time.Hour)
		}
		return time.Now()
	}
	b := must.Get(job.OpenBoard(t.Context(), desk, manifest))(t)
	defer b.Close()
	b.Fetch = library
	for i := range jobs {
		id := fmt.Sprintf("wave1.p%d", i)
		looks, slow = 0, i+1
		leased, err := b.Lease(t.Context(), job.LeaseInput{Holder: "home", JobID: id, Home: &job.Home{Driver: "claude"}})
		if err != nil {
			t.Fatal(err)
		}
		if looks > jobs {
			t.Fatalf("a lease has %d looks at the clock", looks)
		}
		for range 4 {
			looks = 0
			if _, err := b.Extend(t.Context(), leased.Token, time.Hour); err != nil {
				t.Fatalf("%s, slow at look %d: %v", id, slow, err)
			}
			slow = slow%4 + 1
		}
		looks = 0
		if verdict, err := b.Submit(t.Context(), job.SubmitInput{Token: leased.Token, Answer: []byte("no"), Home: &job.HomeAnswer{}}); err != nil || verdict.State != job.Leased {
			t.Fatalf("%s, slow at look %d: %s, %v", id, slow, shown(verdict), err)
		}
	}
}
