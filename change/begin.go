package change

import (
	"context"

	"github.com/tidegate/tidegate/artifact"
)

// ignoreFile keeps locks and unfinished writes, and itself, out of what git
// reports.
const (
	ignoreFile = ".gitignore"
	ignored    = "/.gitignore\n/.tidegate.lock\n/.tidegate-tx/\n.tidegate-*.tmp\n"
)

// begin begins a transaction on the folder of a change.
func begin(ctx context.Context, lock *artifact.Lock) (*artifact.Tx, error) {
	tx := lock.Begin()
	folder := lock.Folder()
	there, err := folder.Exists(ignoreFile)
	if err == nil && !there && inRepository(ctx, folder.Path()) {
		err = tx.Write(ignoreFile, []byte(ignored))
	}
	return tx, err
}
