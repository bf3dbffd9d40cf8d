package engine_test

import (
	"context"
	"regexp"
	"strings"
	"testing"

	"github.com/tidegate/tidegate/internal/agent/driver"
	"github.com/tidegate/tidegate/internal/test/full"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/test/reader"
	"github.com/tidegate/tidegate/internal/test/runs"
	"github.com/tidegate/tidegate/internal/work/run"
)

// asksForChange is a review that asks for two changes of a draft: one at a line, one
// of the whole.
const asksForChange = `{"decision":"CHANGES_REQUIRED","findings":[],"directives":[{"line":3,"action":"Say which tugs."},{"line":null,"action":"Say less."}]}`

// TestAReviewLeadsToAnotherDraft has a reviewer that is not content with the first
// draft: the second is asked for with the words of the review, and is reviewed again.
func TestAReviewLeadsToAnotherDraft(t *testing.T) {
	t.Parallel()
	manifest, desk := researched.newRun(t, nil)
	prompts := map[string]string{}
	pool := &crew{agent: func(ctx context.Context, task driver.Task) (driver.Answer, error) {
		if task.Kind == "synthesis" || task.Kind == "review" {
			prompts[task.Job] = task.Prompt
		}
		if task.Job == "review" {
			return driver.Answer{Text: asksForChange}, nil
		}
		return obedient(ctx, task)
	}}
	out := drive(t, manifest, desk, pool)
	if out.Status != run.Completed {
		t.Fatalf("%s", shown(out))
	}
	if !strings.Contains(prompts["synthesis.2"], "Say which tugs.") || !regexp.MustCompile(`(?m)^ +3  ⟦c1⟧ `+reader.Sentence(0, 4)).MatchString(prompts["synthesis.2"]) {
		t.Errorf("the second draft is asked for without the review:\n%s", prompts["synthesis.2"])
	}
	if !strings.Contains(prompts["review.2"], reader.Sentence(0, 8)) {
		t.Errorf("the second review is not about the second draft:\n%s", prompts["review.2"])
	}
	for _, id := range []string{"synthesis", "synthesis.2", "review", "review.2"} {
		if n := pool.times(id); n != 1 {
			t.Errorf("%s was asked for %d times", id, n)
		}
	}
	verify(t, manifest)
}

// TestADraftThatDoesNotChangeIsRefused hands in the reviewed draft again.
func TestADraftThatDoesNotChangeIsRefused(t *testing.T) {
	t.Parallel()
	manifest, desk := researched.newRun(t, map[string]float64{"tries": 1})
	pool := &crew{agent: func(ctx context.Context, task driver.Task) (driver.Answer, error) {
		if task.Job == "review" {
			return driver.Answer{Text: asksForChange}, nil
		}
		if task.Job == "synthesis.2" {
			return driver.Answer{Text: `{"replace":[{"sentence":"c1","with":"` + reader.Sentence(0, 4) + ` [@s1]"}]}`}, nil
		}
		return obedient(ctx, task)
	}}
	out := drive(t, manifest, desk, pool)
	if out.Status != run.Failed || !strings.Contains(out.Reason, "synthesis.2") {
		t.Fatalf("%s", shown(out))
	}
	r := runs.Open(t, manifest)
	attempt, err := r.Folder().Read("jobs/synthesis.2/001/attempt.json")
	if err != nil || strings.Count(string(attempt), `"UNCHANGED"`) != 2 {
		t.Errorf("%s, %v", attempt, err)
	}
}

// TestReviewersThatAreNeverContentEndWithAPerson goes back as often as the run
// allows: twice in the short form.
func TestReviewersThatAreNeverContentEndWithAPerson(t *testing.T) {
	t.Parallel()
	manifest, desk := researched.newRun(t, nil)
	if !full.Asked() {
		must.Get(runs.OpenAt(t, desk, manifest).Update(t.Context(), func(u *run.Update) error { return u.SetLimit("max_review_iterations", 2, "test") }))(t)
	}
	out := drive(t, manifest, desk, &crew{agent: func(ctx context.Context, task driver.Task) (driver.Answer, error) {
		if task.Kind == "review" {
			return driver.Answer{Text: asksForChange}, nil
		}
		return obedient(ctx, task)
	}})
	if out.Status != run.Failed || out.Stage != run.Review {
		t.Errorf("%s", shown(out))
	}
	verify(t, manifest)
}
