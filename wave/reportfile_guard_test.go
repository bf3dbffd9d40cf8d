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

func TestAReportNeverReplacesWhatIsJudgedByAnotherName(t *testing.T) {
	r := reviewed(t)
	dir := filepath.Join(r.root, "wave-1")
	link := func(target, name string) string {
		t.Helper()
		path := filepath.Join(r.root, name)
		if err := os.Symlink(target, path); err != nil {
			t.Skipf("no symbolic links here: %v", err)
		}
		return path
	}
	elsewhere := filepath.Join(r.root, "elsewhere.md")
	if err := os.Rename(filepath.Join(dir, "b.md"), elsewhere); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("../elsewhere.md", filepath.Join(dir, "b.md")); err != nil {
		t.Skipf("no symbolic links here: %v", err)
	}
	for name, path := range map[string]string{
		"through a link to the folder": filepath.Join(link("wave-1", "same"), "a.md"),
		"a link to the contracts":      link(filepath.Base(r.perspectives), "contracts.json"),
		"where an output's link leads": elsewhere,
	} {
		before, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		_, err = wave.Review(t.Context(), wave.ReviewRequest{PerspectivesPath: r.perspectives, OutputsDir: dir, MaxFailures: 25, ReportPath: path})
		if tidegate.CodeOf(err) != tidegate.InvalidArgs {
			t.Errorf("%s: got %v", name, err)
		}
		if after, err := os.ReadFile(path); err != nil || string(after) != string(before) {
			t.Errorf("%s: %s was changed", name, path)
		}
	}
}

func TestAReportNeverReplacesWhatARunConsistsOf(t *testing.T) {
	r := reviewed(t)
	dir := filepath.Join(r.root, "wave-1")
	review := func(name string) error {
		_, err := wave.Review(t.Context(), wave.ReviewRequest{PerspectivesPath: r.perspectives, OutputsDir: dir, MaxFailures: 25, ReportPath: filepath.Join(r.root, name)})
		return err
	}
	for name, content := range map[string]string{
		"wave-1/other.md": "an output of another perspective", "wave-1/a.meta.json": "{}", "wave-2/x.md": "x", "summaries/a.md": "x", "logs/old.jsonl": "x",
	} {
		if err := os.WriteFile(filepath.Join(r.root, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
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
	for _, name := range []string{"wave-review.json", "again.json", "wave-1/review.json"} {
		if err := review(name); err != nil {
			t.Errorf("report_path %s: %v", name, err)
		}
	}
	// A run that cannot be opened keeps its record.
	if err := os.WriteFile(filepath.Join(r.root, "manifest.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"manifest.json", "gates.json", "logs/audit.jsonl"} {
		if err := review(name); tidegate.CodeOf(err) != tidegate.PathNotAllowed {
			t.Errorf("spoilt run, report_path %s: got %v", name, err)
		}
	}
}
