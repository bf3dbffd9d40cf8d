package screen

import (
	"testing"
	"time"

	"github.com/tidegate/tidegate/internal/agent/dispatch"
	"github.com/tidegate/tidegate/internal/agent/job"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/test/runs"
	"github.com/tidegate/tidegate/internal/work/run"
)

// TestAJobWhoseProcessIsGoneIsNotAtWork, although its lease lives.
func TestAJobWhoseProcessIsGoneIsNotAtWork(t *testing.T) {
	desk := run.Desk{Now: time.Now}
	board := must.Get(job.OpenBoard(t.Context(), desk, runs.CreateAt(t, desk, run.InitInput{Query: "Why tides?", RunID: "r1"}).ManifestPath))(t)
	defer board.Close()
	must.Get(board.Lease(t.Context(), job.LeaseInput{Holder: "home", Home: &job.Home{Driver: "exec"}}))(t)
	for driven, want := range map[bool]string{true: "working", false: leftState} {
		if got := jobOf(board, board.Jobs()[0], "", time.Now(), driven); got.State != want {
			t.Errorf("driven %v: %+v", driven, got)
		}
	}
}

func TestWhatIsLeftFollowsWhatIsDone(t *testing.T) {
	jobs := []job.Job{{Kind: "perspectives", State: job.Accepted}, {Kind: "wave1", State: job.Accepted}, {Kind: "wave1"}, {Kind: "wave1"}}
	shown := []Job{{Minutes: 1}, {Minutes: 10}, {Minutes: 3}, {Minutes: -1}}
	// A round of two outputs at ten minutes, and by guess two rounds of summaries, the synthesis and its review.
	if got, want := minutesLeft(jobs, shown, 2), 10.0+2*dispatch.OtherMinutes+2*dispatch.OtherMinutes; got != want {
		t.Errorf("%v minutes, want %v", got, want)
	}
	jobs = []job.Job{{Kind: "wave1", State: job.Accepted}, {Kind: "summary", State: job.Accepted}, {Kind: "synthesis", State: job.Accepted}, {Kind: "review", State: job.Accepted}}
	if got := minutesLeft(jobs, shown, 2); got != 0 {
		t.Errorf("%v minutes are left of a run that is done", got)
	}
}
