package stage_test

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/stage"
)

var update = flag.Bool("update", false, "write the golden files")

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}

func TestTablePrintsItself(t *testing.T) {
	var b strings.Builder
	if err := report.Text(&b, stage.Print(false).Report(), report.Options{}); err != nil {
		t.Fatal(err)
	}
	golden(t, "stages.txt", b.String())
	golden(t, "stages.mmd", stage.Mermaid())
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
	y := newToy(t, run.InitInput{RequireBoundGates: true})
	y.force(run.Wave1, run.Paused)
	out, err := stage.Status(t.Context(), run.Desk{}, y.files.ManifestPath)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := report.Text(&b, out.Report(), report.Options{}); err != nil {
		t.Fatal(err)
	}
	golden(t, "status.txt", strings.ReplaceAll(b.String(), y.root, "/runs/r1"))
}
