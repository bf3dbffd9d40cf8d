package tidegate_test

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/tidegate/tidegate/internal/test/must"
)

var (
	declaredName = regexp.MustCompile(`(?m)^(?:func (?:\(\w+ \*?(\w+)(?:\[\w+\])?\) )?(\w+)|type (\w+))`)
	packageName  = regexp.MustCompile(`(?m)^package (\w+)`)
	namedPath    = regexp.MustCompile("`((?:\\.ci|bench|catalog|cmd|docs|internal|pivot|proof|review|skills|temporal|tool|wave)/[^`\\s]*)`")
	namedCode    = regexp.MustCompile("`([a-z]+(?:\\.\\w+){1,2})`")
)

// TestPagesNameWhatThereIs: the files that the pages for engineers name are there, and so
// are the functions by which docs/run.md follows one run.
func TestPagesNameWhatThereIs(t *testing.T) {
	t.Parallel()
	paths := 0
	for _, page := range []string{"docs/layout.md", "docs/decisions.md", "docs/run.md", "CONTRIBUTING.md"} {
		for _, m := range namedPath.FindAllStringSubmatch(read(t, page), -1) {
			paths++
			name := regexp.MustCompile(`<\w+>`).ReplaceAllString(m[1], "*")
			if found, err := filepath.Glob(filepath.FromSlash(name)); err != nil || len(found) == 0 {
				t.Errorf("%s names %s, which is not there", page, m[1])
			}
		}
	}
	names, functions := namesOf(t), 0
	for _, m := range namedCode.FindAllStringSubmatch(read(t, "docs/run.md"), -1) {
		functions++
		if !names[m[1]] {
			t.Errorf("docs/run.md names %s, which is not there", m[1])
		}
	}
	if paths < 20 || functions < 30 {
		t.Errorf("only %d paths and %d functions are named", paths, functions)
	}
	if names["run.Nothing"] || !names["run.Run.Update"] {
		t.Error("names that are there are not told from those that are not")
	}
}

// namesOf are the functions, methods and types of all packages, with the package before them.
func namesOf(t *testing.T) map[string]bool {
	t.Helper()
	names := map[string]bool{}
	must.Do(t, fs.WalkDir(os.DirFS("."), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || path.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go") {
			return err
		}
		text := read(t, name)
		of := packageName.FindStringSubmatch(text)[1]
		for _, m := range declaredName.FindAllStringSubmatch(text, -1) {
			names[strings.Join(strings.FieldsFunc(strings.Join([]string{of, m[1], m[2], m[3]}, "."), func(r rune) bool { return r == '.' }), ".")] = true
		}
		return nil
	}))
	return names
}
