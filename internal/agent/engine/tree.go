package engine

import (
	"context"
	"path/filepath"
	"sync/atomic"

	"github.com/tidegate/tidegate/internal/agent/driver"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/work/change"
)

// tree is a copy of the files of a diff, for its reviewers to read: all but those by
// which clients configure themselves. The zero value is none.
type tree struct {
	path   atomic.Pointer[string]
	remove func()
}

// make makes the copy in the place of the one before.
func (t *tree) make(ctx context.Context, d *change.Diff) error {
	t.clear()
	scratch, remove, err := artifact.Scratch("tidegate-tree-")
	if err != nil {
		return err
	}
	path := filepath.Join(scratch, "tree")
	folder, err := artifact.Everywhere.Open("tree", scratch)
	if err == nil {
		err = folder.MakeFolder("tree")
		folder.Close()
	}
	if err == nil {
		err = d.Copy(ctx, path, driver.Configures)
	}
	if err != nil {
		remove()
		return err
	}
	t.remove = remove
	t.path.Store(&path)
	return nil
}

func (t *tree) clear() {
	if t.remove != nil {
		t.path.Store(nil)
		t.remove()
		t.remove = nil
	}
}
