package step_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/test/runs"
	"github.com/tidegate/tidegate/internal/work/step"
)

// likeReviews is a wave of which every file could pass for a wave review: what is
// anything else is refused for that alone.
func likeReviews(t *testing.T) (perspectives, dir string) {
	const review = `"results":[],"retry_directives":[]`
	perspectives, dir = writeWave(t, []contract{{id: "a"}, {id: "b"}}, map[string]string{"a": "{" + review + "}", "b": "{" + review + "}"})
	writeFile(t, perspectives, strings.Replace(must.Read(t, perspectives), "{", "{"+review+",", 1))
	return perspectives, dir
}

func TestAReportNeverReplacesWhatIsJudged(t *testing.T) {
	perspectives, dir := likeReviews(t)
	for path, want := range map[string]tidegate.Code{perspectives: tidegate.InvalidArgs, filepath.Join(dir, "a.md"): tidegate.WriteFailed, dir + "/../wave-1/./b.md": tidegate.WriteFailed} {
		before, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		_, err = step.ReviewWave(t.Context(), runs.Pinned, step.WaveReviewInput{PerspectivesPath: perspectives, OutputsDir: dir, MaxFailures: 25, ReportPath: path})
		if tidegate.CodeOf(err) != want {
			t.Errorf("report_path %s: got %v", path, err)
		}
		if after, err := os.ReadFile(path); err != nil || string(after) != string(before) {
			t.Errorf("%s was changed", path)
		}
	}
}

func TestAReportNeverReplacesWhatIsJudgedByAnotherName(t *testing.T) {
	perspectives, dir := likeReviews(t)
	root := filepath.Dir(dir)
	link := func(target, name string) string {
		t.Helper()
		path := filepath.Join(root, name)
		if err := os.Symlink(target, path); err != nil {
			t.Skipf("no symbolic links here: %v", err)
		}
		return path
	}
	elsewhere := filepath.Join(root, "elsewhere.json")
	must.Do(t, os.Rename(filepath.Join(dir, "b.md"), elsewhere))
	if err := os.Symlink("../elsewhere.json", filepath.Join(dir, "b.md")); err != nil {
		t.Skipf("no symbolic links here: %v", err)
	}
	for name, path := range map[string]string{
		"through a link to the folder": filepath.Join(link(".", "same"), "elsewhere.json"),
		"a link to the contracts":      link(filepath.Base(perspectives), "contracts.json"),
		"where an output's link leads": elsewhere,
	} {
		before, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		_, err = step.ReviewWave(t.Context(), runs.Pinned, step.WaveReviewInput{PerspectivesPath: perspectives, OutputsDir: dir, MaxFailures: 25, ReportPath: path})
		if tidegate.CodeOf(err) != tidegate.InvalidArgs {
			t.Errorf("%s: got %v", name, err)
		}
		if after, err := os.ReadFile(path); err != nil || string(after) != string(before) {
			t.Errorf("%s: %s was changed", name, path)
		}
	}
}
