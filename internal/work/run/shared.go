package run

import (
	"context"
	"time"

	"github.com/tidegate/tidegate/internal/base/artifact"
)

// Shared says which pages the runs of a home share.
type Shared struct {
	Runs  string         // the folder of runs; what is shared is noted beside it
	Reach artifact.Reach // for files that no caller names
	Like  string         // how pages are fetched: a run uses only what one fetched that fetches alike
	Fresh time.Duration  // how long ago a page may have been fetched
}

// Sharing finds out what a run shares at the time; nil for nothing.
type Sharing func(ctx context.Context) (*Shared, error)
