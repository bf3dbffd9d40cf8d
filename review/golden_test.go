package review_test

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/review"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func TestGoldenFiles(t *testing.T) {
	payloads, err := filepath.Glob("testdata/golden/*.json")
	if err != nil || len(payloads) < 3 {
		t.Fatalf("%d payloads in testdata/golden, want at least one for each verdict (error %v)", len(payloads), err)
	}
	for _, path := range payloads {
		t.Run(filepath.Base(path), func(t *testing.T) {
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			v, err := codec.Parse(data)
			if err != nil {
				t.Fatal(err)
			}
			p, warnings, err := review.Parse(v, false)
			if err != nil {
				t.Fatal(err)
			}
			got := review.Format(p, warnings)
			golden := path[:len(path)-len("json")] + "md"
			if *update {
				if err := os.WriteFile(golden, got, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), string(got)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", golden, diff)
			}
		})
	}
}
