package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidegate/tidegate/internal/test/full"
	"github.com/tidegate/tidegate/internal/test/must"
)

// TestReviewAndChangeOnATerminal shows the jobs of a review and of a change on the
// screen, and has a person let the tests of the change run, after a no.
func TestReviewAndChangeOnATerminal(t *testing.T) {
	full.Story(t)
	t.Parallel()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("there is no git")
	}
	home, project := t.TempDir(), t.TempDir()
	git := func(args ...string) {
		t.Helper()
		command := exec.Command("git", append([]string{"-c", "user.name=n", "-c", "user.email=e@example.org"}, args...)...)
		command.Dir = project
		if out, err := command.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	put := func(name, text string) {
		t.Helper()
		path := filepath.Join(project, name)
		must.Write(t, path, text)
	}
	put("main.sh", "echo wrong\n")
	git("init", "-q", "-b", "main")
	git("add", ".")
	git("commit", "-q", "-m", "first")
	put("main.sh", "echo wrongly\n")
	// The agent waits until the test has seen the screen.
	agent := agentThat(t, home, `cat >/dev/null
while [ ! -e `+home+`/go ]; do sleep 0.02; done
case $TIDEGATE_KIND in
implement) echo echo right > main.sh; echo Done. ;;
*) echo '{"change_id":"mend","verdict":"APPROVED","summary":"Good.","issues":[]}' ;;
esac
`)
	review := newConsole(t, home, 80, 24, "review", "run", "--project", project, "--name", "mend", "--reviewer", agent, "--base", "HEAD")
	review.await(entersScreen)
	review.await("review")
	review.await("code_review.1")
	review.await("working")
	must.Do(t, os.WriteFile(filepath.Join(home, "go"), nil, 0o600))
	if shown := review.exits(0); !strings.Contains(shown, leavesScreen) || !strings.Contains(shown[strings.LastIndex(shown, leavesScreen):], "APPROVED") {
		t.Errorf("the review is not shown after the screen:\n%q", shown)
	}

	put("agentd/changes/mend/proposal.md", "It says right.\n")
	change := []string{"change", "run", "mend", "--project", project, "--implementer", agent, "--reviewer", agent, "--test", "sh main.sh | grep right"}
	no := newConsole(t, home, 80, 24, change...)
	no.await("code that an agent wrote")
	no.press("n\r")
	no.exits(4)
	if _, err := os.Stat(filepath.Join(project, "agentd/changes/mend/STATE.yaml")); err == nil {
		t.Error("after a no the change is begun")
	}
	yes := newConsole(t, home, 80, 24, change...)
	yes.await("[y/N]")
	yes.press("y\r")
	yes.await(entersScreen)
	yes.await("implement")
	if shown := yes.exits(0); !strings.Contains(shown[strings.LastIndex(shown, leavesScreen):], "tidegate change merge mend") {
		t.Errorf("the branch is not named after the screen:\n%q", shown)
	}

	// A command of the project's own file is asked about with --yes too: an agent may
	// have written it, though the person trusts it.
	put("../tidegate.toml", "[review]\ntest = \"sh main.sh\"\n") // above every working folder of this test
	put("agentd/changes/other/proposal.md", "It says more.\n")
	trust := newConsole(t, home, 200, 24, "config", "trust")
	trust.await("Type yes:")
	trust.press("yes\n")
	trust.await("is trusted")
	trust.exits(0)
	other := []string{"change", "run", "other", "--project", project, "--implementer", agent, "--reviewer", agent, "--yes"}
	asked := newConsole(t, home, 80, 24, other...)
	asked.await("[y/N]")
	asked.press("n\r")
	asked.exits(4)
	command := exec.Command("tidegate", other...)
	command.Env = append(os.Environ(), "TIDEGATE_HOME="+home, "XDG_CONFIG_HOME="+home)
	if out, err := command.CombinedOutput(); err == nil || !strings.Contains(string(out), "--yes does not count") {
		t.Errorf("where nobody can be asked: %v\n%s", err, out)
	}
}
