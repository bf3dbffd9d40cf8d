// Command release makes everything that a release consists of, from the sources
// that it is started in: archives with checksums and provenance for six platforms,
// packages for npm, Debian and Homebrew, an OCI image, bundles for MCP clients, and the
// server.json of the MCP registry.
//
//	go run ./internal/release --version v1.2.3 --output dist
//
// It needs no programs other than Go and git, publishes nothing, and makes the same
// bytes from the same commit, whoever starts it and wherever.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("release", flag.ContinueOnError)
	version := flags.String("version", "", "the version, such as v1.2.3")
	output := flags.String("output", "dist", "the folder to write, which must not be there yet")
	platforms := flags.String("platforms", "", "build for these alone, such as linux/amd64,darwin/arm64; host for this machine")
	sign := flags.String("sign", "", "the SSH key that signs the provenance")
	if err := flags.Parse(args); err != nil {
		return err
	}
	r := &release{version: *version, output: *output, key: *sign, targets: all}
	if *platforms != "" {
		r.targets = nil
		for name := range strings.SplitSeq(*platforms, ",") {
			if name == "host" {
				name = runtime.GOOS + "/" + runtime.GOARCH
			}
			target, err := find(name)
			if err != nil {
				return err
			}
			r.targets = append(r.targets, target)
		}
	}
	start := time.Now()
	if err := r.source(ctx, "."); err != nil {
		return err
	}
	if err := r.build(ctx, "."); err != nil {
		return err
	}
	files, err := r.pack(ctx)
	for _, file := range files {
		fmt.Printf("%s  %9d  %s\n", file.digest, file.size, file.name)
	}
	if err == nil {
		fmt.Fprintf(os.Stderr, "%d files in %s\n", len(files), time.Since(start).Round(100*time.Millisecond))
	}
	return err
}
