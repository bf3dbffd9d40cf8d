package wave

import (
	"slices"
	"strings"
)

// reservedNames are devices on Windows, whatever extension follows.
var reservedNames = []string{
	"con", "prn", "aux", "nul",
	"com0", "com1", "com2", "com3", "com4", "com5", "com6", "com7", "com8", "com9",
	"lpt0", "lpt1", "lpt2", "lpt3", "lpt4", "lpt5", "lpt6", "lpt7", "lpt8", "lpt9",
}

// unportable says why an id cannot be the name of a file on every system, or
// "". Such an id is valid, because a run usually stays where it was made.
func unportable(id string) string {
	stem, _, _ := strings.Cut(id, ".")
	switch {
	case slices.Contains(reservedNames, strings.ToLower(strings.TrimRight(stem, " "))):
		return "is the name of a device on Windows"
	case strings.ContainsAny(id, `<>:"|?*`):
		return `has one of < > : " | ? *, which no file name on Windows can have`
	}
	return ""
}
