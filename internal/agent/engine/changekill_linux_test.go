package engine_test

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/agent/driver"
	"github.com/tidegate/tidegate/internal/agent/engine"
	"github.com/tidegate/tidegate/internal/test/full"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/test/scratch"
	"github.com/tidegate/tidegate/internal/work/change"
	"github.com/tidegate/tidegate/internal/work/run"
)

// changeOf makes this test binary drive a change; see TestKilledChangeDeletesNothing.
const changeOf = "TIDEGATE_TEST_CHANGE"

// driveApproved drives the change "mend" of a project below a folder with its home, with
// an implementer that changes one file and a reviewer that approves of whatever it sees.
func driveApproved(ctx context.Context, dir string) (engine.ChangeOutcome, error) {
	agents := &crew{agent: func(_ context.Context, task driver.Task) (driver.Answer, error) {
		if task.Role != "implementer" {
			return driver.Answer{Text: `{"change_id":"mend","verdict":"APPROVED","summary":"Good.","issues":[],"closed":[]}`}, nil
		}
		return driver.Answer{Text: "Done."}, os.WriteFile(filepath.Join(task.Folder, "00/00.txt"), []byte("mended\n"), 0o644)
	}}
	return engine.DriveChange(ctx, engine.ChangeInput{Project: filepath.Join(dir, "project"), Home: filepath.Join(dir, "home"), ID: "mend", Budget: run.DefaultBudget(nil)},
		engine.Options{Desk: reviewClock, Pool: agents, Wait: noWait})
}

// largeProject is a folder with a project of 3,000 files and a change that is started.
func largeProject(t *testing.T) fs.FS {
	dir := t.TempDir()
	files := map[string]string{"project/agentd/changes/old/notes.md": "# Old\n", "project/agentd/changes/mend/proposal.md": "# Mend\n\n`00/00.txt` says mended.\n"}
	for n := range 3000 {
		files[fmt.Sprintf("project/%02d/%02d.txt", n/60, n%60)] = fmt.Sprintln("file", n)
	}
	writeFiles(t, dir, files)
	project := filepath.Join(dir, "project")
	gitIn(t, project, "init", "-q", "-b", "main")
	gitIn(t, project, "add", ".", ":!agentd/changes/mend")
	gitIn(t, project, "commit", "-q", "-m", "three thousand files")
	must.Get(change.Start(tidegate.WithActor(t.Context(), tidegate.Actor{Kind: tidegate.Person}), reviewClock, project, "mend", nil))(t)
	kept := must.Get(scratch.Files(dir))(t)
	return kept
}

// killingGit stands before git: it counts the calls, and kills its caller at one of them,
// before git works, after it, or in the midst of it.
const killingGit = `#!/bin/sh
here=%[1]s
echo "$*" >>$here/calls
at=$(cat $here/at)
if [ $at = 0 ] || [ $(wc -l <$here/calls) -lt $at ] || ! mkdir $here/killed 2>/dev/null; then exec %[2]s "$@"; fi
case $(cat $here/when) in
before) kill -9 $PPID ;;
after) %[2]s "$@"; kill -9 $PPID ;;
amid) %[2]s "$@" <&0 & sleep 0.0%[3]d; kill -9 $PPID $! ;;
abandoned) %[2]s "$@" <&0 & sleep 0.0%[3]d; kill -9 $PPID ;;
esac
`

// TestKilledChangeDeletesNothing kills the process that drives a change at each of its
// calls of git: before, after and in the midst of them, with and without the git that
// works. The next call completes the change with the one file that was asked for, at the
// first try of the implementer, and merging it changes that file and deletes none.
func TestKilledChangeDeletesNothing(t *testing.T) {
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("no git here")
	}
	files := largeProject(t)
	calls := killedChange(t, git, files, 0, "never", 0)
	if calls < 20 {
		t.Fatalf("git was called %d times", calls)
	}
	points := 0
	for at := 1; at <= calls; at++ {
		for _, when := range []string{"before", "after", "amid", "abandoned"} {
			// The short form has another moment at each of six points.
			if points++; points%full.Stride(4*calls, 6) != 0 {
				continue
			}
			t.Run(fmt.Sprintf("%s call %d of %d", when, at, calls), func(t *testing.T) {
				t.Parallel()
				killedChange(t, git, files, at, when, 1+at%7)
			})
		}
	}
}

// killedChange kills at one call, drives the change to its end, merges it, and looks at
// what became of the project. It returns how many calls of git driving took.
func killedChange(t *testing.T, git string, files fs.FS, at int, when string, hundredths int) (calls int) {
	t.Helper()
	dir, stand := t.TempDir(), t.TempDir()
	must.Do(t, os.CopyFS(dir, files))
	writeFiles(t, stand, map[string]string{"git": fmt.Sprintf(killingGit, stand, git, hundredths), "at": strconv.Itoa(at), "when": when})
	must.Do(t, os.Chmod(filepath.Join(stand, "git"), 0o755))
	home := exec.Command(os.Args[0])
	home.Env = append(os.Environ(), changeOf+"="+dir, "PATH="+stand+":"+os.Getenv("PATH"))
	said, err := home.CombinedOutput()
	if (err != nil) != (at > 0) {
		t.Fatalf("%v: %s", err, said)
	}
	out, err := driveApproved(t.Context(), dir)
	if err != nil || out.Phase != change.Complete || out.Rounds != 1 {
		t.Fatalf("the next call ends in phase %s after %d reviews: %s, %v", out.Phase, out.Rounds, out.Reason, err)
	}
	project := filepath.Join(dir, "project")
	if log, err := os.ReadFile(filepath.Join(project, "agentd/changes/mend/log.jsonl")); err != nil || strings.Contains(string(log), `"outcome":"refused"`) {
		t.Errorf("an answer was refused: %s, %v", log, err)
	}
	person := tidegate.WithActor(t.Context(), tidegate.Actor{Kind: tidegate.Person, By: tidegate.ByTerminal})
	merged, err := change.Merge(person, reviewClock, project, "mend", "", "", false)
	if err != nil || merged.Added != 0 || merged.Changed != 1 || merged.Deleted != 0 {
		t.Errorf("merged %+v: %v", merged, err)
	}
	if changed := gitIn(t, project, "status", "--porcelain", "--untracked-files=no") + gitIn(t, project, "diff", "--name-status", "HEAD^1", "HEAD"); changed != "M\t00/00.txt" {
		t.Errorf("the project differs in %s", changed)
	}
	log, _ := os.ReadFile(filepath.Join(stand, "calls"))
	return strings.Count(string(log), "\n")
}
