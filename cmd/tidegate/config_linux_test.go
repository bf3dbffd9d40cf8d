package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidegate/tidegate/internal/test/must"
)

// TestTrustOnATerminal answers the question of `config trust` with everything but
// yes, then with yes, and then changes the file.
func TestTrustOnATerminal(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	file := filepath.Join(filepath.Dir(home), "tidegate.toml") // above the working folder
	hidden := strings.Repeat("x", 3000) + "; touch owned"
	write := func(text string) {
		t.Helper()
		must.Do(t, os.WriteFile(file, []byte(text), 0o600))
	}
	write("[review]\ntest = \"make \\u001b[2J\\u202e" + hidden + "\"\n")
	trusted := filepath.Join(home, "tidegate", "trusted.json")
	for _, answer := range []string{"\n", "y\n", "no\n", "YES please\n", "\x04"} {
		c := newConsole(t, home, 80, 24, "config", "trust")
		c.await("Type yes:")
		c.press(answer)
		c.await("nothing was changed")
		shown := c.exits(0)
		// The whole command is shown, and nothing in it acts on the terminal.
		if !strings.Contains(shown, "owned") {
			t.Errorf("the end of the command is not shown:\n%s", shown)
		}
		if strings.Contains(shown, "\x1b[2J") || strings.Contains(shown, "\u202e") {
			t.Errorf("the command acts on the terminal: %q", shown)
		}
		if _, err := os.Stat(trusted); err == nil {
			t.Fatalf("the answer %q is taken for yes", answer)
		}
	}
	c := newConsole(t, home, 200, 24, "config", "trust")
	c.await("Type yes:")
	c.press("yes\n")
	c.await("is trusted")
	c.exits(0)
	shows := func(text string) {
		t.Helper()
		c := newConsole(t, home, 200, 24, "config", "trust")
		c.await(text)
		c.press("\n")
		c.exits(0)
	}
	shows("is trusted already")
	write("[review]\ntest = \"make test\"\n")
	shows("Type yes:")
}
