//go:build man

package main

import (
	"fmt"
	"os"

	"github.com/tidegate/tidegate/catalog"
)

// main writes the manual pages into an existing folder:
//
//	go run -tags man ./cmd/tidegate FOLDER
//
// The program that people use is built without the tag.
func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: go run -tags man ./cmd/tidegate FOLDER")
		os.Exit(2)
	}
	if err := assemble(&catalog.Env{}).WriteManual(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
