package report_test

import (
	"os"

	"github.com/tidegate/tidegate/internal/base/report"
)

// A result builds its report once; a face writes it in the format that its
// caller asked for.
func Example() {
	r := report.Report{
		Name: "wave_review", Title: "Wave review",
		Summary: "1 of 2 outputs needs work", Status: report.Fail,
	}
	table := report.NewTable("Perspective", ">Words", "Where")
	table.Row(report.Pass, "economics", 612, report.Place{})
	table.Row(report.Fail, "law", 950, report.Place{File: "/run/law.md", Line: 42})
	r.Add(table)
	r.AddCase(report.Case{Name: "economics", Status: report.Pass})
	r.AddCase(report.Case{Name: "law", File: "/run/law.md", Status: report.Fail, Findings: []report.Finding{
		{Rule: "TOO_MANY_WORDS", Message: "950 words, the cap is 800", Help: "Remove 150 words.", Line: 42}}})

	for _, name := range []string{"text", "github"} {
		format, _ := report.Lookup(name)
		if err := format.Write(os.Stdout, r, report.Options{Root: "/run"}); err != nil {
			panic(err)
		}
	}
	// Output:
	// Wave review
	//
	// Result  Perspective  Words  Where
	// ------  -----------  -----  ---------
	// ✓ pass  economics      612
	// ✗ fail  law            950  law.md:42
	//
	// ✗ fail  1 of 2 outputs needs work
	// ::error file=law.md,line=42,title=TOO_MANY_WORDS::950 words, the cap is 800%0AWhat to do: Remove 150 words.
	// tidegate: fail 1 of 2 outputs needs work
}
