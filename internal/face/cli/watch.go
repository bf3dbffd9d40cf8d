package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/tool"
)

const watchEvery = 300 * time.Millisecond

// watch calls the tool again whenever one of the files that its declaration
// names has changed, until the context ends. What the call itself writes does not
// count as a change: it would cause the next call. On a terminal, a result replaces
// the one before, and what has changed is marked.
func (p *Program) watch(ctx context.Context, t *tool.Tool, args *codec.Value, typed tool.Typed, format string) error {
	files := t.Command.Watch(args)
	written := map[string]bool{}
	for _, a := range t.Arguments() {
		if path := args.Get(a.Name).Str(); a.Writes && path != "" {
			written[filepath.Clean(path)] = true
		}
	}
	judge := func(p *Program) {
		err := p.callAndShow(ctx, t, args, typed, format)
		var status exitStatus
		if err != nil && !errors.As(err, &status) {
			p.printError("tidegate "+t.Command.Path, err)
		}
		fmt.Fprintln(p.Stderr, "watching for changes; interrupt to stop")
	}
	drawing := &redraw{program: p}
	ticker := time.NewTicker(watchEvery)
	defer ticker.Stop()
	before := ""
	for {
		if state := fingerprint(files, written); state != before {
			before = state
			if format == "text" && p.Terminal.Size != nil {
				if err := drawing.draw(judge); err != nil {
					return err
				}
			} else {
				judge(p)
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}

// fingerprint lists the sizes and times of the files, and of the entries of
// folders, except for those in without. What cannot be read is listed as absent.
func fingerprint(paths []string, without map[string]bool) string {
	var b strings.Builder
	describe := func(path string, info os.FileInfo, err error) {
		switch {
		case without[filepath.Clean(path)]:
		case err != nil:
			fmt.Fprintf(&b, "%s absent\n", path)
		default:
			fmt.Fprintf(&b, "%s %d %d\n", path, info.Size(), info.ModTime().UnixNano())
		}
	}
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil || !info.IsDir() {
			describe(path, info, err)
			continue
		}
		// A folder's own time changes with every temporary file in it.
		entries, err := os.ReadDir(path)
		if err != nil {
			describe(path, info, err)
			continue
		}
		for _, e := range entries {
			name := filepath.Join(path, e.Name())
			info, err := os.Stat(name)
			if errors.Is(err, fs.ErrNotExist) && e.Type()&fs.ModeSymlink == 0 {
				continue // it was removed after the folder was listed
			}
			describe(name, info, err)
		}
	}
	return b.String()
}
