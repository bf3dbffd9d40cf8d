package fetch

import (
	"context"

	"github.com/tidegate/tidegate/internal/base/archive"
)

// Get fetches a URL. What goes wrong is part of the capture; an error is returned
// only when ctx ends first, and is that of ctx.
func (c *Client) Get(ctx context.Context, rawURL string) (archive.Capture, error) {
	f := c.begin(rawURL, nil)
	defer f.shrink()
	defer f.leave()
	err := f.run(ctx)
	return f.capture, err
}
