package catalog_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/tidegate/tidegate/catalog"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/tool"
)

// publishedSchemas are the schemas in docs/schemas by name, which are those that
// `tidegate schema` prints.
func publishedSchemas(t *testing.T) map[string]*jsonschema.Schema {
	t.Helper()
	files, err := filepath.Glob("../docs/schemas/*.json")
	if err != nil {
		t.Fatal(err)
	}
	byName := map[string]*jsonschema.Schema{}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".json")
		if byName[name], err = jsonschema.NewCompiler().Compile(file); err != nil {
			t.Errorf("%s is not a valid JSON Schema: %v", file, err)
		}
	}
	return byName
}

func follows(t *testing.T, s *jsonschema.Schema, data []byte) error {
	t.Helper()
	document := must.Get(jsonschema.UnmarshalJSON(bytes.NewReader(data)))(t)
	return s.Validate(document)
}

// TestArtifactsFollowTheirSchemas validates what the tools write, and demands
// that each schema refuses the same document without one of its fields.
func TestArtifactsFollowTheirSchemas(t *testing.T) {
	t.Parallel()
	root, schemas := madeRun(t), publishedSchemas(t)
	for _, each := range catalog.Tools(&catalog.Env{}) {
		delete(schemas, each.Name)
	}
	documents := map[string]string{
		"manifest.v1": "manifest.json", "gates.v1": "gates.json", "scope.v1": "operator/scope.json", "perspectives.v1": "perspectives.json",
		"citation.v1": "citations/citations.jsonl", "pivot_decision.v1": "pivot.json", "summary_pack.v1": "summaries/summary-pack.json",
		"kept_review.v1": "../agentd/changes/c1/reviews/0001.json",
	}
	for name, schema := range schemas {
		t.Run(name, func(t *testing.T) {
			data := must.Get(os.ReadFile(filepath.Join(root, documents[name])))(t)
			if err := follows(t, schema, data); err != nil {
				t.Errorf("%s does not follow its schema: %v", documents[name], err)
			}
			document := must.Get(codec.Parse(data))(t)
			for _, field := range schema.Required {
				without := document.Clone()
				without.Delete(field)
				spoilt := must.Get(codec.Marshal(without))(t)
				if follows(t, schema, spoilt) == nil {
					t.Errorf("the schema accepts a document without %s", field)
				}
			}
		})
	}
}

// madeRun is a run with every document that has a schema, made by the tools.
func madeRun(t *testing.T) string {
	t.Helper()
	home := t.TempDir()
	at := time.Date(2026, time.March, 4, 5, 6, 7, 0, time.UTC)
	tools := catalog.Tools(&catalog.Env{Now: func() time.Time { return at }, Pinned: true, Home: home, Dir: home, Project: home})
	call := func(name, args string) {
		t.Helper()
		for _, candidate := range tools {
			if candidate.Name == name {
				if result := candidate.Call(t.Context(), []byte(args), tool.Caller{}); result.Err != nil {
					t.Fatalf("%s: %s", name, result.Envelope)
				}
				return
			}
		}
		t.Fatalf("there is no tool %s", name)
	}
	root := filepath.Join(home, "r1")
	write := func(name, text string) {
		t.Helper()
		must.Do(t, os.WriteFile(filepath.Join(root, name), []byte(text), 0o600))
	}
	call("deep_research_run_init", `{"query":"Q?","run_id":"r1"}`)
	call("deep_research_perspectives_write", fmt.Sprintf(`{"perspectives_path":%q,"reason":"test","value":{
		"schema_version":"perspectives.v1","run_id":"r1","created_at":"2026-03-04","perspectives":[{"id":"p1","title":"One","track":"standard","agent_type":"researcher",
		"prompt_contract":{"max_words":100,"max_sources":5,"tool_budget":{},"must_include_sections":["Findings","Gaps"]}}]}}`, filepath.Join(root, "perspectives.json")))
	output := filepath.Join(root, "wave-1/p1.md")
	write("wave-1/p1.md", "## Findings\n\nTugs run on batteries, see https://example.org/tugs.\n\n## Gaps\n- (P1) What do they cost? #cost\n")
	write("citations/citations.jsonl", `{"schema_version":"citation.v1","normalized_url":"https://example.org/tugs","cid":"cid_tugs","url":"https://example.org/tugs","url_original":"https://example.org/tugs","status":"valid","checked_at":"2026-03-04T05:06:07Z","found_by":[{"wave":1,"perspective_id":"p1","agent_type":"unknown","artifact_path":"wave-1/p1.md"}],"notes":"","http_status":200,"title":null}`)
	// Where this program did not begin the log, a run is in the stage that its manifest names.
	inStage := func(stage string) {
		t.Helper()
		for _, name := range []string{"logs/audit.jsonl", "logs/audit.head"} {
			if err := os.Remove(filepath.Join(root, name)); err != nil && !os.IsNotExist(err) {
				t.Fatal(err)
			}
		}
		manifest := must.Get(os.ReadFile(filepath.Join(root, "manifest.json")))(t)
		write("manifest.json", regexp.MustCompile(`"current": "\w+"`).ReplaceAllString(string(manifest), `"current": "`+stage+`"`))
	}
	inStage("pivot")
	call("deep_research_pivot_decide", fmt.Sprintf(`{"manifest_path":%q,"reason":"test","wave1_outputs":[{"perspective_id":"p1","output_md_path":%q}],
		"wave1_validation_reports":[{"ok":true,"perspective_id":"p1","markdown_path":%q,"words":20,"sources":0,"missing_sections":[]}]}`, filepath.Join(root, "manifest.json"), output, output))
	inStage("summaries")
	call("deep_research_summary_pack_build", fmt.Sprintf(`{"manifest_path":%q,"mode":"generate","reason":"test"}`, filepath.Join(root, "manifest.json")))
	call("create_review", `{"change_id":"c1","verdict":"APPROVED","summary":"Good."}`)
	return root
}

// TestResultsFollowTheirSchemas validates every successful result in the corpus
// of calls.
func TestResultsFollowTheirSchemas(t *testing.T) {
	t.Parallel()
	byName := publishedSchemas(t)
	corpus := must.Get(filepath.Glob("testdata/calls/*.txtar"))(t)
	results := 0
	for _, file := range corpus {
		archive := must.Get(txtar.ParseFile(file))(t)
		name := ""
		for _, section := range archive.Files {
			if called, isCall := strings.CutPrefix(section.Name, "call "); isCall {
				name = called
			}
			envelope, err := codec.Parse(section.Data)
			if section.Name != "want" || err != nil || !envelope.Get("ok").Bool() {
				continue
			}
			results++
			if err := follows(t, byName[name], section.Data); err != nil {
				t.Errorf("%s: a result of %s does not follow its schema: %v", filepath.Base(file), name, err)
			}
		}
	}
	if results == 0 {
		t.Error("the corpus has no successful result")
	}
}
