package dispatch

import (
	"os"
	"path/filepath"
	"time"

	"github.com/tidegate/tidegate"
)

// ProcessEnv is what the system tells this process: its folders, variables and clock.
// Records name it by program. It returns READ_FAILED where the working folder cannot
// be found, and INVALID_ARGS for a TIDEGATE_NOW that is not a time.
func ProcessEnv(program string) (*Env, error) {
	dir, err := os.Getwd()
	if err != nil {
		return nil, tidegate.Errorf(tidegate.ReadFailed, nil, "the working folder cannot be found: %w", err)
	}
	env := &Env{
		Now: time.Now, Dir: dir, Project: dir, Home: runsHome(), Program: program,
		SignKey: os.Getenv("TIDEGATE_SIGN_KEY"), AgentSocket: os.Getenv("SSH_AUTH_SOCK"),
		ConfigDir: configDir(), Getenv: os.Getenv,
	}
	if pinned := os.Getenv("TIDEGATE_NOW"); pinned != "" {
		at, err := time.Parse(time.RFC3339, pinned)
		if err != nil {
			return nil, tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("TIDEGATE_NOW", pinned), "TIDEGATE_NOW must be a time such as 2026-01-02T15:04:05Z, got %q", pinned)
		}
		env.Now, env.Pinned = func() time.Time { return at }, true
	}
	return env, nil
}

// runsHome is the folder that the system has for the data of programs.
func runsHome() string {
	if data := os.Getenv("XDG_DATA_HOME"); filepath.IsAbs(data) {
		return filepath.Join(data, "tidegate", "runs")
	}
	if home, err := os.UserHomeDir(); err == nil {
		return filepath.Join(home, ".local", "share", "tidegate", "runs")
	}
	return ""
}

// configDir is the folder of the user's own configuration, "" where the system
// has none.
func configDir() string {
	dir, err := os.UserConfigDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "tidegate")
}
