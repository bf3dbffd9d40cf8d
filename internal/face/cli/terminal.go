package cli

import (
	"os"

	"golang.org/x/term"
)

// StandardTerminal is what standard input and output are connected to. Keys are not read
// from it: a program that wants them sets Keys.
func StandardTerminal() Terminal {
	t := Terminal{Input: term.IsTerminal(int(os.Stdin.Fd())), Progress: term.IsTerminal(int(os.Stderr.Fd()))}
	if t.Progress {
		if width, _, err := term.GetSize(int(os.Stderr.Fd())); err == nil {
			t.ErrWidth = width
		}
	}
	out := int(os.Stdout.Fd())
	if !term.IsTerminal(out) {
		return t
	}
	plain := os.Getenv("TERM") == "dumb"
	t.Color = os.Getenv("NO_COLOR") == "" && !plain
	if width, _, err := term.GetSize(out); err == nil {
		t.Width = width
	}
	if !plain && t.Width > 0 {
		t.Size = func() (columns, rows int) {
			columns, rows, err := term.GetSize(out)
			if err != nil {
				return 80, 24
			}
			return columns, rows
		}
	}
	return t
}
