package library_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/work/audit"
	"github.com/tidegate/tidegate/internal/work/library"
	"github.com/tidegate/tidegate/internal/work/store"
)

// TestCompareSaysWhatDiffers compares two audits of a report that was written again.
func TestCompareSaysWhatDiffers(t *testing.T) {
	runs := filepath.Join(t.TempDir(), "runs")
	pages := web{}
	for _, page := range []struct{ url, body string }{
		{"https://a.example/ferry", document("Ferry", "The ferry Ampere carries 120 cars and 360 passengers.", "Its battery holds 1.04 MWh.", "It was built in 2015.")},
		{"https://b.example/tugs", document("Tugs", "The tug Sparky has a bollard pull of 70 tonnes.")},
		{"https://c.example/quay", document("Quay", "The quay is 340 metres long.")},
	} {
		pages[page.url] = shows(page.body)(page.url)
	}
	make := func(report string) string {
		t.Helper()
		made := must.Get(audit.Make(t.Context(), desk(), pages.again(nil), audit.Input{Report: report, Home: store.Audits.Home(runs), Dir: runs}))(t)
		return made.AuditID
	}
	was := make("The ferry carries 120 cars [1]. Its battery holds 1.04 MWh [1]. The tug Sparky pulls 70 tonnes [2].\n\n# References\n\n[1] https://a.example/ferry\n[2] https://b.example/tugs\n")
	is := make("The ferry carries 140 cars [1]. Its battery holds 1.04 MWh [1]. The quay is 340 metres long [2].\n\n# References\n\n[1] https://a.example/ferry\n[2] https://c.example/quay\n")
	compare := func(a, b string) library.Compared {
		t.Helper()
		c := must.Get(library.Compare(t.Context(), desk(), library.CompareInput{A: a, B: b, Runs: runs, Dir: runs}))(t)
		return c
	}
	c := compare(was, is)
	var got []string
	for _, s := range c.Sentences {
		got = append(got, s.Change+": "+s.A+" | "+s.B+" | "+string(s.StandingA)+" "+string(s.StandingB))
	}
	for _, n := range c.Numbers {
		got = append(got, strings.Join(n.A, ",")+" → "+strings.Join(n.B, ","))
	}
	for _, s := range c.Sources {
		got = append(got, s.Change+" "+s.URL)
	}
	want := []string{
		"changed: The ferry carries 120 cars. | The ferry carries 140 cars. | found missing",
		"added:  | The quay is 340 metres long. |  found",
		"removed: The tug Sparky pulls 70 tonnes. |  | found ",
		"120 → 140", "removed https://b.example/tugs", "added https://c.example/quay",
	}
	if diff := cmp.Diff(want, got); diff != "" || c.Same || c.Kept != 1 || !c.SameQuestion {
		t.Errorf("same %v, kept %d, the same question %v\n%s", c.Same, c.Kept, c.SameQuestion, diff)
	}
	if c := compare(was, was); !c.Same || c.Kept != 3 || len(c.Sentences)+len(c.Sources)+len(c.Numbers) > 0 {
		t.Errorf("a report differs from itself: %+v", c)
	}
}
