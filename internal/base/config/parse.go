package config

import (
	"errors"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/pelletier/go-toml/v2"
	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
)

// namedDrivers need no command and no address.
var namedDrivers = []string{"claude", "codex", "opencode", "gemini"}

// otherDrivers are named together with what they start or ask.
var otherDrivers = []string{"acp", "model", "exec", "recorded"}

// Services are those whose models are asked as api:NAME.
var Services = []string{"anthropic", "openai", "openrouter", "gemini", "ollama", "lmstudio"}

// SearchServices are the search services by name, in the order in which they are asked.
var SearchServices = []string{
	"searxng", "brave", "tavily", "wikipedia", "crossref", "arxiv", "europepmc", "pubmed", "serper", "exa", "openalex", "semanticscholar", "hackernews", "github", "duckduckgo",
}

var (
	modelName    = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._:/@-]*$`) })
	variableName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`) })
	addressForm  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^https?://[^ @?]+$`) })
	folderName   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9._-]{1,128}$`) })
	authorName   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[^<>\x00-\x1f]*[^<>\x00-\x20] <[^<>\x00-\x20]+>$`) })
	formatName   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z][a-z0-9-]*$`) })
)

// ParsesTOML says what keeps a text from being TOML.
func ParsesTOML(text []byte) error {
	var values map[string]any
	return toml.Unmarshal(text, &values)
}

// parse reads the text of a file at a path. It returns INVALID_ARGS.
func (p Places) parse(path string, text []byte) (Settings, error) {
	values := map[string]any{}
	if err := toml.Unmarshal(text, &values); err != nil {
		var syntax *toml.DecodeError
		if errors.As(err, &syntax) {
			line, _ := syntax.Position()
			return Settings{}, tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("config", path, "line", line),
				"line %d is not TOML: %s: %s", line, strings.TrimPrefix(syntax.Error(), "toml: "), path)
		}
		return Settings{}, tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("config", path), "not TOML (%w): %s", err, path)
	}
	r := &reader{path: path, source: text, formats: p.Formats}
	s := r.settings(table{reader: r, values: values, known: &[]string{}})
	if r.err != nil {
		return Settings{}, r.err
	}
	return s, nil
}

func (r *reader) settings(t table) Settings {
	s := Settings{
		Home: t.folder("home"), Roots: t.folders("roots"), Signers: t.folder("signers"), Changes: t.changes("changes"),
		Formats: map[string]string{}, Agents: map[string]Agent{},
	}
	formats := t.table("formats")
	for _, command := range formats.keys() {
		s.Formats[command] = formats.format(command)
	}
	agents := t.table("agents")
	s.Unconfined = agents.has("confine") && !agents.truth("confine")
	for _, role := range Roles {
		if agents.has(role) {
			s.Agents[role] = r.agent(agents.table(role))
		}
	}
	agents.end()
	fetch := t.table("fetch")
	s.Fetch = Fetch{fetch.texts("allow"), fetch.truth("proxy")}
	fetch.end()
	archive := t.table("archive")
	s.Archive = Archive{archive.truth("share"), archive.duration("fresh", MostFresh)}
	archive.end()
	search := t.table("search")
	s.Search = Search{Service: search.oneOf("service", SearchServices...), SearchPlace: search.place(), Places: map[string]SearchPlace{}}
	for _, name := range SearchServices {
		if search.has(name) {
			place := search.table(name)
			s.Search.Places[name] = place.place()
			place.end()
		}
	}
	search.end()
	review := t.table("review")
	s.Review = Review{review.text("test"), review.texts("ignore"), review.texts("guidelines")}
	review.end()
	change := t.table("change")
	s.Change = Change{change.matching("author", authorName, "NAME <ADDRESS>"), change.text("message")}
	change.end()
	t.end()
	return s
}

func (r *reader) agent(t table) Agent {
	a := Agent{
		Driver: t.driver("driver"), Model: t.matching("model", modelName, "the name of a model"),
		URL: t.matching("url", addressForm, "an address without a key in it"), Parallel: t.count("parallel"), KeyEnv: t.matching("key_env", variableName, "the name of an environment variable"), Env: t.variables("env"),
		Read: t.folders("read"), Write: t.folders("write"), Network: t.oneOf("network", "none", "model", "web"),
	}
	if t.has("idle_minutes") {
		if a.IdleMinutes = t.amount("idle_minutes"); a.IdleMinutes < 0.01 || a.IdleMinutes > 1440 {
			t.fault("idle_minutes", "must be a number from 0.01 to 1440")
		}
	}
	if t.has("price") {
		price := t.table("price")
		a.Price = &Price{price.amount("input"), price.amount("output")}
		price.end()
	}
	t.end()
	return a
}

// place reads where a search service is.
func (t table) place() SearchPlace {
	return SearchPlace{t.matching("url", addressForm, "an address without a key in it"), t.matching("key_env", variableName, "the name of an environment variable")}
}

// format reads how a command prints.
func (t table) format(command string) string {
	if t.formats == nil {
		return t.matching(command, formatName, "the name of a format")
	}
	formats := t.formats()
	names, ok := formats[command]
	if !ok {
		t.fault(command, "is not a command that prints in formats%s", meant(command, slices.Sorted(maps.Keys(formats))))
	}
	return t.oneOf(command, names...)
}

// variables reads names of environment variables. One that ends in * stands for
// all that begin with it.
func (t table) variables(key string) []string {
	names := t.texts(key)
	for _, name := range names {
		if !variableName().MatchString(strings.TrimSuffix(name, "*")) {
			t.fault(key, "must have names of environment variables, as ANTHROPIC_API_KEY or ANTHROPIC_*, got %q", name)
		}
	}
	return names
}

// changes reads a path inside a project.
func (t table) changes(key string) string {
	path := t.text(key)
	if path != "" && !insideProject(path) {
		t.fault(key, "must be %s, got %q", changesRule, path)
	}
	return path
}

const changesRule = "a folder inside the project, such as agentd or tools/reviews"

// insideProject reports whether a path leads to a folder in a project that is not
// git's own.
func insideProject(path string) bool {
	for part := range strings.SplitSeq(path, "/") {
		if !folderName().MatchString(part) || part == "." || part == ".." || strings.EqualFold(part, ".git") {
			return false
		}
	}
	return true
}

// driver reads the name of a driver, with what it starts or asks.
func (t table) driver(key string) string {
	text := t.text(key)
	kind, what, given := strings.Cut(text, ":")
	switch {
	case text == "", isNamed(text):
	case given && kind == "api" && contains(Services, what):
	case given && kind == "api":
		t.fault(key, "must name one of %s after api:, got %q%s", strings.Join(Services, ", "), what, meant(what, Services))
	case contains(Services, text):
		t.fault(key, "must be one of %s, got %q; did you mean api:%s?", strings.Join(namedDrivers, ", "), text, text)
	case given && contains(otherDrivers, kind) && strings.TrimSpace(what) != "":
	case contains(otherDrivers, kind):
		t.fault(key, "must say what it starts or asks: %s:…", kind)
	default:
		t.fault(key, "must be one of %s, or %s with what they start or ask, got %q%s", strings.Join(namedDrivers, ", "), "api:, "+strings.Join(otherDrivers, ":, ")+":", text, meant(kind, slices.Concat(otherDrivers, namedDrivers)))
	}
	return text
}

func isNamed(driver string) bool { return contains(namedDrivers, driver) }

// folder reads a path. A relative one is taken from the folder of the file.
func (t table) folder(key string) string {
	path := t.text(key)
	if path == "" {
		return ""
	}
	return absolute(filepath.Dir(t.path), path)
}

func (t table) folders(key string) []string {
	paths := t.texts(key)
	for i, path := range paths {
		paths[i] = absolute(filepath.Dir(t.path), path)
	}
	return paths
}

func absolute(dir, path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(dir, path)
}

// meant is what a word probably stands for, as the end of a sentence.
func meant(word string, names []string) string {
	if name := codec.Nearest(word, names); name != "" {
		return "; did you mean " + name + "?"
	}
	return ""
}
