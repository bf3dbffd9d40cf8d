package engine_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/tidegate/tidegate/internal/agent/driver"
	"github.com/tidegate/tidegate/internal/test/full"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/test/runs"
	"github.com/tidegate/tidegate/internal/work/run"
)

// TestReviewRoundsEnd has reviewers that decide by chance, and writers that now and
// then hand in the reviewed draft again. Whatever the reviews say, a run reaches
// finalize or needs a person within the rounds that it allows, and no draft that a
// review asked to change is accepted unchanged.
func TestReviewRoundsEnd(t *testing.T) {
	const seeds = 60
	for seed := 0; seed < seeds; seed += full.Stride(seeds, 1) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(uint64(seed), 1))
			limit := int64(random.IntN(4))
			manifest, desk := researched.newRun(t, map[string]float64{"tries": 2, "max_parallel": 1})
			must.Get(runs.OpenAt(t, desk, manifest).Update(t.Context(), func(u *run.Update) error {
				err := u.SetLimit("max_review_iterations", limit, "test")
				return err
			}))(t)
			version := 0
			out := drive(t, manifest, desk, &crew{agent: func(ctx context.Context, task driver.Task) (driver.Answer, error) {
				switch {
				case task.Kind == "review" && random.IntN(3) > 0:
					return driver.Answer{Text: asksForChange}, nil
				case task.Kind == "synthesis":
					if task.Job == "synthesis" || random.IntN(4) > 0 {
						version++
					}
					answer, err := obedient(ctx, task)
					answer.Text = strings.ReplaceAll(answer.Text, task.Job+".", fmt.Sprintf("version %s.", strings.Repeat("I", version)))
					return answer, err
				}
				return obedient(ctx, task)
			}})
			if out.Status != run.Completed && out.Status != run.Failed {
				t.Fatalf("%s", shown(out))
			}
			r := runs.Open(t, manifest)
			rounds := r.Manifest().ReviewRounds()
			if rounds > limit {
				t.Errorf("%d rounds, of which %d are allowed", rounds, limit)
			}
			if out.Status == run.Failed {
				failures := r.Manifest().Failures()
				if last := failures[len(failures)-1]; last.Get("kind").Str() != "needs_person" || last.Get("message").Str() == "" {
					t.Errorf("it failed for another reason: %s", shown(out))
				}
			}
			written := must.Get(r.Folder().Digest(r.Layout().Synthesis()))(t)
			for n := rounds; n > 0; n-- {
				name, _ := r.Layout().Round(n)
				reviewed, err := r.Folder().Digest(name)
				if err != nil || reviewed == written && (n < rounds || r.Manifest().Stage() != run.Synthesis) {
					t.Errorf("round %d: the draft that was to change was taken again (%v)", n, err)
				}
				written = reviewed
			}
			verify(t, manifest)
		})
	}
}
