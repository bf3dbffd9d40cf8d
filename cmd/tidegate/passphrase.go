package main

import (
	"fmt"
	"os"

	"golang.org/x/term"
)

// askPassphrase asks on the terminal for the passphrase of a key. Without a
// terminal nobody can be asked: the answer is empty, and the key stays locked.
func askPassphrase() ([]byte, error) {
	fd := int(os.Stdin.Fd())
	if !term.IsTerminal(fd) {
		return nil, nil
	}
	fmt.Fprint(os.Stderr, "passphrase of the signing key: ")
	defer fmt.Fprintln(os.Stderr)
	return term.ReadPassword(fd)
}
