package pivot_test

import (
	"fmt"
	"strings"

	"github.com/tidegate/tidegate/pivot"
)

func ExampleJudge() {
	output := `## Findings
Tides turn twice a day.

## Gaps
- (P1) Who measured it first? #history
- (P1) No figures for the southern coast
`
	gaps, err := pivot.Extract("p1", strings.NewReader(output))
	if err != nil {
		fmt.Println(err)
		return
	}
	outcome := pivot.Judge(gaps)
	fmt.Println(outcome.Explanation)
	fmt.Println(outcome.Wave2GapIDs)
	// Output:
	// Wave 2 required because p1_count=2 (rule Wave2Required.P1).
	// [gap_p1_1 gap_p1_2]
}

// The rubric is a pure function.
func ExampleJudge_gaps() {
	gaps := []pivot.Gap{{ID: "battery", Priority: "P1"}, {ID: "feed", Priority: "P1"}}
	outcome := pivot.Judge(gaps)
	fmt.Println(outcome.RuleHit, outcome.Wave2GapIDs)
	// Output:
	// Wave2Required.P1 [battery feed]
}
