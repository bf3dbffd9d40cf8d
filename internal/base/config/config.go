package config

import (
	"cmp"
	"context"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/codec"
)

const (
	// FileName is the name of a file with configuration.
	FileName = "tidegate.toml"
	// HomeVariable is the environment variable that overrides home.
	HomeVariable = "TIDEGATE_HOME"
	// AllowVariable is the environment variable with what fetch allows, separated
	// by commas. It replaces what files say.
	AllowVariable = "TIDEGATE_FETCH_ALLOW"

	// ChangesVariable is the environment variable that overrides changes.
	ChangesVariable = "TIDEGATE_CHANGES"

	maxFile = 64 << 10
)

// Places are where configuration is looked for.
type Places struct {
	Dir    string              // the working folder, absolute
	User   string              // the folder of the user's own file and of what it trusts; "" for none
	Getenv func(string) string // nil for no environment
	// Formats lists what each command can print, by its name. Where it is nil,
	// any name of a command or a format is accepted.
	Formats func() map[string][]string
	// At reads the project's files in the place of those on the disk; found is false
	// where there is no such file. Nil: those on the disk count.
	At func(ctx context.Context, path string) (text []byte, found bool, err error)
}

// Config is what counts, and where it comes from.
type Config struct {
	Settings
	Project *Source // nil where there is no file
	User    *Source

	layers  []layer  // the strongest first
	outside []string // roots of the project's file that do not count
}

// Source is a file that was read.
type Source struct {
	Path    string
	Digest  string
	Trusted bool     // everything in it counts
	Waiting []string // keys that do not count before a person trusts the file, in order

	lines map[string]int
	open  bool // everybody can write to its folder, so nobody knows whose it is
}

// Waits reports whether a file has keys of one of these names, the last part of the
// key, that do not count before a person trusts it. No file has none.
func (s *Source) Waits(names ...string) bool {
	return s != nil && slices.ContainsFunc(s.Waiting, func(key string) bool { return slices.Contains(names, key[strings.LastIndexByte(key, '.')+1:]) })
}

// environment is the name of the layer of variables.
const environment = "the environment"

// Load reads the configuration. It returns INVALID_ARGS for a variable that is
// wrong, and for a file, naming file, line and key, and READ_FAILED for a file that
// cannot be read. What the environment says counts even then.
func Load(ctx context.Context, places Places) (Config, error) {
	variables, err := places.environment()
	without := Config{Settings: variables}
	if err != nil {
		return without, err
	}
	user, userSource, err := places.user(ctx)
	if err != nil {
		return without, err
	}
	said, project, projectSource, err := places.project(ctx)
	if err != nil {
		return without, err
	}
	c := Config{Settings: project.over(user), Project: projectSource, User: userSource}
	c.Home = cmp.Or(variables.Home, c.Home)
	c.Changes = cmp.Or(variables.Changes, c.Changes)
	c.Fetch.Allow = listOr(variables.Fetch.Allow, c.Fetch.Allow)
	c.layers = append(c.layers, layer{variables, variables, variableOf, environment})
	if projectSource != nil {
		c.layers = append(c.layers, layer{said, project, projectSource.at, "the project's file"})
		for _, root := range said.Roots {
			if !slices.Contains(project.Roots, root) {
				c.outside = append(c.outside, root)
			}
		}
	}
	if userSource != nil {
		c.layers = append(c.layers, layer{user, user, userSource.at, "the user's file"})
	}
	return c, nil
}

// environment is what variables say.
func (p Places) environment() (Settings, error) {
	var s Settings
	if p.Getenv == nil {
		return s, nil
	}
	if home := p.Getenv(HomeVariable); home != "" {
		s.Home = absolute(p.Dir, home)
	}
	if allow := p.Getenv(AllowVariable); allow != "" {
		s.Fetch.Allow = strings.Split(allow, ",")
	}
	if changes := p.Getenv(ChangesVariable); changes != "" {
		if !insideProject(changes) {
			return s, tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs(ChangesVariable, tidegate.Cut(changes)), "%s must be %s, got %q", ChangesVariable, changesRule, tidegate.Cut(changes))
		}
		s.Changes = changes
	}
	return s, nil
}

// variableOf is the variable that overrides a key.
func variableOf(key string) string {
	switch key {
	case "home":
		return HomeVariable
	case "changes":
		return ChangesVariable
	}
	return AllowVariable
}

// user reads the user's own file, all of which counts.
func (p Places) user(ctx context.Context) (Settings, *Source, error) {
	if p.User == "" {
		return Settings{}, nil, nil
	}
	settings, source, err := p.read(filepath.Join(p.User, FileName))
	if source != nil {
		source.Trusted = true
	}
	return settings, source, err
}

// project reads the nearest file at or above the working folder: what it says, and
// which part of that counts.
func (p Places) project(ctx context.Context) (said, counts Settings, source *Source, err error) {
	for dir := filepath.Clean(p.Dir); ; dir = filepath.Dir(dir) {
		said, source, err = p.readProject(ctx, filepath.Join(dir, FileName))
		if err != nil || source == nil && dir == filepath.Dir(dir) {
			return Settings{}, Settings{}, nil, err
		}
		if source == nil {
			continue
		}
		if source.Trusted, err = p.trusts(source); err != nil {
			return Settings{}, Settings{}, nil, err
		}
		for i, root := range said.Roots {
			if real, ok := realInside(dir, root); ok {
				said.Roots[i] = real
			}
		}
		counts = said
		if !source.Trusted {
			counts, source.Waiting = untrusted(said, dir)
			if source.open = everybodyWrites(dir); source.open {
				counts, source.Waiting = Settings{}, slices.Sorted(maps.Keys(said.leaves()))
			}
		}
		return said, counts, source, nil
	}
}

// read reads a file; its source is nil where there is none.
func (p Places) read(path string) (Settings, *Source, error) {
	file, err := artifact.Everywhere.OpenFile("config", path)
	if err != nil {
		return Settings{}, nil, artifact.UnlessMissing(err)
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxFile+1))
	if err != nil {
		return Settings{}, nil, tidegate.Errorf(tidegate.ReadFailed, tidegate.Pairs("config", path), "cannot read (%w): %s", err, path)
	}
	return p.parsed(path, text)
}

// readProject reads a file of the project.
func (p Places) readProject(ctx context.Context, path string) (Settings, *Source, error) {
	if p.At == nil {
		return p.read(path)
	}
	text, found, err := p.At(ctx, path)
	if err != nil || !found {
		return Settings{}, nil, err
	}
	return p.parsed(path, text)
}

// parsed is what the text of a file says.
func (p Places) parsed(path string, text []byte) (Settings, *Source, error) {
	if len(text) > maxFile {
		return Settings{}, nil, tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("config", path), "a configuration must not have more than %d bytes: %s", maxFile, path)
	}
	settings, err := p.parse(path, text)
	if err != nil {
		return Settings{}, nil, err
	}
	return settings, &Source{Path: path, Digest: codec.DigestBytes(text), lines: linesOf(text)}, nil
}
