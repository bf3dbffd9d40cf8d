package proof_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/tidegate/tidegate/internal/corpus"
)

// surroundings are what must not change a byte of any result.
var surroundings = []struct {
	name  string
	env   []string
	shell string // run before the program
	dir   string // working folder
}{
	{name: "one core", env: []string{"GOMAXPROCS=1"}},
	{name: "many cores", env: []string{"GOMAXPROCS=16"}},
	{name: "another locale", env: []string{"LC_ALL=tr_TR.UTF-8", "LANG=et_EE.UTF-8"}},
	{name: "another time zone", env: []string{"TZ=Pacific/Kiritimati"}},
	{name: "another umask", shell: "umask 077"},
	{name: "another working folder", dir: os.TempDir()},
	{name: "colours and a width", env: []string{"CLICOLOR_FORCE=1", "COLUMNS=40", "TERM=xterm-256color"}},
}

// TestResultsDependOnNothingButTheirInputs runs the corpus of calls in every
// surrounding and holds each result to the committed bytes.
func TestResultsDependOnNothingButTheirInputs(t *testing.T) {
	scripts, err := corpus.Load("../catalog/testdata/calls")
	if err != nil {
		t.Fatal(err)
	}
	calls := 0
	for _, around := range surroundings {
		t.Run(around.name, func(t *testing.T) {
			for _, script := range scripts {
				work := shortFolder(t)
				outcomes, err := script.Run(work, func(tool string, args []byte) []byte {
					return call(t, work, around.env, around.shell, around.dir, tool, args)
				})
				if err != nil {
					t.Fatal(err)
				}
				for i, o := range outcomes {
					calls++
					if diff := cmp.Diff(o.Want, o.Got); diff != "" {
						t.Errorf("%s: call %d, %s (-want +got):\n%s", script.Name, i+1, o.Tool, diff)
					}
				}
			}
		})
	}
	t.Logf("%d calls in %d surroundings", calls, len(surroundings))
}

// call makes one call with the program, in its own process.
func call(t *testing.T, work string, env []string, shell, dir, tool string, args []byte) []byte {
	t.Helper()
	line := append([]string{binary}, commandLine(work, tool)...)
	if shell != "" {
		line = append([]string{"sh", "-c", shell + ` && exec "$@"`, "sh"}, line...)
	}
	command := exec.Command(line[0], line[1:]...)
	// The runs of the corpus live in $WORK/runs.
	command.Env = append(os.Environ(), "TIDEGATE_HOME="+work, "TIDEGATE_NOW="+corpus.Now.Format(time.RFC3339), "HOME="+filepath.Dir(work))
	command.Env = append(command.Env, env...)
	command.Dir = work
	if dir != "" {
		command.Dir = dir
	}
	command.Stdin = bytes.NewReader(args)
	var errs strings.Builder
	command.Stderr = &errs
	out, err := command.Output()
	if err != nil && len(out) == 0 {
		t.Fatalf("%s: %v\n%s", tool, err, errs.String())
	}
	return bytes.TrimSuffix(out, []byte("\n"))
}

// commandLine calls a tool with its arguments on stdin, or is the command line
// that stands in its place.
func commandLine(work, tool string) []string {
	if words := strings.Fields(tool); len(words) > 1 {
		for i, word := range words {
			words[i] = strings.ReplaceAll(word, "$WORK", work)
		}
		return words
	}
	return []string{"call", tool, "--project", work}
}
