package engine

import (
	"context"
	"path/filepath"
	"strings"
	"sync/atomic"

	"github.com/tidegate/tidegate/internal/agent/driver"
	"github.com/tidegate/tidegate/internal/agent/sandbox"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/work/git"
	"github.com/tidegate/tidegate/review"
)

// lookupOffers are the tools by which a reviewer looks something up.
func lookupOffers() []driver.Offer {
	var offers []driver.Offer
	for _, t := range git.LookupTools {
		offers = append(offers, driver.Offer{Name: t.Name, About: t.About, Arguments: t.Arguments})
	}
	return offers
}

// seeing says in a prompt how its reviewer sees more than the diff: in a folder, or by
// tools where it has no client. One that does not is shown whole functions.
func seeing(p *review.Prompt, reviewer string, looking bool) {
	p.Tree = !WithoutClient(reviewer)
	if p.Lookups = 0; !p.Tree && looking {
		p.Lookups = git.MostLookups
	}
}

// WithoutClient reports whether a reviewer is a service of models: nothing is started that
// could read a folder.
func WithoutClient(reviewer string) bool {
	return strings.HasPrefix(reviewer, "model:") || strings.HasPrefix(reviewer, "api:")
}

// tree is a copy of the files of a diff, for its reviewers to read: all but those by
// which clients configure themselves. The zero value is none.
type tree struct {
	path   atomic.Pointer[string]
	remove func()
}

// make makes the copy in the place of the one before.
func (t *tree) make(ctx context.Context, d *git.Diff) error {
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
		err = d.Copy(ctx, path, sandbox.Configures)
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
