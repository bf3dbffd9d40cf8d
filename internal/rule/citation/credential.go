package citation

import (
	"strings"

	"github.com/tidegate/tidegate/internal/text/secret"
)

// HasCredentials reports whether a URL carries what lets its bearer in, as
// package secret says, in the text as it stands or as browsers read it.
func HasCredentials(raw string) bool {
	if secret.In(raw) {
		return true
	}
	if !strings.ContainsAny(raw, "@?") {
		return false // neither a user name nor a parameter
	}
	u, err := parseURL(raw)
	if err != nil {
		return false
	}
	if u.Username() != "" || u.Password() != "" {
		return true
	}
	for pair := range strings.SplitSeq(u.Query(), "&") {
		name, _, found := strings.Cut(pair, "=")
		if found && secret.Parameter(name) {
			return true
		}
	}
	return false
}
