package main

import (
	"cmp"
	"context"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/tidegate/tidegate/catalog"
	"github.com/tidegate/tidegate/internal/base/archive"
	"github.com/tidegate/tidegate/internal/face/cli"
	"github.com/tidegate/tidegate/internal/test/full"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/work/sourcing"
)

// typed is a command line of tidegate in a script, with its condition and the exit
// status that it must have.
var typed = regexp.MustCompile(`^((?:\[[^\]]*\] )?)(?:exec|exits (\d+)) tidegate (.+)$`)

// Command lines that need a process: they start agents or serve or look at the
// machine, unless their arguments are refused; or they are about the process itself.
// Those that look for other programs or for files at home need one where the script
// has set PATH or HOME. A script with the PATH $BIN has only this program, so its
// agents are models, which need none.
var (
	startsMore   = regexp.MustCompile(`^(?:research|agents|mcp|serve|demo|canary|doctor|run (?:continue|watch|report|log .*--follow)|(?:review|change) run)\b`)
	aboutProcess = regexp.MustCompile(`^version$|--log-level|/dev/| -$|&$`)
	asksModels   = regexp.MustCompile(`^(?:research|agents|setup|run continue)\b`)
	looksAround  = regexp.MustCompile(`^(?:research|agents|mcp|config|review|change|call (?:change|create|format|review)_)`)
)

// scripts is the folder of the scripts. Starting a process takes longer than most
// commands do, so those that need none run inside the test, and with -full in
// processes of their own.
func scripts(t *testing.T) string {
	const folder = "testdata/script"
	if full.Asked() || *update {
		return folder
	}
	files := must.Get(filepath.Glob(folder + "/*.txtar"))(t)
	rewritten := t.TempDir()
	for _, file := range files {
		data := must.Get(os.ReadFile(file))(t)
		must.Do(t, os.WriteFile(filepath.Join(rewritten, filepath.Base(file)), []byte(runInside(string(data))), 0o600))
	}
	return rewritten
}

// runInside lets the commands of a script that need no process run inside the test,
// and takes the research of the demo's question from the one that is done already.
func runInside(script string) string {
	script, archive, found := strings.Cut(script, "\n-- ")
	alone := strings.Contains(script, "\nenv PATH=$BIN\n")
	lines := strings.Split(script, "\n")
	for i, line := range lines {
		m := typed.FindStringSubmatch(line)
		if m == nil || i > 0 && (strings.HasPrefix(lines[i-1], "stdin ") || strings.HasPrefix(lines[i-1], "ttyin ")) {
			continue
		}
		status := cmp.Or(m[2], "0")
		if m[3] == "research '"+question+"' --agent recorded:demo --parallel 1 --yes" {
			lines[i] = m[1] + "researched"
		} else if !aboutProcess.MatchString(m[3]) && (status == "2" || !startsMore.MatchString(m[3]) || alone && asksModels.MatchString(m[3])) {
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
	if looksAround.MatchString(strings.Join(args[1:], " ")) && ts.Getenv("PATH") != ts.Getenv("BIN") && (ts.Getenv("PATH") != os.Getenv("PATH") || ts.Getenv("HOME") != noHome) {
		exits(ts, neg, append([]string{args[0], "tidegate"}, args[1:]...))
		return
	}
	got := surroundings{dir: ts.MkAbs("."), getenv: ts.Getenv, stdout: ts.Stdout(), stderr: ts.Stderr()}.run(context.Background(), args[1:]...)
	if strconv.Itoa(got) != args[0] {
		ts.Fatalf("exit status %d, want %s", got, args[0])
	}
}

// noHome is the home folder that scripts begin with.
const noHome = "/no-home"

// surroundings are what a command line of tidegate sees of its process, where it has none.
type surroundings struct {
	dir            string
	getenv         func(string) string
	stdout, stderr io.Writer
	fetch          sourcing.Fetch // nil for the web
	call           archive.Call   // how search services are asked; nil for the web
	typed          string         // by a person at a terminal; "" where nobody is there
}

// environ is what agents get of the environment, as far as models go.
func (s surroundings) environ() []string {
	environ := []string{"PATH=" + s.getenv("PATH"), "HOME=" + s.getenv("HOME")}
	for _, name := range modelVariables {
		if value := s.getenv(name); value != "" {
			environ = append(environ, name+"="+value)
		}
	}
	return environ
}

var modelVariables = []string{
	"ANTHROPIC_API_KEY", "OPENAI_API_KEY", "OPENROUTER_API_KEY", "GEMINI_API_KEY", "TIDEGATE_MODEL_KEY", "MY_KEY", "BRAVE_API_KEY",
	"ANTHROPIC_BASE_URL", "OPENAI_BASE_URL", "OPENROUTER_BASE_URL", "GEMINI_BASE_URL", "OLLAMA_HOST", "LMSTUDIO_BASE_URL",
}

// run runs a command line and returns its exit status.
func (s surroundings) run(ctx context.Context, args ...string) int {
	env := &catalog.Env{
		Now: time.Now, Dir: s.dir, Project: s.dir, Program: "tidegate " + cli.Version(),
		SignKey: s.getenv("TIDEGATE_SIGN_KEY"), AgentSocket: s.getenv("SSH_AUTH_SOCK"),
		ConfigDir: filepath.Join(s.getenv("XDG_CONFIG_HOME"), "tidegate"), Getenv: s.getenv, Environ: s.environ(), Fetch: s.fetch, Call: s.call,
	}
	if pinned := s.getenv("TIDEGATE_NOW"); pinned != "" {
		at, err := time.Parse(time.RFC3339, pinned)
		if err != nil {
			panic(err)
		}
		env.Now, env.Pinned = func() time.Time { return at }, true
	}
	program := assemble(env)
	program.Stdin, program.Stdout, program.Stderr = strings.NewReader(""), s.stdout, s.stderr
	program.Terminal = cli.Terminal{}
	if s.typed != "" {
		program.Stdin, program.Terminal.Input = strings.NewReader(s.typed), true
	}
	return execute(ctx, env, program, args)
}

// typedIn runs a command line inside the test, in a folder and with some variables.
// It returns what the command prints, and its exit status.
func typedIn(ctx context.Context, dir string, variables map[string]string, words ...string) (string, int) {
	var out strings.Builder
	status := surroundings{dir: dir, getenv: func(name string) string { return variables[name] }, stdout: &out, stderr: &out}.run(ctx, words...)
	return out.String(), status
}
