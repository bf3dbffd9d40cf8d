package tidegate_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/wave"
)

// contracts says what the outputs of two perspectives must meet.
const contracts = `{"schema_version": "perspectives.v1", "perspectives": [
  {"id": "grid", "prompt_contract": {"max_words": 60, "max_sources": 3, "must_include_sections": ["Findings", "Sources"]}},
  {"id": "policy", "prompt_contract": {"max_words": 60, "max_sources": 1, "must_include_sections": ["Findings", "Sources"]}}]}`

// written is what the agents wrote, by perspective.
var written = map[string]string{
	"grid":   "## Findings\nThe harbour needs a second feed.\n\n## Sources\nsee the port's own page\n",
	"policy": "## Findings\nShore power is required from 2030.\n\n## Sources\n- https://example.org/law\n- https://example.org/press\n",
}

// outputs reads the contracts and says where each output is found.
func outputs(texts map[string]string) wave.Outputs {
	doc, err := wave.ParsePerspectives([]byte(contracts), wave.Contracts)
	if err != nil {
		log.Fatal(err)
	}
	return wave.Outputs{
		Perspectives: doc.List,
		Path:         func(i int) string { return doc.List[i].ID + ".md" },
		Open: func(i int) (io.ReadCloser, error) {
			return io.NopCloser(strings.NewReader(texts[doc.List[i].ID])), nil
		},
		MaxFailures: 25,
	}
}

// A first session: judge what agents wrote, ask one of them for another try, and
// judge again.
func Example() {
	ctx := context.Background()
	texts := map[string]string{"grid": written["grid"], "policy": written["policy"]}
	first, err := wave.Review(ctx, outputs(texts))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(first.Pass, first.RetryDirectives[0].ChangeNote)

	prompts, err := wave.RetryPrompt(ctx, outputs(texts))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(strings.HasPrefix(prompts.Prompts[0].PromptMD, "# Write the output of perspective grid again"))

	// What the agents wrote then.
	texts["grid"] = strings.Replace(texts["grid"], "see the port's own page", "- The port https://example.org/port", 1)
	texts["policy"] = strings.Replace(texts["policy"], "- https://example.org/press\n", "", 1)
	second, err := wave.Review(ctx, outputs(texts))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(second.Pass, second.Validated)
	// Output:
	// false Rewrite line 5 in the Sources section as a list item with an http(s):// URL, such as '- Title https://example.org/page', or remove it.
	// true
	// true 2
}

// Outputs that break their contract are data: the result says what to change.
func Example_review() {
	ctx := context.Background()
	result, err := wave.Review(ctx, outputs(written))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.Failed, "of", result.Validated, "failed")
	for _, d := range result.RetryDirectives {
		fmt.Println(d.PerspectiveID, d.BlockingErrorCode)
	}
	// Output:
	// 2 of 2 failed
	// grid MALFORMED_SOURCES
	// policy TOO_MANY_SOURCES
}

// Judging one output refuses with an error whose code says which rule is broken.
func Example_validate() {
	policy := outputs(written).Perspectives[1]
	_, err := wave.Validate(policy, "policy.md", strings.NewReader(written["policy"]))
	switch code := tidegate.CodeOf(err); {
	case err == nil:
		fmt.Println("passed")
	case tidegate.ClassOf(code) == tidegate.NotMet:
		fmt.Println("refused:", err)
	default:
		log.Fatal(err)
	}
	// Output:
	// refused: TOO_MANY_SOURCES: the output lists 2 sources, the contract allows 1
}
