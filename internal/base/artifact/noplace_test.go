package artifact_test

import (
	"path/filepath"
	"testing"

	"github.com/tidegate/tidegate/internal/base/artifact"
)

// TestAReplicaStandsInForAnAbsolutePath: what is sealed is checked under such a path, and
// one without a drive is not absolute on every system.
func TestAReplicaStandsInForAnAbsolutePath(t *testing.T) {
	if path := artifact.NoPlace("sealed"); !filepath.IsAbs(path) {
		t.Errorf("%s is not absolute", path)
	}
}
