package config

import "slices"

// Settings are what a file says. Paths in it are absolute.
type Settings struct {
	Home    string // the folder that holds the folder of runs
	Roots   []string
	Signers string
	Changes string            // the folder of a project that holds code changes, inside it, with slashes
	Formats map[string]string // by the name of the command
	Agents  map[string]Agent  // by role
	Fetch   Fetch
	Search  Search
	Review  Review
}

// Agent is what does the work of a role.
type Agent struct {
	Driver   string
	Model    string
	Parallel int // 0 where nothing is said
	Price    *Price
	KeyEnv   string // the environment variable that holds the key of a model
	// Env names further variables of the person's environment that the agent gets.
	// A name that ends in * stands for all that begin with it.
	Env []string
}

// Price is what tokens cost, in USD per million.
type Price struct{ Input, Output float64 }

// Fetch is how pages are fetched.
type Fetch struct {
	Allow []string // hosts, host:port and CIDR prefixes beyond what is public
	Proxy bool     // use the proxies that the environment names
}

// Search is where agents of the model driver search.
type Search struct{ Service, URL, KeyEnv string }

// Review is how code is reviewed.
type Review struct{ Test string }

// DefaultRole is the role that fills in what other roles leave out.
const DefaultRole = "default"

// Roles are the roles to which a file may give an agent.
var Roles = []string{DefaultRole, "planner", "researcher", "summarizer", "writer", "reviewer", "implementer", CodeReviewer}

// CodeReviewer is the role that reviews code.
const CodeReviewer = "code_reviewer"

// Agent is what a role uses: what its own table says, then the default. A reviewer
// of code is a reviewer where nothing else is said.
func (s Settings) Agent(role string) Agent {
	if role == CodeReviewer {
		return s.Agents[role].over(s.Agent("reviewer"))
	}
	return s.Agents[role].over(s.Agents[DefaultRole])
}

// over is what a and below say together. A model, a price, a key and variables
// belong to a driver: where a names a driver, nothing of another is taken over.
func (a Agent) over(below Agent) Agent {
	if a.Parallel == 0 {
		a.Parallel = below.Parallel
	}
	if a.Driver != "" {
		return a
	}
	a.Driver = below.Driver
	if a.Model == "" {
		a.Model, a.Price = below.Model, below.Price
	}
	if a.KeyEnv == "" {
		a.KeyEnv = below.KeyEnv
	}
	if a.Env == nil {
		a.Env = below.Env
	}
	return a
}

// over is what s and below say together, s first.
func (s Settings) over(below Settings) Settings {
	if s.Home == "" {
		s.Home = below.Home
	}
	if s.Signers == "" {
		s.Signers = below.Signers
	}
	if s.Changes == "" {
		s.Changes = below.Changes
	}
	s.Roots = append(slices.Clone(below.Roots), s.Roots...)
	s.Formats = overlay(s.Formats, below.Formats, func(s, _ string) string { return s })
	s.Agents = overlay(s.Agents, below.Agents, Agent.over)
	s.Fetch.Allow = append(slices.Clone(below.Fetch.Allow), s.Fetch.Allow...)
	s.Fetch.Proxy = s.Fetch.Proxy || below.Fetch.Proxy
	if s.Search == (Search{}) {
		s.Search = below.Search
	}
	if s.Review.Test == "" {
		s.Review.Test = below.Review.Test
	}
	return s
}

func overlay[V any](above, below map[string]V, join func(above, below V) V) map[string]V {
	all := map[string]V{}
	for name, value := range below {
		all[name] = value
	}
	for name, value := range above {
		if under, ok := below[name]; ok {
			value = join(value, under)
		}
		all[name] = value
	}
	return all
}
