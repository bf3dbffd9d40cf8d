package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/tidegate/tidegate/codec"
	"github.com/tidegate/tidegate/tool"
)

const watchEvery = 300 * time.Millisecond

// watch calls the tool again whenever one of the files that its declaration
// names has changed, until the context ends.
func (p *Program) watch(ctx context.Context, t *tool.Tool, args *codec.Value, format string) error {
	files := t.Command.Watch(args)
	ticker := time.NewTicker(watchEvery)
	defer ticker.Stop()
	before := ""
	for {
		if state := fingerprint(files); state != before {
			before = state
			err := p.callAndShow(ctx, t, args, format)
			var status exitStatus
			if err != nil && !errors.As(err, &status) {
				p.printError(err)
			}
			fmt.Fprintln(p.Stderr, "watching for changes; interrupt to stop")
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}

// fingerprint tells the sizes and times of the files, and of the entries of
// those that are folders. What cannot be read is told as absent.
func fingerprint(paths []string) string {
	var b strings.Builder
	describe := func(path string) os.FileInfo {
		info, err := os.Stat(path)
		if err != nil {
			fmt.Fprintf(&b, "%s absent\n", path)
			return nil
		}
		fmt.Fprintf(&b, "%s %d %d\n", path, info.Size(), info.ModTime().UnixNano())
		return info
	}
	for _, path := range paths {
		info := describe(path)
		if info == nil || !info.IsDir() {
			continue
		}
		entries, err := os.ReadDir(path)
		if err != nil {
			continue
		}
		for _, e := range entries {
			describe(filepath.Join(path, e.Name()))
		}
	}
	return b.String()
}
