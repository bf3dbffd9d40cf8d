package job_test

import (
	"context"
	"testing"
	"time"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/archive"
	"github.com/tidegate/tidegate/job"
	"github.com/tidegate/tidegate/run"
)

const other = "## Findings\n\nTugs are loud.\n\n## Gaps\n\n- (P2) Costs.\n\n## Sources\n\n- Port https://example.org/port\n"

// handInAndStop hands in an answer and stops while it is judged. It returns the
// token, and the board of the process that comes next.
func handInAndStop(t *testing.T, manifest string, clock run.Clock, text string) (string, *job.Board) {
	t.Helper()
	b := open(t, clock, manifest)
	a := lease(t, b, "wave1.a")
	ctx, stop := context.WithCancel(t.Context())
	b.Fetch = func(ctx context.Context, _ []string, _ func([]*archive.Packed) error) error {
		stop()
		return tidegate.Errorf(tidegate.Cancelled, nil, "stopped: %w", ctx.Err())
	}
	if _, err := submit(ctx, b, a.Token, text); err == nil {
		t.Fatal("judging was not stopped")
	}
	return a.Token, open(t, clock, manifest)
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
			manifest, set, clock := inWave1(t, "a")
			token, b := handInAndStop(t, manifest, clock, c.first)
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
	manifest, set, clock := inWave1(t, "a")
	_, b := handInAndStop(t, manifest, clock, good)
	if ids, err := b.JudgeLeftOver(t.Context()); err != nil || len(ids) != 0 {
		t.Errorf("%v, %v: somebody may still be judging it", ids, err)
	}
	set.pass(3 * time.Minute)
	if ids, err := b.JudgeLeftOver(t.Context()); err != nil || len(ids) != 1 {
		t.Errorf("%v, %v", ids, err)
	}
	if j, err := b.Job("wave1.a"); err != nil || j.State != job.Accepted {
		t.Errorf("%+v, %v", j, err)
	}
}
