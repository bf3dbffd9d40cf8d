package archive

import (
	"net/url"
	"slices"
	"strings"
)

// masked stands in the place of a secret.
const masked = "[REDACTED]"

// secretParameters are the query parameters that count as credentials, in any
// letter case.
var secretParameters = []string{"token", "access_token", "api_key", "apikey", "auth", "session", "password"}

// Mask is a URL without credentials, and whether it had any: a user name or
// password before the host is taken out, and the value of a query parameter
// that is named like a secret is replaced. Everything else stays as written.
// The URL may be relative.
func Mask(rawURL string) (string, bool) {
	rest, fragment, hasFragment := strings.Cut(rawURL, "#")
	rest, query, hasQuery := strings.Cut(rest, "?")
	rest, found := withoutUser(rest)
	if hasQuery {
		parts := strings.Split(query, "&")
		for i, part := range parts {
			name, value, _ := strings.Cut(part, "=")
			if value != "" && isSecret(name) {
				parts[i] = name + "=" + masked
				found = true
			}
		}
		rest += "?" + strings.Join(parts, "&")
	}
	if hasFragment {
		rest += "#" + fragment
	}
	return rest, found
}

// withoutUser takes out what stands between // and @.
func withoutUser(address string) (string, bool) {
	before, after, ok := strings.Cut(address, "//")
	if !ok {
		return address, false
	}
	authority, path := after, ""
	if i := strings.IndexAny(after, `/\`); i >= 0 {
		authority, path = after[:i], after[i:]
	}
	i := strings.LastIndexByte(authority, '@')
	if i < 0 {
		return address, false
	}
	return before + "//" + authority[i+1:] + path, true
}

func isSecret(parameter string) bool {
	name, err := url.QueryUnescape(parameter)
	if err != nil {
		name = parameter
	}
	return slices.Contains(secretParameters, strings.ToLower(name))
}
