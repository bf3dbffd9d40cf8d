package summary

import (
	"bytes"
	"context"
	"io"
	"maps"
	"sync"

	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/parallel"
	"github.com/tidegate/tidegate/internal/text/link"
	"github.com/tidegate/tidegate/internal/text/markdown"
)

// namedURLs says, by their keys, which URLs the wave outputs name: no other URL of
// the pool is looked for. An output that cannot be read names none here, and is
// refused when its summary is made.
func (p *plan) namedURLs(ctx context.Context) (func(key string) bool, error) {
	var lock sync.Mutex
	named := map[string]bool{}
	err := parallel.Each(ctx, len(p.perspectives), nil, func() func(int) error {
		var scanner markdown.Scanner
		return func(i int) error {
			if file, err := p.run.Folder().Open(p.perspectives[i].SourceArtifact); err == nil {
				defer file.Close()
				keys := map[string]bool{}
				_ = addNamed(keys, &scanner, artifact.Until(ctx, file))
				lock.Lock()
				defer lock.Unlock()
				maps.Copy(named, keys)
			}
			return nil
		}
	})
	return func(key string) bool { return named[key] }, err
}

// addNamed adds the keys of every URL of an output, as [carrier] may read it.
func addNamed(keys map[string]bool, scanner *markdown.Scanner, r io.Reader) error {
	_, err := scanner.Scan(r, markdown.Events{Passage: func(p markdown.Passage) {
		line := bytes.Join(bytes.Fields(p.Text), []byte(" "))
		urls := link.FindURLs(line)
		for at := 0; ; {
			url, ok := urls.Next(at)
			if !ok {
				return
			}
			trimmed := link.TrimURL(line, url)
			for _, candidate := range []link.Span{url, trimmed} {
				for _, key := range link.Keys(string(candidate.Of(line))) {
					keys[key] = true
				}
			}
			at = trimmed.End
		}
	}})
	return err
}
