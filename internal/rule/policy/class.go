package policy

import (
	_ "embed" // the table
	"slices"
	"strings"
	"sync"
)

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
