package step_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/work/step"
)

func TestAReportNeverReplacesWhatARunConsistsOf(t *testing.T) {
	r := reviewed(t)
	dir := filepath.Join(r.root, "wave-1")
	review := func(name string) error {
		_, err := step.ReviewWave(t.Context(), runClock, step.WaveReviewInput{PerspectivesPath: r.perspectives, OutputsDir: dir, MaxFailures: 25, ReportPath: filepath.Join(r.root, name)})
		return err
	}
	for name, content := range map[string]string{
		"wave-1/other.md": "an output of another perspective", "wave-1/a.meta.json": "{}", "wave-2/x.md": "x", "summaries/a.md": "x", "logs/old.jsonl": "x",
	} {
		must.Do(t, os.WriteFile(filepath.Join(r.root, name), []byte(content), 0o600))
	}
	for target, name := range map[string]string{"manifest.json": "link.json", "wave-1": "same"} {
		if err := os.Symlink(target, filepath.Join(r.root, name)); err != nil {
			t.Skipf("no symbolic links here: %v", err)
		}
	}
	for _, name := range []string{
		"link.json", "same/other.md", "manifest.json", "gates.json", "logs/audit.jsonl", "run-config/policy.json", "operator/scope.json", "pivot.json", "wave-1/wave1-plan.json",
		"summaries/summary-pack.json", "citations/citations.jsonl", "synthesis/final-synthesis.md", "wave-2/../manifest.json",
		"wave-1/other.md", "wave-1/a.meta.json", "wave-2/x.md", "summaries/a.md", "logs/old.jsonl",
	} {
		before, missing := os.ReadFile(filepath.Join(r.root, name))
		if err := review(name); tidegate.CodeOf(err) != tidegate.PathNotAllowed {
			t.Errorf("report_path %s: got %v", name, err)
		}
		after, err := os.ReadFile(filepath.Join(r.root, name))
		if string(after) != string(before) || (err == nil) != (missing == nil) {
			t.Errorf("%s was changed", name)
		}
	}
	for _, name := range []string{"again.json", "wave-1/review.json"} {
		if err := review(name); tidegate.CodeOf(err) != tidegate.PathNotAllowed {
			t.Errorf("report_path %s: %v", name, err)
		}
	}
	if err := review("wave-review.json"); err != nil {
		t.Error(err)
	}
	// A run that cannot be opened keeps its record.
	must.Do(t, os.WriteFile(filepath.Join(r.root, "manifest.json"), []byte("{"), 0o600))
	for _, name := range []string{"manifest.json", "gates.json", "logs/audit.jsonl"} {
		before := r.read(name)
		if err := review(name); err == nil || r.read(name) != before {
			t.Errorf("spoilt run, report_path %s: got %v", name, err)
		}
	}
}
