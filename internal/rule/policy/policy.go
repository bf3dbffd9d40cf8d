// Package policy says which sources a person allows in a run: by their domains, their
// dates, their languages and what kind of source they are. [Policy.Refuses] is asked
// about what a search found before an agent sees it, about a source that is handed in,
// and again by gate C. Everything here is a function of its arguments.
package policy

import (
	_ "embed" // the table
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/rule/evidence"
	"github.com/tidegate/tidegate/internal/text/link"
	"github.com/tidegate/tidegate/internal/text/page"
)

// Policy is what a person asks of the sources of a run. The zero value allows all.
type Policy struct {
	AllowDomains []string `json:"allow_domains,omitzero" jsonschema:"domains that sources must be of, each with those below it"`
	DenyDomains  []string `json:"deny_domains,omitzero" jsonschema:"domains that no source may be of, each with those below it"`
	Since        string   `json:"since,omitzero" jsonschema:"the earliest day that a source may be of, such as 2023-01-01; a page without a date is kept and marked"`
	Dated        bool     `json:"dated,omitzero" jsonschema:"refuse pages without a date"`
	Languages    []string `json:"source_language,omitzero" jsonschema:"languages that sources must be in, such as en or de; a page whose language does not show is kept"`
	Classes      []string `json:"source_class,omitzero" jsonschema:"kinds that sources must be of, by the table of deep_research_citations_rules" enum:"primary,scholarly,official,news,reference,company,forum,other"`
}

// Source is what is known of a source.
type Source struct {
	URL      string // as it is cited, or as a search found it
	Final    string // of the page that was read; "" where none was
	Date     string // begins with a year, a month or a day; "" where it is not known
	Language string // in two letters; "" where it does not show
}

// IsZero reports whether the policy allows everything.
func (p Policy) IsZero() bool {
	return len(p.AllowDomains) == 0 && len(p.DenyDomains) == 0 && p.Since == "" && !p.Dated && len(p.Languages) == 0 && len(p.Classes) == 0
}

// Refuses says whether the policy refuses a source, and why. Both the URL and the page
// that was read are held to it, but a link of a resolver such as doi.org is of the domain
// that it leads to. What is not known of a source refuses nothing, with one exception: a
// page that was read and has no date, where the policy asks for one.
func (p Policy) Refuses(s Source) (reason string, refused bool) {
	if p.IsZero() {
		return "", false
	}
	cited, read := hostOf(s.URL), hostOf(s.Final)
	leads := slices.ContainsFunc(resolvers, func(domain string) bool { return within(cited, domain) })
	for _, host := range []string{cited, read} {
		below := func(domain string) bool { return within(host, domain) }
		class := Class(host)
		switch known := host != read || class != Other; { // the page of a known URL is of its class
		case host == "":
		case slices.ContainsFunc(p.DenyDomains, below):
			return host + " is of a denied domain", true
		case len(p.AllowDomains) > 0 && !slices.ContainsFunc(p.AllowDomains, below) && !(leads && host == cited):
			return host + " is of no allowed domain", true
		case len(p.Classes) > 0 && known && !slices.Contains(p.Classes, class):
			return host + " is of the class " + class, true
		}
	}
	date := page.Date(s.Date)
	switch {
	case p.Since != "" && date != "" && lastDay(date) < p.Since:
		return "it is of " + date + ", which is before " + p.Since, true
	case p.Dated && date == "" && s.Final != "":
		return "it has no date", true
	case len(p.Languages) > 0 && s.Language != "" && !slices.Contains(p.Languages, s.Language):
		return "it is in the language " + s.Language, true
	}
	return "", false
}

// resolvers are the domains whose links always lead to pages of others.
var resolvers = []string{"doi.org", "handle.net"}

// lastDay is the last day that a date may mean: a year alone may be any of its days.
func lastDay(date string) string { return date + "-12-31"[len(date)-len("2006"):] }

// hostOf is the host of a URL in lower case without its port, "" for what is not a URL.
func hostOf(url string) string {
	normalized, err := link.Normalize(url)
	if err != nil {
		return ""
	}
	_, rest, _ := strings.Cut(normalized, "://")
	host, _, _ := strings.Cut(rest, "/")
	if i := strings.LastIndexByte(host, ':'); i > strings.LastIndexByte(host, ']') {
		host = host[:i]
	}
	return strings.TrimSuffix(host, ".")
}

// within reports whether a host is a domain or one below it.
func within(host, domain string) bool {
	return host == domain || strings.HasSuffix(host, "."+domain)
}

// Checked is the policy with its domains in the form in which they are compared. It
// returns INVALID_ARGS for what is not a domain, a day, a language or a class.
func (p Policy) Checked() (Policy, error) {
	wrong := func(name, value, want string) error {
		return tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs(name, tidegate.Cut(value)), "%s must be %s, got %q", name, want, tidegate.Cut(value))
	}
	for _, list := range []struct {
		name    string
		domains *[]string
	}{{"allow_domains", &p.AllowDomains}, {"deny_domains", &p.DenyDomains}} {
		domains := slices.Clone(*list.domains)
		for i, given := range domains {
			host := hostOf("https://" + given + "/")
			if host == "" || strings.ContainsAny(given, "/:@?#*") || strings.ContainsFunc(given, unicode.IsSpace) {
				return Policy{}, wrong(list.name, given, "a list of domains such as example.org")
			}
			domains[i] = host
		}
		*list.domains = domains
	}
	if _, err := time.Parse(time.DateOnly, p.Since); p.Since != "" && err != nil {
		return Policy{}, wrong("since", p.Since, "a day such as 2023-01-01")
	}
	for _, language := range p.Languages {
		if len(language) != 2 || strings.Trim(language, "abcdefghijklmnopqrstuvwxyz") != "" {
			return Policy{}, wrong("source_language", language, "a list of languages in two letters, such as en or de")
		}
	}
	for _, class := range p.Classes {
		if !slices.Contains(ClassNames, class) {
			return Policy{}, wrong("source_class", class, "a list of "+strings.Join(ClassNames, ", "))
		}
	}
	return p, nil
}

// Read is the policy that a document keeps under the names of its fields. A value that
// [Policy.Checked] would refuse is left out with all others.
func Read(doc *codec.Value) Policy {
	p, err := Policy{AllowDomains: doc.Get("allow_domains").Strs(), DenyDomains: doc.Get("deny_domains").Strs(), Since: doc.Get("since").Str(), Dated: doc.Get("dated").Bool(),
		Languages: doc.Get("source_language").Strs(), Classes: doc.Get("source_class").Strs()}.Checked()
	if err != nil {
		return Policy{}
	}
	return p
}

// Lines say what the policy asks for, one sentence each.
func (p Policy) Lines(language string) []string {
	var lines []string
	add := func(holds bool, phrase string, args ...any) {
		if holds {
			lines = append(lines, evidence.Say(language, phrase, args...))
		}
	}
	add(len(p.AllowDomains) > 0, "Sources are of these domains and those below them: %s.", strings.Join(p.AllowDomains, ", "))
	add(len(p.DenyDomains) > 0, "No source is of these domains or those below them: %s.", strings.Join(p.DenyDomains, ", "))
	add(p.Since != "" && !p.Dated, "Sources are of %s or later. A page without a date is used, and marked.", p.Since)
	add(p.Since != "" && p.Dated, "Sources are of %s or later. A page without a date is refused.", p.Since)
	add(p.Since == "" && p.Dated, "A page without a date is refused.")
	add(len(p.Languages) > 0, "Sources are in these languages, as far as that shows: %s.", strings.Join(p.Languages, ", "))
	add(len(p.Classes) > 0, "Sources are of these classes, by the table of `tidegate citations rules --classes`: %s.", strings.Join(p.Classes, ", "))
	return lines
}

// Other is the class of a host that the table does not know.
const Other = "other"

// ClassRow is one row of the table of classes.
type ClassRow struct {
	Name    string   `json:"name"`
	About   string   `json:"about" jsonschema:"what belongs to it"`
	Domains []string `json:"domains" jsonschema:"each with the domains below it; ?? stands for the two letters of a country, and forum.* for every host that begins so"`
}

// Classes is the table by which the host of a source decides what kind of source it is.
// Of several domains that a host is below, the one with the most parts decides.
func Classes() []ClassRow { return slices.Clone(classes()) }

// ClassNames are the names of the classes, in the order of the table.
var ClassNames = []string{"primary", "scholarly", "official", "news", "reference", "company", "forum", Other}

//go:embed classes.txt
var classesText string

var classes = sync.OnceValue(func() []ClassRow {
	var rows []ClassRow
	for line := range strings.Lines(classesText) {
		line = strings.TrimSpace(line)
		if head, ok := strings.CutPrefix(line, "["); ok {
			name, about, _ := strings.Cut(head, "] ")
			rows = append(rows, ClassRow{Name: name, About: about, Domains: []string{}})
		} else if line != "" && !strings.HasPrefix(line, "#") {
			last := &rows[len(rows)-1]
			last.Domains = append(last.Domains, strings.Fields(line)...)
		}
	}
	return rows
})

// patterns has the class of every domain of the table.
var patterns = sync.OnceValue(func() map[string]string {
	all := map[string]string{}
	for _, row := range classes() {
		for _, domain := range row.Domains {
			all[domain] = row.Name
		}
	}
	return all
})

// Class is the class of a host.
func Class(host string) string {
	known := patterns()
	parts := strings.Split(host, ".")
	country := parts[len(parts)-1]
	for i := range parts {
		domain := strings.Join(parts[i:], ".")
		if class, found := known[domain]; found {
			return class
		}
		if class, found := known[strings.TrimSuffix(domain, country)+"??"]; found && len(country) == 2 && i < len(parts)-1 {
			return class
		}
	}
	if class, found := known[parts[0]+".*"]; found {
		return class
	}
	return Other
}
