package step_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/work/step"
	"github.com/tidegate/tidegate/wave"
)

const wellFormed = `{"schema_version":"perspectives.v1","perspectives":[{"id":"p1","prompt_contract":` +
	`{"max_words":5,"max_sources":1,"must_include_sections":["Findings","Sources"]}}]}`

// TestValidateRefusals has every row of the failure table but INVALID_ARGS,
// which the faces' corpus has.
func TestValidateRefusals(t *testing.T) {
	const good = "# Findings\n# Sources\n- https://a"
	entry := func(fields string) string {
		return `{"schema_version":"perspectives.v1","perspectives":[` + fields + `]}`
	}
	contractOf := func(contract string) string { return entry(`{"id":"p1","prompt_contract":` + contract + `}`) }
	tests := []struct {
		name         string
		perspectives string
		id           string
		output       string
		code         tidegate.Code
		details      string
	}{
		{"JSON that ends early", `{"schema_version":`, "p1", good, tidegate.InvalidJSON, `{"perspectives_path":"$DIR/perspectives.json"}`},
		{"trailing data", wellFormed + "{}", "p1", good, tidegate.InvalidJSON, `{"perspectives_path":"$DIR/perspectives.json"}`},
		{"a duplicate key", `{"schema_version":"perspectives.v1","schema_version":"perspectives.v1","perspectives":[]}`, "p1", good, tidegate.InvalidJSON, `{"perspectives_path":"$DIR/perspectives.json"}`},
		{"invalid UTF-8", strings.ReplaceAll(wellFormed, "p1", "p\xff"), "p1", good, tidegate.InvalidJSON, `{"perspectives_path":"$DIR/perspectives.json"}`},
		{"an empty file", "", "p1", good, tidegate.InvalidJSON, `{"perspectives_path":"$DIR/perspectives.json"}`},
		{"a JSON error after a schema error", `{"perspectives":[{"id":7}],}`, "p1", good, tidegate.InvalidJSON, `{"perspectives_path":"$DIR/perspectives.json"}`},

		{"no object", `[]`, "p1", good, tidegate.SchemaValidationFailed, `{"path":"$"}`},
		{"no schema version", `{"perspectives":[]}`, "p1", good, tidegate.SchemaValidationFailed, `{"path":"$.schema_version"}`},
		{"another schema", `{"schema_version":"manifest.v1","perspectives":[]}`, "p1", good, tidegate.SchemaValidationFailed, `{"path":"$.schema_version"}`},
		{"a later version", `{"schema_version":"perspectives.v2","perspectives":[]}`, "p1", good, tidegate.SchemaValidationFailed, `{"path":"$.schema_version"}`},
		{"a field of the wrong type that is not used", `{"schema_version":"perspectives.v1","run_id":7,"perspectives":[]}`, "p1", good, tidegate.SchemaValidationFailed, `{"path":"$.run_id"}`},
		{"no list", `{"schema_version":"perspectives.v1"}`, "p1", good, tidegate.SchemaValidationFailed, `{"path":"$.perspectives"}`},
		{"an entry without id", entry(`{"prompt_contract":{"max_words":1,"max_sources":1,"must_include_sections":[]}}`), "p1", good, tidegate.SchemaValidationFailed, `{"path":"$.perspectives[0].id"}`},
		{"an entry without contract", entry(`{"id":"p1"}`), "p1", good, tidegate.SchemaValidationFailed, `{"path":"$.perspectives[0].prompt_contract"}`},
		{"a cap below 0", contractOf(`{"max_words":-1,"max_sources":1,"must_include_sections":[]}`), "p1", good, tidegate.SchemaValidationFailed, `{"path":"$.perspectives[0].prompt_contract.max_words"}`},
		{"a cap that is not a number", contractOf(`{"max_words":1,"max_sources":"1","must_include_sections":[]}`), "p1", good, tidegate.SchemaValidationFailed, `{"path":"$.perspectives[0].prompt_contract.max_sources"}`},
		{"a cap that no number can hold", contractOf(`{"max_words":1e999,"max_sources":1,"must_include_sections":[]}`), "p1", good, tidegate.SchemaValidationFailed, `{"path":"$.perspectives[0].prompt_contract.max_words"}`},
		{"a blank title", contractOf(`{"max_words":1,"max_sources":1,"must_include_sections":["A"," "]}`), "p1", good, tidegate.SchemaValidationFailed, `{"path":"$.perspectives[0].prompt_contract.must_include_sections[1]"}`},
		{"an id that leaves its folder", strings.Replace(wellFormed, `"id":"p1"`, `"id":"../../etc/passwd"`, 1), "../../etc/passwd", good, tidegate.SchemaValidationFailed, `{"path":"$.perspectives[0].id"}`},
		{"an id with a separator", strings.Replace(wellFormed, `"id":"p1"`, `"id":"a/b"`, 1), "a/b", good, tidegate.SchemaValidationFailed, `{"path":"$.perspectives[0].id"}`},
		{"an id of 4 KB", strings.Replace(wellFormed, `"id":"p1"`, `"id":"`+strings.Repeat("x", 4096)+`"`, 1), "p1", good, tidegate.SchemaValidationFailed, `{"path":"$.perspectives[0].id"}`},
		{"an id twice", entry(strings.Repeat(`{"id":"p1","prompt_contract":{"max_words":1,"max_sources":1,"must_include_sections":[]}},`, 2) + `{}`), "p1", good, tidegate.SchemaValidationFailed, `{"path":"$.perspectives[1].id"}`},

		{"an unknown id", wellFormed, "p2", good, tidegate.PerspectiveNotFound, `{"perspective_id":"p2"}`},
		{"an unknown id that is a path", wellFormed, "../p1", good, tidegate.PerspectiveNotFound, `{"perspective_id":"../p1"}`},
		{"an empty list", `{"schema_version":"perspectives.v1","perspectives":[]}`, "p1", good, tidegate.PerspectiveNotFound, `{"perspective_id":"p1"}`},

		{"a missing section", wellFormed, "p1", "# Findings\n", tidegate.MissingRequiredSection, `{"section":"Sources"}`},
		{"too many words", wellFormed, "p1", good + " x", tidegate.TooManyWords, `{"max_words":5,"words":7}`},
		{"malformed sources", strings.Replace(wellFormed, ":5", ":50", 1), "p1", good + "\nx", tidegate.MalformedSources, `{"line":"x","line_number":4,"reason":"NOT_BULLET"}`},
		{"too many sources", strings.Replace(wellFormed, ":5", ":50", 1), "p1", good + "\n- http://b", tidegate.TooManySources, `{"max_sources":1,"sources":2}`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			perspectives, output := filepath.Join(dir, "perspectives.json"), filepath.Join(dir, "p1.md")
			writeFile(t, perspectives, test.perspectives)
			writeFile(t, output, test.output)
			_, err := step.Validate(t.Context(), runClock, step.ValidateInput{PerspectivesPath: perspectives, PerspectiveID: test.id, MarkdownPath: output})
			wantError(t, err, test.code, dir, test.details)
		})
	}
}

func TestValidateChecksInOrder(t *testing.T) {
	dir := t.TempDir()
	perspectives, output := filepath.Join(dir, "perspectives.json"), filepath.Join(dir, "p1.md")
	validate := func(id string) error {
		_, err := step.Validate(t.Context(), runClock, step.ValidateInput{PerspectivesPath: perspectives, PerspectiveID: id, MarkdownPath: output})
		return err
	}
	wantError(t, validate("p2"), tidegate.FileNotFound, dir, `{"perspectives_path":"$DIR/perspectives.json"}`)
	writeFile(t, perspectives, wellFormed)
	wantError(t, validate("p2"), tidegate.PerspectiveNotFound, dir, `{"perspective_id":"p2"}`)
	wantError(t, validate("p1"), tidegate.FileNotFound, dir, `{"markdown_path":"$DIR/p1.md"}`)
}

// An output is judged whatever its bytes.
func TestValidateHostileOutputs(t *testing.T) {
	dir := t.TempDir()
	perspectives, output := filepath.Join(dir, "perspectives.json"), filepath.Join(dir, "p1.md")
	writeFile(t, perspectives, strings.Replace(wellFormed, ":5", ":50", 1))
	const good = "# Findings\n# Sources\n- https://a"
	for _, test := range []struct{ name, output, want string }{
		{"empty", "", "Missing section: Findings"},
		{"no final newline", good, "6 words"},
		{"byte-order mark", "\ufeff" + good, "6 words"},
		{"carriage returns", strings.ReplaceAll(good, "\n", "\r"), "6 words"},
		{"NUL", "\x00\n" + good + "\x00", "7 words"},
		{"invalid UTF-8", "\xff\xfe\n" + good + "\xc3", "7 words"},
		{"10 MB of marks", strings.Repeat("#", 10<<20), "Missing section: Findings"},
		{"10 MB of marks, then good", strings.Repeat("#", 10<<20) + "\n" + good, "7 words"},
		{"deep quotes", strings.Repeat(">", 100000) + "\n\n" + good, "7 words"},
	} {
		t.Run(test.name, func(t *testing.T) {
			writeFile(t, output, test.output)
			result, err := step.Validate(t.Context(), runClock, step.ValidateInput{PerspectivesPath: perspectives, PerspectiveID: "p1", MarkdownPath: output})
			got := fmt.Sprintf("%d words", result.Words)
			if err != nil {
				got = tidegate.AsError(err).Message
			}
			if got != test.want {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
}

func TestReadPerspectivesTellsThePositionHoweverLongThePath(t *testing.T) {
	dir := filepath.Join(t.TempDir(), strings.Repeat("d", 200))
	must.Do(t, os.Mkdir(dir, 0o700))
	path := filepath.Join(dir, "p.json")
	must.Do(t, os.WriteFile(path, []byte("{\n]"), 0o600))
	_, err := step.ReadPerspectives(runClock, "perspectives_path", path, wave.Contracts)
	e := tidegate.AsError(err)
	if e == nil || e.Code != tidegate.InvalidJSON || !strings.HasPrefix(e.Message, "p.json is not JSON: line 2, column 1: ") {
		t.Errorf("got %v", err)
	}
	if named, _ := e.Details.Get("perspectives_path"); named != path {
		t.Errorf("details name %v", named)
	}
}

func TestLintOfAFileThatCannotBeRead(t *testing.T) {
	dir := t.TempDir()
	for path, code := range map[string]tidegate.Code{filepath.Join(dir, "perspectives.json"): tidegate.FileNotFound, dir: tidegate.ReadFailed} {
		if _, err := step.Lint(t.Context(), runClock, step.LintInput{PerspectivesPath: path, MaxFindings: 1}); tidegate.CodeOf(err) != code {
			t.Errorf("%s: %v, want %s", path, err, code)
		}
	}
}

// contract is a perspective of a test. Caps of 0 stand for 100.
type contract struct {
	id         string
	maxWords   float64
	maxSources float64
	sections   []string
}

// writeWave makes a folder with perspectives.json and outputs by id, and
// returns the two paths that a review is given.
func writeWave(t testing.TB, contracts []contract, outputs map[string]string) (perspectivesPath, outputsDir string) {
	t.Helper()
	dir := t.TempDir()
	list := []any{}
	for _, c := range contracts {
		list = append(list, map[string]any{"id": c.id, "prompt_contract": map[string]any{
			"max_words": orHundred(c.maxWords), "max_sources": orHundred(c.maxSources),
			"must_include_sections": append([]string{}, c.sections...),
		}})
	}
	document := must.Get(codec.MarshalFile(map[string]any{"schema_version": "perspectives.v1", "perspectives": list}))(t)
	perspectivesPath, outputsDir = filepath.Join(dir, "perspectives.json"), filepath.Join(dir, "wave-1")
	writeFile(t, perspectivesPath, string(document))
	must.Do(t, os.Mkdir(outputsDir, 0o700))
	for id, text := range outputs {
		writeFile(t, filepath.Join(outputsDir, id+".md"), text)
	}
	return perspectivesPath, outputsDir
}

func orHundred(limit float64) float64 {
	if limit == 0 {
		return 100
	}
	return limit
}

// wantError demands a code and the details, as JSON with dir written as $DIR.
func wantError(t *testing.T, err error, code tidegate.Code, dir, details string) {
	t.Helper()
	if got := tidegate.CodeOf(err); got != code {
		t.Fatalf("code %q, want %q (error: %v)", got, code, err)
	}
	line := must.Get(codec.MarshalLine(tidegate.AsError(err).Details))(t)
	if diff := cmp.Diff(details, strings.ReplaceAll(string(line), dir, "$DIR")); diff != "" {
		t.Errorf("details (-want +got):\n%s", diff)
	}
	if n := len([]rune(tidegate.AsError(err).Message)); n == 0 || n > tidegate.MaxText {
		t.Errorf("the message has %d characters", n)
	}
}

// words is a text of n words.
func words(n int) string { return strings.Repeat("word ", n) }
