package step_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/test/runs"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/step"
)

func TestPerspectivesAreCheckedBeforeTheyAreWritten(t *testing.T) {
	out := runs.Create(t, run.InitInput{})
	path := filepath.Join(out.Root, "perspectives.json")
	twice := strings.Replace(perspectivesDoc, `"perspectives":[`, `"perspectives":[`+perspectivesDoc[strings.Index(perspectivesDoc, `{"id"`):len(perspectivesDoc)-2]+",", 1)
	for _, tt := range []struct {
		name, path, value, reason string
		code                      tidegate.Code
	}{
		{"relative path", "perspectives.json", perspectivesDoc, "x", tidegate.InvalidArgs},
		{"no object", path, `[]`, "x", tidegate.InvalidArgs},
		{"blank reason", path, perspectivesDoc, " ", tidegate.InvalidArgs},
		{"another schema", path, `{"schema_version":"x"}`, "x", tidegate.SchemaValidationFailed},
		{"unsafe id", path, strings.Replace(perspectivesDoc, `"p1"`, `"../p1"`, 1), "x", tidegate.SchemaValidationFailed},
		{"duplicate id", path, twice, "x", tidegate.SchemaValidationFailed},
		{"negative limit", path, strings.Replace(perspectivesDoc, "900", "-1", 1), "x", tidegate.SchemaValidationFailed},
		{"another run's", path, strings.Replace(perspectivesDoc, `"r1"`, `"r2"`, 1), "x", tidegate.InvalidState},
		{"over the manifest", out.ManifestPath, perspectivesDoc, "x", tidegate.PathNotAllowed},
		{"over the gates", out.GatesPath, perspectivesDoc, "x", tidegate.PathNotAllowed},
		{"over the audit log", filepath.Join(out.Root, "logs/audit.jsonl"), perspectivesDoc, "x", tidegate.PathNotAllowed},
		{"over the policy", filepath.Join(out.Root, "run-config/policy.json"), perspectivesDoc, "x", tidegate.PathNotAllowed},
		{"over the review of a wave", filepath.Join(out.Root, "wave-review.json"), perspectivesDoc, "x", tidegate.PathNotAllowed},
		{"over an output", filepath.Join(out.Root, "wave-1/p1.md"), perspectivesDoc, "x", tidegate.PathNotAllowed},
		{"a folder of the run that is not there", filepath.Join(out.Root, "none/deeper/p.json"), perspectivesDoc, "x", tidegate.PathNotAllowed},
		{"over the contracts of the second wave", filepath.Join(out.Root, "wave-2/wave2-perspectives.json"), perspectivesDoc, "x", tidegate.PathNotAllowed},
		{"no folder", filepath.Join(t.TempDir(), "none/perspectives.json"), perspectivesDoc, "x", tidegate.WriteFailed},
	} {
		t.Run(tt.name, func(t *testing.T) {
			before := must.Tree(t, out.Root)
			_, err := step.WritePerspectives(t.Context(), runs.Pinned, step.PerspectivesInput{PerspectivesPath: tt.path, Value: runs.Parse(t, tt.value), Reason: tt.reason})
			runs.WantCode(t, err, tt.code)
			if diff := cmp.Diff(before, must.Tree(t, out.Root)); diff != "" {
				t.Error(diff)
			}
		})
	}
	res, err := step.WritePerspectives(t.Context(), runs.Pinned, step.PerspectivesInput{PerspectivesPath: path, Value: runs.Parse(t, perspectivesDoc), Reason: "x"})
	if err != nil || res.Path != path || !res.AuditWritten {
		t.Fatalf("%+v, %v", res, err)
	}
	if got := line(t, runs.Parse(t, must.Read(t, path))); got != perspectivesDoc {
		t.Errorf("key order or unknown fields were lost: %s", got)
	}
}

func TestPlatforms(t *testing.T) {
	services, domains, unlisted := step.Platforms([]string{" ArXiv", "exa", "Port statistics", "europa.eu", "evil.example/x", "pubmed"}, []string{"arxiv", "pubmed"})
	if !slices.Equal(services, []string{"arxiv", "pubmed"}) || !slices.Equal(domains, []string{"europa.eu"}) || !slices.Equal(unlisted, []string{"exa"}) {
		t.Errorf("services %v, domains %v, unlisted %v", services, domains, unlisted)
	}
}
