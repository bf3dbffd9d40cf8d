package stage_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/test/played"
	"github.com/tidegate/tidegate/internal/test/runs"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/stage"
)

// TestDamagedClaimsAreNamed: a run is shown whatever became of the document of its
// claims, and status and verification name it.
func TestDamagedClaimsAreNamed(t *testing.T) {
	const claims = "synthesis/claims.json"
	for _, name := range []string{"second-wave", "disputed"} {
		root := played.Lay(t, t.TempDir(), name)
		whole := must.Get(os.ReadFile(filepath.Join(root, claims)))(t)
		for _, damaged := range []string{"", "{", "[]", "null", `{"schema_version":"claims.v2"}`, `{"schema_version":"claims.v1","sentences":[{"id":7}]}`, string(whole[:len(whole)/2]),
			strings.ReplaceAll(string(whole), `"job": "verify.1"`, `"job": "../../.."`)} {
			runs.Put(t, root, claims, damaged)
			manifest := filepath.Join(root, run.ManifestFile)
			status, err := stage.Status(t.Context(), runs.Pinned, manifest)
			if err != nil {
				t.Errorf("%s, %.40q: %v", name, damaged, err)
				continue
			}
			if !strings.Contains(status.Trust, claims) {
				t.Errorf("%s, %.40q: status says %q", name, damaged, status.Trust)
			}
			verified, err := run.Verify(t.Context(), runs.Pinned, run.VerifyInput{ManifestPath: manifest, Follows: stage.Follows})
			found := false
			for _, f := range verified.Findings {
				found = found || f.Level == "error" && strings.Contains(f.Message+f.File, claims)
			}
			if err != nil || verified.Pass || !found {
				t.Errorf("%s, %.40q: verified %v: %+v %v", name, damaged, verified.Pass, verified.Findings, err)
			}
		}
	}
}
