package change

import (
	"context"

	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/work/git"
	"github.com/tidegate/tidegate/internal/work/run"
)

// ignoreFile keeps locks and unfinished writes, and itself, out of what git
// reports.
const (
	ignoreFile = ".gitignore"
	ignored    = "/.gitignore\n/.tidegate.lock\n/.tidegate.home\n/.tidegate.tools\n/.tidegate-tx/\n.tidegate-*.tmp\n"
)

// lock takes the lock of the folder of a change. It returns the errors of
// [artifact.Folder.Lock].
func lock(ctx context.Context, desk run.Desk, folder *artifact.Folder) (*artifact.Lock, error) {
	held, err := folder.Lock(ctx, desk.Now)
	if err != nil {
		return nil, err
	}
	if there, err := folder.Exists(ignoreFile); err == nil && !there && git.InRepository(ctx, desk, folder.Path()) {
		// Without it git reports one more file; nothing else is wrong.
		_ = folder.Write(ignoreFile, []byte(ignored))
	}
	return held, nil
}
