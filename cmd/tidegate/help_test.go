package main

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/catalog"
	"github.com/tidegate/tidegate/internal/cli"
)

// TestEveryExampleInTheHelpIsAccepted gives the examples of all tools to the
// program, in a folder that has none of the files that they name: whatever is
// missing there, nothing is wrong with the command lines.
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

// commandWords are the words of a command line after the program's name.
func commandWords(line string) []string {
	var args []string
	for _, w := range word.FindAllString(line, -1)[1:] {
		args = append(args, strings.Trim(w, `"'`))
	}
	return args
}
