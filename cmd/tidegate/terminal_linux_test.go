package main

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/tidegate/tidegate/internal/test/must"
)

// onTerminal runs a command with a terminal for its stdout and returns what the
// terminal showed.
func onTerminal(t *testing.T, command *exec.Cmd) string {
	t.Helper()
	screen, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("there are no terminals here: %v", err)
	}
	defer screen.Close()
	if err := unix.IoctlSetPointerInt(int(screen.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Skipf("there are no terminals here: %v", err)
	}
	number, err := unix.IoctlGetInt(int(screen.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Skipf("there are no terminals here: %v", err)
	}
	terminal, err := os.OpenFile("/dev/pts/"+strconv.Itoa(number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("there are no terminals here: %v", err)
	}
	command.Stdout = terminal
	shown := make(chan string)
	go func() {
		text, _ := io.ReadAll(screen) // ends with an error when the terminal is closed
		shown <- string(text)
	}()
	err = command.Run()
	terminal.Close()
	if err != nil {
		t.Error(err)
	}
	return <-shown
}

func TestColoursOnATerminalOnly(t *testing.T) {
	dir := t.TempDir()
	contracts := `{"schema_version":"perspectives.v1","perspectives":[{"id":"p1","prompt_contract":{"max_words":9,"max_sources":1,"must_include_sections":[]}}]}`
	for name, text := range map[string]string{"perspectives.json": contracts, "p1.md": "text\n"} {
		must.Do(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	review := func(env ...string) *exec.Cmd {
		command := exec.Command("tidegate", "wave", "review", "perspectives.json", ".")
		command.Dir = dir
		command.Env = append(os.Environ(), append([]string{"NO_COLOR=", "TERM=xterm"}, env...)...)
		return command
	}
	piped := must.Get(review().Output())(t)
	for _, tt := range []struct {
		name, shown string
		colours     bool
	}{
		{"a terminal", onTerminal(t, review()), true},
		{"a terminal under NO_COLOR", onTerminal(t, review("NO_COLOR=1")), false},
		{"a terminal that is dumb", onTerminal(t, review("TERM=dumb")), false},
		{"a pipe", string(piped), false},
	} {
		if !strings.Contains(tt.shown, "pass") {
			t.Errorf("%s shows no result: %q", tt.name, tt.shown)
		}
		if got := strings.Contains(tt.shown, "\x1b["); got != tt.colours {
			t.Errorf("%s has colours: %v, want %v: %q", tt.name, got, tt.colours, tt.shown)
		}
	}
}
