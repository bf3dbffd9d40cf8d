package summary

import (
	"bytes"
	"context"
	"hash/maphash"
	"io"
	"sync/atomic"

	"github.com/tidegate/tidegate/artifact"
	"github.com/tidegate/tidegate/internal/parallel"
	"github.com/tidegate/tidegate/markdown"
)

// urlFilter tells which URLs of the pool can be looked for at all: those that
// the wave outputs name. A pool may have millions that none does. It is a Bloom
// filter, of one size however many URLs it knows: what it lets through without
// need costs memory, and nothing else.
type urlFilter struct {
	bits []atomic.Uint64
	seed maphash.Seed
}

// 8 MiB let through one URL in a thousand beside five million wanted ones.
const (
	filterWords  = 1 << 20
	filterProbes = 7
)

func newURLFilter() *urlFilter {
	return &urlFilter{bits: make([]atomic.Uint64, filterWords), seed: maphash.MakeSeed()}
}

func (f *urlFilter) add(key string) {
	for word, bit := range f.probes(key) {
		f.bits[word].Or(bit)
	}
}

// has is true for every key that was added, and for few others.
func (f *urlFilter) has(key string) bool {
	for word, bit := range f.probes(key) {
		if f.bits[word].Load()&bit == 0 {
			return false
		}
	}
	return true
}

// probes are the bits of a key, each by its word and its place in it.
func (f *urlFilter) probes(key string) func(yield func(word, bit uint64) bool) {
	return func(yield func(word, bit uint64) bool) {
		hash := maphash.String(f.seed, key)
		step := hash>>32 | 1
		for range filterProbes {
			if !yield(hash>>6%filterWords, 1<<(hash%64)) {
				return
			}
			hash += step * 0x9e3779b97f4a7c15
		}
	}
}

// addFrom adds every URL of an output, as [carrier] may read it.
func (f *urlFilter) addFrom(scanner *markdown.Scanner, r io.Reader) error {
	_, err := scanner.Scan(r, markdown.Events{
		Passage: func(p markdown.Passage) {
			line := bytes.Join(bytes.Fields(p.Text), []byte(" "))
			urls := newURLFinder(line)
			for at := 0; ; {
				url, ok := urls.next(at)
				if !ok {
					return
				}
				trimmed := trimURL(line, url)
				for _, candidate := range []span{url, trimmed} {
					for _, key := range lookupKeys(string(candidate.of(line))) {
						f.add(key)
					}
				}
				at = trimmed.end
			}
		},
	})
	return err
}

// wantedURLs are the URLs that the wave outputs name. An output that cannot be
// read has none here, and is told of when its summary is made.
func (p *plan) wantedURLs(ctx context.Context) (*urlFilter, error) {
	filter := newURLFilter()
	return filter, parallel.Each(ctx, len(p.perspectives), nil, func() func(int) error {
		var scanner markdown.Scanner
		return func(i int) error {
			if file, err := p.run.Folder().Open(p.perspectives[i].SourceArtifact); err == nil {
				defer file.Close()
				_ = filter.addFrom(&scanner, artifact.Until(ctx, file))
			}
			return nil
		}
	})
}
