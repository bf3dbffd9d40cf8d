package step

import (
	"slices"
	"strings"

	"github.com/tidegate/tidegate/internal/rule/policy"
	"github.com/tidegate/tidegate/internal/rule/search"
)

// Platforms reads what a planner expects of searches: names of services, and domains.
// Unlisted are the services that are not among those of the run; nil lists all. Other words
// say nothing here: the prompt shows them.
func Platforms(expected, listed []string) (services, domains, unlisted []string) {
	for _, name := range expected {
		name = strings.ToLower(strings.TrimSpace(name))
		if _, known := search.Find(name); known {
			if listed != nil && !slices.Contains(listed, name) {
				unlisted = append(unlisted, name)
			} else {
				services = append(services, name)
			}
			continue
		}
		checked, err := policy.Policy{AllowDomains: []string{name}}.Checked()
		if err == nil && strings.Contains(name, ".") {
			domains = append(domains, checked.AllowDomains...)
		}
	}
	return services, domains, unlisted
}
