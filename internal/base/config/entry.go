package config

import (
	_ "embed"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/pelletier/go-toml/v2"
	"github.com/tidegate/tidegate/internal/base/codec"
)

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
