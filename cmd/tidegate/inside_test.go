package main

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/tidegate/tidegate/catalog"
	"github.com/tidegate/tidegate/internal/cli"
	"github.com/tidegate/tidegate/internal/full"
	"github.com/tidegate/tidegate/internal/host"
)

// filesOnly are the command lines of scripts that need nothing of a process but its
// working folder and its variables: no agent, no git, no terminal.
var filesOnly = regexp.MustCompile(`^((?:\[[^\]]*\] )?)(?:exec|exits (\d+)) tidegate ((?:wave|perspectives|pivot|summary|citations|gate|report|ground|run|schema|explain|job|telemetry|verify|call deep_research_\w+|tools) .*)$`)

// scripts is the folder of the scripts. Starting a process takes longer than most
// commands do, so those that need files only run inside the test, and with -full in
// processes of their own.
func scripts(t *testing.T) string {
	const folder = "testdata/script"
	if full.Asked() || *update {
		return folder
	}
	files, err := filepath.Glob(folder + "/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	rewritten := t.TempDir()
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(rewritten, filepath.Base(file)), []byte(runInside(string(data))), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return rewritten
}

var notInside = regexp.MustCompile(` run (?:continue|watch|log .*--follow|report)|&$| -$|/dev/|--log-level`)

// runInside lets the commands of a script that need files only run inside the test.
func runInside(script string) string {
	script, archive, found := strings.Cut(script, "\n-- ")
	lines := strings.Split(script, "\n")
	for i, line := range lines {
		given := i > 0 && (strings.HasPrefix(lines[i-1], "stdin ") || strings.HasPrefix(lines[i-1], "ttyin "))
		if m := filesOnly.FindStringSubmatch(line); m != nil && !given && !notInside.MatchString(line) {
			status := "0"
			if m[2] != "" {
				status = m[2]
			}
			lines[i] = m[1] + "inside " + status + " " + m[3]
		}
	}
	script = strings.Join(lines, "\n")
	if found {
		script += "\n-- " + archive
	}
	return script
}

// runsInside runs a command line of tidegate inside the test and demands an exact exit
// status: inside 3 run status harbour
func runsInside(ts *testscript.TestScript, neg bool, args []string) {
	dir := ts.MkAbs(".")
	env := &catalog.Env{
		Now: time.Now, Dir: dir, Project: dir, Program: "tidegate " + host.Version(),
		SignKey: ts.Getenv("TIDEGATE_SIGN_KEY"), AgentSocket: ts.Getenv("SSH_AUTH_SOCK"),
		ConfigDir: filepath.Join(ts.Getenv("XDG_CONFIG_HOME"), "tidegate"), Getenv: ts.Getenv,
	}
	if pinned := ts.Getenv("TIDEGATE_NOW"); pinned != "" {
		at, err := time.Parse(time.RFC3339, pinned)
		ts.Check(err)
		env.Now, env.Pinned = func() time.Time { return at }, true
	}
	program := assemble(env)
	program.Stdin, program.Stdout, program.Stderr = strings.NewReader(""), ts.Stdout(), ts.Stderr()
	program.Terminal = cli.Terminal{}
	if got := execute(context.Background(), env, program, args[1:]); strconv.Itoa(got) != args[0] {
		ts.Fatalf("exit status %d, want %s", got, args[0])
	}
}
