package wave_test

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/wave"
)

// contract is a perspective of a test. Caps of 0 stand for 100.
type contract struct {
	id         string
	maxWords   float64
	maxSources float64
	sections   []string
}

// given are outputs in memory, by the ids of their contracts.
func given(t testing.TB, contracts []contract, outputs map[string]string) wave.Outputs {
	t.Helper()
	list := []any{}
	for _, c := range contracts {
		list = append(list, map[string]any{"id": c.id, "prompt_contract": map[string]any{
			"max_words": orHundred(c.maxWords), "max_sources": orHundred(c.maxSources),
			"must_include_sections": append([]string{}, c.sections...),
		}})
	}
	document := must.Get(codec.MarshalFile(map[string]any{"schema_version": "perspectives.v1", "perspectives": list}))(t)
	doc := must.Get(wave.ParsePerspectives(document, wave.Contracts))(t)
	return wave.Outputs{
		Perspectives: doc.List, MaxFailures: 25,
		Path: func(i int) string { return "/run/wave-1/" + doc.List[i].ID + ".md" },
		Open: func(i int) (io.ReadCloser, error) {
			return io.NopCloser(strings.NewReader(outputs[doc.List[i].ID])), nil
		},
	}
}

// inFolder are the outputs of a wave as package sample writes them.
func inFolder(t testing.TB, dir string) wave.Outputs {
	t.Helper()
	document := must.Get(os.ReadFile(filepath.Join(dir, "perspectives.json")))(t)
	outputs := must.Get(outputsIn(dir, document))(t)
	return outputs
}

func outputsIn(dir string, document []byte) (wave.Outputs, error) {
	doc, err := wave.ParsePerspectives(document, wave.Contracts)
	if err != nil {
		return wave.Outputs{}, err
	}
	path := func(i int) string { return filepath.Join(dir, "wave-1", doc.List[i].ID+".md") }
	open := func(i int) (io.ReadCloser, error) { return os.Open(path(i)) }
	return wave.Outputs{Perspectives: doc.List, MaxFailures: 25, Path: path, Open: open}, nil
}

func review(t testing.TB, o wave.Outputs) wave.ReviewResult {
	t.Helper()
	result := must.Get(wave.Review(t.Context(), o))(t)
	return result
}

func orHundred(limit float64) float64 {
	if limit == 0 {
		return 100
	}
	return limit
}

// words is a text of n words.
func words(n int) string { return strings.Repeat("word ", n) }
