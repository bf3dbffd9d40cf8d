package synthesis_test

import (
	"fmt"

	"github.com/tidegate/tidegate/internal/rule/synthesis"
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
	result := synthesis.Judge(draft, synthesis.Facts{Citations: []synthesis.Citation{{CID: "cost"}}})
	for _, fault := range result.Faults {
		fmt.Println(fault.Code, "in line", fault.Line)
		fmt.Println(fault.ChangeNote)
	}
	// Output:
	// UNCITED_NUMBER in line 7
	// Put the citation of the source that has "20" into the same paragraph or list item, or take the statement out.
}
