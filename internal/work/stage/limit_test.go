package stage_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/test/runs"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/stage"
)

func (y *toy) limit(name string, value int64) (stage.LimitResult, error) {
	return stage.Limit(y.t.Context(), runs.Pinned, stage.LimitInput{ManifestPath: y.files.ManifestPath, Name: name, Value: float64(value), Reason: "test"})
}

func TestLimitIsSetOnce(t *testing.T) {
	y := newToy(t, run.InitInput{})
	out, err := y.limit("max_review_iterations", 6)
	if want := (stage.LimitResult{RunID: "r1", Limit: "max_review_iterations", From: 4, To: 6, ManifestRevision: 2}); err != nil || out != want {
		t.Fatalf("%+v, %v", out, err)
	}
	if value, _ := y.manifest().Get("limits").Get("max_review_iterations").Int(); value != 6 {
		t.Errorf("the limit is %d", value)
	}
	before := y.tree()
	out, err = y.limit("max_review_iterations", 6)
	if err != nil || out.From != 6 || out.ManifestRevision != 2 {
		t.Errorf("%+v, %v", out, err)
	}
	if diff := cmp.Diff(before, y.tree()); diff != "" {
		t.Errorf("the value that it has already changed something (-before +after):\n%s", diff)
	}
}

func TestLimitsThatCannotBeSetChangeNothing(t *testing.T) {
	for _, tt := range []struct {
		name   string
		limit  string
		value  int64
		status run.Status
		code   tidegate.Code
	}{
		{"another field", "revision", 1, run.Running, tidegate.InvalidArgs},
		{"below the least", "max_wave1_agents", 0, run.Running, tidegate.InvalidArgs},
		{"above the highest", "max_wave1_agents", 1001, run.Running, tidegate.InvalidArgs},
		{"a final run", "max_wave1_agents", 7, run.Cancelled, tidegate.InvalidState},
	} {
		t.Run(tt.name, func(t *testing.T) {
			y := newToy(t, run.InitInput{})
			y.force(run.Wave1, tt.status)
			before := y.tree()
			if _, err := y.limit(tt.limit, tt.value); tidegate.CodeOf(err) != tt.code {
				t.Errorf("got %v, want %s", err, tt.code)
			}
			if diff := cmp.Diff(before, y.tree()); diff != "" {
				t.Error(diff)
			}
		})
	}
}
