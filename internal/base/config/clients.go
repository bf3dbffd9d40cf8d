package config

import (
	_ "embed"
	"regexp"
	"strings"
	"sync"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

var (
	//go:embed lists/configures.txt
	configuresList string
	//go:embed lists/obeyed.txt
	obeyedList string
)

// Names of the lists.
var (
	configuring = sync.OnceValue(func() map[string]bool { return listed(configuresList) })
	obeyed      = sync.OnceValue(func() map[string]bool { return listed(obeyedList) })
)

func listed(list string) map[string]bool {
	names := map[string]bool{}
	for line := range strings.Lines(list) {
		if name := strings.TrimSpace(line); name != "" && name[0] != '#' {
			names[name] = true
		}
	}
	return names
}

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

// Folded is a name as systems compare it that heed neither the case of letters nor whether
// a letter and its accent are one character.
func Folded(name string) string {
	return norm.NFC.String(strings.ToLower(strings.ToUpper(norm.NFC.String(name))))
}

// devices are names that Windows keeps for devices, whatever follows a dot.
var devices = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?i:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[0-9\x{b9}\x{b2}\x{b3}]) *(?:\.|$)`)
})

// Obeyed says why a system or another program could take orders from a file or folder of that
// name, wherever it lies; "" when none does.
func Obeyed(name string) string {
	switch folded := Folded(name); {
	case strings.HasPrefix(name, "."):
		return "it is hidden"
	case strings.ContainsFunc(name, func(r rune) bool { return unicode.Is(unicode.Cf, r) }):
		return "some systems leave out a character of its name"
	case obeyed()[folded], Configures(folded):
		return "programs take instructions from a file of that name"
	case devices().MatchString(name), strings.ContainsAny(name, `<>:"|?*`), strings.HasSuffix(name, "."), strings.HasSuffix(name, " "):
		return "Windows has no file of that name"
	}
	return ""
}
