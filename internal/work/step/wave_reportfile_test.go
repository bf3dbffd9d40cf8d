package step_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/test/runs"
	"github.com/tidegate/tidegate/internal/work/step"
)

func TestReportFileHoldsTheResult(t *testing.T) {
	perspectives, outputs := mixed(t)
	path := filepath.Join(filepath.Dir(outputs), "wave-review.json")
	for range 2 {
		result := must.Get(step.ReviewWave(t.Context(), runs.Pinned, step.WaveReviewInput{
			PerspectivesPath: perspectives, OutputsDir: outputs, MaxFailures: 25, ReportPath: path,
		}))(t)
		if result.ReportPath == nil || *result.ReportPath != path {
			t.Errorf("report_path %v", result.ReportPath)
		}
		got := must.Get(os.ReadFile(path))(t)
		if want := marshal(t, result) + "\n"; !bytes.Equal(got, []byte(want)) {
			t.Errorf("the report differs from the result (-want +got):\n%s", cmp.Diff(want, string(got)))
		}
	}
}

func TestReportThatCannotBeWritten(t *testing.T) {
	perspectives, outputs := many(t, 2)
	dir := filepath.Dir(outputs)
	readOnly := filepath.Join(dir, "read-only")
	must.Do(t, os.Mkdir(readOnly, 0o500))
	folder := filepath.Join(dir, "folder")
	must.Do(t, os.Mkdir(folder, 0o700))
	for _, test := range []struct {
		name, path string
		code       tidegate.Code
	}{
		{"a missing folder", filepath.Join(dir, "absent", "report.json"), tidegate.WriteFailed},
		{"a folder in its place", folder, tidegate.WriteFailed},
		{"a folder, with a slash", folder + "/", tidegate.WriteFailed},
		{"a path through a file", perspectives + "/report.json", tidegate.WriteFailed},
		{"a name that is too long", filepath.Join(dir, strings.Repeat("x", 300)), tidegate.WriteFailed},
		{"a folder without permission", filepath.Join(readOnly, "report.json"), tidegate.WriteFailed},
	} {
		t.Run(test.name, func(t *testing.T) {
			if strings.HasPrefix(test.path, readOnly) && os.Getuid() == 0 {
				t.Skip("root may write everywhere")
			}
			before := must.Tree(t, dir)
			_, err := step.ReviewWave(t.Context(), runs.Pinned, step.WaveReviewInput{
				PerspectivesPath: perspectives, OutputsDir: outputs, MaxFailures: 25, ReportPath: test.path,
			})
			if code := tidegate.CodeOf(err); code != test.code {
				t.Errorf("code %s, want %s (%v)", code, test.code, err)
			}
			if path, _ := tidegate.AsError(err).Details.Get("report_path"); path != test.path {
				t.Errorf("details.report_path %q, want %q", path, test.path)
			}
			if diff := cmp.Diff(before, must.Tree(t, dir)); diff != "" {
				t.Errorf("something was left behind (-before +after):\n%s", diff)
			}
		})
	}
}
