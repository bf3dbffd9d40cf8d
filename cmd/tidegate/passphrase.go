package main

import (
	"fmt"
	"os"

	"golang.org/x/term"
)

// askPassphrase asks on the terminal for the passphrase of a key. Where there is
// no terminal nobody can be asked: the answer is empty, and the key stays shut.
func askPassphrase() ([]byte, error) {
	fd := int(os.Stdin.Fd())
	if !term.IsTerminal(fd) {
		return nil, nil
	}
	fmt.Fprint(os.Stderr, "passphrase of the signing key: ")
	defer fmt.Fprintln(os.Stderr)
	return term.ReadPassword(fd)
}
