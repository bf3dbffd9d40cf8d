//go:build man

package cli

import (
	"strings"

	"github.com/spf13/cobra/doc"
)

// WriteManual writes the manual pages of all commands into dir, which must exist.
// They are dated by SOURCE_DATE_EPOCH, where it is set.
//
// It exists only with the build tag man, for making a release: cobra's generator
// compiles its patterns whenever a program with it starts, and the program that
// people use need not wait for that.
func (p *Program) WriteManual(dir string) error {
	root := p.Root()
	root.DisableAutoGenTag = true
	root.Long += "\n\n" + strings.ReplaceAll(statusTable(), "\n", "\n\n    ")
	return doc.GenManTree(root, &doc.GenManHeader{Section: "1", Source: "tidegate " + p.Version, Manual: "tidegate"}, dir)
}
