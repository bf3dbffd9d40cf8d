package fetch

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/tidegate/tidegate/internal/base/archive"
)

// Progress is how far a call of [Client.Each] has come.
type Progress struct {
	Done, Total int
	Slow        string        // the URL that has been waited for longest, "" when none is slow
	For         time.Duration // how long Slow has been waited for
}

// maxWaiting is how many captures wait to be kept: enough for a disk to take many
// at once, and few enough to be held in memory. Large ones are fewer.
const maxWaiting = 32

// gathering is how long a capture waits for others to be kept with it. A fast
// server would cost a write for each page otherwise.
const gathering = 20 * time.Millisecond

// slow is the time after which a URL is worth naming.
const slow = 3 * time.Second

// Each fetches many URLs, each once, and hands the captures over to keep as they
// come: those that ended about the same time, at least one. URLs that are not
// [Fetchable] are left out. Keep is called by one goroutine at a time, and few
// captures wait for it, packed. Progress may be nil; it is called for every batch,
// and once a second.
//
// When ctx ends, what has been handed over is all that there is: no capture is
// handed over in part. Each returns the error of ctx or of keep.
func (c *Client) Each(ctx context.Context, urls []string, keep func([]*archive.Packed) error, progress func(Progress)) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	urls = fetchable(urls)
	watch := newWatch(len(urls), progress)
	stopWatch := watch.everySecond()
	defer stopWatch()

	ended := make(chan *fetching, maxWaiting)
	var workers sync.WaitGroup
	for _, url := range urls {
		workers.Go(func() {
			if err := c.one(ctx, url, watch, ended); err != nil {
				stop(err)
			}
		})
	}
	go func() {
		workers.Wait()
		close(ended)
	}()
	for first := range ended {
		batch := batchOf(first, ended)
		if err := c.hand(ctx, batch, keep); err != nil {
			stop(err)
			continue // the workers must end
		}
		watch.done(batch)
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return nil
}

// fetchable are the URLs that may be fetched, each once, in their order.
func fetchable(urls []string) []string {
	seen := map[string]bool{}
	return slices.DeleteFunc(slices.Clone(urls), func(url string) bool {
		if seen[url] || !Fetchable(url) {
			return true
		}
		seen[url] = true
		return false
	})
}

// one fetches and packs a URL and hands it over. It has its place for requests until
// then, and its place for a large body until the capture is kept.
func (c *Client) one(ctx context.Context, url string, watch *watch, ended chan<- *fetching) error {
	f := c.begin(url, func() { watch.began(url) })
	defer f.leave()
	err := f.run(ctx)
	if err == nil {
		if f.packed, err = archive.Pack(f.capture); err == nil {
			f.packed.Fetched = true
		}
	}
	if err != nil {
		f.shrink()
		return err
	}
	f.capture.Hops = nil
	ended <- f
	return nil
}

// hand gives a batch to keep.
func (c *Client) hand(ctx context.Context, batch []*fetching, keep func([]*archive.Packed) error) error {
	packed := make([]*archive.Packed, len(batch))
	for i, f := range batch {
		defer f.shrink()
		packed[i] = f.packed
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return keep(packed)
}

// batchOf is a capture with those that end soon after it, at most as many as are
// kept at once.
func batchOf(first *fetching, ended <-chan *fetching) []*fetching {
	batch := []*fetching{first}
	gathered := time.NewTimer(gathering)
	defer gathered.Stop()
	for len(batch) < maxWaiting {
		select {
		case f, ok := <-ended:
			if !ok {
				return batch
			}
			batch = append(batch, f)
		case <-gathered.C:
			return batch
		}
	}
	return batch
}
