package git

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/test/repo"
	"github.com/tidegate/tidegate/internal/work/run"
)

// TestLookups: what a reviewer may look up, and what it may not.
func TestLookups(t *testing.T) {
	dir := repo.New(t)
	for name, text := range map[string]string{
		"queue/queue.go": "package queue\n\nfunc Push() {\n\tgrow()\n}\n",
		"main.go":        "package main\n\nfunc main() { queue.Push() }\n",
		"secret.txt":     "key = AKIAABCDEFGHIJKLMNOP\n", "gen/api.gen": "generated\n", "blob": "a\x00b",
		"returns.py": "# a comment\rrun()\r\n",
	} {
		repo.Write(t, dir, name, text)
	}
	must.Do(t, os.Symlink("/etc/passwd", filepath.Join(dir, "link")))
	repo.Commit(t, dir)
	repo.Write(t, dir, "queue/queue.go", "package queue\n\nfunc Push() {\n\tshrink()\n}\n")
	repo.Write(t, dir, "new.go", "package main // shrink\n")
	desk := run.Desk{Reach: artifact.Everywhere}
	d := must.Get(ReadDiff(t.Context(), desk, dir, DiffInput{Base: "HEAD",
		Settings: Settings{Ignore: []string{"*.gen"}, IgnoreBefore: []string{"*.gen"}}}))(t)
	defer d.Close()
	// What is on the disk afterwards is not asked.
	repo.Write(t, dir, "queue/queue.go", "package lies\n")
	repo.Write(t, dir, "main.go", "package lies\n")
	l := d.Lookup()
	call := func(tool string, arguments ...string) string {
		given := map[string]string{}
		for i := 0; i < len(arguments); i += 2 {
			given[arguments[i]] = arguments[i+1]
		}
		return must.Get(l.Answer(t.Context(), tool, given))(t)
	}
	for _, tt := range []struct {
		tool      string
		arguments []string
		want      string
	}{
		{"read_file", []string{"tree", "change", "path", "queue/queue.go"},
			"queue/queue.go, lines 1 to 5 of 5\n     1  | package queue\n     2  | \n     3  | func Push() {\n     4  | \tshrink()\n     5  | }\n"},
		{"read_file", []string{"tree", "base", "path", "./queue//queue.go", "from", "4", "to", "4"},
			"queue/queue.go, lines 4 to 4 of 5\n     4  | \tgrow()\n"},
		{"read_file", []string{"tree", "change", "path", "main.go", "from", "3"},
			"main.go, lines 3 to 3 of 3\n     3  | func main() { queue.Push() }\n"},
		{"read_file", []string{"tree", "change", "path", "../../etc/passwd"},
			"error: etc/passwd cannot be read: there is no such file"},
		{"read_file", []string{"tree", "change", "path", "link"}, "error: link cannot be read: it is a link"},
		{"read_file", []string{"tree", "change", "path", "secret.txt"},
			"error: secret.txt cannot be read: there are credentials in it"},
		{"read_file", []string{"tree", "change", "path", "gen/api.gen"},
			"error: gen/api.gen cannot be read: [review] ignore of tidegate.toml names it (*.gen)"},
		{"read_file", []string{"tree", "change", "path", "blob"}, "error: blob cannot be read: it is no text"},
		{"read_file", []string{"tree", "change", "path", "main.go", "from", "x"},
			"error: from and to must be numbers of lines, from 1"},
		{"read_file", []string{"tree", "HEAD", "path", "main.go"}, "error: tree must be change or base"},
		{"list_files", []string{"tree", "base", "path", "queue"}, "queue/queue.go\n"},
		{"list_files", []string{"tree", "base", "path", "no"}, `error: there is no folder "no"`},
		{"find_text", []string{"tree", "change", "text", "shrink"},
			"new.go:1: package main // shrink\nqueue/queue.go:4: \tshrink()\n"},
		{"find_text", []string{"tree", "base", "text", "shrink"}, "nothing\n"},
		{"find_text", []string{"tree", "change", "text", "Push", "path", "main.go"},
			"main.go:3: func main() { queue.Push() }\n"},
		{"find_text", []string{"tree", "change", "text", "run()"}, "returns.py:1: # a commentU+000Drun()\n"},
		{"find_text", []string{"tree", "change", "text", "AKIA"}, "secret.txt: not shown: there are credentials in it\n"},
		{"find_text", []string{"tree", "change", "text", "generated"}, "nothing\n"},
		{"find_text", []string{"tree", "change", "text", ""}, "error: text must be a part of a line"},
	} {
		if got := call(tt.tool, tt.arguments...); got != tt.want {
			t.Errorf("%s %v:\n%s\nwant\n%s", tt.tool, tt.arguments, got, tt.want)
		}
	}
	for range MostLookups {
		call("list_files", "tree", "base")
	}
	if got := call("list_files", "tree", "base"); !strings.Contains(got, "are used up") {
		t.Errorf("after %d calls: %s", MostLookups, got)
	}
}

// TestManyFilesAreCounted: a folder with very many files shows those in it and how many
// the folders below hold.
func TestManyFilesAreCounted(t *testing.T) {
	v := version{files: map[string]object{"top.go": {}}}
	for n := range mostListed {
		v.files[fmt.Sprintf("lib/%03d.go", n)] = object{}
	}
	if got := list(v, ""); got != fmt.Sprintf("lib/ (%d files)\ntop.go\n", mostListed) {
		t.Error(got)
	}
}
