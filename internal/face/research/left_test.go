package research

import (
	"testing"
	"time"

	"github.com/tidegate/tidegate/internal/agent/job"
	"github.com/tidegate/tidegate/internal/test/runs"
	"github.com/tidegate/tidegate/internal/work/run"
)

// TestAJobWhoseProcessIsGoneIsNotAtWork, although its lease lives.
func TestAJobWhoseProcessIsGoneIsNotAtWork(t *testing.T) {
	desk := run.Desk{Now: time.Now}
	board, err := job.OpenBoard(t.Context(), desk, runs.CreateAt(t, desk, run.InitInput{Query: "Why tides?", RunID: "r1"}).ManifestPath)
	if err != nil {
		t.Fatal(err)
	}
	defer board.Close()
	if _, err := board.Lease(t.Context(), job.LeaseInput{Holder: "home", Home: &job.Home{Driver: "exec"}}); err != nil {
		t.Fatal(err)
	}
	for driven, want := range map[bool]string{true: "working", false: leftState} {
		if got := jobOf(board, board.Jobs()[0], "", time.Now(), driven); got.State != want {
			t.Errorf("driven %v: %+v", driven, got)
		}
	}
}
