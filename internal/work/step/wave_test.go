package step_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/test/must"
)

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
