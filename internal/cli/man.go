package cli

import (
	"os"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
	"github.com/tidegate/tidegate"
)

// manDate stands in every page: the pages of one version are the same bytes
// whenever they are made.
var manDate = time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)

func (p *Program) manCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "man FOLDER",
		Short:   "Write the manual pages into a folder",
		Example: "  tidegate man ./man1",
		Args:    cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			dir := absolute(p.Dir, args[0])
			if err := os.MkdirAll(dir, 0o755); err != nil {
				return tidegate.Errorf(tidegate.WriteFailed, tidegate.D("folder", dir), "the folder %s cannot be made: %w", dir, err)
			}
			root := p.Root()
			root.DisableAutoGenTag = true
			date := manDate
			header := &doc.GenManHeader{Title: "TIDEGATE", Section: "1", Date: &date, Source: "tidegate " + p.Version, Manual: "tidegate"}
			if err := doc.GenManTree(root, header, dir); err != nil {
				return tidegate.Errorf(tidegate.WriteFailed, tidegate.D("folder", dir), "the manual pages cannot be written to %s: %w", dir, err)
			}
			return nil
		},
	}
}
