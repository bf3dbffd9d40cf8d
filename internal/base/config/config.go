package config

import (
	"cmp"
	"context"
	_ "embed"
	"io"
	"io/fs"
	"maps"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"unicode"

	"golang.org/x/text/unicode/norm"

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

var (
	//go:embed lists/configures.txt
	configuresList string
	//go:embed lists/obeyed.txt
	obeyedList string
)

// Names of the lists.
var (
	configuring = sync.OnceValue(func() map[string]bool { return listed(configuresList) })
	obeyed      = sync.OnceValue(func() map[string]bool { return listed(obeyedList) })
)

func listed(list string) map[string]bool {
	names := map[string]bool{}
	for line := range strings.Lines(list) {
		if name := strings.TrimSpace(line); name != "" && name[0] != '#' {
			names[name] = true
		}
	}
	return names
}

// Configures reports whether clients take a file of a project, by its path in it, for
// a part of their configuration.
func Configures(name string) bool {
	name = strings.ToLower(name)
	for part := range strings.SplitSeq(name, "/") {
		if configuring()[part] {
			return true
		}
	}
	return configuring()[name]
}

// Folded is a name as systems compare it that heed neither the case of letters nor whether
// a letter and its accent are one character.
func Folded(name string) string {
	return norm.NFC.String(strings.ToLower(strings.ToUpper(norm.NFC.String(name))))
}

// devices are names that Windows keeps for devices, whatever follows a dot.
var devices = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?i:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[0-9\x{b9}\x{b2}\x{b3}]) *(?:\.|$)`)
})

// Obeyed says why a system or another program could take orders from a file or folder of that
// name, wherever it lies; "" when none does.
func Obeyed(name string) string {
	switch folded := Folded(name); {
	case strings.HasPrefix(name, "."):
		return "it is hidden"
	case strings.ContainsFunc(name, func(r rune) bool { return unicode.Is(unicode.Cf, r) }):
		return "some systems leave out a character of its name"
	case obeyed()[folded], Configures(folded):
		return "programs take instructions from a file of that name"
	case devices().MatchString(name), strings.ContainsAny(name, `<>:"|?*`), strings.HasSuffix(name, "."), strings.HasSuffix(name, " "):
		return "Windows has no file of that name"
	}
	return ""
}

// trustFile lists, in the user's folder, the files that a person trusts.
const trustFile = "trusted.json"

const trustVersion = "trusted.v1"

// trusted is the list: files by path, with the digest that they had.
type trusted struct {
	SchemaVersion string        `json:"schema_version"`
	Files         []trustedFile `json:"files"`
}

type trustedFile struct {
	Path   string `json:"path"`
	Digest string `json:"digest"`
}

var trustShape = codec.Table(
	codec.Field{Name: "schema_version", Shape: codec.Version(trustVersion)},
	codec.Field{Name: "files", Shape: codec.List(codec.Table(
		codec.Field{Name: "path", Shape: codec.NotBlank()},
		codec.Field{Name: "digest", Shape: codec.NotBlank()},
	), 0)},
)

// untrusted is what counts of a project's file that nobody has trusted, and the
// keys that do not count.
func untrusted(s Settings, dir string) (Settings, []string) {
	counts := Settings{Formats: s.Formats, Agents: map[string]Agent{}, Review: Review{Ignore: s.Review.Ignore, Guidelines: s.Review.Guidelines}}
	for role, agent := range s.Agents {
		if isNamed(agent.Driver) || agent.Driver == "" { // else the model belongs to a driver that waits
			counts.Agents[role] = Agent{Driver: agent.Driver, Model: agent.Model}
		}
	}
	for _, root := range s.Roots {
		if real, ok := realInside(dir, root); ok {
			counts.Roots = append(counts.Roots, real)
		}
	}
	counted := counts.leaves()
	var waiting []string
	for key, value := range s.leaves() {
		if counted[key] != value {
			waiting = append(waiting, key)
		}
	}
	slices.Sort(waiting)
	return counts, waiting
}

// everybodyWrites reports whether every user of the machine can put a file into a
// folder, as into that of temporary files. It returns false where it cannot find out.
func everybodyWrites(dir string) bool {
	if runtime.GOOS == "windows" { // its folders have no such mode
		return false
	}
	folder, err := artifact.Everywhere.Open("config", dir)
	if err != nil {
		return false
	}
	defer folder.Close()
	info, err := fs.Stat(folder.FS(), ".")
	return err == nil && info.Mode().Perm()&0o002 != 0
}

// realInside is where a folder really is, if that is inside dir. It refuses a link
// that leads out, and a folder that does not exist, because it may become such a link.
func realInside(dir, folder string) (string, bool) {
	real, err := filepath.EvalSymlinks(folder)
	if err != nil {
		return "", false
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return "", false
	}
	_, inside := artifact.Inside(dir, real)
	return real, inside
}

// trusts reports whether a person has trusted a file as it is.
func (p Places) trusts(source *Source) (bool, error) {
	if p.User == "" {
		return false, nil
	}
	list, err := readTrusted(p.User)
	if err != nil {
		return false, err
	}
	return slices.Contains(list.Files, trustedFile{source.Path, source.Digest}), nil
}

func readTrusted(user string) (trusted, error) {
	list := trusted{SchemaVersion: trustVersion, Files: []trustedFile{}}
	doc, err := artifact.Everywhere.ReadJSON("trusted", filepath.Join(user, trustFile))
	if tidegate.CodeOf(err) == tidegate.FileNotFound {
		return list, nil
	}
	if err == nil {
		err = trustShape.Check(doc)
	}
	if err != nil {
		return list, err
	}
	for _, file := range doc.Get("files").Elems() {
		list.Files = append(list.Files, trustedFile{file.Get("path").Str(), file.Get("digest").Str()})
	}
	return list, nil
}

// Trust lets everything in a project's file count from now on, as long as it is
// the file that the person has seen: the one that [Load] returned. It keeps the
// digest in the user's folder. It returns INVALID_STATE for an actor that is not a
// person, and where the user's folder is not known, and WRITE_FAILED.
func (p Places) Trust(ctx context.Context, source Source) error {
	if tidegate.ActorOf(ctx).Kind != tidegate.Person {
		return tidegate.Errorf(tidegate.InvalidState, tidegate.Pairs("config", source.Path), "only a person trusts a configuration, with `tidegate config trust`: %s", source.Path)
	}
	if p.User == "" {
		return tidegate.Errorf(tidegate.InvalidState, tidegate.Pairs("config", source.Path), "the folder for the user's configuration is not known, so nothing can be trusted")
	}
	list, err := readTrusted(p.User)
	if err != nil {
		return err
	}
	list.Files = slices.DeleteFunc(list.Files, func(file trustedFile) bool { return file.Path == source.Path })
	list.Files = append(list.Files, trustedFile{source.Path, source.Digest})
	slices.SortFunc(list.Files, func(a, b trustedFile) int { return strings.Compare(a.Path, b.Path) })
	data, err := codec.MarshalFile(list)
	if err != nil {
		return err
	}
	return p.Write("trusted", trustFile, data)
}

// Write writes a file into the user's folder, which is made where there is none. It
// returns WRITE_FAILED and READ_FAILED.
func (p Places) Write(arg, name string, data []byte) error {
	folder, err := artifact.Everywhere.Open(arg, p.User)
	if tidegate.CodeOf(err) == tidegate.FileNotFound {
		return artifact.Everywhere.CreateFolder(arg, p.User, func(d *artifact.Draft) error { return d.Write(name, data) })
	}
	if err != nil {
		return err
	}
	defer folder.Close()
	return folder.Write(name, data)
}

// Add adds tables to the user's own file, and makes the file where there is none. It
// returns the path. It returns INVALID_STATE for an actor that is not a person, and
// where the user's folder is not known, INVALID_ARGS where the file would be wrong
// afterwards, READ_FAILED and WRITE_FAILED. In each case the file is as it was.
func (p Places) Add(ctx context.Context, tables string) (string, error) {
	path := filepath.Join(p.User, FileName)
	if tidegate.ActorOf(ctx).Kind != tidegate.Person || p.User == "" {
		return "", tidegate.Errorf(tidegate.InvalidState, tidegate.Pairs("config", path), "only a person sets up tidegate, in a configuration folder that is known")
	}
	before, err := artifact.Everywhere.ReadFile("config", path)
	if err != nil && tidegate.CodeOf(err) != tidegate.FileNotFound {
		return "", err
	}
	text := string(before)
	if text != "" {
		text = strings.TrimRight(text, "\n") + "\n\n"
	}
	text += tables
	if _, err := p.parse(path, []byte(text)); err != nil {
		return "", err
	}
	return path, p.Write("config", FileName, []byte(text))
}
