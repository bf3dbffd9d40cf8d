package fetch

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/tidegate/tidegate/archive"
)

// Progress is how far a call of [Client.Each] has come.
type Progress struct {
	Done, Total int
	Slow        string        // the URL that has been waited for longest, "" when none is slow
	For         time.Duration // that Slow has been waited for
}

// slow is after which time a URL is worth naming.
const slow = 3 * time.Second

// Each fetches many URLs, each once, and hands the captures over to keep as they
// come: all that have ended since keep returned, at least one. URLs that are not
// [Fetchable] are left out. Keep is called by one goroutine at a time; while it
// is at work only as many pages wait for it as requests may run at once. Progress
// may be nil; it hears of every batch, and once a second.
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

	ended := make(chan *archive.Packed)
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
		batch := append([]*archive.Packed{first}, waiting(ended)...)
		if ctx.Err() != nil {
			continue // the workers must end
		}
		if err := keep(batch); err != nil {
			stop(err)
			continue
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

// one fetches a URL and hands the packed capture over.
func (c *Client) one(ctx context.Context, url string, watch *watch, ended chan<- *archive.Packed) error {
	f := c.begin(url, func() { watch.began(url) })
	defer f.release()
	if err := f.run(ctx); err != nil {
		return err
	}
	packed, err := archive.Pack(f.capture)
	if err != nil {
		return err
	}
	f.capture = archive.Capture{}
	ended <- packed
	return nil
}

// waiting takes what is ready to be taken.
func waiting(ended <-chan *archive.Packed) []*archive.Packed {
	var all []*archive.Packed
	for {
		select {
		case packed, ok := <-ended:
			if !ok {
				return all
			}
			all = append(all, packed)
		default:
			return all
		}
	}
}
