package catalog_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"path/filepath"
	"time"

	"github.com/tidegate/tidegate/catalog"
	"github.com/tidegate/tidegate/tool"
)

// A tool can be called as an agent calls it: JSON in, the envelope out.
func ExampleTools() {
	sample := func(name string) string {
		path, err := filepath.Abs(filepath.Join("..", "internal", "face", "demo", "data", name))
		if err != nil {
			log.Fatal(err)
		}
		return path
	}
	ctx := context.Background()
	tools := catalog.Tools(&catalog.Env{Now: time.Now, Dir: sample(""), Home: sample("runs")})
	args, err := json.Marshal(map[string]string{
		"perspectives_path": sample("perspectives.json"),
		"perspective_id":    "skeptic",
		"markdown_path":     sample("drafts/skeptic.md"),
	})
	if err != nil {
		log.Fatal(err)
	}
	for _, t := range tools {
		if t.Name == "deep_research_wave_output_validate" {
			result := t.Call(ctx, args, tool.Caller{})
			fmt.Println(result.Passed, result.Err == nil)
		}
	}
	// Output:
	// true true
}
