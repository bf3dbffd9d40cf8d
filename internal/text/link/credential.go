package link

import (
	"slices"
	"strconv"
	"strings"
)

// A credential in a URL is a user name or password, or a parameter named token,
// access_token, api_key, apikey, auth, session or password, in any letter case. It is
// looked for in a text as it stands, so that what only looks like a URL counts, too,
// at a cost that grows only with the length of the text.

// masked stands in the place of a secret.
const masked = "[REDACTED]"

// SecretMask stands in an answer in the place of a token or key that its agent works
// with. An answer that has it is refused, whoever judges it and when.
const SecretMask = "[MASKED: a token or key of the agent]"

// HasCredentials reports whether a URL carries what lets its bearer in, in the text
// as it stands or as browsers read it.
func HasCredentials(raw string) bool {
	if ShowsCredentials(raw) {
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
		if found && isCredential(name) {
			return true
		}
	}
	return false
}

// ShowsCredentials reports whether a text shows a credential outside a fragment, which is never
// sent.
func ShowsCredentials(text string) bool {
	return slices.ContainsFunc(credentials(text), func(s credential) bool { return !s.inFragment })
}

// Mask writes [REDACTED] over the credentials of the URLs in a text, even those in a
// fragment, and changes nothing the second time.
func Mask(text string) string {
	found := credentials(text)
	if len(found) == 0 {
		return text
	}
	var b strings.Builder
	at := 0
	for _, s := range found {
		b.WriteString(text[at:s.start])
		b.WriteString(masked)
		at = s.end
	}
	b.WriteString(text[at:])
	return b.String()
}

// isCredential reports whether a parameter is a credential, by its name as it stands in
// a URL.
func isCredential(name string) bool {
	switch parameterName(name) {
	case "token", "access_token", "api_key", "apikey", "auth", "session", "password":
		return true
	}
	return false
}

// parameterName is a parameter's name as servers compare it: escapes resolved, ASCII
// letters in lower case.
func parameterName(raw string) string {
	out := make([]byte, 0, len(raw))
	for i := 0; i < len(raw); i++ {
		c := raw[i]
		if c == '%' && i+2 < len(raw) {
			if n, err := strconv.ParseUint(raw[i+1:i+3], 16, 8); err == nil {
				c = byte(n)
				i += 2
			}
		}
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		out = append(out, c)
	}
	return string(out)
}

// credential is where a text shows a credential.
type credential struct {
	start, end int
	inFragment bool
}

// credentials finds the credentials of all URLs in a text, in order and without overlap.
// The text may be a URL without a scheme.
func credentials(text string) []credential {
	var found []credential
	fragment, i := false, 0
	if start, end := userinfo(text, -1); end > start {
		found, i = append(found, credential{start: start, end: end}), end
	}
	for ; i < len(text); i++ {
		switch text[i] {
		case ':':
			if start, end := userinfo(text, i); end > start {
				found = append(found, credential{start: start, end: end})
				i = end
			}
		case '?', '&', ';', '#':
			fragment = text[i] == '#' || fragment && text[i] != '?'
			if start, end := secretParameter(text, i+1); start > 0 {
				found = append(found, credential{start, end, fragment})
				i = end - 1
			}
		case ' ', '\t', '\n', '\r':
			fragment = false
		}
	}
	return found
}

// userinfo is the part before the @ of the authority that follows the colon of
// a scheme, which may be missing at the start of a text. Browsers read a backslash
// there as a slash.
func userinfo(text string, colon int) (start, end int) {
	start = colon + 1
	for start < len(text) && (text[start] == '/' || text[start] == '\\') {
		start++
	}
	if start-colon < 3 {
		return 0, 0
	}
	for i := start; i < len(text); i++ {
		switch c := text[i]; {
		case c <= ' ', strings.IndexByte(`/\?#<>"`, c) >= 0:
			return start, end
		case c == '@':
			end = i
		case c == '%' && strings.HasPrefix(text[i:], "%40"):
			end = i
		}
	}
	return start, end
}

// secretParameter is the value of the parameter whose name begins at from, if
// it is a credential. Otherwise start is 0.
func secretParameter(text string, from int) (start, end int) {
	const longestName = 3 * len("access_token") // with every letter escaped
	i := from
	for i < len(text) && i-from <= longestName && (text[i] == '_' || text[i] == '%' || isAlnum(text[i])) {
		i++
	}
	if i == len(text) || text[i] != '=' || !isCredential(text[from:i]) {
		return 0, 0
	}
	start = i + 1
	for i = start; i < len(text); i++ {
		if c := text[i]; c <= ' ' || strings.IndexByte(`&#<>"`, c) >= 0 {
			break
		}
	}
	return start, i
}
