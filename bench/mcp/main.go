// Command mcp drives a tidegate MCP server with many calls and prints a table
// of what they cost:
//
//	go run ./bench/mcp
//
// A call reviews a wave of 20 outputs. Next to it, the table has a tool that only
// returns its argument, on the same SDK and over the same transport: the difference
// is what tidegate adds. The program fails when a call fails, or when the server
// needs more memory at the end than after the first thousand calls.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/tidegate/tidegate/bench/sample"
)

func main() {
	calls := flag.Int("calls", 10_000, "calls for each row")
	echo := flag.String("echo", "", "serve the bare echo tool instead, on stdio or http")
	flag.Parse()
	var err error
	if *echo != "" {
		err = serveEcho(*echo)
	} else {
		err = measureAll(*calls)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "mcp:", err)
		os.Exit(1)
	}
}

func measureAll(calls int) error {
	dir, err := os.MkdirTemp("", "tidegate-bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := (sample.Wave{Outputs: 20, Words: 850, Failing: 0.1}).Write(dir); err != nil {
		return err
	}
	program := filepath.Join(dir, "tidegate")
	build := exec.Command("go", "build", "-o", program, "github.com/tidegate/tidegate/cmd/tidegate")
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	review := map[string]any{"perspectives_path": filepath.Join(dir, "perspectives.json"), "outputs_dir": filepath.Join(dir, "wave-1")}
	var rows []row
	for _, transport := range []string{"stdio", "http"} {
		for _, inFlight := range []int{1, 10, 100} {
			served := []string{program, "mcp", "--root", dir, "--log-level", "error"}
			bare := []string{self, "-echo", transport}
			if transport == "http" {
				served = []string{program, "mcp", "--http", "127.0.0.1:0", "--root", dir}
			}
			r := row{transport: transport, inFlight: inFlight}
			if r.review, err = drive(context.Background(), served, transport, dir, load{"deep_research_wave_review", review, calls, inFlight}); err != nil {
				return fmt.Errorf("%s, %d in flight: %w", transport, inFlight, err)
			}
			if r.echo, err = drive(context.Background(), bare, transport, dir, load{"echo", map[string]any{"text": "hello"}, calls, inFlight}); err != nil {
				return fmt.Errorf("echo over %s, %d in flight: %w", transport, inFlight, err)
			}
			fmt.Fprintln(os.Stderr, r)
			rows = append(rows, r)
		}
	}
	return printTable(calls, rows)
}
