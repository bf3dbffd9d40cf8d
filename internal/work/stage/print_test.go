package stage_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/internal/test/golden"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/stage"
)

func TestTablePrintsItself(t *testing.T) {
	var b strings.Builder
	must.Do(t, report.Text(&b, stage.Print(false).Report(), report.Options{}))
	golden.Check(t, "testdata/stages.txt", []byte(b.String()))
	golden.Check(t, "testdata/stages.mmd", []byte(stage.Mermaid()))
}

func TestTableHoldsEveryDocumentedMove(t *testing.T) {
	var moves []string
	for _, row := range stage.Table() {
		if row.Status == run.Completed || row.Status == run.Cancelled {
			t.Errorf("%s is left by %s", row.Status, row.Trigger)
		}
		if row.Trigger == stage.ByAdvance && row.Status == run.Running {
			moves = append(moves, string(row.Stage+">"+row.NextStage))
		} else if row.NextStage != row.Stage && row.Trigger != stage.ByAdvance {
			t.Errorf("%s changes the stage", row.Trigger)
		}
	}
	slices.Sort(moves)
	want := "citations>summaries init>perspectives init>wave1 perspectives>wave1 pivot>citations pivot>wave2 " +
		"review>finalize review>synthesis summaries>synthesis synthesis>review wave1>pivot wave2>citations"
	if diff := cmp.Diff(want, strings.Join(moves, " ")); diff != "" {
		t.Error(diff)
	}
}

func TestStatusReportForPeople(t *testing.T) {
	y := newToy(t, run.InitInput{})
	y.force(run.Wave1, run.Paused)
	out := must.Get(stage.Status(t.Context(), run.Desk{}, y.files.ManifestPath))(t)
	var b strings.Builder
	must.Do(t, report.Text(&b, out.Report(), report.Options{}))
	golden.Check(t, "testdata/status.txt", []byte(strings.ReplaceAll(b.String(), y.root, "/runs/r1")))
}
