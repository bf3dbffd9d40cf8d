package client_test

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/tidegate/tidegate/internal/agent/client"
	"github.com/tidegate/tidegate/internal/agent/driver"
	"github.com/tidegate/tidegate/internal/test/must"
)

func TestExecHandsOverThePrompt(t *testing.T) {
	t.Parallel()
	stage := newStage(t, "program", scene{name: "echo"})
	asked := task()
	asked.Prompt = strings.Repeat("a long prompt – ünïcode ✓\n", 10_000)
	asked.Limits.Answer = 1 << 20
	answer, err := stage.run(t.Context(), asked)
	if err != nil || answer.Text != asked.Prompt {
		t.Errorf("got %d bytes and %v, want the %d of the prompt", len(answer.Text), err, len(asked.Prompt))
	}
}

func TestExecNamesTheJobAndNoSecrets(t *testing.T) {
	t.Parallel()
	stage := newStage(t, "program", scene{name: "environment"})
	answer := must.Get(stage.run(t.Context(), task()))(t)
	got := strings.Split(answer.Text, "\n")
	for _, want := range []string{"TIDEGATE_JOB=wave1.grid", "TIDEGATE_KIND=wave1", "TIDEGATE_ATTEMPT=3"} {
		if !slices.Contains(got, want) {
			t.Errorf("%s is missing in %q", want, got)
		}
	}
	for _, variable := range got {
		if name, _, _ := strings.Cut(variable, "="); name == "SSH_AUTH_SOCK" {
			t.Errorf("the agent got %s", variable)
		}
	}
}

func TestExecSplitsItsCommand(t *testing.T) {
	t.Parallel()
	for command, want := range map[string]string{
		`printf %s|`:                    "|",
		`printf %s| a b`:                "a|b|",
		`printf %s| "a b" 'c "d"' e\ f`: `a b|c "d"|e f|`,
		`printf %s| $HOME *`:            "$HOME|*|",
		`printf %s| "" x`:               "|x|",
	} {
		d := must.Get(client.New(driver.Settings{Driver: "exec:" + command}, driver.Host{Temp: t.TempDir()}))(t)
		if answer, err := d.Run(t.Context(), driver.Task{}, func(driver.Event) {}); err != nil || answer.Text != want {
			t.Errorf("%s: got %q and %v, want %q", command, answer.Text, err, want)
		}
	}
}

func TestExecNeedsAProgram(t *testing.T) {
	t.Parallel()
	for _, command := range []string{"no-such-program", "./no-such-program", "/", os.DevNull} {
		d := must.Get(client.New(driver.Settings{Driver: "exec:" + command}, driver.Host{Temp: t.TempDir()}))(t)
		var failure *driver.Error
		if _, err := d.Run(t.Context(), driver.Task{}, func(driver.Event) {}); !errors.As(err, &failure) || failure.Kind != driver.Unavailable {
			t.Errorf("%s: got %v, want unavailable", command, err)
		}
	}
}

func TestExecWorksInAFolder(t *testing.T) {
	t.Parallel()
	temp, elsewhere := t.TempDir(), t.TempDir()
	d := must.Get(client.New(driver.Settings{Driver: `exec:sh -c 'find . -type f; find . -type f | wc -l; touch made'`}, driver.Host{Temp: temp}))(t)
	run := func(task driver.Task) (driver.Answer, error) {
		return d.Run(t.Context(), task, func(driver.Event) {})
	}
	answer, err := run(driver.Task{})
	if err != nil || answer.Text != "0\n" {
		t.Errorf("got %q and %v", answer.Text, err)
	}
	if left, _ := os.ReadDir(temp); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	must.Do(t, os.WriteFile(elsewhere+"/notes", []byte("mine\n"), 0o600))
	answer, err = run(driver.Task{Folder: elsewhere})
	if want := "./notes\n1\n"; err != nil || answer.Text != want {
		t.Errorf("got %q and %v, want %q", answer.Text, err, want)
	}
	if _, err := os.Stat(elsewhere + "/made"); err != nil {
		t.Errorf("the person's folder is not as the agent left it: %v", err)
	}
}
