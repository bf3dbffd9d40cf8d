package config

import (
	"cmp"
	_ "embed"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/pelletier/go-toml/v2"

	"github.com/tidegate/tidegate/internal/base/codec"
)

// Settings are what a file says. Paths in it are absolute.
type Settings struct {
	Home    string // the folder that holds the folder of runs
	Roots   []string
	Signers string
	Changes string            // the folder of a project that holds code changes, inside it, with slashes
	Formats map[string]string // by the name of the command
	Agents  map[string]Agent  // by role
	// Unconfined lets agents work without a cell.
	Unconfined bool
	Fetch      Fetch
	Archive    Archive
	Search     Search
	Review     Review
	Change     Change
}

// Agent is what does the work of a role.
type Agent struct {
	Driver   string
	Model    string
	Parallel int // 0 where nothing is said
	// IdleMinutes is how long the agent may be silent; 0 where nothing is said.
	IdleMinutes float64
	Price       *Price
	URL         string // of a service that has a name
	KeyEnv      string // the environment variable that holds the key of a model
	// Env names further variables of the person's environment that the agent gets.
	// A name that ends in * stands for all that begin with it.
	Env []string
	// What agents of the role find in their cell besides.
	Read, Write []string // files and folders
	Network     string   // none, model or web
	// ModelAddress is the model on this machine, as IP:PORT, that an agent whose driver is a
	// program reaches with the network model.
	ModelAddress string
}

// Price is what tokens cost, in USD per million.
type Price struct{ Input, Output float64 }

// Fetch is how pages are fetched.
type Fetch struct {
	Allow []string // hosts, host:port and CIDR prefixes beyond what is public
	Proxy bool     // use the proxies that the environment names
}

// Archive is whether the runs of a home share what they fetched.
type Archive struct {
	Share bool
	Fresh string // how old a page may be that is used again, such as 24h; "" where nothing is said
}

// MostFresh is the largest [Archive.MaxAge].
const MostFresh = 30 * 24 * time.Hour

// MaxAge is how old a shared page may be.
func (a Archive) MaxAge() time.Duration {
	age, _ := time.ParseDuration(cmp.Or(a.Fresh, "24h"))
	return age
}

// Search is which services agents search with.
type Search struct {
	Service     string // the one that is asked first
	SearchPlace        // of that one
	Places      map[string]SearchPlace
}

// SearchPlace is where a search service is, and the variable that holds its key. What is
// empty is the service's own.
type SearchPlace struct{ URL, KeyEnv string }

// Named are the services that a file names, the one that is asked first before the
// others.
func (s Search) Named() []string {
	var names []string
	for _, name := range SearchServices {
		if _, given := s.Places[name]; given && name != s.Service {
			names = append(names, name)
		}
	}
	if s.Service != "" {
		names = append([]string{s.Service}, names...)
	}
	return names
}

// Of is where a service is.
func (s Search) Of(service string) SearchPlace {
	place := s.Places[service]
	if service == s.Service {
		place = SearchPlace{cmp.Or(place.URL, s.URL), cmp.Or(place.KeyEnv, s.KeyEnv)}
	}
	return place
}

// Review is how code is reviewed.
type Review struct {
	Test       string
	Ignore     []string // globs of files that no reviewer is shown
	Guidelines []string // files that say how the project wants its code
}

// Change is how the work of agents on a code change is committed.
type Change struct {
	Author  string // as git writes it, NAME <ADDRESS>
	Message string // in which {change} and {round} stand for those of the commit
}

// DefaultRole is the role that fills in what other roles leave out.
const DefaultRole = "default"

// Roles are the roles to which a file may give an agent.
var Roles = []string{DefaultRole, "planner", "researcher", "summarizer", "writer", "reviewer", Verifier, "implementer", CodeReviewer}

// CodeReviewer is the role that reviews code.
const CodeReviewer = "code_reviewer"

// Verifier is the role that reads the sentences of a report against their pages.
const Verifier = "verifier"

// Agent is what a role uses: what its own table says, then the default. A reviewer
// of code, and a verifier, is a reviewer where nothing else is said. Who verifies a code review
// is the verifier, and what follows a dot in a role counts a panel.
func (s Settings) Agent(role string) Agent {
	if role, _, _ = strings.Cut(role, "."); role == "code_verifier" {
		role = Verifier
	}
	if role == CodeReviewer || role == Verifier {
		return s.Agents[role].over(s.Agent("reviewer"))
	}
	return s.Agents[role].over(s.Agents[DefaultRole])
}

// over is what a and below say together. A model, a price, an address, a key and
// variables belong to a driver: where a names a driver, nothing of another is taken over.
func (a Agent) over(below Agent) Agent {
	a.Parallel = cmp.Or(a.Parallel, below.Parallel)
	a.Read = listOr(a.Read, below.Read)
	a.Write = listOr(a.Write, below.Write)
	a.Network = cmp.Or(a.Network, below.Network)
	a.ModelAddress = cmp.Or(a.ModelAddress, below.ModelAddress)
	a.IdleMinutes = cmp.Or(a.IdleMinutes, below.IdleMinutes)
	if a.Driver != "" {
		return a
	}
	a.Driver = below.Driver
	if a.Model == "" {
		a.Model, a.Price = below.Model, below.Price
	}
	a.URL = cmp.Or(a.URL, below.URL)
	a.KeyEnv = cmp.Or(a.KeyEnv, below.KeyEnv)
	a.Env = listOr(a.Env, below.Env)
	return a
}

// over is what s and below say together, s first.
func (s Settings) over(below Settings) Settings {
	s.Home = cmp.Or(s.Home, below.Home)
	s.Signers = cmp.Or(s.Signers, below.Signers)
	s.Changes = cmp.Or(s.Changes, below.Changes)
	s.Roots = append(slices.Clone(below.Roots), s.Roots...)
	s.Formats = overlay(s.Formats, below.Formats, func(s, _ string) string { return s })
	s.Agents = overlay(s.Agents, below.Agents, Agent.over)
	s.Unconfined = s.Unconfined || below.Unconfined
	s.Fetch.Allow = append(slices.Clone(below.Fetch.Allow), s.Fetch.Allow...)
	s.Fetch.Proxy = s.Fetch.Proxy || below.Fetch.Proxy
	s.Archive.Share = s.Archive.Share || below.Archive.Share
	s.Archive.Fresh = cmp.Or(s.Archive.Fresh, below.Archive.Fresh)
	if s.Search.Service == "" && s.Search.SearchPlace == (SearchPlace{}) {
		s.Search.Service, s.Search.SearchPlace = below.Search.Service, below.Search.SearchPlace
	}
	s.Search.Places = overlay(s.Search.Places, below.Search.Places, func(s, below SearchPlace) SearchPlace {
		return SearchPlace{cmp.Or(s.URL, below.URL), cmp.Or(s.KeyEnv, below.KeyEnv)}
	})
	s.Review.Test = cmp.Or(s.Review.Test, below.Review.Test)
	s.Review.Ignore = append(slices.Clone(below.Review.Ignore), s.Review.Ignore...)
	s.Review.Guidelines = listOr(s.Review.Guidelines, below.Review.Guidelines)
	s.Change.Author = cmp.Or(s.Change.Author, below.Change.Author)
	s.Change.Message = cmp.Or(s.Change.Message, below.Change.Message)
	return s
}

// listOr is the first of two lists that is given.
func listOr(above, below []string) []string {
	if above != nil {
		return above
	}
	return below
}

func overlay[V any](above, below map[string]V, join func(above, below V) V) map[string]V {
	all := map[string]V{}
	maps.Copy(all, below)
	for name, value := range above {
		if under, ok := below[name]; ok {
			value = join(value, under)
		}
		all[name] = value
	}
	return all
}

// Entry is a value that something gives a key: a file, the environment, or the
// program itself where nothing else does.
type Entry struct {
	Key    string `json:"key"`
	Value  string `json:"value"` // as in a file; in words for what the program does by itself
	From   string `json:"from"`  // "file:line", the name of a variable, or "default"
	Counts bool   `json:"counts"`
	Why    string `json:"why"` // why it does not count
}

// DefaultSource is the From of a key to which nothing gives a value.
const DefaultSource = "default"

// NotBeforeTrust begins the Why of what counts as soon as a person trusts the file;
// the reason follows.
const NotBeforeTrust = "not before `tidegate config trust`: "

// layer is one source of values for keys.
type layer struct {
	says   Settings
	counts Settings // the part of it that counts
	from   func(key string) string
	name   string // what it is called where it overrides another
}

// Entries are all keys with what gives them a value, the strongest first. Where
// nothing that counts gives one, the last is what the program does by itself.
func (c Config) Entries() []Entry {
	given := map[string][]Entry{} // by key
	joined := c.Settings.leaves()
	first := map[string]string{} // what gives a key its value
	for _, l := range c.layers {
		counts := l.counts.leaves()
		for name, value := range l.says.leaves() {
			e := Entry{Key: name, Value: value, From: l.from(name)}
			switch counted := counts[name]; {
			case first[name] != "":
				e.Why = first[name] + " goes first"
			case counted == value && joined[name] == "":
				e.Why = "it belongs to a driver that the project's file replaces"
			case counted == value:
				e.Counts = true
			default:
				if counted != "" { // a part of the roots
					given[name] = append(given[name], Entry{Key: name, Value: counted, From: e.From, Counts: true})
					e.Value = quoteAll(c.outside)
				}
				e.Why = NotBeforeTrust + Find(name).Waits
				if c.Project.open {
					e.Why = NotBeforeTrust + "everybody can write to the folder of this file"
				}
			}
			given[name] = append(given[name], e)
			if e.Counts && !addsUp(name, l) {
				first[name] = l.name
			}
		}
	}
	var all []Entry
	names := slices.Sorted(maps.Keys(given))
	for _, k := range Keys() {
		counts := false
		for _, name := range names {
			if k.fits(name) {
				all = append(all, given[name]...)
				counts = counts || slices.ContainsFunc(given[name], func(e Entry) bool { return e.Counts })
			}
		}
		if !counts {
			all = append(all, Entry{Key: k.Name, Value: k.Default, From: DefaultSource, Counts: true})
		}
	}
	return all
}

// addsUp reports whether a list in one file is joined with that in the other.
func addsUp(name string, l layer) bool {
	return l.name != environment && (name == "roots" || name == "fetch.allow")
}

// Has reports whether a file has a key or a table; there may be no file.
func (s *Source) Has(key string) bool { return s != nil && s.lines[key] > 0 }

// at is where a file gives a key its value.
func (s *Source) at(key string) string {
	return s.Path + ":" + strconv.Itoa(lineOf(s.lines, key))
}

// leaves are the keys to which the settings give a value, each as in a file.
func (s Settings) leaves() map[string]string {
	leaves := map[string]string{}
	text := func(name, value string) {
		if value != "" {
			leaves[name] = quote(value)
		}
	}
	list := func(name string, values []string) {
		if len(values) > 0 {
			leaves[name] = quoteAll(values)
		}
	}
	text("home", s.Home)
	list("roots", s.Roots)
	text("signers", s.Signers)
	text("changes", s.Changes)
	for command, format := range s.Formats {
		text("formats."+command, format)
	}
	for role, a := range s.Agents {
		prefix := "agents." + role + "."
		text(prefix+"driver", a.Driver)
		text(prefix+"model", a.Model)
		if a.Parallel > 0 {
			leaves[prefix+"parallel"] = strconv.Itoa(a.Parallel)
		}
		if a.IdleMinutes > 0 {
			leaves[prefix+"idle_minutes"] = number(a.IdleMinutes)
		}
		if a.Price != nil {
			leaves[prefix+"price"] = fmt.Sprintf("{ input = %s, output = %s }", number(a.Price.Input), number(a.Price.Output))
		}
		text(prefix+"url", a.URL)
		text(prefix+"key_env", a.KeyEnv)
		list(prefix+"env", a.Env)
		list(prefix+"read", a.Read)
		list(prefix+"write", a.Write)
		text(prefix+"network", a.Network)
		text(prefix+"model_address", a.ModelAddress)
	}
	if s.Unconfined {
		leaves["agents.confine"] = "false"
	}
	list("fetch.allow", s.Fetch.Allow)
	if s.Fetch.Proxy {
		leaves["fetch.proxy"] = "true"
	}
	if s.Archive.Share {
		leaves["archive.share"] = "true"
	}
	text("archive.fresh", s.Archive.Fresh)
	text("search.service", s.Search.Service)
	text("search.url", s.Search.URL)
	text("search.key_env", s.Search.KeyEnv)
	for name, place := range s.Search.Places {
		text("search."+name+".url", place.URL)
		text("search."+name+".key_env", place.KeyEnv)
	}
	text("review.test", s.Review.Test)
	list("review.ignore", s.Review.Ignore)
	list("review.guidelines", s.Review.Guidelines)
	text("change.author", s.Change.Author)
	text("change.message", s.Change.Message)
	return leaves
}

func number(n float64) string { return strconv.FormatFloat(n, 'g', -1, 64) }

// quote is a text as a file has it: the escapes of JSON are among those of TOML.
func quote(text string) string {
	line, err := codec.MarshalLine(text)
	if err != nil {
		return strconv.Quote(text) // it is not UTF-8, and so was not read from a file
	}
	return string(line)
}

func quoteAll(texts []string) string {
	quoted := make([]string, len(texts))
	for i, text := range texts {
		quoted[i] = quote(text)
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}

// Key is one key of a file: what it decides, and what overrides it. The words
// COMMAND, ROLE and SERVICE in its name stand for any command, role and search service.
type Key struct {
	Name    string
	Type    string // in words
	Example string // as it stands in a file
	About   string
	Default string // in words
	Waits   string // why a project's file does not decide it by itself; "" where it does
	Over    string // the variable or flags that override it, in words; "" for none
}

//go:embed keys.toml
var keysText string

// Keys are all keys, in the order in which they are shown.
var Keys = sync.OnceValue(func() []Key {
	known := strings.NewReplacer("{drivers}", strings.Join(namedDrivers, ", "), "{services}", strings.Join(Services, ", "), "{searches}", strings.Join(SearchServices, ", "))
	var list struct{ Key []Key }
	if err := toml.Unmarshal([]byte(known.Replace(keysText)), &list); err != nil {
		panic(err) // a test reads it
	}
	return list.Key
})

// Find is the row of a key as a file writes it, or a person names it; nil where there is none.
func Find(name string) *Key {
	if at := slices.IndexFunc(Keys(), func(k Key) bool { return k.fits(name) }); at >= 0 {
		return &Keys()[at]
	}
	return nil
}

// fits reports whether a key of a file is this one.
func (k Key) fits(name string) bool {
	switch {
	case strings.HasPrefix(name, "formats."):
		return k.Name == "formats.COMMAND"
	case strings.HasPrefix(name, "agents."):
		return strings.HasPrefix(k.Name, "agents.") && last(name) == last(k.Name)
	case strings.HasPrefix(name, "search.") && strings.Count(name, ".") == 2:
		return strings.HasPrefix(k.Name, "search.SERVICE.") && last(name) == last(k.Name)
	}
	return k.Name == name
}

// last is the last part of a key.
func last(name string) string { return name[strings.LastIndexByte(name, '.'):] }

// Names are the keys as a person can name them, with every role and service in its place.
func Names() []string {
	var names []string
	for _, k := range Keys() {
		word, places := "ROLE", Roles
		if strings.Contains(k.Name, "SERVICE") {
			word, places = "SERVICE", SearchServices
		}
		if !strings.Contains(k.Name, word) {
			names = append(names, k.Name)
			continue
		}
		for _, place := range places {
			names = append(names, strings.Replace(k.Name, word, place, 1))
		}
	}
	return names
}
