package cli_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidegate/tidegate/internal/face/cli"
	"github.com/tidegate/tidegate/tool"
)

func onTerminal(t *testing.T, terminal cli.Terminal, stdin string, args ...string) outcome {
	t.Helper()
	var out, errs bytes.Buffer
	program := cli.Program{
		Tools: []*tool.Tool{weigh()},
		Commands: []cli.Command{{
			Path: "sail", Short: "Sail on", Example: "tidegate sail",
			Long: "Sail on until the wind turns,\nwhich it does. Then sail\nback.\n\n  The anchor  stays aboard\n  as it is, whatever the weather may be, and whoever may ask for it on the way home\n\nThe end.",
		}},
		Groups: map[string]string{"boat": "All about boats"},
		Stdin:  strings.NewReader(stdin), Stdout: &out, Stderr: &errs, Terminal: terminal, Dir: "/harbour",
	}
	status := program.Run(t.Context(), args)
	return outcome{status, out.String(), errs.String()}
}

func TestHelpFillsItsLines(t *testing.T) {
	for _, tt := range []struct {
		name  string
		width int
		want  string
	}{
		{"in a pipe", 0, `Sail on until the wind turns, which it does. Then sail back.

  The anchor  stays aboard
  as it is, whatever the weather may be, and whoever may ask for it on the way
    home

The end.

Usage:`},
		{"on a narrow terminal", 30, `Sail on until the wind turns,
which it does. Then sail back.

  The anchor  stays aboard
  as it is, whatever the
    weather may be, and
    whoever may ask for it on
    the way home

The end.

Usage:`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := onTerminal(t, cli.Terminal{Width: tt.width}, "", "sail", "--help").stdout
			head, _, _ := strings.Cut(got, "Usage:")
			if diff := cmp.Diff(tt.want, head+"Usage:"); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestNoLineOfHelpIsTooWide(t *testing.T) {
	for _, args := range [][]string{{"--help"}, {"boat", "--help"}, {"boat", "weigh", "--help"}, {"call", "--help"}, {"completion", "zsh", "--help"}} {
		for terminal, widest := range map[int]int{0: 80, 60: 60, 40: 40} {
			typed := false // what a person types stays on one line
			for line := range strings.Lines(onTerminal(t, cli.Terminal{Width: terminal}, "", args...).stdout) {
				switch line {
				case "Usage:\n", "Examples:\n":
					typed = terminal > 0
				case "\n":
					typed = false
				}
				if len(line) > widest+1 && !typed {
					t.Errorf("%v at width %d: %s", args, terminal, line)
				}
			}
		}
	}
}

// TestErrorsAreWrapped: at the width of stderr, between words, and not at all in
// a pipe.
func TestErrorsAreWrapped(t *testing.T) {
	const path = "/harbour/a/rather/long/path/to/a/boat/that/sinks"
	piped := onTerminal(t, cli.Terminal{Width: 40}, "", "boat", "weigh", path, "--unit", "stone").err
	if strings.Count(piped, "\n") != 2 {
		t.Errorf("in a pipe an error and its advice are two lines: %q", piped)
	}
	shown := onTerminal(t, cli.Terminal{ErrWidth: 40}, "", "boat", "weigh", path, "--unit", "stone").err
	for line := range strings.Lines(shown) {
		if len(line) > 41 && !strings.Contains(line, path) {
			t.Errorf("wider than the terminal: %s", line)
		}
	}
	if got, want := strings.Fields(shown), strings.Fields(piped); !slices.Equal(got, want) {
		t.Errorf("the words are %q, want %q", got, want)
	}
}

func TestAGroupIsNotShownAsACommandOfItsOwn(t *testing.T) {
	got := onTerminal(t, cli.Terminal{}, "", "boat").stdout
	if !strings.HasPrefix(got, "All about boats.\n\nUsage:\n  tidegate boat COMMAND\n\n") {
		t.Error(got)
	}
}

func TestCallSaysOnATerminalWhatItWaitsFor(t *testing.T) {
	typed := `{"boat": "/jolly"}`
	got := onTerminal(t, cli.Terminal{Input: true}, typed, "call", "boat_weigh")
	for _, want := range []string{"Type the arguments of boat_weigh as a JSON object, then Ctrl-D", "  boat (string, required): "} {
		if !strings.Contains(got.err, want) {
			t.Errorf("stderr lacks %q:\n%s", want, got.err)
		}
	}
	if got.status != 0 || !strings.HasPrefix(got.stdout, "{") {
		t.Errorf("what was typed is not called: %+v", got)
	}
	for name, quiet := range map[string]outcome{
		"a pipe":       onTerminal(t, cli.Terminal{}, typed, "call", "boat_weigh"),
		"--args":       onTerminal(t, cli.Terminal{Input: true}, "", "call", "boat_weigh", "--args", typed),
		"a wrong name": onTerminal(t, cli.Terminal{Input: true}, "", "call", "boat_wiegh"),
	} {
		if quiet.err != "" {
			t.Errorf("with %s nothing is to be typed: %s", name, quiet.err)
		}
	}
}

func TestAToolIsFoundByTheEndOfItsName(t *testing.T) {
	if got := onTerminal(t, cli.Terminal{}, "", "call", "weigh"); !strings.Contains(got.stdout, "did you mean boat_weigh?") {
		t.Error(got.stdout)
	}
}

func TestAnErrorNamesTheHelpOfItsCommand(t *testing.T) {
	for _, tt := range []struct {
		args []string
		help string
	}{
		{[]string{"boat", "weigh"}, "`tidegate boat weigh --help`"},
		{[]string{"boat", "weigh", "jolly", "--unit", "stone"}, "`tidegate boat weigh --help`"},
		{[]string{"boat", "wiegh"}, ""},
		{[]string{"boat", "weigh", "jolly", "--untt", "t"}, ""},
	} {
		got := onTerminal(t, cli.Terminal{}, "", tt.args...)
		if got.status != 2 || strings.Contains(got.err, "to fix it: "+tt.help) != (tt.help != "") {
			t.Errorf("%v: %+v", tt.args, got)
		}
	}
}
