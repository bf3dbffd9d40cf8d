package tidegate_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/wave"
)

// sample is an absolute path in the sample data of the demo.
func sample(name string) string {
	path, err := filepath.Abs(filepath.Join("internal", "face", "demo", "data", name))
	if err != nil {
		log.Fatal(err)
	}
	return path
}

// A first session: judge what agents wrote, ask one of them for another try, and
// judge again.
func Example() {
	ctx := context.Background()
	in := wave.ReviewInput{PerspectivesPath: sample("perspectives.json"), OutputsDir: sample("drafts"), MaxFailures: 25, PerspectiveIDs: []string{"grid"}}
	first, err := wave.Review(ctx, in)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(first.Pass, first.RetryDirectives[0].ChangeNote)

	prompts, err := wave.RetryPrompt(ctx, wave.RetryPromptInput{PerspectivesPath: in.PerspectivesPath, OutputsDir: in.OutputsDir, PerspectiveIDs: in.PerspectiveIDs, MaxFailures: 25})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(strings.HasPrefix(prompts.Prompts[0].PromptMD, "# Write the output of perspective grid again"))

	in.OutputsDir = sample("mended") // what the agent wrote then
	second, err := wave.Review(ctx, in)
	if err != nil {
		log.Fatal(err)
	}
	if err := report.Text(os.Stdout, second.Report(), report.Options{Root: sample("")}); err != nil {
		log.Fatal(err)
	}
	// Output:
	// false Rewrite line 20 in the Sources section as a list item with an http(s):// URL, such as '- Title https://example.org/page', or remove it.
	// true
	// Review of a wave
	//
	// Result  Perspective    Words  Sources  What is wrong  Where
	// ------  -----------  -------  -------  -------------  --------------
	// ✓ pass  grid         182/320      3/5                 mended/grid.md
	//
	// ✓ pass  1 output judged, all meet their contracts.
}

// Outputs that break their contract are data: the result says what to change.
func Example_review() {
	ctx := context.Background()
	result, err := wave.Review(ctx, wave.ReviewInput{
		PerspectivesPath: sample("perspectives.json"),
		OutputsDir:       sample("drafts"),
		MaxFailures:      25,
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.Failed, "of", result.Validated, "failed")
	for _, d := range result.RetryDirectives {
		fmt.Println(d.PerspectiveID, d.BlockingErrorCode)
	}
	// Output:
	// 4 of 6 failed
	// emissions TOO_MANY_WORDS
	// grid MALFORMED_SOURCES
	// operations MISSING_REQUIRED_SECTION
	// policy TOO_MANY_SOURCES
}

// Judging one output refuses with an error whose code says which rule is broken.
func Example_validate() {
	ctx := context.Background()
	_, err := wave.Validate(ctx, wave.ValidateInput{PerspectivesPath: sample("perspectives.json"), PerspectiveID: "policy", MarkdownPath: sample("drafts/policy.md")})
	switch code := tidegate.CodeOf(err); {
	case err == nil:
		fmt.Println("passed")
	case tidegate.ClassOf(code) == tidegate.NotMet:
		fmt.Println("refused:", err)
	default:
		log.Fatal(err)
	}
	// Output:
	// refused: TOO_MANY_SOURCES: the output lists 6 sources, the contract allows 4
}
