package change_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/work/change"
	"github.com/tidegate/tidegate/review"
)

func TestReports(t *testing.T) {
	root := project(t, map[string]string{statePath: realState})
	created := create(t, root, payload("c", review.NeedsFix, "s", "one"))
	advanced := advance(t, root, "c")
	create(t, root, payload("c", review.MajorIssues, "s", "two"))
	stopped := advance(t, root, "c")
	started := must.Get(change.Start(agent, desk, root, "c", nil))(t)
	status := must.Get(change.StatusOf(t.Context(), desk, root, "c"))(t)
	list := must.Get(change.All(desk, root))(t)
	reviews := must.Get(change.Reviews(desk, root, "c"))(t)
	diff := must.Get(change.ReviewDiff(desk, root, "c", 0, 0))(t)
	shown := must.Get(change.ShowReview(desk, created.ReviewPath))(t)
	for _, test := range []struct {
		name   string
		report report.Report
		says   []string
	}{
		{"created", created.Report(), []string{"NEEDS_FIX", "1 high, 0 medium, 0 low", "Review written to agentd/changes/c/REVIEW.md"}},
		{"advanced", advanced.Report(), []string{"NEEDS_FIX", "implementing", "round 1 of 2"}},
		{"stopped", stopped.Report(), []string{"MAJOR_ISSUES", "Needs a person", "major issues"}},
		{"started", started.Report(), []string{"started already"}},
		{"status", status.Report(), []string{"implementing", "Needs a person", "MAJOR_ISSUES", "Reviews kept", "2"}},
		{"list", list.Report(), []string{"1 change", "needs a person"}},
		{"reviews", reviews.Report(), []string{"2 reviews", "NEEDS_FIX", "MAJOR_ISSUES", "0002.md"}},
		{"diff", diff.Report(), []string{"review 2 against review 1", "1 new, 0 still there, 1 gone"}},
		{"shown", shown.Report(), []string{"MAJOR_ISSUES", "two"}},
	} {
		for _, format := range report.Formats() {
			var out bytes.Buffer
			if err := format.Write(&out, test.report, report.Options{Root: root}); err != nil {
				t.Errorf("%s as %s: %v", test.name, format.Name, err)
			}
			for _, want := range test.says {
				if format.Name == "text" && !strings.Contains(out.String(), want) {
					t.Errorf("%s: no %q in\n%s", test.name, want, out.String())
				}
			}
		}
	}
}
