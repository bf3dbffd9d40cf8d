package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/catalog"
	"github.com/tidegate/tidegate/internal/face/cli"
	"github.com/tidegate/tidegate/internal/face/demo"
	"github.com/tidegate/tidegate/internal/face/research"
	"github.com/tidegate/tidegate/internal/face/screen"
	"github.com/tidegate/tidegate/tool"
)

// demoFolder begins the names of the temporary folders in which demos play, and which stay.
const demoFolder = "tidegate-demo-"

func demoCommand(env *catalog.Env) cli.Command {
	return cli.Command{
		Path: "demo",
		Flags: []tool.Flag{
			{Name: "step", About: "wait for Enter between two steps", Kind: tool.Switch},
			{Name: "keep", About: "an empty or absent `folder` to play in, instead of a temporary one", Kind: tool.PathFlag},
		},
		Run: func(ctx context.Context, call cli.Invocation) error {
			folder := call.Flag("keep")
			if folder == "" {
				made, err := os.MkdirTemp("", demoFolder)
				if err != nil {
					return tidegate.Errorf(tidegate.WriteFailed, nil, "no folder for the demo can be made: %w", err)
				}
				folder = made
			}
			player := &demo.Player{Out: call.Stdout, Folder: folder, Color: call.Terminal.Color, Width: call.Terminal.Width, Run: runIn(env, call, folder)}
			if call.Flag("step") == "true" {
				player.Pause = enter(call)
			}
			if err := player.Play(ctx); err != nil && ctx.Err() != nil {
				return cli.Exit(screen.ExitInterrupted) // the command that was interrupted says how to go on
			} else if err != nil {
				return err
			}
			return nil
		},
	}
}

// runIn runs command lines as if typed in folder, with its own runs and code
// reviews.
func runIn(env *catalog.Env, call cli.Invocation, folder string) func(context.Context, []string, io.Writer) int {
	inner := &catalog.Env{Now: env.Now, Pinned: env.Pinned, Dir: folder, Project: folder, Home: filepath.Join(folder, "runs"), Apart: true, Program: env.Program, Fetch: demo.Pages{Now: env.Now}.Fetch}
	program := call.Program
	program.Tools, program.Settings = catalog.Tools(inner), nil
	program.Commands = append(research.Commands(withRecordings(inner)), cli.Described(commandTexts, []cli.Command{reportCommand(inner)})...)
	program.Dir, program.Terminal.Progress = folder, false
	program.Terminal.ErrWidth = program.Terminal.Width
	program.Terminal.Size = nil // the story is printed line by line
	return func(ctx context.Context, args []string, out io.Writer) int {
		program.Stdout, program.Stderr = out, out
		return program.Run(ctx, args)
	}
}

// enter waits for a line on stdin, or its end, or the end of ctx.
func enter(call cli.Invocation) func(context.Context) error {
	lines := make(chan struct{})
	ask := make(chan struct{})
	go func() {
		in := bufio.NewReader(call.Stdin)
		for range ask {
			// The story goes on when stdin has ended.
			_, _ = in.ReadString('\n')
			lines <- struct{}{}
		}
	}()
	return func(ctx context.Context) error {
		fmt.Fprint(call.Stderr, "-- press Enter --")
		ask <- struct{}{}
		select {
		case <-lines:
			fmt.Fprintln(call.Stderr)
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
