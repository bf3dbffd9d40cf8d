package job_test

import (
	"testing"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/text/markdown"
)

// TestPromptsHideNothing: what a person's perspectives hold that a reader cannot see is shown
// in every prompt that is made of them.
func TestPromptsHideNothing(t *testing.T) {
	t.Parallel()
	const hidden = "seen\u200b\u202eand\u00adnot\U000e0041"
	manifest, _, desk := newRun(t, nil)
	begin(t, manifest, desk, codec.Of(tidegate.Pairs("schema_version", "perspectives.v1", "run_id", "harbour", "created_at", "2026-02-14T12:00:00.000Z", "perspectives", []tidegate.Details{
		tidegate.Pairs("id", "grid", "title", hidden, "track", "standard", "agent_type", hidden,
			"prompt_contract", tidegate.Pairs("max_words", 300, "max_sources", 3, "tool_budget", tidegate.Pairs(hidden, 5), "must_include_sections", []string{hidden, "Gaps", "Sources"}),
			"platform_requirements", []tidegate.Details{tidegate.Pairs("name", hidden, "reason", hidden)},
			"tool_policy", tidegate.Pairs("primary", []string{hidden}, "secondary", []string{hidden}, "forbidden", []string{hidden}))})))
	prompts := []string{lease(t, open(t, desk, manifest), "wave1.grid").PromptMD}
	for _, e := range must.Get(codec.Parse([]byte(read(t, manifest, "wave-1/wave1-plan.json"))))(t).Get("entries").Elems() {
		prompts = append(prompts, e.Get("prompt_md").Str())
	}
	for _, prompt := range prompts {
		if lines := markdown.HiddenLines([]byte(prompt)); len(lines) > 0 {
			t.Errorf("lines %v hide something:\n%+q", lines, prompt)
		}
	}
	if len(prompts) < 2 {
		t.Error("there is no prompt in the plan")
	}
}
