package main

import (
	"bytes"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/catalog"
	"github.com/tidegate/tidegate/internal/face/cli"
	"github.com/tidegate/tidegate/internal/test/must"
)

// TestEveryExampleInTheHelpIsAccepted gives the examples of all tools to the
// program, in a folder without the files that they name: files may be missing, but
// the command lines are right.
func TestEveryExampleInTheHelpIsAccepted(t *testing.T) {
	wrongArguments := cli.Status(tidegate.Invalid)
	tried := 0
	for _, declared := range catalog.Tools(&catalog.Env{}) {
		if declared.Command == nil {
			continue
		}
		for line := range strings.Lines(declared.Command.Example) {
			tried++
			line = strings.TrimSpace(line)
			if !strings.HasPrefix(line, "tidegate "+declared.Command.Path) {
				t.Errorf("%s: the example is one of another command: %s", declared.Command.Path, line)
			}
			dir := t.TempDir()
			env := &catalog.Env{Now: time.Now, Dir: dir, Project: dir, Home: dir}
			var errs bytes.Buffer
			program := cli.Program{Tools: catalog.Tools(env), Stdin: strings.NewReader(""), Stdout: new(bytes.Buffer), Stderr: &errs, Dir: dir}
			if status := program.Run(t.Context(), commandWords(line)); status == wrongArguments {
				t.Errorf("%s\n%s", line, errs.String())
			}
		}
	}
	if tried < 30 {
		t.Errorf("only %d examples were found", tried)
	}
}

// commandWords are the words of a command line after the program's name, without the file
// that it prints to.
func commandWords(line string) []string {
	var args []string
	line, _, _ = strings.Cut(line, " > ")
	for _, w := range shellWord.FindAllString(line, -1)[1:] {
		args = append(args, strings.Trim(w, `"'`))
	}
	return args
}

// vague are words that readers of the help stumbled over.
var vague = regexp.MustCompile(`(?i)\b(go(es|ing)?\s+on|went\s+on|(was|were)\s+made|blanks)\b`)

func TestHelpOfEveryCommandIsForPeople(t *testing.T) {
	t.Parallel()
	env := &catalog.Env{}
	tools := catalog.Tools(env)
	program := &cli.Program{Tools: tools, Commands: commands(env, tools), Settings: settings(env), Groups: groups}
	var check func(cmd *cobra.Command)
	check = func(cmd *cobra.Command) {
		path := cmd.CommandPath()
		var out strings.Builder
		program.Stdout = &out
		words := append(strings.Fields(path)[1:], "--help")
		cmd.Root().SetArgs(words)
		if err := cmd.Root().Execute(); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		help := out.String()
		out.Reset()
		if status := program.Run(t.Context(), words); status != 0 || out.String() != help { // it makes only the commands that can be meant
			t.Errorf("%s --help: exit status %d and another help than that of the whole program:\n%s", path, status, difference(help, out.String()))
		}
		if strings.Contains(help, "Use this") || strings.HasPrefix(help, "\n") || strings.HasPrefix(help, ".") || strings.Contains(help, "130  interrupted") {
			t.Errorf("the help of %s speaks to models, says nothing, or shows the exit statuses:\n%s", path, help)
		}
		if word := vague.FindString(help); word != "" {
			t.Errorf("the help of %s says %q: resume, create and whitespace need no second reading", path, word)
		}
		for line := range strings.Lines(help) {
			if len(strings.TrimSuffix(line, "\n")) > 80 {
				t.Errorf("%s: wider than 80 columns: %s", path, line)
			}
		}
		for line := range strings.Lines(cmd.Example) {
			line = strings.TrimPrefix(strings.TrimSpace(line), "source <(")
			if problem := refuses(strings.TrimSuffix(line, ")")); problem != "" {
				t.Errorf("the help of %s shows %s: %s", path, line, problem)
			}
		}
		for _, c := range cmd.Commands() {
			check(c)
		}
	}
	check(program.Root())
}

func TestEveryExampleOfTheHelpIsTried(t *testing.T) {
	data := must.Get(os.ReadFile("testdata/script/frame_examples.txtar"))(t)
	script := strings.NewReplacer("'", "\"", "../", "").Replace(string(data))
	for _, each := range catalog.Tools(&catalog.Env{}) {
		if each.Command == nil {
			continue
		}
		for line := range strings.Lines(each.Command.Example) {
			if line, _, _ = strings.Cut(strings.TrimSuffix(line, "\n"), " > "); !strings.Contains(script, " "+line+"\n") && !strings.Contains(script, " "+line+" ") {
				t.Errorf("the script does not try %s", line)
			}
		}
	}
}
