package config

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math"
	"net/netip"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
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
		Read: t.folders("read"), Write: t.folders("write"), Network: t.oneOf("network", "none", "model", "web"), ModelAddress: t.text("model_address"),
	}
	if _, err := netip.ParseAddrPort(a.ModelAddress); err != nil && a.ModelAddress != "" {
		t.fault("model_address", "must be an IP address with a port, such as 127.0.0.1:8080, got %q", a.ModelAddress)
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

// reader reads the values of one file, and keeps the first fault.
type reader struct {
	path   string
	source []byte
	err    error

	formats func() map[string][]string // what each command can print, nil where any name is taken
}

// table is one table of a file. Its methods read a value, or nothing where it is
// absent, and note a fault where it is of another kind.
type table struct {
	*reader
	name   string // with a dot at its end; "" for the whole file
	values map[string]any
	known  *[]string // keys that were asked for
}

func (t table) fault(key, format string, args ...any) {
	if t.err == nil {
		key = t.name + key
		line := lineOf(linesOf(t.source), key)
		t.err = tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("config", t.path, "line", line, "key", tidegate.Cut(key)),
			"line %d: %s %s: %s", line, tidegate.Cut(key), fmt.Sprintf(format, args...), t.path)
	}
}

func (t table) keys() []string { return slices.Sorted(maps.Keys(t.values)) }

func (t table) has(key string) bool {
	_, ok := t.take(key)
	return ok
}

// take is the value of a key, which counts as known afterwards.
func (t table) take(key string) (any, bool) {
	*t.known = append(*t.known, key)
	value, ok := t.values[key]
	return value, ok
}

// end notes the first key, in byte order, that nobody asked for.
func (t table) end() {
	for _, key := range t.keys() {
		if !contains(*t.known, key) {
			t.fault(key, "is not known here%s", meant(key, *t.known))
			return
		}
	}
}

func (t table) table(key string) table {
	inner := table{reader: t.reader, name: t.name + key + ".", known: &[]string{}}
	value, ok := t.take(key)
	if inner.values, _ = value.(map[string]any); ok && inner.values == nil {
		t.fault(key, "must be a table")
	}
	return inner
}

func (t table) text(key string) string {
	value, ok := t.take(key)
	text, isText := value.(string)
	if ok && (!isText || strings.TrimSpace(text) == "" || strings.ContainsRune(text, 0)) {
		t.fault(key, "must be a text that is not blank")
	}
	return text
}

func (t table) texts(key string) []string {
	value, ok := t.take(key)
	list, isList := value.([]any)
	if ok && !isList {
		t.fault(key, "must be a list of texts")
	}
	var texts []string
	for _, value := range list {
		text, isText := value.(string)
		if !isText || strings.TrimSpace(text) == "" || strings.ContainsRune(text, 0) {
			t.fault(key, "must be a list of texts that are not blank")
		}
		texts = append(texts, text)
	}
	return texts
}

func (t table) truth(key string) bool {
	value, ok := t.take(key)
	truth, isTruth := value.(bool)
	if ok && !isTruth {
		t.fault(key, "must be true or false")
	}
	return truth
}

// count reads an integer of at least 1.
func (t table) count(key string) int {
	value, ok := t.take(key)
	n, isInt := value.(int64)
	if ok && (!isInt || n < 1 || n > math.MaxInt32) {
		t.fault(key, "must be an integer of at least 1")
	}
	return int(n)
}

// amount reads a number of at least 0, which must be there.
func (t table) amount(key string) float64 {
	value, _ := t.take(key)
	amount, isFloat := value.(float64)
	if n, isInt := value.(int64); isInt {
		amount, isFloat = float64(n), true
	}
	if !isFloat || !(amount >= 0) || math.IsInf(amount, 0) {
		t.fault(key, "must be a number of at least 0")
	}
	return amount
}

// duration reads a text such as 24h.
func (t table) duration(key string, most time.Duration) string {
	text := t.text(key)
	if d, err := time.ParseDuration(text); text != "" && (err != nil || d < time.Minute || d > most) {
		t.fault(key, "must be a duration of a minute or more and of %g hours at most, such as \"24h\"", most.Hours())
	}
	return text
}

// matching reads a text of a certain form.
func (t table) matching(key string, form func() *regexp.Regexp, what string) string {
	text := t.text(key)
	if text != "" && !form().MatchString(text) {
		t.fault(key, "must be %s (%s), got %q", what, strings.Trim(form().String(), "^$"), text)
	}
	return text
}

func (t table) oneOf(key string, names ...string) string {
	text := t.text(key)
	if text != "" && !contains(names, text) {
		t.fault(key, "must be one of %s, got %q%s", strings.Join(names, ", "), text, meant(text, names))
	}
	return text
}

func contains(names []string, name string) bool { return slices.Contains(names, name) }

// deepest is how many parts a key of a file can have: agents.ROLE.price.input.
// Deeper keys are faults; they get the line of the part that is known.
const deepest = 4

// finder finds the lines of keys in a text that is TOML, in one pass.
type finder struct {
	parser unstable.Parser
	lines  map[string]int
	offset uint32 // up to which lines were counted
	line   int    // of that offset
}

// linesOf finds the line of every key and table in a text that is TOML.
func linesOf(text []byte) map[string]int {
	f := &finder{lines: map[string]int{}, line: 1}
	f.parser.Reset(text)
	table := ""
	for f.parser.NextExpression() {
		switch e := f.parser.Expression(); e.Kind {
		case unstable.Table, unstable.ArrayTable:
			table = f.note("", e)
		case unstable.KeyValue:
			f.noteValue(table, e, 0)
		}
	}
	return f.lines
}

// note notes the line of the key of a node in a table, and of the tables that the
// key names on the way, and returns its whole name.
func (f *finder) note(table string, node *unstable.Node) string {
	name, depth := table, strings.Count(table, ".")
	for keys := node.Key(); keys.Next() && depth < deepest; depth++ {
		part := keys.Node()
		name = strings.TrimPrefix(name+"."+string(part.Data), ".")
		if _, known := f.lines[name]; !known {
			f.lines[name] = f.lineAt(part.Raw.Offset)
		}
	}
	return name
}

func (f *finder) noteValue(table string, node *unstable.Node, depth int) {
	name := f.note(table, node)
	if node.Value().Kind != unstable.InlineTable || depth == deepest {
		return
	}
	for inner := node.Value().Children(); inner.Next(); {
		if inner.Node().Kind == unstable.KeyValue {
			f.noteValue(name, inner.Node(), depth+1)
		}
	}
}

// lineAt is the line of an offset. Keys come in the order of the text.
func (f *finder) lineAt(offset uint32) int {
	if offset > f.offset {
		f.line += bytes.Count(f.parser.Data()[f.offset:offset], []byte("\n"))
		f.offset = offset
	}
	return f.line
}

// lineOf is the line of a key, or of the nearest table above it that has one.
func lineOf(lines map[string]int, key string) int {
	for {
		if line, ok := lines[key]; ok {
			return line
		}
		cut := strings.LastIndexByte(key, '.')
		if cut < 0 {
			return 0
		}
		key = key[:cut]
	}
}
