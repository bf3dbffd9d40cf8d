package review

import (
	_ "embed"
	"fmt"
	"math/big"
	"path"
	"strings"
	"sync"

	"github.com/tidegate/tidegate/internal/base/codec"
)

// tests reads test_results and questions counts that are impossible or do not fit
// the verdict.
func (c *checker) tests(v *codec.Value, verdict Verdict) *TestResults {
	if !given(v) {
		return nil
	}
	if v.Kind() != codec.Object {
		c.violate("test_results", "must be an object, got %s", describe(v))
		return nil
	}
	t := &TestResults{}
	t.Passed = c.count("test_results.passed", v.Get("passed"))
	t.Failed = c.count("test_results.failed", v.Get("failed"))
	if t.Failed != nil && *t.Failed > 0 && verdict == Approved {
		c.question("test_results.failed", "is %d, but the verdict is APPROVED", *t.Failed)
	}
	t.Total = c.count("test_results.total", v.Get("total"))
	c.addUp(t)
	if t.Total != nil && *t.Total == 0 && verdict == Approved {
		c.question("test_results.total", "is 0, but the verdict is APPROVED")
	}
	c.unknownKeys("test_results", v, testKeys)
	return t
}

func (c *checker) count(field string, v *codec.Value) *int64 {
	n := c.integer(field, v)
	if n != nil && *n < 0 {
		c.question(field, "is %d, but a count is at least 0", *n)
	}
	return n
}

func (c *checker) addUp(t *TestResults) {
	switch {
	case t.Total == nil:
	case t.Passed != nil && t.Failed != nil:
		sum := new(big.Int).Add(big.NewInt(*t.Passed), big.NewInt(*t.Failed))
		if sum.Cmp(big.NewInt(*t.Total)) != 0 {
			c.question("test_results.total", "is %d, but passed %d and failed %d make %s", *t.Total, *t.Passed, *t.Failed, sum)
		}
	case t.Passed != nil && *t.Passed > *t.Total:
		c.question("test_results.total", "is %d, but passed is %d", *t.Total, *t.Passed)
	case t.Failed != nil && *t.Failed > *t.Total:
		c.question("test_results.total", "is %d, but failed is %d", *t.Total, *t.Failed)
	}
}

// FailedTests is how many tests failed, as far as the counts say.
func (t *TestResults) FailedTests() int64 {
	_, failed, _ := t.outcome()
	return failed
}

// outcome is the counts, 0 where nothing is known. A count that was not given but
// follows from the other two counts as given; a total alone says nothing about the
// outcome.
func (t *TestResults) outcome() (passed, failed, total int64) {
	if t == nil || t.Passed == nil && t.Failed == nil {
		return 0, 0, 0
	}
	for _, count := range []struct{ from, to *int64 }{{t.Passed, &passed}, {t.Failed, &failed}, {t.Total, &total}} {
		if count.from != nil {
			*count.to = *count.from
		}
	}
	switch {
	case t.Failed == nil && total > passed && passed >= 0:
		failed = total - passed
	case t.Passed == nil && total > failed && failed >= 0:
		passed = total - failed
	}
	return passed, failed, total
}

// Gone says which tests of the run before do not run in r: by name where the tests
// have names, else by how many there are fewer. One that is skipped does not run.
func (r TestRun) Gone(before TestRun) []string {
	runs := map[string]bool{}
	for _, name := range r.Ran {
		runs[name] = true
	}
	var gone []string
	for _, name := range before.Ran {
		if !runs[name] {
			runs[name] = true // said once
			gone = append(gone, name)
		}
	}
	if fewer := before.Unnamed - r.Unnamed; fewer > 0 {
		gone = append(gone, fmt.Sprintf("%d of %d tests that have no name", fewer, before.Unnamed))
	}
	return gone
}

//go:embed testnames.txt
var testNameList string

var testNames = sync.OnceValue(func() []string {
	var globs []string
	for line := range strings.Lines(testNameList) {
		if glob := strings.TrimSpace(line); glob != "" && glob[0] != '#' {
			globs = append(globs, glob)
		}
	}
	return globs
})

// IsTest reports whether a file holds tests, by its name.
func IsTest(name string) bool {
	parts := strings.Split(strings.ToLower(name), "/")
	for _, glob := range testNames() {
		if folder, ok := strings.CutSuffix(glob, "/"); ok {
			for _, part := range parts[:len(parts)-1] {
				if part == folder {
					return true
				}
			}
		} else if ok, _ := path.Match(glob, parts[len(parts)-1]); ok {
			return true
		}
	}
	return false
}

// TestsGone are the names of the files with tests that files delete, or rename to
// something that is none.
func TestsGone(files []File) []string {
	var gone []string
	for _, f := range files {
		switch {
		case f.After == nil && IsTest(f.Name):
			gone = append(gone, f.Name)
		case f.From != "" && IsTest(f.From) && !IsTest(f.Name):
			gone = append(gone, f.From)
		}
	}
	return gone
}
