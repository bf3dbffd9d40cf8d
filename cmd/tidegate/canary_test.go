package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tidegate/tidegate/catalog"
	"github.com/tidegate/tidegate/internal/demo"
	"github.com/tidegate/tidegate/report"
	"github.com/tidegate/tidegate/tool"
)

func scratchTools(folder string) []*tool.Tool {
	at := time.Date(2026, time.March, 2, 9, 0, 0, 0, time.UTC)
	return catalog.Tools(&catalog.Env{Now: func() time.Time { return at }, Pinned: true, Dir: folder, Project: folder, Home: filepath.Join(folder, "runs")})
}

// TestEveryPlantedViolationIsCaughtAndEveryMendedOnePasses also keeps the
// answers that `explain` shows true.
func TestEveryPlantedViolationIsCaughtAndEveryMendedOnePasses(t *testing.T) {
	scratch, err := os.MkdirTemp("", "tg") // short, so that no message is cut
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(scratch)
	sightings, err := demo.Canary{Scratch: scratch, Tools: scratchTools}.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	caught := 0
	for _, s := range sightings {
		switch s.Status {
		case report.Pass:
			caught++
		case report.Fail:
			t.Errorf("%s (%s): %s", s.Plant, s.Judge, s.Problem)
		}
		if s.Answer == strings.TrimSuffix(s.Recorded, "\n") {
			continue
		}
		if !*update {
			t.Errorf("%s: the tool says %q, and explain shows %q; to rewrite it: go test ./cmd/tidegate -run Planted -update", s.Plant, s.Answer, s.Recorded)
			continue
		}
		record(t, s)
	}
	if caught < 80 {
		t.Errorf("only %d violations were planted and caught", caught)
	}
}

func record(t *testing.T, s demo.Sighting) {
	path := filepath.Join("..", "..", "internal", "demo", "rules", s.Kind.Folder, s.Plant+".txtar")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, _, _ := strings.Cut(string(data), "-- answer --\n")
	if err := os.WriteFile(path, []byte(before+"-- answer --\n"+s.Answer+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestACanaryWhoseToolsFindNothingFails(t *testing.T) {
	blind := func(folder string) []*tool.Tool {
		tools := scratchTools(folder)
		for i, each := range tools {
			if each.Name == "deep_research_wave_output_validate" {
				tools[i] = tools[len(tools)-1]
			}
		}
		return tools
	}
	sightings, err := demo.Canary{Scratch: t.TempDir(), Tools: blind}.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	shown := demo.Report(sightings)
	if shown.Status != report.Fail {
		t.Errorf("the canary passed without its judge: %s", shown.Summary)
	}
}
