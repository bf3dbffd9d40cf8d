package catalog_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/tidegate/tidegate/catalog"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/face/mcp"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/tool"
)

func tools() []*tool.Tool { return catalog.Tools(&catalog.Env{}) }

// TestSnapshots keeps under review what a client sees of every tool.
func TestSnapshots(t *testing.T) {
	t.Parallel()
	listed := map[string]bool{}
	for _, entry := range tool.List(tools()).Tools {
		path := filepath.Join("testdata", "tools", entry.Name+".json")
		listed[path] = true
		got := must.Get(codec.MarshalFile(entry))(t)
		if *update {
			must.Write(t, path, got)
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatalf("%v; run: go test ./catalog -update", err)
		}
		if diff := cmp.Diff(string(want), string(got)); diff != "" {
			t.Errorf("%s differs (-want +got):\n%s", path, diff)
		}
	}
	files := must.Get(filepath.Glob("testdata/tools/*.json"))(t)
	for _, file := range files {
		if !listed[file] {
			t.Errorf("%s belongs to no tool", file)
		}
	}
}

func TestEveryToolIsFitForModelsAndClients(t *testing.T) {
	t.Parallel()
	sets := map[string]bool{"wave": true, "citation": true, "pivot": true, "summary": true, "run": true, "job": true, "gate": true, "review": true}
	names, commands := map[string]bool{}, map[string]bool{}
	for _, each := range tools() {
		t.Run(each.Name, func(t *testing.T) {
			if names[each.Name] {
				t.Error("the name is taken")
			}
			names[each.Name] = true
			if !sets[each.Set] {
				t.Errorf("%q is no toolset", each.Set)
			}
			if len(each.Summary) > 1024 || !strings.HasSuffix(each.Summary, ".") {
				t.Errorf("the summary must be sentences of at most 1,024 bytes in all: %q", each.Summary)
			}
			for _, a := range each.Arguments() {
				if named := strings.HasSuffix(a.Name, "_path") || strings.HasSuffix(a.Name, "_dir"); named && !a.Path {
					t.Errorf("the argument %s is not declared as a path, so that no root confines it", a.Name)
				}
			}
			checkSchema(t, each.InputSchema(), true)
			checkSchema(t, each.OutputSchema(), false)
			if c := each.Command; c != nil {
				if commands[c.Path] {
					t.Errorf("the command %q is taken", c.Path)
				}
				commands[c.Path] = true
				if c.Short == "" || strings.HasSuffix(c.Short, ".") || len(c.Short) > 64 {
					t.Errorf("%q stands in lists of commands as %q, and a line has 80 columns", c.Path, c.Short)
				}
				if c.Long == "" || strings.Contains(c.Long, "Use this") {
					t.Errorf("the help of %q says to a person: %q", c.Path, c.Long)
				}
				if !strings.Contains(c.Example, "tidegate "+c.Path) {
					t.Errorf("the help of %q shows no example of it", c.Path)
				}
			}
		})
	}
}

func checkSchema(t *testing.T, schema *codec.Value, input bool) {
	t.Helper()
	data := must.Get(codec.MarshalLine(schema))(t)
	document := must.Get(jsonschema.UnmarshalJSON(strings.NewReader(string(data))))(t)
	compiler := jsonschema.NewCompiler()
	must.Do(t, compiler.AddResource("tool.json", document))
	if _, err := compiler.Compile("tool.json"); err != nil {
		t.Errorf("not a valid JSON Schema: %v", err)
	}
	if schema.Get("type").Str() != "object" {
		t.Error("a schema must be of type object")
	}
	checkPortable(t, "$", schema)
	if !input {
		return
	}
	for _, combinator := range []string{"anyOf", "oneOf", "allOf"} {
		if schema.Get(combinator) != nil {
			t.Errorf("some clients reject a whole list for a top-level %s", combinator)
		}
	}
	if strings.Contains(string(data), `"null"`) {
		t.Errorf("some clients reject null as a type: %s", data)
	}
	for _, property := range schema.Get("properties").Members() {
		if property.Value.Get("description").Str() == "" {
			t.Errorf("the argument %s has no description", property.Key)
		}
	}
}

// checkPortable demands that every schema inside says what it allows, by one type
// or by branches: some clients refuse a list of tools for less.
func checkPortable(t *testing.T, path string, schema *codec.Value) {
	t.Helper()
	branches := schema.Get("anyOf")
	if schema.Get("type").Kind() != codec.String && branches == nil {
		t.Errorf("%s has not exactly one type: %v", path, schema.Get("type"))
	}
	for _, branch := range branches.Elems() {
		checkPortable(t, path+".anyOf", branch)
	}
	for _, p := range schema.Get("properties").Members() {
		checkPortable(t, path+"."+p.Key, p.Value)
	}
	if items := schema.Get("items"); items != nil {
		checkPortable(t, path+"[]", items)
	}
}

// TestEveryGateHasACommand demands one for each row of the table of gates.
func TestEveryGateHasACommand(t *testing.T) {
	t.Parallel()
	commands := map[string]bool{}
	for _, each := range tools() {
		if each.Command != nil {
			commands[each.Command.Path] = true
		}
	}
	for _, row := range run.GateTable {
		if !commands["gate "+strings.ToLower(row.ID)] {
			t.Errorf("no command judges gate %s", row.ID)
		}
	}
}

// specified are the tools whose arguments a specification fixes.
var specified = []string{
	"deep_research_wave_review", "deep_research_wave_output_validate", "deep_research_pivot_decide", "deep_research_summary_pack_build", "create_review",
}

// TestToolsThatAgentsAreOffered limits the size of what a client loads into every
// conversation: names, descriptions and input schemas.
func TestToolsThatAgentsAreOffered(t *testing.T) {
	t.Parallel()
	offered := must.Get(mcp.Narrow(tool.ForAgents(catalog.Tools(&catalog.Env{})), mcp.Narrowing{}))(t)
	size := 0
	var names []string
	for _, each := range offered {
		schema := must.Get(codec.MarshalLine(each.InputSchema()))(t)
		names = append(names, each.Name)
		size += len(each.Name) + len(each.Summary) + len(schema)
	}
	if len(offered) > 25 || size > 24<<10 {
		t.Errorf("%d tools of %d bytes are offered, which is more than 25 and 24 KB: %v", len(offered), size, names)
	}
	want := append([]string{
		"deep_research_run_init", "deep_research_run_list", "deep_research_run_status", "deep_research_run_step", "deep_research_search", "ask",
		"deep_research_job_list", "deep_research_job_lease", "deep_research_job_submit", "deep_research_job_extend", "deep_research_job_release",
		"deep_research_perspectives_check", "deep_research_wave_retry_prompt",
		"report_audit", "review_check", "review_prompt", "review_show", "change_status", "change_start", "change_advance",
	}, specified...)
	slices.Sort(want)
	slices.Sort(names)
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("the tools that are offered (-want +got):\n%s", diff)
	}
}

// TestToolsOfARunTakeItsId finds every tool that takes the path of a run's
// document and is not one of those whose arguments are specified.
func TestToolsOfARunTakeItsId(t *testing.T) {
	t.Parallel()
	for _, each := range tool.ForAgents(catalog.Tools(&catalog.Env{})) {
		arguments := each.InputSchema().Get("properties")
		ofRun := arguments.Get("manifest_path") != nil || arguments.Get("gates_path") != nil
		if has := arguments.Get("run") != nil; ofRun && has == slices.Contains(specified, each.Name) {
			t.Errorf("%s: takes run: %v", each.Name, has)
		}
	}
}
