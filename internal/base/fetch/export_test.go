package fetch

import (
	"context"
	"time"

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

// Gate is what requests of a client to a host pass.
func (c *Client) Gate(host string) (gate any, spacing time.Duration, atOnce int) {
	g := c.gates.of(host)
	return g, g.spacing, cap(g.places)
}
