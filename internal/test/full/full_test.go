package full_test

import (
	"flag"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/tidegate/tidegate/internal/test/full"
)

func TestStride(t *testing.T) {
	before := flag.Lookup("full").Value.String()
	t.Cleanup(func() { flag.Set("full", before) })
	for _, form := range []string{"false", "true"} {
		flag.Set("full", form)
		for points := range 50 {
			for some := 1; some < 20; some++ {
				stride := full.Stride(points, some)
				tried := 0
				for i := 0; i < points; i += stride {
					tried++
				}
				switch all := full.Asked(); {
				case all && tried != points:
					t.Errorf("-full: %d of %d points tried", tried, points)
				case !all && tried > some:
					t.Errorf("%d of %d points tried, want %d at most", tried, points, some)
				case !all && stride > 1 && (points+stride-2)/(stride-1) <= some:
					t.Errorf("stride %d over %d points, although %d tries at most %d", stride, points, stride-1, some)
				}
			}
		}
	}
}

func TestSome(t *testing.T) {
	before := flag.Lookup("full").Value.String()
	t.Cleanup(func() { flag.Set("full", before) })
	cases := map[string]int{"a": 1, "b": 2, "c": 3, "d": 4, "e": 5}
	for form, want := range map[string]string{"false": "a1c3e5", "true": "a1b2c3d4e5"} {
		flag.Set("full", form)
		got := ""
		for name, n := range full.Some(cases, 3) {
			got += name + strconv.Itoa(n)
		}
		if got != want {
			t.Errorf("-full=%s: %s, want %s", form, got, want)
		}
	}
}

// skipped takes note that a test would have been left out, and goes on.
type skipped struct {
	testing.TB
	was bool
}

func (s *skipped) Skip(...any) { s.was = true }

// TestStoriesAreToldByCI: what the short form leaves out is run for every change.
func TestStoriesAreToldByCI(t *testing.T) {
	for _, env := range []string{"1", ""} {
		t.Setenv("TIDEGATE_STORIES", env)
		test := &skipped{TB: t}
		full.Story(test)
		if test.was != (env == "" && !full.Asked()) {
			t.Errorf("TIDEGATE_STORIES=%s: left out: %t", env, test.was)
		}
	}
	script, err := os.ReadFile("../../../.ci/run")
	if err != nil || !strings.Contains(string(script), "\nexport TIDEGATE_STORIES=1\n") {
		t.Errorf(".ci/run leaves out stories: %v", err)
	}
}
