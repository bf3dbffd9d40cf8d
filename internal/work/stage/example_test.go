package stage_test

import (
	"context"
	"fmt"
	"os"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/test/runs"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/stage"
)

// A refused move says everything that is in its way, and what would help.
func ExampleAdvance() {
	home, err := os.MkdirTemp("", "runs")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(home)
	ctx := context.Background()
	made, err := run.Create(ctx, runs.Pinned, home, run.InitInput{Query: "What moves the tide?", RunID: "tide"})
	if err != nil {
		panic(err)
	}
	_, err = stage.Advance(ctx, runs.Pinned, stage.AdvanceInput{
		ManifestPath: made.ManifestPath, GatesPath: made.GatesPath, Reason: "the plan is ready", DryRun: true})
	refusal := tidegate.AsError(err)
	fmt.Println(refusal.Code)
	blockers, _ := refusal.Details.Get("blockers")
	for _, b := range blockers.([]stage.Blocker) {
		fmt.Println(b.Message, "→", b.Meet[0].Tool)
	}
	// Output:
	// MISSING_ARTIFACT
	// perspectives.json does not exist → deep_research_perspectives_write
}
