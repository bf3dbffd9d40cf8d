package catalog_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/catalog"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/tool"
)

const lentContract = `{"schema_version":"perspectives.v1","run_id":"r","created_at":"2026-01-01T00:00:00Z","perspectives":[{"id":"grid","title":"Grid","track":"standard",
	"agent_type":"a","prompt_contract":{"max_words":50,"max_sources":2,"tool_budget":{},"must_include_sections":["Findings","Sources"]}}]}`

// TestLentToolsJudgeText calls the judges as an agent in a cell does: with its text, and
// in vain with anything that names a file, a run or another contract.
func TestLentToolsJudgeText(t *testing.T) {
	t.Parallel()
	good := "## Findings\n\nYes.\n\n## Sources\n\n- A https://example.org/a\n"
	lent := catalog.Lent{Contract: []byte(lentContract), MaxText: 1000}
	var names []string
	for _, judge := range lent.Of(catalog.Tools(&catalog.Env{})) {
		names = append(names, judge.Name)
		call := func(args map[string]any) tool.Result {
			data := must.Get(json.Marshal(args))(t)
			return judge.Call(t.Context(), data, tool.Caller{})
		}
		if result := call(map[string]any{"markdown": good}); result.Err != nil || !result.Passed {
			t.Errorf("%s: %s", judge.Name, result.Envelope)
		}
		if result := call(map[string]any{"markdown": "## Findings\n"}); result.Passed || !strings.Contains(string(result.Envelope), "MISSING_REQUIRED_SECTION") {
			t.Errorf("%s: %s", judge.Name, result.Envelope)
		}
		for _, args := range []map[string]any{
			{}, {"markdown": strings.Repeat("x", 1001)}, {"markdown_path": "/etc/passwd"}, {"markdown": good, "markdown_path": "/etc/passwd"},
			{"markdown": good, "perspectives_path": "/etc/passwd"}, {"markdown": good, "outputs_dir": "/etc"}, {"markdown": good, "report_path": "/tmp/x"},
			{"markdown": good, "run": "tides"}, {"markdown": good, "manifest_path": "/x"}, {"markdown": good, "token": "x"},
		} {
			if result := call(args); result.Err == nil || result.Err.Code != tidegate.InvalidArgs {
				t.Errorf("%s with %v: %s", judge.Name, args, result.Envelope)
			}
		}
		if schema := judge.InputSchema(); len(schema.Get("properties").Members()) != 1 {
			t.Errorf("%s takes %v", judge.Name, schema)
		}
	}
	if want := []string{"deep_research_wave_output_validate", "deep_research_wave_review"}; !slices.Equal(names, want) {
		t.Errorf("lent are %v, want %v", names, want)
	}
	for _, contract := range []string{"", "{}", `{"schema_version":"perspectives.v1","perspectives":[]}`} {
		if lent := (catalog.Lent{Contract: []byte(contract)}).Of(nil); len(lent) > 0 {
			t.Errorf("by %q judge %d tools", contract, len(lent))
		}
	}
}

type searchedIn struct {
	ManifestPath string `json:"manifest_path" path:"absolute"`
	Query        string `json:"query"`
	Token        string `json:"token,omitzero"`
}

// TestTheSearchIsLentWithItsLease has a home with a search: the agent says what to
// search for, the home for whom.
func TestTheSearchIsLentWithItsLease(t *testing.T) {
	t.Parallel()
	var got searchedIn
	search := tool.New(tool.Spec{Name: "deep_research_search", Summary: "Searches.", Set: "citation", Effect: tool.Writes,
		Shorthand: &tool.Shorthand{Name: "run", For: []string{"manifest_path"}}},
		func(_ context.Context, _ tool.Caller, in searchedIn) (struct{}, error) {
			got = in
			return struct{}{}, nil
		})
	if !catalog.Searches([]*tool.Tool{search}) || catalog.Searches(nil) {
		t.Error("whether there is a search is not known")
	}
	lease := catalog.Lent{Manifest: "/runs/tides/manifest.json", Token: "secret", Search: true}
	lent := lease.Of([]*tool.Tool{search})
	if len(lent) != 1 {
		t.Fatalf("%d tools are lent", len(lent))
	}
	result := lent[0].Call(t.Context(), []byte(`{"query":"tides"}`), tool.Caller{})
	if want := (searchedIn{"/runs/tides/manifest.json", "tides", "secret"}); result.Err != nil || got != want {
		t.Errorf("got %+v, %s", got, result.Envelope)
	}
	for _, args := range []string{`{"query":"x","manifest_path":"/runs/other/manifest.json"}`, `{"query":"x","token":"mine"}`, `{"query":"x","run":"other"}`} {
		if result := lent[0].Call(t.Context(), []byte(args), tool.Caller{}); result.Err == nil || result.Err.Code != tidegate.InvalidArgs {
			t.Errorf("%s: %s", args, result.Envelope)
		}
	}
	lease.Leaks = func(text string) bool { return strings.Contains(text, "sk-key") }
	got = searchedIn{}
	if result := lease.Of([]*tool.Tool{search})[0].Call(t.Context(), []byte(`{"query":"tides \u0073k-key"}`), tool.Caller{}); result.Err == nil || result.Err.Code != tidegate.SecretInAnswer || got.Query != "" {
		t.Errorf("a key left: %s, %+v", result.Envelope, got)
	}
	schema := lent[0].InputSchema()
	if members := schema.Get("properties").Members(); len(members) != 1 || !slices.Equal(schema.Get("required").Strs(), []string{"query"}) {
		t.Errorf("it takes %v", schema)
	}
	for _, none := range []catalog.Lent{{Manifest: "/m", Token: "t"}, {Search: true}} {
		if len(none.Of([]*tool.Tool{search})) > 0 {
			t.Errorf("%+v is lent a search", none)
		}
	}
}
