package review_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/review"
)

func value(t *testing.T, text string) *codec.Value {
	t.Helper()
	v, err := codec.Parse([]byte(text))
	if err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return v
}

func TestViolations(t *testing.T) {
	const ok = `"change_id":"c","verdict":"NEEDS_FIX","summary":"s"`
	const rule = "must be 1 to 128 of the characters A-Z a-z 0-9 . _ -, beginning with a letter or digit"
	for _, test := range []struct {
		name, payload string
		want          []review.Violation
	}{
		{"no object", `[]`, []review.Violation{{"$", "payload must be an object, got an array"}}},
		{"nothing given", `{}`, []review.Violation{
			{"$.change_id", "change_id is required"}, {"$.verdict", "verdict is required"}, {"$.summary", "summary is required"}}},
		{"unknown verdict", `{"change_id":"c","verdict":"LGTM","summary":"s"}`, []review.Violation{
			{"$.verdict", `verdict must be one of APPROVED, NEEDS_FIX, MAJOR_ISSUES, got "LGTM"`}}},
		{"Agentd's word", `{"change_id":"c","verdict":"NEEDS_CHANGES","summary":"s"}`, []review.Violation{
			{"$.verdict", `verdict must be one of APPROVED, NEEDS_FIX, MAJOR_ISSUES, got "NEEDS_CHANGES"; did you mean NEEDS_FIX?`}}},
		{"lower case verdict", `{"change_id":"c","verdict":"approved","summary":"s"}`, []review.Violation{
			{"$.verdict", `verdict must be one of APPROVED, NEEDS_FIX, MAJOR_ISSUES, got "approved"; did you mean APPROVED?`}}},
		{"null where a string is required", `{"change_id":"c","verdict":"APPROVED","summary":null}`, []review.Violation{
			{"$.summary", "summary must be a string, got null"}}},
		{"blank after cleaning", `{"change_id":"c","verdict":"APPROVED","summary":" \u202e\u0000\n"}`, []review.Violation{
			{"$.summary", "summary must not be blank"}}},
		{"ids that leave the folder", `{"change_id":"../x","verdict":"APPROVED","summary":"s"}`, []review.Violation{
			{"$.change_id", "change_id " + rule + `, got "../x"`}}},
		{"empty id", `{"change_id":"","verdict":"APPROVED","summary":"s"}`, []review.Violation{{"$.change_id", "change_id " + rule + `, got ""`}}},
		{"everything at once, in the order of the model", `{"issues":[{"recommendation":1,"line":1.5,"severity":"HIGH","category":" ","file":[]},7],"test_results":{"total":"3","passed":true},"summary":"","verdict":1,"change_id":"a/b"}`,
			[]review.Violation{
				{"$.change_id", "change_id " + rule + `, got "a/b"`},
				{"$.verdict", "verdict must be a string, got 1"},
				{"$.summary", "summary must not be blank"},
				{"$.test_results.passed", "test_results.passed must be an integer, got true"},
				{"$.test_results.total", `test_results.total must be an integer, got "3"`},
				{"$.issues[0].title", "issues[0].title is required"},
				{"$.issues[0].severity", `issues[0].severity must be one of High, Medium, Low, got "HIGH"; did you mean High?`},
				{"$.issues[0].category", "issues[0].category must not be blank"},
				{"$.issues[0].file", "issues[0].file must be a string, got an array"},
				{"$.issues[0].line", "issues[0].line must be an integer, got 1.5"},
				{"$.issues[0].description", "issues[0].description is required"},
				{"$.issues[0].recommendation", "issues[0].recommendation must be a string, got 1"},
				{"$.issues[1]", "issues[1] must be an object, got 7"},
			}},
		{"lists and objects of the wrong type", `{` + ok + `,"test_results":[],"issues":{}}`, []review.Violation{
			{"$.test_results", "test_results must be an object, got an array"}, {"$.issues", "issues must be an array, got an object"}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, _, err := review.Parse(value(t, test.payload), false)
			if tidegate.CodeOf(err) != tidegate.InvalidArgs {
				t.Fatalf("got error %v, want INVALID_ARGS", err)
			}
			e := tidegate.AsError(err)
			got, _ := e.Details.Get("violations")
			if diff := cmp.Diff(any(test.want), got); diff != "" {
				t.Errorf("violations (-want +got):\n%s", diff)
			}
			if want := tidegate.Cut("validation failed: " + test.want[0].Message); e.Message != want {
				t.Errorf("message %q, want %q", e.Message, want)
			}
		})
	}
}

func TestWarnings(t *testing.T) {
	const issue = `{"title":"t","severity":"High","category":"Bug","description":"d"}`
	for _, test := range []struct {
		name, payload string
		want          []string
	}{
		{"nothing to ask", `"verdict":"NEEDS_FIX","test_results":{"passed":1,"failed":1,"total":2},"issues":[` + issue + `]`, []string{}},
		{"optional values as null", `"verdict":"APPROVED","test_results":null,"issues":null`, []string{}},
		{"integral numbers are integers", `"verdict":"APPROVED","test_results":{"passed":3.0,"failed":0,"total":3e0}`, []string{}},
		{"project_path is known", `"verdict":"APPROVED","project_path":"/p"`, []string{}},
		{"failed tests and a High issue under APPROVED", `"verdict":"APPROVED","test_results":{"passed":1,"failed":2,"total":3},"issues":[` + issue + `]`, []string{
			"test_results.failed is 2, but the verdict is APPROVED", "issues[0].severity is High, but the verdict is APPROVED"}},
		{"counts that do not add up", `"verdict":"APPROVED","test_results":{"passed":1,"failed":0,"total":3}`, []string{
			"test_results.total is 3, but passed 1 and failed 0 make 1"}},
		{"counts beyond the sum of 64 bits", `"verdict":"APPROVED","test_results":{"passed":9223372036854775807,"failed":0,"total":-2}`, []string{
			"test_results.total is -2, but a count is at least 0", "test_results.total is -2, but passed 9223372036854775807 and failed 0 make 9223372036854775807"}},
		{"more passed than total", `"verdict":"APPROVED","test_results":{"passed":5,"total":3}`, []string{"test_results.total is 3, but passed is 5"}},
		{"negative counts", `"verdict":"APPROVED","test_results":{"passed":-1}`, []string{"test_results.passed is -1, but a count is at least 0"}},
		{"nothing ran", `"verdict":"APPROVED","test_results":{"passed":0,"failed":0,"total":0}`, []string{"test_results.total is 0, but the verdict is APPROVED"}},
		{"NEEDS_FIX without an issue", `"verdict":"NEEDS_FIX"`, []string{"issues is empty, but the verdict is NEEDS_FIX"}},
		{"MAJOR_ISSUES without a High one", `"verdict":"MAJOR_ISSUES","issues":[{"title":"t","severity":"Low","category":"c","description":"d"}]`, []string{
			"issues has no issue of severity High, but the verdict is MAJOR_ISSUES"}},
		{"lines", `"verdict":"NEEDS_FIX","issues":[{"title":"t","severity":"Low","category":"c","description":"d","line":0,"file":" "}]`, []string{
			"issues[0].line is 0, but lines are counted from 1", "issues[0].line is 0, but no file is given"}},
		{"unknown keys at every level", `"verdict":"NEEDS_FIX","sumary":"x","Issues":[],"test_results":{"pass":1,"odd key":2},"issues":[{"title":"t","severity":"Low","category":"c","description":"d","file_path":"a","recomendation":"r"}]`, []string{
			"test_results.pass is not a key of the data model and is ignored; did you mean passed?",
			`test_results["odd key"] is not a key of the data model and is ignored`,
			"issues[0].file_path is not a key of the data model and is ignored; did you mean file?",
			"issues[0].recomendation is not a key of the data model and is ignored; did you mean recommendation?",
			"sumary is not a key of the data model and is ignored; did you mean summary?",
			"Issues is not a key of the data model and is ignored; did you mean issues?"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			v := value(t, `{"change_id":"c","summary":"s",`+test.payload+`}`)
			_, got, err := review.Parse(v, false)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("warnings (-want +got):\n%s", diff)
			}
			_, _, err = review.Parse(v, true)
			var violations []string
			if err != nil {
				list, _ := tidegate.AsError(err).Details.Get("violations")
				for _, violation := range list.([]review.Violation) {
					violations = append(violations, violation.Message)
					if !strings.HasPrefix(violation.Path, "$") {
						t.Errorf("path %q does not begin with $", violation.Path)
					}
				}
			}
			// What is refused is not ignored.
			if want := strings.ReplaceAll(strings.Join(test.want, "|"), " and is ignored", ""); strings.Join(violations, "|") != want {
				t.Errorf("strict violations %q, want the warnings", violations)
			}
		})
	}
}

func TestSchemaAcceptsWhatParseAccepts(t *testing.T) {
	compiler := jsonschema.NewCompiler()
	printed := must.Get(codec.Marshal(review.Schema()))(t)
	document := must.Get(jsonschema.UnmarshalJSON(strings.NewReader(string(printed))))(t)
	must.Do(t, compiler.AddResource("review.json", document))
	schema := must.Get(compiler.Compile("review.json"))(t)
	for _, test := range []struct {
		payload string
		want    bool
	}{
		{`{"change_id":"c","verdict":"APPROVED","summary":"s"}`, true},
		{`{"change_id":"c","verdict":"APPROVED","summary":"s","more":1,"issues":[{"title":"t","severity":"Low","category":"Naming","description":"d","line":-1}]}`, true},
		{`{"change_id":"c","verdict":"LGTM","summary":"s"}`, false},
		{`{"change_id":"c","verdict":"APPROVED"}`, false},
		{`{"change_id":"c","verdict":"APPROVED","summary":"s","issues":[{"title":"t"}]}`, false},
	} {
		instance := must.Get(jsonschema.UnmarshalJSON(strings.NewReader(test.payload)))(t)
		_, _, parsed := review.Parse(value(t, test.payload), false)
		if valid := schema.Validate(instance) == nil; valid != test.want || (parsed == nil) != test.want {
			t.Errorf("%s: schema %v, parse error %v, want valid %v", test.payload, valid, parsed, test.want)
		}
	}
}

func TestFormatMarkdown(t *testing.T) {
	v := value(t, `{"change_id":"c","verdict":"NEEDS_FIX","summary":"s"}`)
	got := must.Get(review.FormatMarkdown(v, false))(t)
	p, warnings, err := review.Parse(v, false)
	if err != nil || len(warnings) != 1 {
		t.Fatalf("warnings %q, error %v", warnings, err)
	}
	if want := string(review.Format(p, warnings)); got.Markdown != want {
		t.Errorf("got\n%s\nwant\n%s", got.Markdown, want)
	}
	if _, err := review.FormatMarkdown(v, true); tidegate.CodeOf(err) != tidegate.InvalidArgs {
		t.Errorf("strict: got error %v, want INVALID_ARGS", err)
	}
}
