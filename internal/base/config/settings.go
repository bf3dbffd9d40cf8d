package config

import (
	"cmp"
	"maps"
	"slices"
	"time"
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
// of code, and a verifier, is a reviewer where nothing else is said.
func (s Settings) Agent(role string) Agent {
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
