package search

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"
)

// Ask is what a service is asked.
type Ask struct {
	Query    string
	Language string   // of the results, such as de or pt-BR; "" where it does not matter
	Domains  []string // only pages of these; nil for all. Not every service can, so filter again
	Since    string   // only what is as new as this day, 2023-01-31; "" for all. The same holds
	Max      int      // results, from 1 to [MostResults]
	Address  string   // of the service, without a slash at its end; "" for its own
	Key      string
}

// MostResults is how many results can be asked for.
const MostResults = 20

// Request is what is sent to a service.
type Request struct {
	Method, URL string
	Header      [][2]string // names and values
	Body        []byte
}

// Need says whether a service wants a key.
type Need uint8

// The needs.
const (
	NoKey Need = iota
	MayKey
	MustKey
)

// Service is a search service.
type Service struct {
	Name   string
	Title  string // for people
	Finds  string // what it finds, in a few words
	URL    string // where it is; "" for one that everybody has at another place
	Key    Need
	KeyEnv string        // the variable that usually holds the key; "" where a person must name one
	Free   bool          // asked where a person has named no service
	Pause  time.Duration // that it wants between two requests

	path    string // that a person may have written at the end of the address
	request func(Ask) Request
	// then is the second request of a search that takes two, made from the first answer.
	// It is false where nothing was found. Nil for a search that takes one.
	then  func(a Ask, first []byte) (Request, bool, error)
	parse func(a Ask, answer []byte) ([]Result, error)
	hints map[int]string // what a status other than 200 means here
}

// Services are all services, in the order in which they are asked.
var Services = []Service{
	searxng, brave, tavily, wikipedia, crossref, arxiv, europePMC, pubmed, serper, exa, openAlex, semanticScholar, hackerNews, gitHub, duckDuckGo,
}

// Find finds a service by its name.
func Find(name string) (Service, bool) {
	i := slices.IndexFunc(Services, func(s Service) bool { return s.Name == name })
	if i < 0 {
		return Service{}, false
	}
	return Services[i], true
}

// Names are the names of all services.
func Names() []string {
	var names []string
	for _, s := range Services {
		names = append(names, s.Name)
	}
	return names
}

// Free are the names of the services that are asked where a person has named none.
func Free() []string {
	var names []string
	for _, s := range Services {
		if s.Free {
			names = append(names, s.Name)
		}
	}
	return names
}

// Next is the request that follows a number of answers; it is false where the search
// ends with them. It returns an error for an answer that is not one of the service.
func (s Service) Next(a Ask, answers [][]byte) (Request, bool, error) {
	a = s.filled(a)
	switch {
	case len(answers) == 0:
		return s.request(a), true, nil
	case len(answers) == 1 && s.then != nil:
		request, more, err := s.then(a, answers[0])
		return request, more, s.strange(err)
	}
	return Request{}, false, nil
}

// Results are what the answers to a search say. They return an error for an answer that
// is not one of the service.
func (s Service) Results(a Ask, answers [][]byte) ([]Result, error) {
	a = s.filled(a)
	if s.then != nil && len(answers) == 1 { // nothing was found, so that nothing more was asked
		_, _, err := s.then(a, answers[0])
		return []Result{}, s.strange(err)
	}
	if len(answers) == 0 {
		return nil, s.strange(errNothing)
	}
	found, err := s.parse(a, answers[len(answers)-1])
	if err != nil {
		return nil, s.strange(err)
	}
	return clean(found, a.Max), nil
}

// Fault says what it means that the service answers with a status other than 200.
func (s Service) Fault(status int) string {
	hint := s.hints[status]
	switch {
	case hint != "":
	case status == 401, status == 403 && s.Key != NoKey:
		hint = "the key is not taken"
	case status == 402, status == 432, status == 433:
		hint = "the quota is used up"
	case status == 429, status == 503:
		hint = "it is asked too often"
	case status == 404:
		hint = "there is nothing at this address"
	case status >= 300 && status < 400:
		hint = "it sends us elsewhere"
	}
	if hint != "" {
		hint = ": " + hint
	}
	return fmt.Sprintf("%s answers with status %d%s", s.Title, status, hint)
}

func (s Service) filled(a Ask) Ask {
	if a.Address == "" {
		a.Address = s.URL
	}
	a.Address = strings.TrimRight(strings.TrimSuffix(strings.TrimRight(a.Address, "/"), s.path), "/")
	a.Language = language(a.Language)
	if a.Max < 1 || a.Max > MostResults {
		a.Max = MostResults
	}
	return a
}

func (s Service) strange(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s answers with something else than results: %w", s.Title, err)
}

// language is a language as services take it, "" for what is none.
func language(tag string) string {
	tag = strings.ToLower(strings.ReplaceAll(tag, "_", "-"))
	if len(tag) < 2 || len(tag) > 12 || strings.Trim(tag, "abcdefghijklmnopqrstuvwxyz-") != "" || tag[0] == '-' {
		return ""
	}
	return tag
}

// primary is the first part of a language.
func primary(tag string) string {
	tag, _, _ = strings.Cut(tag, "-")
	return tag
}

// get is a request for an address with parameters, in their order. Those without a value
// are left out.
func get(address string, parameters ...string) Request {
	var query []string
	for i := 0; i+1 < len(parameters); i += 2 {
		if parameters[i+1] != "" {
			query = append(query, url.QueryEscape(parameters[i])+"="+url.QueryEscape(parameters[i+1]))
		}
	}
	return Request{Method: "GET", URL: address + "?" + strings.Join(query, "&")}
}

func (r Request) with(name, value string) Request {
	if value != "" {
		r.Header = append(r.Header, [2]string{name, value})
	}
	return r
}

// beginning is the beginning of a query of at most so many words and bytes.
func beginning(query string, words, bytes int) string {
	var kept []string
	size := 0
	for _, word := range strings.Fields(query) {
		if size += len(word) + 1; len(kept) == words || size > bytes {
			break
		}
		kept = append(kept, word)
	}
	return strings.Join(kept, " ")
}

// onSites is a query by the words that web searches have for domains.
func onSites(a Ask) string {
	if len(a.Domains) == 0 {
		return a.Query
	}
	sites := make([]string, len(a.Domains))
	for i, domain := range a.Domains {
		sites[i] = "site:" + domain
	}
	return a.Query + " (" + strings.Join(sites, " OR ") + ")"
}
