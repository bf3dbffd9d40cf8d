package review_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/test/golden"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/review"
)

func TestGoldenFiles(t *testing.T) {
	payloads, err := filepath.Glob("testdata/golden/*.json")
	if err != nil || len(payloads) < 3 {
		t.Fatalf("%d payloads in testdata/golden, want at least one for each verdict (error %v)", len(payloads), err)
	}
	for _, path := range payloads {
		t.Run(filepath.Base(path), func(t *testing.T) {
			data := must.Get(os.ReadFile(path))(t)
			v := must.Get(codec.Parse(data))(t)
			p, warnings := must.Both(review.Parse(v, false))(t)
			got := review.Format(p, warnings)
			golden.Check(t, path[:len(path)-len("json")]+"md", got)
		})
	}
}
