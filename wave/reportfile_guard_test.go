package wave_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/wave"
)

func TestAReportNeverReplacesWhatIsJudged(t *testing.T) {
	r := reviewed(t)
	dir := filepath.Join(r.root, "wave-1")
	for _, path := range []string{r.perspectives, filepath.Join(dir, "a.md"), dir + "/../wave-1/./b.md"} {
		before, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		_, err = wave.Review(t.Context(), wave.ReviewRequest{PerspectivesPath: r.perspectives, OutputsDir: dir, MaxFailures: 25, ReportPath: path})
		if tidegate.CodeOf(err) != tidegate.InvalidArgs {
			t.Errorf("report_path %s: got %v", path, err)
		}
		if after, err := os.ReadFile(path); err != nil || string(after) != string(before) {
			t.Errorf("%s was changed", path)
		}
	}
}
