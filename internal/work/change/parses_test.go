package change

import (
	"strings"
	"testing"

	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/test/repo"
)

// TestParses: what is well-formed, by the name of the file.
func TestParses(t *testing.T) {
	for _, tt := range []struct {
		file, text string
		want       bool
	}{
		{"a.go", "package a\n", true}, {"a.go", "package a\nfunc {\n", false},
		{"a.json", `{"a":1}`, true}, {"a.json", `{"a":1,}`, false},
		{"a.yaml", "a: 1\n---\nb: [2]\n", true}, {"a.yml", "a: [1\n", false},
		{"a.toml", "a = 1\n", true}, {"a.toml", "a = \n", false},
		{"a.py", "def f(x):\n  if x:\n    return (1,\n2)\n  return 0\n", true},
		{"a.py", "def f():\n    '''text:\n  of lines'''\n    x = {'a': [1, # :\n  2]}\n    y = 1 + \\\n        2\n\n\nclass A:\n    pass\n", true},
		{"a.py", "def f():\nreturn 1\n", false},
		{"a.py", "x = 1\n  y = 2\n", false},
		{"a.py", "def f():\n    if x:\n        y\n      z\n", false},
		{"a.py", "def f():\n", false},
		{"a.rs", "fn {", true},
	} {
		if err := Parses(tt.file, []byte(tt.text)); (err == nil) != tt.want {
			t.Errorf("%s %q: %v", tt.file, tt.text, err)
		}
	}
}

// TestIssuesOutsideTheChange: an issue in a file that the change does not touch is a
// warning of the result, where it is known what the change is; one beyond the end of its file
// is one, too.
func TestIssuesOutsideTheChange(t *testing.T) {
	dir := repo.New(t)
	repo.Write(t, dir, "other.go", "package p\n")
	repo.Commit(t, dir)
	payload := must.Get(codec.Parse([]byte(`{"change_id":"c","verdict":"NEEDS_FIX","summary":"s","issues":[
		{"title":"a","severity":"Low","category":"Bug","file":"main.go","description":"d"},
		{"title":"b","severity":"Low","category":"Bug","file":"other.go","line":2,"description":"d"},
		{"title":"c","severity":"Low","category":"Bug","file":"other.go","line":1,"description":"d"}]}`)))(t)
	warned := func() string {
		created := must.Get(CreateReview(t.Context(), always, dir, payload, false))(t)
		return strings.Join(created.Warnings, "; ")
	}
	if got := warned(); strings.Contains(got, "is not in the change") || !strings.Contains(got, "issues[1].line 2 is beyond the end of other.go, which has 1 line") || strings.Contains(got, "issues[2].line") {
		t.Errorf("without a change: %s", got)
	}
	repo.Write(t, dir, "main.go", "package changed\n")
	if got := warned(); strings.Contains(got, "main.go") || !strings.Contains(got, `issues[1].file "other.go" is not in the change`) {
		t.Errorf("warned of %s", got)
	}
}
