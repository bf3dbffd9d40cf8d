package review

import (
	_ "embed"
	"fmt"
	"path"
	"strings"
	"sync"
)

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
