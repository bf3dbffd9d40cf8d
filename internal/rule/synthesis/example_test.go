package synthesis_test

import (
	"fmt"

	"github.com/tidegate/tidegate/internal/rule/synthesis"
	"github.com/tidegate/tidegate/internal/text/markdown"
)

// A draft is judged by the sources that it may cite.
func ExampleJudge() {
	draft := []byte(`## Summary

Electric tugs cost 118 euros an hour [@cost].

## Key Findings

- The harbour has 20 of them.

## Evidence

## Caveats
`)
	result := synthesis.Judge(markdown.Read(draft), synthesis.Facts{Citations: []synthesis.Citation{{CID: "cost"}}})
	for _, number := range result.Uncited {
		fmt.Printf("line %d states %s without a source\n", number.Line, number.Token)
	}
	// Output:
	// line 7 states 20 without a source
}
