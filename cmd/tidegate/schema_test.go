package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/tidegate/tidegate/catalog"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/test/must"
)

const publishedSchemas = "../../docs/schemas"

func schemaFile(name string) string { return filepath.Join(publishedSchemas, name+".json") }

// TestPublishedSchemas compares docs/schemas with what `tidegate schema` prints.
func TestPublishedSchemas(t *testing.T) {
	listed := map[string]bool{}
	for _, s := range schemas(catalog.Tools(&catalog.Env{})) {
		path := schemaFile(s.name)
		listed[path] = true
		got := must.Get(codec.MarshalFile(s.print()))(t)
		if *update {
			must.Do(t, os.MkdirAll(publishedSchemas, 0o755))
			must.Do(t, os.WriteFile(path, got, 0o644))
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Errorf("%v; run: go test ./cmd/tidegate -run Schemas -update", err)
			continue
		}
		if diff := difference(string(want), string(got)); diff != "" {
			t.Errorf("%s differs (-want +got):\n%s", path, diff)
		}
	}
	files := must.Get(filepath.Glob(filepath.Join(publishedSchemas, "*")))(t)
	for _, file := range files {
		if !listed[file] {
			t.Errorf("%s is no schema that the program prints", file)
		}
	}
}
