package config

import (
	_ "embed"
	"strings"
	"sync"
)

//go:embed lists/configures.txt
var configuresList string

// configuring are the names of lists/configures.txt.
var configuring = sync.OnceValue(func() map[string]bool {
	names := map[string]bool{}
	for line := range strings.Lines(configuresList) {
		if name := strings.TrimSpace(line); name != "" && name[0] != '#' {
			names[name] = true
		}
	}
	return names
})

// Configures reports whether clients take a file of a project, by its path in it, for
// a part of their configuration.
func Configures(name string) bool {
	name = strings.ToLower(name)
	for part := range strings.SplitSeq(name, "/") {
		if configuring()[part] {
			return true
		}
	}
	return configuring()[name]
}
