//go:build man

package cli

import (
	"strings"

	"github.com/spf13/cobra/doc"
)

// WriteManual writes the manual pages of all commands into dir, a folder that is
// there. They are dated by SOURCE_DATE_EPOCH, where it is set.
//
// It exists only where the build tag man is set, for the making of a release.
// cobra's generator compiles its patterns whenever a program with it starts,
// which the program that people have need not wait for.
func (p *Program) WriteManual(dir string) error {
	root := p.Root()
	root.DisableAutoGenTag = true
	root.Long += "\n\n" + strings.ReplaceAll(statusTable(), "\n", "\n\n    ")
	return doc.GenManTree(root, &doc.GenManHeader{Section: "1", Source: "tidegate " + p.Version, Manual: "tidegate"}, dir)
}
