package synthesis

import (
	"bytes"
	"io"

	"github.com/tidegate/tidegate/internal/text/link"
	"github.com/tidegate/tidegate/internal/text/markdown"
)

// AddNamedURLs adds the keys of every URL of an output, as a [SummaryWriter] may
// read it: no other URL of the pool is looked for. The only errors are those of r.
func AddNamedURLs(keys map[string]bool, scanner *markdown.Scanner, r io.Reader) error {
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
