package proof_test

import (
	"bytes"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/tidegate/tidegate/internal/test/corpus"
	"github.com/tidegate/tidegate/internal/test/full"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/test/scratch"
	"github.com/tidegate/tidegate/tool"
)

// surroundings are conditions that must not change a byte of any result.
var surroundings = []struct {
	name  string
	env   []string
	shell string // run before the program
	dir   string // working folder
	files func(t *testing.T, work string) (changed bool)
}{
	{name: "one core", env: []string{"GOMAXPROCS=1"}},
	{name: "many cores", env: []string{"GOMAXPROCS=16"}},
	{name: "another locale", env: []string{"LC_ALL=tr_TR.UTF-8", "LANG=et_EE.UTF-8"}},
	{name: "another time zone", env: []string{"TZ=Pacific/Kiritimati"}},
	{name: "another umask", shell: "umask 077"},
	{name: "another working folder", dir: os.TempDir()},
	{name: "another order of files", files: reorder},
	{name: "colours and a width", env: []string{"CLICOLOR_FORCE=1", "COLUMNS=40", "TERM=xterm-256color"}},
}

// TestResultsDependOnNothingButTheirInputs runs the corpus of calls in each of the
// surroundings and compares every result with the committed bytes. The short form
// runs a part of the corpus, a different one in each, and has one in four calls in
// these surroundings; those between them prepare it.
func TestResultsDependOnNothingButTheirInputs(t *testing.T) {
	scripts := must.Get(corpus.Load("../catalog/testdata/calls"))(t)
	var calls atomic.Int64
	t.Cleanup(func() { t.Logf("%d calls in %d surroundings", calls.Load(), len(surroundings)) })
	stride := full.Stride(len(scripts), 1)
	for i, around := range surroundings {
		t.Run(around.name, func(t *testing.T) {
			t.Parallel()
			changed := around.files == nil
			for j := i % stride; j < len(scripts); j += stride {
				script := scripts[j]
				work := scratch.Short(t)
				here, made := toolsByName(envOf(work)), i
				outcomes := must.Get(script.Run(work, func(name string, args []byte) []byte {
					if around.files != nil && around.files(t, work) {
						changed = true
					}
					if made++; made%full.Stride(4, 1) > 0 && here[name] != nil {
						return here[name].Call(t.Context(), args, tool.Caller{}).Envelope
					}
					return call(t, work, around.env, around.shell, around.dir, name, args)
				}))(t)
				for i, o := range outcomes {
					calls.Add(1)
					got := unnamed(o.Got)
					if around.dir != "" {
						got = strings.ReplaceAll(got, around.dir, "$WORK") // a refusal names the folders that it allows
					}
					if diff := cmp.Diff(unnamed(o.Want), got); diff != "" {
						t.Errorf("%s: call %d, %s (-want +got):\n%s", script.Name, i+1, o.Tool, diff)
					}
				}
			}
			if !changed {
				t.Skip("this file system lists files in an order of its own; give a TMPDIR of tmpfs")
			}
		})
	}
}

// unnamed is a result without the name and version of the program, which the committed
// results do not have.
func unnamed(result string) string { return programLine.ReplaceAllString(result, "") }

var programLine = regexp.MustCompile(`(?m)^ *"program": "[^"]*",\n`)

// reorder makes every folder list its files in another order, where the file
// system lists them in the order they were added, and reports whether it did.
func reorder(t *testing.T, work string) (changed bool) {
	t.Helper()
	list := func(dir string) []string {
		folder := must.Get(os.Open(dir))(t)
		defer folder.Close()
		names := must.Get(folder.Readdirnames(-1))(t)
		return names
	}
	move := func(from, to string) {
		must.Do(t, os.Rename(from, to))
	}
	order := rand.New(rand.NewPCG(1, 2))
	must.Do(t, filepath.WalkDir(work, func(dir string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.IsDir() {
			return err
		}
		before := list(dir)
		names := slices.Clone(before)
		for _, name := range names {
			move(filepath.Join(dir, name), filepath.Join(dir, name+"~"))
		}
		order.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
		for _, name := range names {
			move(filepath.Join(dir, name+"~"), filepath.Join(dir, name))
		}
		changed = changed || !slices.Equal(before, list(dir))
		return nil
	}))
	return changed
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

// commandLine is the call of a tool with its arguments on stdin, or the command line
// that is given in place of a tool.
func commandLine(work, tool string) []string {
	if words := strings.Fields(tool); len(words) > 1 {
		for i, word := range words {
			words[i] = strings.ReplaceAll(word, "$WORK", work)
		}
		return words
	}
	return []string{"call", tool, "--project", work}
}
