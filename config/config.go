package config

import (
	"context"
	"io"
	"path/filepath"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/artifact"
	"github.com/tidegate/tidegate/codec"
)

const (
	// FileName is the name of a file with configuration.
	FileName = "tidegate.toml"
	// AllowVariable is the environment variable with what fetch allows, separated
	// by commas, in the place of what files say.
	AllowVariable = "TIDEGATE_FETCH_ALLOW"

	maxFile = 64 << 10
)

// Places are where configuration is looked for.
type Places struct {
	Dir    string              // the working folder, absolute
	User   string              // the folder of the user's own file and of what it trusts; "" for none
	Getenv func(string) string // nil for no environment
}

// Config is what counts, and where it comes from.
type Config struct {
	Settings
	Project *Source // nil where there is no file
	User    *Source
}

// Source is a file that was read.
type Source struct {
	Path    string
	Digest  string
	Trusted bool     // everything in it counts
	Waiting []string // keys that do not count before a person trusts the file, in order
}

// Load reads the configuration. It returns INVALID_ARGS for a file that is wrong,
// naming file and key, and READ_FAILED for one that cannot be read.
func Load(ctx context.Context, places Places) (Config, error) {
	ctx = artifact.WithoutRoots(ctx) // a caller of a tool names none of these files
	var c Config
	user, source, err := places.user(ctx)
	if err != nil {
		return Config{}, err
	}
	c.User = source
	project, source, err := places.project(ctx)
	if err != nil {
		return Config{}, err
	}
	c.Project = source
	c.Settings = project.over(user)
	if places.Getenv != nil {
		if allow := places.Getenv(AllowVariable); allow != "" {
			c.Fetch.Allow = strings.Split(allow, ",")
		}
	}
	return c, nil
}

// user reads the user's own file, all of which counts.
func (p Places) user(ctx context.Context) (Settings, *Source, error) {
	if p.User == "" {
		return Settings{}, nil, nil
	}
	settings, source, err := read(ctx, filepath.Join(p.User, FileName))
	if source != nil {
		source.Trusted = true
	}
	return settings, source, err
}

// project reads the nearest file at or above the working folder, as far as it
// counts.
func (p Places) project(ctx context.Context) (Settings, *Source, error) {
	for dir := filepath.Clean(p.Dir); ; dir = filepath.Dir(dir) {
		settings, source, err := read(ctx, filepath.Join(dir, FileName))
		if err != nil {
			return Settings{}, nil, err
		}
		if source != nil {
			if source.Trusted, err = p.trusts(ctx, source); err != nil {
				return Settings{}, nil, err
			}
			if !source.Trusted {
				settings, source.Waiting = untrusted(settings, dir)
			}
			return settings, source, nil
		}
		if dir == filepath.Dir(dir) {
			return Settings{}, nil, nil
		}
	}
}

// read reads a file; its source is nil where there is none.
func read(ctx context.Context, path string) (Settings, *Source, error) {
	file, err := artifact.OpenFile(ctx, "config", path)
	if tidegate.CodeOf(err) == tidegate.FileNotFound {
		return Settings{}, nil, nil
	}
	if err != nil {
		return Settings{}, nil, err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxFile+1))
	if err != nil {
		return Settings{}, nil, tidegate.Errorf(tidegate.ReadFailed, tidegate.D("config", path), "cannot read (%w): %s", err, path)
	}
	if len(text) > maxFile {
		return Settings{}, nil, tidegate.Errorf(tidegate.InvalidArgs, tidegate.D("config", path), "a configuration must not have more than %d bytes: %s", maxFile, path)
	}
	settings, err := parse(path, text)
	if err != nil {
		return Settings{}, nil, err
	}
	return settings, &Source{Path: path, Digest: codec.DigestBytes(text)}, nil
}
