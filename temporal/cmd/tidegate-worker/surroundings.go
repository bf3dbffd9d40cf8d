package main

import (
	"os"
	"path/filepath"
	"runtime/debug"
	"time"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/catalog"
	"github.com/tidegate/tidegate/internal/cli"
	"golang.org/x/term"
)

func environment() (*catalog.Env, error) {
	dir, err := os.Getwd()
	if err != nil {
		return nil, tidegate.Errorf(tidegate.ReadFailed, nil, "the working folder cannot be found: %w", err)
	}
	env := &catalog.Env{
		Now: time.Now, Dir: dir, Project: dir, Home: runsHome(), Program: "tidegate " + version(),
		SignKey: os.Getenv("TIDEGATE_SIGN_KEY"), AgentSocket: os.Getenv("SSH_AUTH_SOCK"), ConfigDir: configDir(), Getenv: os.Getenv,
	}
	if pinned := os.Getenv("TIDEGATE_NOW"); pinned != "" {
		at, err := time.Parse(time.RFC3339, pinned)
		if err != nil {
			return nil, tidegate.Errorf(tidegate.InvalidArgs, tidegate.D("TIDEGATE_NOW", pinned), "TIDEGATE_NOW must be a time such as 2026-01-02T15:04:05Z, got %q", pinned)
		}
		env.Now, env.Pinned = func() time.Time { return at }, true
	}
	return env, nil
}

// runsHome is the folder of runs, the same as that of tidegate.
func runsHome() string {
	if data := os.Getenv("XDG_DATA_HOME"); filepath.IsAbs(data) {
		return filepath.Join(data, "tidegate", "runs")
	}
	if home, err := os.UserHomeDir(); err == nil {
		return filepath.Join(home, ".local", "share", "tidegate", "runs")
	}
	return ""
}

// configDir is the folder of the user's own configuration, the same as that of
// tidegate; "" where the system has none.
func configDir() string {
	dir, err := os.UserConfigDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "tidegate")
}

func terminal() cli.Terminal {
	t := cli.Terminal{Input: term.IsTerminal(int(os.Stdin.Fd())), Progress: term.IsTerminal(int(os.Stderr.Fd()))}
	if t.Progress {
		if width, _, err := term.GetSize(int(os.Stderr.Fd())); err == nil {
			t.ErrWidth = width
		}
	}
	out := int(os.Stdout.Fd())
	if !term.IsTerminal(out) {
		return t
	}
	plain := os.Getenv("TERM") == "dumb"
	t.Color = os.Getenv("NO_COLOR") == "" && !plain
	if width, _, err := term.GetSize(out); err == nil {
		t.Width = width
	}
	if !plain && t.Width > 0 {
		t.Size = func() (columns, rows int) {
			columns, rows, err := term.GetSize(out)
			if err != nil {
				return 80, 24
			}
			return columns, rows
		}
	}
	return t
}

// released is the version of a release, which its build sets.
var released string

func version() string {
	if released != "" {
		return released
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}
